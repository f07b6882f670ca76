/* See time_text.h. */
#include "skip/condition/time_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/status.h"
#include "skip/record/calendar.h"

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

/* Exactly count digits. */
static bool take_number(struct cursor *cursor, size_t count, int *ret_number)
{
    int number = 0;
    if ((size_t)(cursor->end - cursor->at) < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (cursor->at[i] < '0' || cursor->at[i] > '9')
            return false;
        number = number * 10 + (cursor->at[i] - '0');
    }
    cursor->at += count;
    *ret_number = number;
    return true;
}

static bool take_date(struct cursor *cursor, struct bb_calendar_time *calendar)
{
    return take_number(cursor, 4, &calendar->year) && take(cursor, '-') &&
           take_number(cursor, 2, &calendar->month) && take(cursor, '-') &&
           take_number(cursor, 2, &calendar->day);
}

/* One to nine digits. */
static bool take_fraction(struct cursor *cursor, int32_t *ret_nanoseconds)
{
    int nanoseconds = 0;
    int digit = 0;
    size_t count = 0;
    for (; count < FRACTION_DIGITS && take_number(cursor, 1, &digit); count++)
        nanoseconds = nanoseconds * 10 + digit;
    if (count == 0)
        return false;
    for (; count < FRACTION_DIGITS; count++)
        nanoseconds *= 10;
    *ret_nanoseconds = nanoseconds;
    return true;
}

/* Z, +02:00, -0330 or nothing. */
static bool take_zone(struct cursor *cursor, int32_t *ret_seconds)
{
    *ret_seconds = 0;
    if (cursor->at == cursor->end || take(cursor, 'Z'))
        return true;
    bool is_west = is_next(cursor, '-');
    int hours = 0;
    int minutes = 0;
    if (!take(cursor, '+') && !take(cursor, '-'))
        return false;
    if (!take_number(cursor, 2, &hours))
        return false;
    (void)take(cursor, ':');
    if (!take_number(cursor, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    int seconds = hours * 3600 + minutes * 60;
    *ret_seconds = is_west ? -seconds : seconds;
    return true;
}

static bool take_clock(struct cursor *cursor, struct bb_calendar_time *calendar)
{
    if (!take(cursor, 'T') && !take(cursor, ' '))
        return false;
    if (!take_number(cursor, 2, &calendar->hour) || !take(cursor, ':') ||
        !take_number(cursor, 2, &calendar->minute))
        return false;
    if (take(cursor, ':')) {
        if (!take_number(cursor, 2, &calendar->second))
            return false;
        if (take(cursor, '.') && !take_fraction(cursor, &calendar->nanosecond))
            return false;
    }
    return take_zone(cursor, &calendar->offset_seconds);
}

enum bb_status bb_time_text_parse(struct bb_bytes text, int64_t *ret_nanoseconds)
{
    struct cursor cursor = {.at = text.data,
                            .end = text.size == 0 ? text.data : text.data + text.size};
    struct bb_calendar_time calendar = {0};
    int64_t time = 0;
    bool is_time = take_date(&cursor, &calendar);
    if (is_time && cursor.at < cursor.end)
        is_time = take_clock(&cursor, &calendar);
    if (!is_time || cursor.at != cursor.end || !bb_calendar_to_time(&calendar, &time)) {
        char shown[SHOWN_SIZE];
        return bb_fail(BB_INVALID,
                       "expected a time from 1677-09-21 to 2262-04-11 such as "
                       "'2015-05-17T10:05:03Z' or '2015-05-17', found '%s'",
                       bb_bytes_escape(text, shown, sizeof(shown)));
    }
    *ret_nanoseconds = time;
    return BB_OK;
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

void bb_time_text_print(int64_t nanoseconds, char text[BB_TIME_TEXT_SIZE])
{
    int64_t second = nanoseconds / BB_NANOSECONDS_PER_SECOND -
                     (nanoseconds % BB_NANOSECONDS_PER_SECOND < 0 ? 1 : 0);
    unsigned fraction =
        (unsigned)(nanoseconds % BB_NANOSECONDS_PER_SECOND +
                   (nanoseconds % BB_NANOSECONDS_PER_SECOND < 0 ? BB_NANOSECONDS_PER_SECOND : 0));
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
