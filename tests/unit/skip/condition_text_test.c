/* Goal: LIKE, tokens and regular expressions have the meaning of bb/condition.h on any bytes, in
 * bounded time; and the properties that a leaf claims for its matches hold. */
#include "tests/unit/skip/condition_fixture.h"

#include <stdio.h>

#include "skip/condition/token.h"
#include "skip/condition/tree.h"

#define assert_text(text, value, truth)                                                            \
    assert_truth(text, FIELD_TEXT, bytes_value(value, sizeof(value) - 1), truth)

static void text__like_has_any_bytes_and_one_character(void **state)
{
    (void)state;
    assert_text("text LIKE 'abc'", "abc", TRUE);
    assert_text("text LIKE 'abc'", "abcd", FALSE);
    assert_text("text LIKE ''", "", TRUE);
    assert_text("text LIKE ''", "a", FALSE);
    assert_text("text LIKE '%'", "", TRUE);
    assert_text("text LIKE '%%'", "a\0b", TRUE);
    assert_text("text LIKE 'a%'", "a", TRUE);
    assert_text("text LIKE '%a'", "ba", TRUE);
    assert_text("text LIKE '%a'", "ab", FALSE);
    assert_text("text LIKE 'a%a'", "a", FALSE);
    assert_text("text LIKE 'a%a'", "aa", TRUE);
    assert_text("text LIKE '%ab%ab%'", "xabab", TRUE);
    assert_text("text LIKE '%ab%ab%'", "xaba", FALSE);
    assert_text("text LIKE 'a%bc%bc'", "abcbc", TRUE);
    assert_text("text LIKE 'a%bc%bc'", "abc", FALSE);
    assert_text("text LIKE '_'", "a", TRUE);
    assert_text("text LIKE '_'", "", FALSE);
    assert_text("text LIKE '_'", "ab", FALSE);
    assert_text("text LIKE '_%_'", "a", FALSE);
    assert_text("text LIKE '_%_'", "ab", TRUE);
    assert_text("text LIKE 'a_c%'", "abcd", TRUE);
    assert_text("text LIKE '%a_c'", "xxabc", TRUE);
    assert_text("text LIKE '%_b_%'", "ab", FALSE);
    assert_text("text LIKE '%_b_%'", "bbb", TRUE);
    assert_text("text LIKE 'A'", "a", FALSE);
    assert_text("text NOT LIKE 'a%'", "b", TRUE);
}

static void text__one_character_is_a_valid_utf8_sequence_or_a_byte(void **state)
{
    (void)state;
    assert_text("text LIKE '_'", "\xc3\xa9", TRUE);
    assert_text("text LIKE '__'", "\xc3\xa9", FALSE);
    assert_text("text LIKE '_'", "\xe2\x82\xac", TRUE);
    assert_text("text LIKE '_'", "\xf0\x9f\x98\x80", TRUE);
    assert_text("text LIKE '%__'", "\xf0\x9f\x98\x80", FALSE);
    assert_text("text LIKE '__%'", "\xf0\x9f\x98\x80", FALSE);
    assert_text("text LIKE '%_%_%'", "\xf0\x9f\x98\x80", FALSE);
    assert_text("text LIKE 'a%_b'",
                "a\xf0\x9f\x98\x80"
                "b",
                TRUE);
    assert_text("text LIKE 'a__%b'",
                "a\xf0\x9f\x98\x80"
                "b",
                FALSE);
    /* Overlong, a surrogate, beyond U+10FFFF, cut: each byte is a character. */
    assert_text("text LIKE '__'", "\xc0\x80", TRUE);
    assert_text("text LIKE '___'", "\xe0\x80\x80", TRUE);
    assert_text("text LIKE '___'", "\xed\xa0\x80", TRUE);
    assert_text("text LIKE '____'", "\xf4\x90\x80\x80", TRUE);
    assert_text("text LIKE '__'", "\xe2\x82", TRUE);
    assert_text("text LIKE '_'", "\xff", TRUE);
    assert_text("text LIKE '_a_'",
                "\xff"
                "a\x80",
                TRUE);
    /* % is bytes: a part of a character is a part of the value. */
    assert_text("text LIKE '%\x82%'", "\xe2\x82\xac", TRUE);
    assert_text("text LIKE '%\x82_'", "\xe2\x82\xac", FALSE);
}

