/* Assertions for bugs of bloomblock, and for broken REQUIRES of its public functions. All other
 * arguments of programs, and bytes from disk, are checked with `if`. */
#ifndef BB_BASE_ASSERT_H
#define BB_BASE_ASSERT_H

#include <stdio.h>
#include <stdlib.h>

/* Always on; for cold paths where going on would write wrong data or beyond memory. A failure is a
 * bug in bloomblock and ends the process. The message has the condition's source text, no data. */
#define BB_ASSERT(condition)                                                                       \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) {                                                   \
            fprintf(stderr, "bloomblock bug: %s:%d: %s\n", __FILE__, __LINE__, #condition);        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* For a REQUIRES of a public function. A failure is a mistake of the program that calls, and ends
 * it. */
#define BB_REQUIRE(condition, requirement)                                                         \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) {                                                   \
            fprintf(stderr, "misuse of bloomblock: %s requires %s\n", __func__, requirement);      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* For preconditions and invariants everywhere, also in probe and decode loops: on in checked builds
 * (CMake's BB_CHECKED, or no NDEBUG), no code in others. The condition must not have side
 * effects. */
#if defined(BB_CHECKED) || !defined(NDEBUG)
#define BB_IS_CHECKED              1
#define BB_DEBUG_ASSERT(condition) BB_ASSERT(condition)
#else
#define BB_IS_CHECKED              0
#define BB_DEBUG_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#define BB_ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#endif
