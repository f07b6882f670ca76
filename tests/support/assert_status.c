/* Assertions on results. */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <string.h>

void bb_assert_status(enum bb_status found, enum bb_status expected, const char *call,
                      const char *file, int line)
{
    if (found == expected)
        return;
    const char *message = found == BB_OK ? "" : bb_error_last()->message;
    print_error("%s\n    is \"%s\", expected \"%s\" %s\n", call, bb_status_name(found),
                bb_status_name(expected), message);
    _fail(file, line);
}

void bb_assert_message(const char *part, const char *file, int line)
{
    const char *message = bb_error_last()->message;
    if (strstr(message, part) != NULL)
        return;
    print_error("the message is \"%s\"\n    and has no \"%s\"\n", message, part);
    _fail(file, line);
}

void bb_assert_errno_message(const char *part, int error_number, const char *file, int line)
{
    char expected[256];
    snprintf(expected, sizeof(expected), "%s%s", part, strerror(error_number));
    bb_assert_message(expected, file, line);
}
