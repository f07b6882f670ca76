/* The minute of the last time of a log, whose lines ascend: most times differ from it in the second
 * only, and are not read as a whole.
 *
 *     17/May/2015:10:05:03 +0000
 *                       ^^       all other bytes are those of the last text
 *
 * Only of format clf, which has each part at a fixed place.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_RECORD_TIME_MEMO_H
#define BB_SKIP_RECORD_TIME_MEMO_H

#include "skip/record/time_format.h"

#define BB_TIME_MEMO_SIZE 26 /* of the text */

/* Zeroed it is valid. */
struct bb_time_memo {
    uint8_t text[BB_TIME_MEMO_SIZE];
    bool has_text;  /* a flag, because a record may have any bytes */
    int64_t minute; /* the time at the beginning of the text's minute */
};

/* As bb_time_format_read. format: of all calls the same. */
bool bb_time_memo_read(struct bb_time_memo *memo, const struct bb_time_format *format,
                       struct bb_bytes text, int64_t *ret_time);

#endif
