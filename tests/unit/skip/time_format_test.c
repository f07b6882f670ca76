/* Times: every format, its limits, and random dates against the C library's timegm. */
#include "skip/record/time_memo.h"

#include <time.h>

#include "tests/support/rng.h"
#include "tests/unit/skip/record_fixture.h"

static void time_format__rfc3339(void **state)
{
    static const struct record_case cases[] = {
        {"2015-05-17T10:05:03Z", "1431857103000000000"},
        {"2015-05-17t10:05:03z", "1431857103000000000"},
        {"2015-05-17 10:05:03+00:00", "1431857103000000000"},
        {"2015-05-17T12:05:03+02:00", "1431857103000000000"},
        {"2015-05-17T04:35:03-05:30", "1431857103000000000"},
        {"2015-05-17T12:05:03+0200", "1431857103000000000"},
        {"2015-05-17T10:05:03.5Z", "1431857103500000000"},
        {"2015-05-17T10:05:03.123456789Z", "1431857103123456789"},
        {"2015-05-17T10:05:03.1234567899999Z", "1431857103123456789"},
        {"1970-01-01T00:00:00Z", "0"},
        {"1969-12-31T23:59:59.999999999Z", "-1"},
        {"2016-12-31T23:59:60Z", "1483228800000000000"},
        {"2000-02-29T00:00:00Z", "951782400000000000"},
        {"1677-09-21T00:12:43.145224192Z", "-9223372036854775808"},
        {"1677-09-21T00:12:43.145224191Z", "<malformed>"},
        {"2262-04-11T23:47:16.854775807Z", "9223372036854775807"},
        {"2262-04-11T23:47:16.854775808Z", "<malformed>"},
        {"0000-01-01T00:00:00Z", "<malformed>"},
        {"9999-12-31T23:59:59Z", "<malformed>"},
        {"1900-02-29T00:00:00Z", "<malformed>"},
        {"2015-02-29T00:00:00Z", "<malformed>"},
        {"2015-04-31T00:00:00Z", "<malformed>"},
        {"2015-13-01T00:00:00Z", "<malformed>"},
        {"2015-00-01T00:00:00Z", "<malformed>"},
        {"2015-01-00T00:00:00Z", "<malformed>"},
        {"2015-05-17T24:00:00Z", "<malformed>"},
        {"2015-05-17T10:60:03Z", "<malformed>"},
        {"2015-05-17T10:05:61Z", "<malformed>"},
        {"2015-05-17T10:05:03+24:00", "<malformed>"},
        {"2015-05-17T10:05:03+02:60", "<malformed>"},
        {"2015-05-17T10:05:03", "<malformed>"},
        {"2015-05-17T10:05:03.Z", "<malformed>"},
        {"2015-05-17T10:05Z", "<malformed>"},
        {"2015-05-17", "<malformed>"},
        {"2015-05-17T10:05:03Z ", "<malformed>"},
        {" 2015-05-17T10:05:03Z", "<malformed>"},
        {"15-05-17T10:05:03Z", "<malformed>"},
        {"2015-5-17T10:05:03Z", "<malformed>"},
        {"+2015-05-17T10:05:03Z", "<malformed>"},
        {"", "<null>"},
    };
    (void)state;
    ASSERT_CASES("a time(rfc3339) = value", cases);
}

static void time_format__clf(void **state)
{
    static const struct record_case cases[] = {
        {"17/May/2015:10:05:03 +0000", "1431857103000000000"},
        {"17/may/2015:12:05:03 +0200", "1431857103000000000"},
        {"17/May/2015:10:05:03", "<malformed>"},
        {"17/Mai/2015:10:05:03 +0000", "<malformed>"},
        {"7/May/2015:10:05:03 +0000", "<malformed>"},
        {"17/May/2015 10:05:03 +0000", "<malformed>"},
        {"31/Feb/2015:10:05:03 +0000", "<malformed>"},
    };
    (void)state;
    ASSERT_CASES("a time(clf) = value", cases);
}

static void time_format__counts(void **state)
{
    static const struct record_case seconds[] = {
        {"1431857103", "1431857103000000000"},
        {"-1", "-1000000000"},
        {"+5", "5000000000"},
        {"9223372036", "9223372036000000000"},
        {"9223372037", "<malformed>"},
        {"1.5", "<malformed>"},
        {"", "<null>"},
    };
    static const struct record_case floats[] = {
        {"1521911720.865716", "1521911720865716000"},
        {"1521911720", "1521911720000000000"},
        {"1521911720.", "1521911720000000000"},
        {"0.0000000019", "1"},
        {"-1.5", "-1500000000"},
        {"-0.5", "-500000000"},
        {"-0.0", "0"},
        {"9223372036.854775807", "9223372036854775807"},
        {"9223372036.854775808", "<malformed>"},
        {"-9223372036.854775808", "-9223372036854775808"},
        {"-9223372036.854775809", "<malformed>"},
        {".5", "<malformed>"},
        {"1e9", "<malformed>"},
        {"1.5.5", "<malformed>"},
        {"1.-5", "<malformed>"},
        {"-", "<malformed>"},
        {"nan", "<malformed>"},
    };
    static const struct record_case ms[] = {{"1431857103123", "1431857103123000000"}};
    static const struct record_case us[] = {{"-1431857103123456", "-1431857103123456000"}};
    static const struct record_case ns[] = {{"-9223372036854775808", "-9223372036854775808"}};
    (void)state;
    ASSERT_CASES("a time(unix) = value", seconds);
    ASSERT_CASES("a time(unix_float) = value", floats);
    ASSERT_CASES("a time(unix_ms) = value", ms);
    ASSERT_CASES("a time(unix_us) = value", us);
    ASSERT_CASES("a time(unix_ns) = value", ns);
}

