/* Goldens: the library's output, compared with the files of tests/golden.
 *
 * With BB_UPDATE_GOLDENS=1 in the environment the files are written instead, and the assertion
 * holds. A changed golden is either a changed format, and goes into the same commit as its page in
 * docs/, or comes from a builder with other parameters, and the commit says so.
 */
#ifndef BB_TESTS_SUPPORT_GOLDEN_H
#define BB_TESTS_SUPPORT_GOLDEN_H

#include "bb/base.h"

/* Compares bytes with a file; shows the first difference and fails the test. */
void bb_golden_assert(const char *path, struct bb_bytes found, const char *file, int line);

/* The contents of a file, appended. A missing one fails the test. */
void bb_golden_read(const char *path, struct bb_buf *contents);

/* name: of a file in tests/golden, a string literal. */
#define GOLDEN_PATH(name) BB_SOURCE_DIR "/tests/golden/" name

#define assert_golden(name, bytes) bb_golden_assert(GOLDEN_PATH(name), (bytes), __FILE__, __LINE__)

#endif
