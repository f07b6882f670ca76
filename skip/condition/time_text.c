/* See time_text.h. The calendar is the Gregorian one, proleptic before 1582. */
#include "skip/condition/time_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/status.h"

#define NANOSECONDS     1000000000
#define DAY_SECONDS     86400
#define FRACTION_DIGITS 9
#define SHOWN_SIZE      48

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static bool is_next(const struct cursor *cursor, char character)
{
    return cursor->at < cursor->end && *cursor->at == (uint8_t)character;
}

static bool take(struct cursor *cursor, char character)
{
    if (!is_next(cursor, character))
        return false;
    cursor->at++;
    return true;
}

/* Exactly count digits, of a number of at most max. */
static bool take_number(struct cursor *cursor, size_t count, int64_t max, int64_t *ret_number)
{
    int64_t number = 0;
    if ((size_t)(cursor->end - cursor->at) < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (cursor->at[i] < '0' || cursor->at[i] > '9')
            return false;
        number = number * 10 + (cursor->at[i] - '0');
    }
    cursor->at += count;
    *ret_number = number;
    return number <= max;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days of the years before this one, from year 1 on. */
static int64_t days_before_year(int64_t year)
{
    int64_t whole = year - 1;
    return whole * 365 + whole / 4 - whole / 100 + whole / 400;
}

static int64_t days_of_month(int64_t year, int64_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

/* Days from 1970-01-01 on. */
static bool take_date(struct cursor *cursor, int64_t *ret_days)
{
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;
    if (!take_number(cursor, 4, 9999, &year) || !take(cursor, '-') ||
        !take_number(cursor, 2, 12, &month) || !take(cursor, '-') ||
        !take_number(cursor, 2, 31, &day))
        return false;
    if (year == 0 || month == 0 || day == 0 || day > days_of_month(year, month))
        return false;
    int64_t days = days_before_year(year) - days_before_year(1970) + day - 1;
    for (int64_t before = 1; before < month; before++)
        days += days_of_month(year, before);
    *ret_days = days;
    return true;
}

/* One to nine digits. */
static bool take_fraction(struct cursor *cursor, int64_t *ret_nanoseconds)
{
    int64_t nanoseconds = 0;
    size_t count = 0;
    int64_t digit = 0;
    while (count < FRACTION_DIGITS && take_number(cursor, 1, 9, &digit)) {
        nanoseconds = nanoseconds * 10 + digit;
        count++;
    }
    if (count == 0)
        return false;
    for (; count < FRACTION_DIGITS; count++)
        nanoseconds *= 10;
    *ret_nanoseconds = nanoseconds;
    return true;
}

/* Z, +02:00, -0330 or nothing, in seconds. */
static bool take_zone(struct cursor *cursor, int64_t *ret_seconds)
{
    *ret_seconds = 0;
    if (cursor->at == cursor->end || take(cursor, 'Z'))
        return true;
    bool is_west = is_next(cursor, '-');
    if (!take(cursor, '+') && !take(cursor, '-'))
        return false;
    int64_t hours = 0;
    int64_t minutes = 0;
    if (!take_number(cursor, 2, 23, &hours))
        return false;
    (void)take(cursor, ':');
    if (!take_number(cursor, 2, 59, &minutes))
        return false;
    int64_t seconds = hours * 3600 + minutes * 60;
    *ret_seconds = is_west ? -seconds : seconds;
    return true;
}

static bool take_clock(struct cursor *cursor, int64_t *seconds, int64_t *nanoseconds)
{
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;
    int64_t zone = 0;
    if (!take(cursor, 'T') && !take(cursor, ' '))
        return false;
    if (!take_number(cursor, 2, 23, &hour) || !take(cursor, ':') ||
        !take_number(cursor, 2, 59, &minute))
        return false;
    if (take(cursor, ':') && !take_number(cursor, 2, 59, &second))
        return false;
    if (take(cursor, '.') && !take_fraction(cursor, nanoseconds))
        return false;
    if (!take_zone(cursor, &zone))
        return false;
    *seconds += hour * 3600 + minute * 60 + second - zone;
    return true;
}

/* False when 64 bits do not hold it. */
static bool join(int64_t seconds, int64_t nanoseconds, int64_t *ret_time)
{
    if (seconds < 0) { /* so that the earliest times do not pass through one below them */
        seconds++;
        nanoseconds -= NANOSECONDS;
    }
    int64_t time = 0;
    if (__builtin_mul_overflow(seconds, (int64_t)NANOSECONDS, &time))
        return false;
    return !__builtin_add_overflow(time, nanoseconds, ret_time);
}

enum bb_status bb_time_parse(struct bb_bytes text, int64_t *ret_nanoseconds)
{
    struct cursor cursor = {.at = text.data, .end = text.data + text.size};
    int64_t days = 0;
    int64_t nanoseconds = 0;
    bool is_time = text.size > 0 && take_date(&cursor, &days);
    int64_t seconds = days * DAY_SECONDS;
    if (is_time && cursor.at < cursor.end)
        is_time = take_clock(&cursor, &seconds, &nanoseconds);
    if (!is_time || cursor.at != cursor.end) {
        char shown[SHOWN_SIZE];
        return bb_fail(BB_INVALID,
                       "expected a time such as '2015-05-17T10:05:03Z' or '2015-05-17', found '%s'",
                       bb_bytes_escape(text, shown, sizeof(shown)));
    }
    int64_t time = 0;
    if (!join(seconds, nanoseconds, &time))
        return bb_fail(BB_INVALID, "expected a time between 1677-09-21T00:12:43.145224192Z and "
                                   "2262-04-11T23:47:16.854775807Z");
    *ret_nanoseconds = time;
    return BB_OK;
}

void bb_time_print(int64_t nanoseconds, char text[BB_TIME_TEXT_SIZE])
{
    int64_t second = nanoseconds / NANOSECONDS - (nanoseconds % NANOSECONDS < 0 ? 1 : 0);
    unsigned fraction =
        (unsigned)(nanoseconds % NANOSECONDS + (nanoseconds % NANOSECONDS < 0 ? NANOSECONDS : 0));
    int64_t days = second / DAY_SECONDS - (second % DAY_SECONDS < 0 ? 1 : 0);
    unsigned clock = (unsigned)(second - days * DAY_SECONDS);
    days += days_before_year(1970);
    int64_t year = days / 366 + 1; /* never too late, and at most two years too early */
    while (days_before_year(year + 1) <= days)
        year++;
    days -= days_before_year(year);
    int64_t month = 1;
    for (; days >= days_of_month(year, month); month++)
        days -= days_of_month(year, month);
    int length =
        snprintf(text, BB_TIME_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u", (unsigned)year,
                 (unsigned)month, (unsigned)days + 1, clock / 3600, clock / 60 % 60, clock % 60);
    if (fraction != 0)
        length += snprintf(text + length, BB_TIME_TEXT_SIZE - (size_t)length, ".%09u", fraction);
    while (fraction != 0 && text[length - 1] == '0')
        length--;
    text[length] = 'Z';
    text[length + 1] = 0;
}
