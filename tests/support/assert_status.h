/* Assertions on results: a failed one shows the call, both statuses and the message. */
#ifndef BB_TESTS_SUPPORT_ASSERT_STATUS_H
#define BB_TESTS_SUPPORT_ASSERT_STATUS_H

/* Required by cmocka.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bb/base.h"

void bb_assert_status(enum bb_status found, enum bb_status expected, const char *call,
                      const char *file, int line);
void bb_assert_message(const char *part, const char *file, int line);
void bb_assert_errno_message(const char *part, int error_number, const char *file, int line);

#define assert_status(call, expected)                                                              \
    bb_assert_status((call), (expected), #call, __FILE__, __LINE__)
#define assert_ok(call) bb_assert_status((call), BB_OK, #call, __FILE__, __LINE__)
/* The calling thread's latest message contains part. */
#define assert_message(part) bb_assert_message((part), __FILE__, __LINE__)
/* It contains part and then the C library's words for this errno value. */
#define assert_errno_message(part, error_number)                                                   \
    bb_assert_errno_message((part), (error_number), __FILE__, __LINE__)

#endif
