/* Assertions for bugs of bloomblock. Bytes from disk and arguments from users are checked with
 * `if`, never with assertions. */
#ifndef BB_BASE_ASSERT_H
#define BB_BASE_ASSERT_H

#include <stdio.h>
#include <stdlib.h>

/* Always on; for cold paths: builders, plans, installs. A failure is a bug in bloomblock and ends
 * the process. */
#define BB_ASSERT(condition)                                                                       \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) {                                                   \
            fprintf(stderr, "bloomblock bug: %s:%d: %s\n", __FILE__, __LINE__, #condition);        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* For probe and decode loops: removed in release builds. The condition must not have side
 * effects. */
#ifdef NDEBUG
#define BB_DEBUG_ASSERT(condition) ((void)0)
#else
#define BB_DEBUG_ASSERT(condition) BB_ASSERT(condition)
#endif

#define BB_ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#endif