static void text__backslash_escapes_what_means_something(void **state)
{
    (void)state;
    assert_text("text LIKE '100\\%'", "100%", TRUE);
    assert_text("text LIKE '100\\%'", "100x", FALSE);
    assert_text("text LIKE 'a\\_b'", "a_b", TRUE);
    assert_text("text LIKE 'a\\_b'", "axb", FALSE);
    assert_text("text LIKE 'a\\\\b'", "a\\b", TRUE);
    assert_text("text LIKE 'a\\db%'", "a\\dbc", TRUE);
    assert_text("text LIKE '%a\\'", "a\\", TRUE);
    assert_text("text LIKE '\\%%'", "%x", TRUE);
    assert_text("text LIKE '%\\%'", "x%", TRUE);
    assert_text("text LIKE '%\\%'", "x", FALSE);
}

static void text__ilike_ignores_the_case_of_ascii_letters_alone(void **state)
{
    (void)state;
    assert_text("text ILIKE 'aBc%'", "AbCd", TRUE);
    assert_text("text ILIKE '%X_Z'", "axyz", TRUE);
    assert_text("text ILIKE 'abc'", "ABC", TRUE);
    assert_text("text ILIKE 'abc'", "ABCD", FALSE);
    assert_text("text ILIKE '%\xc3\xa9%'", "\xc3\x89", FALSE);
    assert_text("text ILIKE '[%'", "{", FALSE);
    assert_text("text NOT ILIKE '%b%'", "ABC", FALSE);
}

static void text__parts_of_a_value(void **state)
{
    (void)state;
    assert_text("starts_with(text, 'a%')", "a%b", TRUE);
    assert_text("starts_with(text, 'a%')", "ab", FALSE);
    assert_text("starts_with(text, '')", "", TRUE);
    assert_text("ends_with(text, '_b')", "a_b", TRUE);
    assert_text("ends_with(text, '_b')", "abb", FALSE);
    assert_text("Contains(text, \"\\\")", "a\\b", TRUE);
    assert_text("contains(text, 'b')", "ac", FALSE);
    assert_text("contains(text, '')", "", TRUE);
    assert_truth("contains(text, 'b')", FIELD_TEXT,
                 (struct bb_attribute){.state = BB_ATTRIBUTE_NULL}, UNKNOWN);
}

static void text__tokens(void **state)
{
    (void)state;
    assert_text("has_token(text, 'sqlmap')", "a sqlmap/1.0", TRUE);
    assert_text("has_token(text, \"sqlmap\")", "sqlmap", TRUE);
    assert_text("has_token(text, 'sqlmap')", "sqlmap2", FALSE);
    assert_text("has_token(text, 'sqlmap')", "xsqlmap", FALSE);
    assert_text("has_token(text, 'sqlmap')", "xsqlmap sqlmap", TRUE);
    assert_text("has_token(text, 'aa')", "aaa aaaa aa", TRUE);
    assert_text("has_token(text, 'aa')", "aaa aaaa", FALSE);
    assert_text("has_token(text, 'sqlmap')", "SQLMAP", FALSE);
    assert_text("has_token(text, 'a')", "", FALSE);
    assert_text("has_token(text, '\xc3\xa9')", "caf\xc3\xa9", FALSE);
    assert_text("has_token(text, '5')", "user_id=5", TRUE);
    assert_text("has_token(text, 'id')", "user_id=5", TRUE);
    assert_text("has_token(text, 'b')", "a\0b", TRUE);
    assert_text("has_all_tokens(text, 'a b', 'c')", "c-b-a", TRUE);
    assert_text("has_all_tokens(text, 'a b', 'c')", "b-a", FALSE);
    assert_text("has_any_token(text, 'a b', 'c')", "x c", TRUE);
    assert_text("has_any_token(text, 'a b', 'c')", "x d", FALSE);
    assert_text("NOT has_any_token(text, 'a')", "x d", TRUE);
}

