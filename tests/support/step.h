/* Which cases of a test run. Thousands of cases may differ only in a number (bits to flip, places
 * to cut, random draws, keys to look up). A test runs all of them without a sanitizer, and every
 * n-th with one, which makes each ten times as slow. Threads: any. */
#ifndef BB_TESTS_SUPPORT_STEP_H
#define BB_TESTS_SUPPORT_STEP_H

#include "bb/base.h"

/* BB_TEST_STEP of the environment, 1 by default: every n-th case. Odd numbers that are not
 * multiples of three are best, so that steps cover every bit of a byte and every row of a table of
 * cases. Ends the process when it is not a positive number. */
size_t bb_test_step(void);

/* True if the environment has BB_TEST_THREADS_ONLY. A program then runs only its cases that use
 * threads: ThreadSanitizer makes the others ten times as slow, and can find no race in them. */
bool bb_test_threads_only(void);

#endif
