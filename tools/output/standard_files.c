/* See standard_files.h. */
#include "tools/output/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

bool standard_files_occupy(void)
{
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        if (fcntl(number, F_GETFD) >= 0)
            continue;
        /* The file gets the lowest free number, which is this one. As input it cannot be read, and
         * as output it cannot be written. */
        if (open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) != number)
            return false;
    }
    return true;
}
