/* See calendar.h. Threads: any. */
#include "skip/record/calendar.h"

static bool is_leap_year(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_of_month(int year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap_year(year));
}

/* Days from 1970-01-01 to the first of the year. */
static int64_t days_to_year(int year)
{
    /* Leap days of the years 0 ... year - 1; the year 0 is one. */
    int before = year - 1;
    int leap_days = year == 0 ? 0 : before / 4 - before / 100 + before / 400 + 1;
    return (int64_t)year * 365 + leap_days - 719528;
}

static int days_to_month(int year, int month)
{
    static const uint16_t days[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    return days[month - 1] + (month > 2 && is_leap_year(year));
}

static bool is_within(int value, int low, int high)
{
    return value >= low && value <= high;
}

static bool is_possible(const struct bb_calendar_time *calendar)
{
    return is_within(calendar->year, 0, 9999) && is_within(calendar->month, 1, 12) &&
           is_within(calendar->day, 1, days_of_month(calendar->year, calendar->month)) &&
           is_within(calendar->hour, 0, 23) && is_within(calendar->minute, 0, 59) &&
           is_within(calendar->second, 0, 60);
}

bool bb_calendar_seconds_to_time(int64_t seconds, int64_t nanoseconds, int64_t *ret_time)
{
    int64_t time;
    /* The earliest times begin in a second that starts before them. */
    if (seconds < 0 && nanoseconds > 0) {
        seconds++;
        nanoseconds -= BB_NANOSECONDS_PER_SECOND;
    }
    if (__builtin_mul_overflow(seconds, (int64_t)BB_NANOSECONDS_PER_SECOND, &time) ||
        __builtin_add_overflow(time, nanoseconds, &time))
        return false;
    *ret_time = time;
    return true;
}

bool bb_calendar_to_time(const struct bb_calendar_time *calendar, int64_t *ret_time)
{
    if (!is_possible(calendar))
        return false;
    int64_t days = days_to_year(calendar->year) + days_to_month(calendar->year, calendar->month) +
                   calendar->day - 1;
    int64_t seconds = days * 86400 + calendar->hour * 3600 + calendar->minute * 60 +
                      calendar->second - calendar->offset_seconds;
    return bb_calendar_seconds_to_time(seconds, calendar->nanosecond, ret_time);
}
