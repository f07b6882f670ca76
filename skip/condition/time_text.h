/* Times in the text of conditions: RFC 3339, also shortened, UTC where no zone is named.
 *
 *     2015-05-17    2015-05-17T10:05    2015-05-17 10:05:03    2015-05-17T10:05:03.25+02:00
 */
#ifndef BB_SKIP_CONDITION_TIME_TEXT_H
#define BB_SKIP_CONDITION_TIME_TEXT_H

#include "bb/base.h"

/* Space for every time that bb_time_text_print prints, with its terminator. */
#define BB_TIME_TEXT_SIZE 32

/* BB_INVALID for any other text, for days that do not exist, and for times that nanoseconds in 64
 * bits do not reach (before 1677-09-21, after 2262-04-11). */
BB_MUST_CHECK enum bb_status bb_time_text_parse(struct bb_bytes text, int64_t *ret_nanoseconds);

/* 2015-05-17T10:05:03.25Z: without zeros at the end of the fraction, without it if it is 0. */
void bb_time_text_print(int64_t nanoseconds, char text[BB_TIME_TEXT_SIZE]);

#endif