static void time_format__patterns(void **state)
{
    static const char *const cases[][3] = {
        {"%Y-%m-%d", "2015-05-17", "1431820800000000000"},
        {"%Y-%m-%d %H:%M:%S", "2015-05-17 10:05:03", "1431857103000000000"},
        {"%Y-%m-%d %H:%M:%S,%f", "2015-05-17 10:05:03,25", "1431857103250000000"},
        {"%y%m%d %H%M%S", "081109 203615", "1226262975000000000"},
        {"%y%m%d", "690101", "-31536000000000000"},
        {"%y%m%d", "680101", "3092601600000000000"},
        {"%a, %d %b %Y %H:%M:%S GMT", "Sun, 06 Nov 1994 08:49:37 GMT", "784111777000000000"},
        {"%a, %d %b %Y", "Son, 06 Nov 1994", "<malformed>"},
        {"%b %e %Y", "May  7 2015", "1430956800000000000"},
        {"%b %e %Y", "May 17 2015", "1431820800000000000"},
        {"%b%e %Y", "May7 2015", "1430956800000000000"},
        {"%d.%m.%Y%z", "17.05.2015+02:00", "1431813600000000000"},
        {"%d.%m.%Y%z", "17.05.2015Z", "1431820800000000000"},
        {"100%% %Y%m%d", "100% 20150517", "1431820800000000000"},
        {"%Y%m%d", "2015517", "<malformed>"},
        {"%Y%m%d", "20150517 ", "<malformed>"},
        {"%Y%m%d", "2015\xff", "<malformed>"},
        {"%Y%m%d%f", "20150517", "<malformed>"},
    };
    char definition[128];
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cases); i++) {
        struct record_case one = {cases[i][1], cases[i][2]};
        snprintf(definition, sizeof(definition), "a time('%s') = value", cases[i][0]);
        assert_cases(definition, &one, 1);
    }
}

static void time_format__dates_are_those_of_timegm(void **state)
{
    struct bb_time_format format;
    struct bb_rng rng;
    (void)state;
    bb_rng_init(&rng, bb_rng_seed("time_format__dates_are_those_of_timegm", 20261122));
    assert_true(bb_time_format_named(bb_bytes_of_text("rfc3339"), &format));
    for (int i = 0; i < 50000; i++) {
        char text[40];
        struct tm tm;
        int64_t found;
        time_t seconds = (time_t)bb_rng_below(&rng, 18446744072u) - 9223372036;
        assert_non_null(gmtime_r(&seconds, &tm));
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
        assert_true(bb_time_format_read(&format, bb_bytes_of_text(text), &found));
        assert_true(found == (int64_t)seconds * 1000000000);
    }
}

/* Times of a log, a few seconds apart, of which some are damaged or end with a leap second; and
 * times at the limits. */
static void time_memo__reads_as_without_it(void **state)
{
    static const char *const limits[] = {
        "11/Apr/2262:23:47:16 +0000", "11/Apr/2262:23:47:17 +0000", "11/Apr/2262:23:47:59 +0000",
        "21/Sep/1677:00:12:44 +0000", "21/Sep/1677:00:12:43 +0000", "21/Sep/1677:00:12:00 +0000",
    };
    struct bb_time_format format;
    struct bb_time_memo memo = {.minute = 0};
    struct bb_rng rng;
    time_t seconds = 1431857103;
    (void)state;
    bb_rng_init(&rng, bb_rng_seed("time_memo__reads_as_without_it", 20261123));
    assert_true(bb_time_format_named(bb_bytes_of_text("clf"), &format));
    for (int i = 0; i < 50000; i++) {
        char text[40];
        struct tm tm;
        int64_t found = 77;
        int64_t expected = 77;
        seconds += (time_t)bb_rng_below(&rng, 4) - 1;
        assert_non_null(gmtime_r(&seconds, &tm));
        strftime(text, sizeof(text), "%d/%b/%Y:%H:%M:%S +0000", &tm);
        if (i % 50 == 49)
            snprintf(text, sizeof(text), "%s", limits[(size_t)i / 50 % BB_ARRAY_LENGTH(limits)]);
        if (i % 7 == 6)
            text[bb_rng_below(&rng, 26)] = (char)('0' + (char)bb_rng_below(&rng, 12));
        if (i % 61 == 60)
            memcpy(text + 18, "60", 2);
        struct bb_bytes bytes = bb_bytes_of_text(text);
        bool is_time = bb_time_format_read(&format, bytes, &expected);
        assert_int_equal(bb_time_memo_read(&memo, &format, bytes, &found), is_time);
        assert_true(found == expected);
    }
}

/* A memo without a time took zeros with a second for a time of 1970. */
static void time_memo__empty_is_no_text_of_zeros(void **state)
{
    (void)state;
    struct bb_time_format format;
    struct bb_time_memo memo = {.minute = 0};
    uint8_t text[BB_TIME_MEMO_SIZE] = {[18] = '0', [19] = '7'};
    int64_t found = 77;
    assert_true(bb_time_format_named(bb_bytes_of_text("clf"), &format));
    assert_false(bb_time_memo_read(&memo, &format, bb_bytes_of(text, sizeof(text)), &found));
    assert_int_equal(found, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_format__rfc3339),
        cmocka_unit_test(time_format__clf),
        cmocka_unit_test(time_format__counts),
        cmocka_unit_test(time_format__patterns),
        cmocka_unit_test(time_format__dates_are_those_of_timegm),
        cmocka_unit_test(time_memo__reads_as_without_it),
        cmocka_unit_test(time_memo__empty_is_no_text_of_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
