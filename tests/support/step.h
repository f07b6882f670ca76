/* How many of its alike cases a test takes. Where thousands of cases differ in a number alone (bits
 * to flip, places to cut, draws, keys to ask) every one of them is taken where nothing watches, and
 * every n-th where a sanitizer makes each ten times as dear. Threads: any. */
#ifndef BB_TESTS_SUPPORT_STEP_H
#define BB_TESTS_SUPPORT_STEP_H

#include "bb/base.h"

/* BB_TEST_STEP of the environment, 1 when it is not set: every n-th case. Odd and no multiple of
 * three is best, so that steps meet every bit of a byte and every row of a table of cases. Ends the
 * process when it is not a number from 1 on. */
size_t bb_test_step(void);

#endif
