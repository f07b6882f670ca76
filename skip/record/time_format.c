/* See time_format.h. A cursor reads a text from left to right, and ends at the first error. */
#include "skip/record/time_format.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "skip/record/calendar.h"
#include "skip/record/number.h"

static const char *const KIND_NAMES[] = {
    [BB_TIME_RFC3339] = "rfc3339",
    [BB_TIME_CLF] = "clf",
    [BB_TIME_UNIX] = "unix",
    [BB_TIME_UNIX_MS] = "unix_ms",
    [BB_TIME_UNIX_US] = "unix_us",
    [BB_TIME_UNIX_NS] = "unix_ns",
    [BB_TIME_UNIX_FLOAT] = "unix_float",
};

#define NANOSECOND_DIGITS 9

const char *bb_time_format_kind_name(enum bb_time_kind kind)
{
    return kind < BB_TIME_KIND_COUNT ? KIND_NAMES[kind] : NULL;
}

bool bb_time_format_named(struct bb_bytes name, struct bb_time_format *ret_format)
{
    for (size_t i = 0; i < BB_TIME_KIND_COUNT; i++) {
        if (bb_bytes_equal(name, bb_bytes_of_text(KIND_NAMES[i]))) {
            *ret_format = (struct bb_time_format){.kind = (enum bb_time_kind)i};
            return true;
        }
    }
    return false;
}

/* --- Parts of a text --- */

struct time_cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static bool take_byte(struct time_cursor *cursor, uint8_t byte)
{
    if (cursor->at == cursor->end || *cursor->at != byte)
        return false;
    cursor->at++;
    return true;
}

/* Exactly count digits. */
static bool take_digits(struct time_cursor *cursor, size_t count, int *ret_value)
{
    int value = 0;
    if ((size_t)(cursor->end - cursor->at) < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!bb_number_is_digit(cursor->at[i]))
            return false;
        value = value * 10 + (cursor->at[i] - '0');
    }
    cursor->at += count;
    *ret_value = value;
    return true;
}

/* One digit at least; digits after the ninth are dropped. */
static bool take_fraction(struct time_cursor *cursor, int32_t *ret_nanoseconds)
{
    int32_t value = 0;
    int count = 0;
    for (; cursor->at < cursor->end && bb_number_is_digit(*cursor->at); cursor->at++) {
        if (count < NANOSECOND_DIGITS)
            value = value * 10 + (*cursor->at - '0');
        count = count < NANOSECOND_DIGITS ? count + 1 : count;
    }
    if (count == 0)
        return false;
    for (; count < NANOSECOND_DIGITS; count++)
        value *= 10;
    *ret_nanoseconds = value;
    return true;
}

/* One of count names of three letters each. Gives 1 for the first. */
static bool take_name(struct time_cursor *cursor, const char *names, size_t count, int *ret_number)
{
    if (cursor->end - cursor->at < 3)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *name = names + 3 * i;
        if ((cursor->at[0] | 0x20) == name[0] && (cursor->at[1] | 0x20) == name[1] &&
            (cursor->at[2] | 0x20) == name[2]) {
            cursor->at += 3;
            *ret_number = (int)i + 1;
            return true;
        }
    }
    return false;
}

static bool take_month_name(struct time_cursor *cursor, int *ret_month)
{
    return take_name(cursor, "janfebmaraprmayjunjulaugsepoctnovdec", 12, ret_month);
}

static bool take_weekday(struct time_cursor *cursor)
{
    int ignored;
    return take_name(cursor, "montuewedthufrisatsun", 7, &ignored);
}