static void text__tokens_are_those_of_clickhouse(void **state)
{
    (void)state;
    static const char *const texts[][5] = {
        {"user_id=5", "user", "id", "5", NULL},
        {"83.149.9.216", "83", "149", "9", "216"},
        {"caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "caf\xc3\xa9",
         "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", NULL, NULL},
        {"", NULL, NULL, NULL, NULL},
        {" -_@[`{/:", NULL, NULL, NULL, NULL},
        {"a\xa0z", "a\xa0z", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct bb_bytes text = bb_bytes_of_text(texts[i][0]);
        struct bb_bytes token;
        size_t at = 0;
        for (size_t j = 1; j < 5 && texts[i][j] != NULL; j++) {
            assert_true(bb_token_next(text, &at, &token));
            assert_true(bb_bytes_equal(token, bb_bytes_of_text(texts[i][j])));
        }
        if (i != 1)
            assert_false(bb_token_next(text, &at, &token));
    }
}

static void text__regular_expressions(void **state)
{
    (void)state;
    assert_text("matches(text, '^GET /[a-z]+$')", "GET /abc", TRUE);
    assert_text("matches(text, '^GET /[a-z]+$')", "GET /abc\n", FALSE);
    assert_text("matches(text, 'b+')", "abbbc", TRUE);
    assert_text("matches(text, '')", "", TRUE);
    assert_text("matches(text, '(?i)ABC')", "xabcx", TRUE);
    assert_text("matches(text, '^.$')", "\xc3\xa9", FALSE);
    assert_text("matches(text, '^..$')", "\xc3\xa9", TRUE);
    assert_text("matches(text, '\\xff\\x00')", "a\xff\0", TRUE);
    assert_text("matches(text, '(?m)^b$')", "a\nb\nc", TRUE);
    assert_text("NOT matches(text, 'b')", "a", TRUE);
    assert_text("matches(text, 'a(?=b)')", "ab", TRUE);
    assert_text("matches(text, '(.)\\1')", "abba", TRUE);
}

static void text__wrong_text_is_refused_with_its_position(void **state)
{
    (void)state;
    assert_refused("has_token(text, 'a-b')", "at byte 16: expected one token");
    assert_refused("has_token(text, '')", "at byte 16: expected one token");
    assert_refused("has_all_tokens(text, 'a', '-')", "at byte 26: expected a text with a token");
    assert_refused("has_token(text, 'a', 'b')", "at byte 19: expected ), found ,");
    assert_refused("has_token(i, 'a')", "at byte 10: expected an attribute of type bytes");
    assert_refused("has_token(text 'a')", "at byte 15: expected , and a string");
    assert_refused("has_token('a', text)", "at byte 10: expected a condition on an attribute");
    assert_refused("no_function(text, 'a')", "at byte 0: expected the name of an attribute");
    assert_refused("text LIKE 5", "at byte 10: expected a string, found 5");
    assert_refused("i LIKE 'a'", "expected an attribute of type bytes, found \"i\" of type i64");
    assert_refused("matches(text, 'a(b')", "at byte 14: regular expression: at byte 3");
    assert_refused("matches(text, '(*UTF)a')", "at byte 14: regular expression");
    assert_refused("text NOT 'a'", "expected BETWEEN, IN, LIKE or ILIKE");
}

static void text__a_regular_expression_gives_up_with_an_error(void **state)
{
    (void)state;
    char value[65] = "";
    memset(value, 'a', 64);
    struct bb_attribute record[FIELD_COUNT] = {[FIELD_TEXT] = text_value(value)};
    enum bb_truth truth = BB_TRUTH_UNKNOWN;
    struct bb_condition *condition = parse("matches(text, '(a+)+b') OR i = 1");
    record[FIELD_I64].state = BB_ATTRIBUTE_NULL;
    value[63] = '!';
    assert_status(try_to_test(condition, record, &truth), BB_OK); /* no b: not even tried */
    bb_condition_destroy(condition);
    condition = parse("matches(text, '^(a+)+[bc]$') OR i = 1");
    assert_status(try_to_test(condition, record, &truth), BB_TOO_LARGE);
    assert_message("attribute \"text\": regular expression: gave up on a value of 64 bytes");
    bb_condition_destroy(condition);
    static char huge[BB_CONDITION_SIZE_MAX / 200] = "matches(text, '";
    memset(huge + 15, 'a', sizeof(huge) - 20);
    strcat(huge, "')");
    assert_status(try_to_parse(bb_bytes_of_text(huge), &condition), BB_TOO_LARGE);
    assert_message("the limit is 65536");
}

/* Exponential for a matcher that tries all ways to part the value. */
static void text__like_takes_bounded_time(void **state)
{
    (void)state;
    static char value[20001];
    memset(value, 'a', sizeof(value) - 1);
    assert_truth("text LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'", FIELD_TEXT,
                 text_value(value), FALSE);
    assert_truth("text LIKE '%a_%a_%a_%a_%a_%a_%a_%a_%a_%a_%a_%a_%b%a'", FIELD_TEXT,
                 text_value(value), FALSE);
    assert_truth("text ILIKE '%_a%_a%_a%_a%_a%_a%_a%_a%_a%_a%B%'", FIELD_TEXT, text_value(value),
                 FALSE);
}

static void text__one_text_for_one_tree(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"starts_with(text, 'a%b')", "text LIKE 'a\\%b%'"},
        {"ends_with(text, 'it''s')", "text LIKE '%it''s'"},
        {"not contains(text, '\\')", "text NOT LIKE '%\\\\%'"},
        {"contains(text, '')", "text LIKE '%'"},
        {"text like '%%a%%%b_%_%'", "text LIKE '%a%b_%_%'"},
        {"text LIKE 'a\\d'", "text = 'a\\d'"},
        {"text LIKE 'a\\d%'", "text LIKE 'a\\\\d%'"},
        {"text NOT LIKE 'abc'", "text <> 'abc'"},
        {"text ILIKE 'ABC'", "text ILIKE 'abc'"},
        {"has_token(text, 'a')", "has_token(text, 'a')"},
        {"has_any_token(text, 'a a')", "has_token(text, 'a')"},
        {"has_all_tokens(text, 'b a', 'c', 'a')", "has_all_tokens(text, 'b', 'a', 'c')"},
        {"has_any_token(text, 'b-a')", "has_any_token(text, 'b', 'a')"},
        {"NOT MATCHES(text, 'it''s')", "NOT matches(text, 'it''s')"},
        {"starts_with LIKE 'a%' AND starts_with(starts_with, 'b')",
         "starts_with LIKE 'a%' AND starts_with LIKE 'b%'"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_prints(texts[i][0], texts[i][1]);
        assert_prints(texts[i][1], texts[i][1]);
    }
}

