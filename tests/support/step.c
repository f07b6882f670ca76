/* See step.h. */
#include "tests/support/step.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

size_t bb_test_step(void)
{
    const char *text = getenv("BB_TEST_STEP");
    if (text == NULL)
        return 1;
    char *end = NULL;
    errno = 0;
    unsigned long long step = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || step == 0 || step > SIZE_MAX / 4096) {
        fprintf(stderr, "BB_TEST_STEP is not a number from 1 on: \"%s\"\n", text);
        exit(2);
    }
    return (size_t)step;
}

bool bb_test_threads_only(void)
{
    return getenv("BB_TEST_THREADS_ONLY") != NULL;
}