/* "Z", "+hhmm" or "+hh:mm". */
static bool take_offset(struct time_cursor *cursor, int32_t *ret_seconds)
{
    int hours, minutes;
    *ret_seconds = 0;
    if (take_byte(cursor, 'Z') || take_byte(cursor, 'z'))
        return true;
    bool is_negative = take_byte(cursor, '-');
    if (!is_negative && !take_byte(cursor, '+'))
        return false;
    if (!take_digits(cursor, 2, &hours))
        return false;
    (void)take_byte(cursor, ':');
    if (!take_digits(cursor, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    int32_t seconds = hours * 3600 + minutes * 60;
    *ret_seconds = is_negative ? -seconds : seconds;
    return true;
}

/* "10:05:03" */
static bool take_clock(struct time_cursor *cursor, struct bb_calendar_time *calendar)
{
    return take_digits(cursor, 2, &calendar->hour) && take_byte(cursor, ':') &&
           take_digits(cursor, 2, &calendar->minute) && take_byte(cursor, ':') &&
           take_digits(cursor, 2, &calendar->second);
}

static bool take_rfc3339(struct time_cursor *cursor, struct bb_calendar_time *calendar)
{
    if (!take_digits(cursor, 4, &calendar->year) || !take_byte(cursor, '-') ||
        !take_digits(cursor, 2, &calendar->month) || !take_byte(cursor, '-') ||
        !take_digits(cursor, 2, &calendar->day))
        return false;
    if (!take_byte(cursor, 'T') && !take_byte(cursor, 't') && !take_byte(cursor, ' '))
        return false;
    if (!take_clock(cursor, calendar))
        return false;
    if (take_byte(cursor, '.') && !take_fraction(cursor, &calendar->nanosecond))
        return false;
    return take_offset(cursor, &calendar->offset_seconds);
}

static bool take_clf(struct time_cursor *cursor, struct bb_calendar_time *calendar)
{
    return take_digits(cursor, 2, &calendar->day) && take_byte(cursor, '/') &&
           take_month_name(cursor, &calendar->month) && take_byte(cursor, '/') &&
           take_digits(cursor, 4, &calendar->year) && take_byte(cursor, ':') &&
           take_clock(cursor, calendar) && take_byte(cursor, ' ') &&
           take_offset(cursor, &calendar->offset_seconds);
}

/* --- Patterns --- */

static bool take_short_year(struct time_cursor *cursor, int *ret_year)
{
    int year;
    if (!take_digits(cursor, 2, &year))
        return false;
    *ret_year = year + (year >= 69 ? 1900 : 2000);
    return true;
}

static bool take_short_day(struct time_cursor *cursor, int *ret_day)
{
    (void)take_byte(cursor, ' ');
    return take_digits(cursor, 2, ret_day) || take_digits(cursor, 1, ret_day);
}

static bool take_directive(struct time_cursor *cursor, uint8_t directive,
                           struct bb_calendar_time *calendar)
{
    switch (directive) {
    case 'Y':
        return take_digits(cursor, 4, &calendar->year);
    case 'y':
        return take_short_year(cursor, &calendar->year);
    case 'm':
        return take_digits(cursor, 2, &calendar->month);
    case 'b':
        return take_month_name(cursor, &calendar->month);
    case 'd':
        return take_digits(cursor, 2, &calendar->day);
    case 'e':
        return take_short_day(cursor, &calendar->day);
    case 'H':
        return take_digits(cursor, 2, &calendar->hour);
    case 'M':
        return take_digits(cursor, 2, &calendar->minute);
    case 'S':
        return take_digits(cursor, 2, &calendar->second);
    case 'f':
        return take_fraction(cursor, &calendar->nanosecond);
    case 'z':
        return take_offset(cursor, &calendar->offset_seconds);
    case 'a':
        return take_weekday(cursor);
    default:
        return take_byte(cursor, '%');
    }
}

static bool take_pattern(const struct bb_time_format *format, struct time_cursor *cursor,
                         struct bb_calendar_time *calendar)
{
    for (size_t i = 0; i < format->pattern_size; i++) {
        uint8_t byte = format->pattern[i];
        if (byte != '%') {
            if (!take_byte(cursor, byte))
                return false;
        } else if (!take_directive(cursor, format->pattern[++i], calendar)) {
            return false;
        }
    }
    return true;
}

/* The parts of a time that directives read; two for the same part exclude each other. */
static unsigned part_of(uint8_t directive)
{
    static const char *const parts[] = {"Yy", "mb", "de", "H", "M", "S", "f", "z", "a"};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(parts); i++) {
        if (directive != 0 && strchr(parts[i], directive) != NULL)
            return 1u << i;
    }
    return 0;
}

#define DATE_PARTS 7u

const char *bb_time_format_of_pattern(struct bb_bytes pattern, struct bb_time_format *ret_format)
{
    unsigned parts = 0;
    if (pattern.size > BB_TIME_PATTERN_MAX)
        return "the pattern is longer than 64 bytes";
    for (size_t i = 0; i < pattern.size; i++) {
        if (pattern.data[i] != '%')
            continue;
        uint8_t directive = ++i < pattern.size ? pattern.data[i] : 0;
        unsigned part = part_of(directive);
        if (part == 0 && directive != '%')
            return "unknown directive, expected one of %Y %y %m %b %d %e %H %M %S %f %z %a %%";
        if ((parts & part) != 0)
            return "two directives for the same part of the time";
        parts |= part;
    }
    if ((parts & DATE_PARTS) != DATE_PARTS)
        return "the pattern lacks year (%Y, %y), month (%m, %b) or day (%d, %e)";
    *ret_format = (struct bb_time_format){.kind = BB_TIME_PATTERN, .pattern_size = pattern.size};
    memcpy(ret_format->pattern, pattern.data, pattern.size);
    return NULL;
}

/* --- Counts --- */

/* "1521911720.865716", "-1.5", "5." */
static bool read_unix_float(struct bb_bytes text, int64_t *ret_time)
{
    const uint8_t *point = text.size == 0 ? NULL : memchr(text.data, '.', text.size);
    size_t whole_size = point == NULL ? text.size : (size_t)(point - text.data);
    struct time_cursor cursor = {text.data + whole_size, text.data + text.size};
    int64_t seconds;
    int32_t fraction = 0;
    if (!bb_number_i64(bb_bytes_of(text.data, whole_size), &seconds))
        return false;
    if (take_byte(&cursor, '.') && cursor.at < cursor.end && !take_fraction(&cursor, &fraction))
        return false;
    if (cursor.at < cursor.end)
        return false;
    if (text.data[0] != '-' || fraction == 0)
        return bb_calendar_seconds_to_time(seconds, fraction, ret_time);
    return seconds > INT64_MIN &&
           bb_calendar_seconds_to_time(seconds - 1, BB_NANOSECONDS_PER_SECOND - fraction, ret_time);
}

bool bb_time_format_has_unit(const struct bb_time_format *format)
{
    return format->kind >= BB_TIME_UNIX && format->kind <= BB_TIME_UNIX_NS;
}

bool bb_time_format_of_integer(const struct bb_time_format *format, int64_t value,
                               int64_t *ret_time)
{
    BB_DEBUG_ASSERT(bb_time_format_has_unit(format));
    static const int64_t units[] = {1000000000, 1000000, 1000, 1};
    int64_t time;
    if (__builtin_mul_overflow(value, units[format->kind - BB_TIME_UNIX], &time))
        return false;
    *ret_time = time;
    return true;
}

static bool read_integer(const struct bb_time_format *format, struct bb_bytes text,
                         int64_t *ret_time)
{
    int64_t value;
    return bb_number_i64(text, &value) && bb_time_format_of_integer(format, value, ret_time);
}

bool bb_time_format_read(const struct bb_time_format *format, struct bb_bytes text,
                         int64_t *ret_time)
{
    struct time_cursor cursor = {text.data, text.data + text.size};
    struct bb_calendar_time calendar = {0};
    if (bb_time_format_has_unit(format))
        return read_integer(format, text, ret_time);
    if (format->kind == BB_TIME_UNIX_FLOAT)
        return read_unix_float(text, ret_time);
    bool is_read = format->kind == BB_TIME_RFC3339 ? take_rfc3339(&cursor, &calendar)
                   : format->kind == BB_TIME_CLF   ? take_clf(&cursor, &calendar)
                                                   : take_pattern(format, &cursor, &calendar);
    return is_read && cursor.at == cursor.end && bb_calendar_to_time(&calendar, ret_time);
}
