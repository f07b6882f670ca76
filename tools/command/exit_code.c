/* See exit_code.h. */
#include "tools/command/exit_code.h"

enum exit_code exit_code_of(enum bb_status status)
{
    switch (status) {
    case BB_OK:
        return EXIT_FOUND;
    case BB_CORRUPT:
        return EXIT_CORRUPT;
    case BB_UNSUPPORTED:
        return EXIT_UNSUPPORTED;
    case BB_INVALID:
    case BB_TOO_LARGE:
        return EXIT_USAGE;
    default:
        return EXIT_IO;
    }
}