/* Groups as text: each group in brackets, its pieces with ^ $ # i for the flags. */
static void assert_pieces(const char *text, const char *expected)
{
    char found[500] = "";
    struct bb_condition *condition = parse(text);
    assert_int_equal(condition->kind, BB_CONDITION_LEAF);
    assert_int_equal(condition->leaf.kind, BB_LEAF_TEXT);
    for (size_t i = 0; i < condition->leaf.group_count; i++) {
        const struct bb_piece_group *group = &condition->leaf.groups[i];
        strcat(found, "[");
        for (size_t j = 0; j < group->piece_count; j++) {
            const struct bb_piece *piece = &group->pieces[j];
            sprintf(found + strlen(found), "%s%s%s%.*s%s%s", j == 0 ? "" : "|",
                    piece->is_token ? "#" : "", piece->is_at_start ? "^" : "",
                    (int)piece->bytes.size, (const char *)piece->bytes.data,
                    piece->is_at_end ? "$" : "", piece->ignores_case ? "~" : "");
        }
        strcat(found, "]");
    }
    bb_condition_destroy(condition);
    if (strcmp(found, expected) != 0)
        fail_msg("%s: %s instead of %s", text, found, expected);
}

static void text__pieces_of_patterns_and_tokens(void **state)
{
    (void)state;
    assert_pieces("text LIKE 'ab%c_d%ef'", "[^ab][c][d][ef$]");
    assert_pieces("text LIKE '%ab%'", "[ab]");
    assert_pieces("text LIKE '_ab_'", "[ab]");
    assert_pieces("text LIKE '%'", "");
    assert_pieces("text ILIKE 'Ab%'", "[^ab~]");
    assert_pieces("has_token(text, 'x')", "[#x]");
    assert_pieces("has_all_tokens(text, 'x y')", "[#x][#y]");
    assert_pieces("has_any_token(text, 'x y')", "[#x|#y]");
}

