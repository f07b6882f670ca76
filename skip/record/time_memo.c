/* See time_memo.h. */
#include "skip/record/time_memo.h"

#include <string.h>

#include "base/coding.h"
#include "skip/record/calendar.h"

#define SECOND_AT    18 /* two digits */
#define MINUTE_NANOS ((int64_t)60 * BB_NANOSECONDS_PER_SECOND)

/* Selects the bytes after the second in a word that is loaded from SECOND_AT. */
#define AFTER_SECOND (UINT64_MAX << 16)

static bool is_same_minute(const uint8_t *a, const uint8_t *b)
{
    uint64_t differs = (bb_load64(a) ^ bb_load64(b)) | (bb_load64(a + 8) ^ bb_load64(b + 8));
    differs |= (uint64_t)(bb_load16(a + 16) ^ bb_load16(b + 16));
    return (differs | ((bb_load64(a + SECOND_AT) ^ bb_load64(b + SECOND_AT)) & AFTER_SECOND)) == 0;
}

/* The second of the minute; false for another text, and for 60, a leap second. */
static bool read_second(const uint8_t *text, int64_t *ret_second)
{
    unsigned tens = (unsigned)text[SECOND_AT] - '0';
    unsigned ones = (unsigned)text[SECOND_AT + 1] - '0';
    *ret_second = tens * 10 + ones;
    return tens < 6 && ones < 10;
}

/* Times within a minute of the limits are not kept: both ends of the minute must be
 * representable. */
static void keep(struct bb_time_memo *memo, const uint8_t *text, int64_t second, int64_t time)
{
    if (time < INT64_MIN + MINUTE_NANOS || time > INT64_MAX - MINUTE_NANOS)
        return;
    memcpy(memo->text, text, BB_TIME_MEMO_SIZE);
    memo->has_text = true;
    memo->minute = time - second * BB_NANOSECONDS_PER_SECOND;
}

bool bb_time_memo_read(struct bb_time_memo *memo, const struct bb_time_format *format,
                       struct bb_bytes text, int64_t *ret_time)
{
    int64_t second = 0;
    if (format->kind != BB_TIME_CLF || text.size != BB_TIME_MEMO_SIZE ||
        !read_second(text.data, &second))
        return bb_time_format_read(format, text, ret_time);
    if (memo->has_text && is_same_minute(text.data, memo->text)) {
        *ret_time = memo->minute + second * BB_NANOSECONDS_PER_SECOND;
        return true;
    }
    bool is_read = bb_time_format_read(format, text, ret_time);
    if (is_read)
        keep(memo, text.data, second, *ret_time);
    return is_read;
}
