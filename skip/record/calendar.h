/* A date and time of day as a calendar has them, in the proleptic Gregorian calendar. */
#ifndef BB_SKIP_RECORD_CALENDAR_H
#define BB_SKIP_RECORD_CALENDAR_H

#include "bb/base.h"

#define BB_NANOSECONDS_PER_SECOND 1000000000

struct bb_calendar_time {
    int year;               /* 0 ... 9999 */
    int month;              /* 1 ... 12 */
    int day;                /* 1 ... 31 */
    int hour;               /* 0 ... 23 */
    int minute;             /* 0 ... 59 */
    int second;             /* 0 ... 60 */
    int32_t nanosecond;     /* 0 ... 999,999,999 */
    int32_t offset_seconds; /* east of Greenwich */
};

/* Nanoseconds since 1970-01-01T00:00:00Z. False when a field is out of its range, the month has not
 * that day, or an int64_t cannot hold the time. */
bool bb_calendar_to_time(const struct bb_calendar_time *calendar, int64_t *ret_time);

/* seconds + nanoseconds, of which there are 0 to 999,999,999. False when an int64_t cannot hold
 * it. */
bool bb_calendar_seconds_to_time(int64_t seconds, int64_t nanoseconds, int64_t *ret_time);

#endif