static void text__pieces_of_regular_expressions(void **state)
{
    (void)state;
    assert_pieces("matches(text, 'abc')", "[abc]");
    assert_pieces("matches(text, '^abc$')", "[^abc$]");
    assert_pieces("matches(text, '\\Aabc\\z')", "[^abc$]");
    assert_pieces("matches(text, '(?m)^abc$')", "[abc]");
    assert_pieces("matches(text, 'ab?c')", "[a][c]");
    assert_pieces("matches(text, 'ab*cd+e')", "[a][cd][e]");
    assert_pieces("matches(text, 'ab{0,3}c{2}d{1,}?e')", "[a][c][d][e]");
    assert_pieces("matches(text, 'ab[cd]ef.g')", "[ab][ef][g]");
    assert_pieces("matches(text, 'a[]b]c[^]d]e[[:alpha:]x]f')", "[a][c][e][f]");
    assert_pieces("matches(text, 'a[\\]]b')", "[a][b]");
    assert_pieces("matches(text, 'tag=qzhun1[ab] ')", "[tag=qzhun1][ ]");
    assert_pieces("matches(text, 'a\\.b\\d+c\\x41\\n')", "[a.b][cA\n]");
    assert_pieces("matches(text, 'GET|POST')", "[GET|POST]");
    assert_pieces("matches(text, '(GET|POST) /x')", "[GET|POST][ /x]");
    assert_pieces("matches(text, '(abc|d(ef|gh)i)x')", "[abc|ef|gh][x]");
    assert_pieces("matches(text, '(abc|)x')", "[x]");
    assert_pieces("matches(text, '(abc)?x')", "[x]");
    assert_pieces("matches(text, '(?:abc)+x')", "[abc][x]");
    assert_pieces("matches(text, 'a(b(?i)C)D')", "[a][b][c~][D]");
    assert_pieces("matches(text, '(?i)AbC')", "[abc~]");
    assert_pieces("matches(text, '(?i:Ab)C')", "[ab~][C]");
    assert_pieces("matches(text, 'a(?=bc)d')", "[a][d]");
    assert_pieces("matches(text, '(?<!bc)d')", "[d]");
    assert_pieces("matches(text, '(?<name>bc)d')", "[bc][d]");
    assert_pieces("matches(text, '^a|b$')", "[^a|b$]");
}

