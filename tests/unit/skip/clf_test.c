/* Common and combined logs: every field of whole lines, and the readable fields of damaged ones. */
#include "tests/unit/skip/record_fixture.h"

#define COMMON                                                                                     \
    "83.149.9.216 - frank [17/May/2015:10:05:03 +0000] \"GET /a b/c.png?x=1 HTTP/1.1\" 200 203023"
#define COMBINED COMMON " \"http://semicomplete.com/\" \"Mozilla/5.0 (\\\"X\\\\\\\")\""

static void clf__every_field_of_a_combined_line(void **state)
{
    static const char *const expected[][2] = {
        {"a bytes = clf(host)", "83.149.9.216"},
        {"a bytes = clf(ident)", "<null>"},
        {"a bytes = clf(user)", "frank"},
        {"a bytes = clf(time)", "17/May/2015:10:05:03 +0000"},
        {"a time(clf) = clf(time)", "1431857103000000000"},
        {"a bytes = clf(request)", "GET /a b/c.png?x=1 HTTP/1.1"},
        {"a bytes = clf(method)", "GET"},
        {"a bytes = clf(path)", "/a b/c.png?x=1"},
        {"a bytes = clf(protocol)", "HTTP/1.1"},
        {"a u64 = clf(status)", "200"},
        {"a i64 = clf(bytes)", "203023"},
        {"a bytes = clf(referer)", "http://semicomplete.com/"},
        {"a bytes = clf(agent)", "Mozilla/5.0 (\\\\\"X\\\\\\\\\\\\\")"},
    };
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(expected); i++) {
        struct record_case cases[] = {
            {COMBINED, expected[i][1]},
            {COMBINED "\n", expected[i][1]},
            {COMBINED "\r\n", expected[i][1]},
            {COMBINED " more", expected[i][1]},
        };
        ASSERT_CASES(expected[i][0], cases);
    }
}

/* The ends of words and times are found in steps of 16 bytes: fields of every length, inside lines
 * and at their ends. */
static void clf__fields_of_every_length(void **state)
{
    static const char *const definitions[] = {"a bytes = clf(host)", "a bytes = clf(time)",
                                              "a bytes = clf(status)"};
    static const char *const forms[] = {"%s - - [t] \"r\" 200 1", "h - u [%s] \"r\" 200 1",
                                        "h - - [t] \"r\" %s"};
    static const char bytes[] = "zabcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnop";
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(forms); i++) {
        for (int size = 1; size < (int)sizeof(bytes); size++) {
            char field[64];
            char line[128];
            snprintf(field, sizeof(field), "%.*s", size, bytes);
            snprintf(line, sizeof(line), forms[i], field);
            struct record_case cases[] = {{line, field}};
            ASSERT_CASES(definitions[i], cases);
        }
    }
}

static void clf__requests(void **state)
{
#define LINE(request) "h - - [t] \"" request "\" 200 -"
    static const struct record_case methods[] = {
        {LINE("GET / HTTP/1.0"), "GET"},
        {LINE("GET /"), "GET"},
        {LINE("-"), "<null>"},
        {LINE(""), "<malformed>"},
        {LINE("\\x16\\x03"), "<malformed>"},
        {LINE(" /"), "<malformed>"},
    };
    static const struct record_case paths[] = {
        {LINE("GET / HTTP/1.0"), "/"},      {LINE("GET /"), "/"},        {LINE("GET /a b"), "/a b"},
        {LINE("GET HTTP/1.0"), "HTTP/1.0"}, {LINE("GET  HTTP/1.0"), ""}, {LINE("-"), "<null>"},
    };
    static const struct record_case protocols[] = {
        {LINE("GET / HTTP/1.0"), "HTTP/1.0"},
        {LINE("GET /"), "<missing>"},
        {LINE("GET /a HTTP"), "<missing>"},
        {LINE("-"), "<null>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = clf(method)", methods);
    ASSERT_CASES("a bytes = clf(path)", paths);
    ASSERT_CASES("a bytes = clf(protocol)", protocols);
}

static void clf__users_may_have_blanks(void **state)
{
    static const struct record_case cases[] = {
        {"h - john smith [t] \"-\" 200 1", "john smith"},
        {"h - a[b [t] \"-\" 200 1", "a[b"},
        {"h - [t] \"-\" 200 1", "<malformed>"},
        {"h -", "<missing>"},
        {"h - ", "<missing>"},
        {"h - u", "<malformed>"},
        {"h - -", "<malformed>"},
        {"h - - [", "<null>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = clf(user)", cases);
}

static void clf__what_is_missing_and_what_is_malformed(void **state)
{
    static const struct record_case statuses[] = {
        {"", "<missing>"},
        {"\n", "<missing>"},
        {"h - - [t] \"-\" 404 -", "404"},
        {"h - - [t] \"-\" 404", "404"},
        {"h - - [t] \"-\" - -", "<null>"},
        {"h - - [t] \"-\" 4o4 -", "<malformed>"},
        {"h - - [t] \"-\" ", "<missing>"},
        {"h - - [t] \"-\"", "<missing>"},
        {"h - - [t] \"-\"  404", "<malformed>"},
        {"h - - [t] \"-", "<malformed>"},
        {"h - - [t] \"-\\\" 404 -", "<malformed>"},
        {"h - - [t] - 404 -", "<malformed>"},
        {"h - - [t \"-\" 404 -", "<malformed>"},
        {"h - - t] \"-\" 404 -", "<malformed>"},
        {" - - [t] \"-\" 404 -", "<malformed>"},
    };
    static const struct record_case bytes[] = {
        {"h - - [t] \"-\" 404 -", "<null>"},
        {"h - - [t] \"-\" 404 18446744073709551615", "18446744073709551615"},
        {"h - - [t] \"-\" 404 18446744073709551616", "<malformed>"},
        {"h - - [t] \"-\" 404", "<missing>"},
    };
    static const struct record_case agents[] = {
        {COMMON, "<missing>"},
        {COMMON " \"-\"", "<missing>"},
        {COMMON " \"-\" \"-\"", "<null>"},
        {COMMON " \"-\" \"\"", ""},
        {COMMON " \"-\" \"--\"", "--"},
        {COMMON " \"-\" \"a", "<malformed>"},
        {COMMON " \"-\" a", "<malformed>"},
        {COMMON " - \"a\"", "<malformed>"},
        {COMMON " \"-\" \"\xff\xfe\"", "\\xff\\xfe"},
    };
    (void)state;
    ASSERT_CASES("a u64 = clf(status)", statuses);
    ASSERT_CASES("a u64 = clf(bytes)", bytes);
    ASSERT_CASES("a bytes = clf(agent)", agents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clf__every_field_of_a_combined_line),
        cmocka_unit_test(clf__fields_of_every_length),
        cmocka_unit_test(clf__requests),
        cmocka_unit_test(clf__users_may_have_blanks),
        cmocka_unit_test(clf__what_is_missing_and_what_is_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
