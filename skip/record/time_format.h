/* Times as text and as integers: nanoseconds since 1970-01-01T00:00:00Z. The formats are described
 * in bb/record.h. No locale, no time zone except the text's, no table of leap seconds.
 *
 * Threads: any.
 */
#ifndef BB_SKIP_RECORD_TIME_FORMAT_H
#define BB_SKIP_RECORD_TIME_FORMAT_H

#include "bb/base.h"

#define BB_TIME_PATTERN_MAX 64 /* bytes */

enum bb_time_kind {
    BB_TIME_RFC3339,
    BB_TIME_CLF,
    BB_TIME_UNIX,
    BB_TIME_UNIX_MS,
    BB_TIME_UNIX_US,
    BB_TIME_UNIX_NS,
    BB_TIME_UNIX_FLOAT,
    BB_TIME_KIND_COUNT,
    BB_TIME_PATTERN = BB_TIME_KIND_COUNT, /* has no name */
};

struct bb_time_format {
    enum bb_time_kind kind;
    size_t pattern_size;
    uint8_t pattern[BB_TIME_PATTERN_MAX];
};

/* "rfc3339" and so on; NULL for a pattern. */
const char *bb_time_format_kind_name(enum bb_time_kind kind);
/* False when no kind has this name. */
bool bb_time_format_named(struct bb_bytes name, struct bb_time_format *ret_format);
/* NULL, or the error in the pattern: a constant sentence without its end. */
const char *bb_time_format_of_pattern(struct bb_bytes pattern, struct bb_time_format *ret_format);

/* All of the text is the time. False when it is no time, or out of range. */
bool bb_time_format_read(const struct bb_time_format *format, struct bb_bytes text,
                         int64_t *ret_time);

/* Whether integers of the format are times: unix, unix_ms, unix_us, unix_ns. */
bool bb_time_format_has_unit(const struct bb_time_format *format);
/* REQUIRES: bb_time_format_has_unit. False when out of range. */
bool bb_time_format_of_integer(const struct bb_time_format *format, int64_t value,
                               int64_t *ret_time);

#endif