/* A pattern that is not understood makes no claim. */
static void text__no_pieces_where_a_pattern_is_not_understood(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "abc\\Qd*\\E",   "(abc)\\1",    "abc(?1)?(x)",     "abc\\Kd",    "(?x)a b c",
        "abc(*ACCEPT)d", "a{,2}bc",     "abc(?#comment)d", "abc\\x{41}", "(?|abc|d)",
        "abc[\\c]]",     "abc\\101",    "(?U)abc",         "a{2}{3}bc",  "abc(?(?=d)e|f)",
        "abc\\p{L}",     "abc[[.a.]]?", "abc\\bd(?^)x",
    };
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        char text[100];
        struct bb_condition *condition = NULL;
        snprintf(text, sizeof(text), "matches(text, '%s')", patterns[i]);
        if (try_to_parse(bb_bytes_of_text(text), &condition) != BB_OK)
            continue; /* pcre2 does not know it either */
        assert_int_equal(condition->leaf.group_count, 0);
        bb_condition_destroy(condition);
    }
}

static void text__covers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *low;
        const char *high;
        bool is_exact;
    } cases[] = {
        {"text LIKE 'abc%'", "abc", "abd", true},
        {"text LIKE 'abc%d'", "abc", "abd", false},
        {"text LIKE 'abc_'", "abc", "abd", false},
        {"text LIKE 'a\xff\xff%'", "a\xff\xff", "b", true},
        {"text LIKE '\xff%'", "\xff", NULL, true},
        {"text LIKE '%'", NULL, NULL, true},
        {"matches(text, '^abc')", "abc", "abd", false},
    };
    static const char *const without[] = {"text LIKE '%abc'", "text ILIKE 'abc%'",
                                          "text LIKE '_a%'", "matches(text, '^ab|c')",
                                          "has_token(text, 'a')"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bb_condition *condition = parse(cases[i].text);
        const struct bb_interval *cover = condition->leaf.cover;
        assert_non_null(cover);
        assert_int_equal(condition->leaf.is_cover_exact, cases[i].is_exact);
        assert_int_equal(cover->low.is_open, cases[i].low == NULL);
        assert_int_equal(cover->high.is_open, cases[i].high == NULL);
        if (cases[i].low != NULL)
            assert_true(bb_bytes_equal(cover->low.value.as.bytes, bb_bytes_of_text(cases[i].low)));
        if (cases[i].high != NULL)
            assert_true(
                bb_bytes_equal(cover->high.value.as.bytes, bb_bytes_of_text(cases[i].high)));
        assert_true(cases[i].high == NULL || cover->high.is_exclusive);
        bb_condition_destroy(condition);
    }
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
        struct bb_condition *condition = parse(without[i]);
        assert_null(condition->leaf.cover);
        bb_condition_destroy(condition);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__like_has_any_bytes_and_one_character),
        cmocka_unit_test(text__one_character_is_a_valid_utf8_sequence_or_a_byte),
        cmocka_unit_test(text__backslash_escapes_what_means_something),
        cmocka_unit_test(text__ilike_ignores_the_case_of_ascii_letters_alone),
        cmocka_unit_test(text__parts_of_a_value),
        cmocka_unit_test(text__tokens),
        cmocka_unit_test(text__tokens_are_those_of_clickhouse),
        cmocka_unit_test(text__regular_expressions),
        cmocka_unit_test(text__wrong_text_is_refused_with_its_position),
        cmocka_unit_test(text__a_regular_expression_gives_up_with_an_error),
        cmocka_unit_test(text__like_takes_bounded_time),
        cmocka_unit_test(text__one_text_for_one_tree),
        cmocka_unit_test(text__pieces_of_patterns_and_tokens),
        cmocka_unit_test(text__pieces_of_regular_expressions),
        cmocka_unit_test(text__no_pieces_where_a_pattern_is_not_understood),
        cmocka_unit_test(text__covers),
    };
    return cmocka_run_group_tests_name("condition_text", tests, NULL, NULL);
}
