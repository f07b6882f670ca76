/* Words of Unicode: the words of texts; stretches, windows and searches find the same ones; and the
 * meaning of conditions on words. Everything is skipped in a build without words. */
#include "tests/unit/skip/condition_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "skip/condition/matcher.h"
#include "skip/condition/segments.h"
#include "skip/condition/tree.h"
#include "skip/condition/words.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define assert_text(text, value, truth)                                                            \
    assert_truth(text, FIELD_TEXT, bytes_value(value, sizeof(value) - 1), truth)

static void skip_without_words(void)
{
    if (!bb_words_are_built())
        skip();
}

/* --- Which words --- */

/* Words with a bar between them. */
static void assert_words(const char *text, size_t size, const char *expected)
{
    char found[4096] = "";
    struct bb_word_rules rules;
    struct bb_word_walk walk;
    struct bb_bytes word;
    bb_word_rules_init(&rules);
    bb_word_walk_begin(&walk, &rules, bb_bytes_of(text, size));
    while (bb_word_walk_next(&walk, &word))
        sprintf(found + strlen(found), "%s%.*s", found[0] == 0 ? "" : "|", (int)word.size,
                (const char *)word.data);
    if (strcmp(found, expected) != 0)
        fail_msg("\"%.*s\": %s instead of %s", (int)size, text, found, expected);
}
#define assert_words_of(text, expected) assert_words(text, sizeof(text) - 1, expected)

static void words__of_latin_text(void **state)
{
    (void)state;
    skip_without_words();
    assert_words_of("", "");
    assert_words_of(" \t\r\n -- !?", "");
    assert_words_of("GET /index.html HTTP/1.1", "GET|index.html|HTTP|1.1");
    assert_words_of("it's don\xe2\x80\x99t 'quoted'", "it's|don\xe2\x80\x99t|quoted");
    assert_words_of("snake_case camelCase kebab-case", "snake_case|camelCase|kebab|case");
    assert_words_of("a:b a.b. .a", "a:b|a.b|a");
    assert_words_of("na\xc3\xafve na\x69\xcc\x88ve", "na\xc3\xafve|na\x69\xcc\x88ve");
    assert_words_of("Stra\xc3\x9f"
                    "e",
                    "Stra\xc3\x9f"
                    "e");
    assert_words_of("a\0b", "a|b");
}

static void words__of_numbers(void **state)
{
    (void)state;
    skip_without_words();
    assert_words_of("3.14 1,000,000 10.0.0.1 1;2", "3.14|1,000,000|10.0.0.1|1;2");
    assert_words_of("3. .5 1,a 0x1f 5km", "3|5|1|a|0x1f|5km");
    assert_words_of("\xd9\xa1\xd9\xa2\xd9\xac\xd9\xa3", "\xd9\xa1\xd9\xa2\xd9\xac\xd9\xa3");
    assert_words_of("\xc2\xbd \xe2\x85\xa7", "\xc2\xbd|\xe2\x85\xa7");
}

static void words__of_other_scripts(void **state)
{
    (void)state;
    skip_without_words();
    /* Russian, Greek, Arabic with a vowel mark, Hindi with vowel signs and a virama. */
    assert_words_of("\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82, \xce\xba\xcf\x8c\xcf\x83\xce"
                    "\xbc\xce\xb5",
                    "\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82|\xce\xba\xcf\x8c\xcf\x83\xce"
                    "\xbc\xce\xb5");
    assert_words_of("\xd9\x83\xd9\x8e\xd8\xaa\xd8\xa8 \xd8\x9f",
                    "\xd9\x83\xd9\x8e\xd8\xaa\xd8\xa8");
    assert_words_of("\xe0\xa4\xa8\xe0\xa4\xae\xe0\xa4\xb8\xe0\xa5\x8d\xe0\xa4\xa4\xe0\xa5\x87",
                    "\xe0\xa4\xa8\xe0\xa4\xae\xe0\xa4\xb8\xe0\xa5\x8d\xe0\xa4\xa4\xe0\xa5\x87");
    /* Hebrew: quotes inside and after a word. */
    assert_words_of("\xd7\xa6\xd7\x94\"\xd7\x9c \xd7\x92' ",
                    "\xd7\xa6\xd7\x94\"\xd7\x9c|\xd7\x92'");
    /* Ideographs and Hiragana are words of one character, Katakana and Hangul are not. */
    assert_words_of("\xe6\xbc\xa2\xe5\xad\x97\xe3\x81\x8b",
                    "\xe6\xbc\xa2|\xe5\xad\x97|\xe3\x81\x8b");
    assert_words_of("\xe3\x82\xab\xe3\x82\xbf\xe3\x82\xab\xe3\x83\x8a\xe3\x80\x82\xed\x95\x9c\xea"
                    "\xb5\xad",
                    "\xe3\x82\xab\xe3\x82\xbf\xe3\x82\xab\xe3\x83\x8a|\xed\x95\x9c\xea\xb5\xad");
}

static void words__have_a_letter_or_a_digit(void **state)
{
    (void)state;
    skip_without_words();
    assert_words_of("\xf0\x9f\x91\x8d \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", "");
    assert_words_of("\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa ___ \xcc\x81", "");
    assert_words_of("1\xef\xb8\x8f\xe2\x83\xa3", "1\xef\xb8\x8f\xe2\x83\xa3");
    assert_words_of("ok\xf0\x9f\x91\x8dok", "ok|ok");
}

static void words__invalid_bytes_separate(void **state)
{
    (void)state;
    skip_without_words();
    assert_words_of("ab\xff"
                    "cd",
                    "ab|cd");
    assert_words_of("ab\xc3 cd\xe2\x82 \x80x", "ab|cd|x");
    assert_words_of("\xc0\xaf"
                    "a\xed\xa0\x80"
                    "b\xf4\x90\x80\x80"
                    "c",
                    "a|b|c");
    assert_words_of("caf\xe9 ol\xe9", "caf|ol");
}

static void words__longer_than_the_window_are_cut(void **state)
{
    (void)state;
    skip_without_words();
    struct bb_word_rules rules;
    struct bb_word_walk walk;
    struct bb_bytes word;
    static uint8_t text[3000];
    bb_word_rules_init(&rules);
    for (int turn = 0; turn < 2; turn++) {
        size_t size = 0;
        size_t count = 0;
        memset(text, 'a', sizeof(text));
        if (turn == 1)
            memcpy(text, "\xc3\xa9", 2);
        bb_word_walk_begin(&walk, &rules, bb_bytes_of(text, sizeof(text)));
        while (bb_word_walk_next(&walk, &word)) {
            assert_true(word.size <= BB_WORD_SIZE_MAX);
            size += word.size;
            count++;
        }
        assert_int_equal(size, sizeof(text));
        assert_int_equal(count, 3);
    }
}

/* --- How they are found --- */

static const char *const fragments[] = {
    "a",
    "B",
    "ss",
    "1",
    "22",
    " ",
    "-",
    "/",
    ".",
    ",",
    "'",
    "\"",
    "_",
    ":",
    "\n",
    "\xff",
    "\xc3\xa9",
    "\xcc\x88",
    "\xc2\xad",
    "\xe2\x80\x99",
    "\xe6\xbc\xa2",
    "\xe3\x82\xab",
    "\xd7\x90",
    "\xd9\xa1",
    "\xc3\x9f",
    "\xe2\x80\x8b",
    "\xed\x95\x9c",
    "\xc3",
    "\xf0\x9f\x91\x8d",
    "\xf0\x9f\x87\xa9",
    "\xe2\x80\x8d",
    "\xef\xac\x80",
    "\xc4\xb0",
    "\xce\xa3",
    "\xe1\xba\x9e",
};

static size_t draw_text(struct bb_rng *rng, size_t fragments_max, uint8_t *to)
{
    size_t size = 0;
    for (uint64_t left = bb_rng_below(rng, fragments_max + 1); left > 0; left--) {
        const char *fragment =
            fragments[bb_rng_below(rng, sizeof(fragments) / sizeof(fragments[0]))];
        memcpy(to + size, fragment, strlen(fragment));
        size += strlen(fragment);
    }
    return size;
}

/* begins[i], ends[i]: a word begins or ends at byte i. */
static void mark_words(struct bb_bytes text, bool *begins, bool *ends)
{
    struct bb_word_rules rules;
    struct bb_word_walk walk;
    struct bb_bytes word;
    bb_word_rules_init(&rules);
    memset(begins, 0, text.size + 1);
    memset(ends, 0, text.size + 1);
    bb_word_walk_begin(&walk, &rules, text);
    while (bb_word_walk_next(&walk, &word)) {
        begins[word.data - text.data] = true;
        ends[word.data - text.data + (ptrdiff_t)word.size] = true;
    }
}

/* A whole valid text segmented without stretches and windows. */
static void mark_naively(struct bb_bytes text, bool *begins, bool *ends)
{
    char breaks[1 << 14];
    memset(begins, 0, text.size + 1);
    memset(ends, 0, text.size + 1);
    if (text.size == 0)
        return;
    bb_segments_find(text, breaks);
    for (size_t begin = 0, end = 0; begin < text.size; begin = end) {
        end = begin + 1;
        while (end < text.size && !breaks[end])
            end++;
        if (bb_segments_have_letter(bb_bytes_of(text.data + begin, end - begin))) {
            begins[begin] = true;
            ends[end] = true;
        }
    }
}

static size_t remove_invalid(uint8_t *text, size_t size)
{
    size_t kept = 0;
    for (size_t at = 0; at < size;) {
        struct bb_bytes rest = bb_bytes_of(text, size);
        uint8_t byte = text[at];
        size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        bool is_valid = byte < 0x80 || (byte >= 0xc2 && byte < 0xf5 && at + length <= rest.size &&
                                        (text[at + 1] & 0xc0) == 0x80);
        length = is_valid ? length : 1;
        if (is_valid) {
            memmove(text + kept, text + at, length);
            kept += length;
        }
        at += length;
    }
    return kept;
}

/* Long texts take several windows; short ones have every pair of rules. */
static void words__are_those_of_the_whole_text(void **state)
{
    (void)state;
    skip_without_words();
    struct bb_rng rng;
    static uint8_t text[1 << 14];
    static bool found[2][1 << 14];
    static bool expected[2][1 << 14];
    bb_rng_init(&rng, bb_rng_seed("words_test", 1));
    for (uint32_t turn = 0; turn < 20000; turn += (uint32_t)bb_test_step()) {
        size_t parts = bb_rng_one_in(&rng, 100) ? 3000 : 12;
        size_t size = remove_invalid(text, draw_text(&rng, parts, text));
        struct bb_bytes bytes = bb_bytes_of(text, size);
        mark_words(bytes, found[0], found[1]);
        mark_naively(bytes, expected[0], expected[1]);
        if (memcmp(found[0], expected[0], size + 1) != 0 ||
            memcmp(found[1], expected[1], size + 1) != 0)
            fail_msg("turn %u: other words in \"%.*s\"", turn, (int)size, (const char *)text);
    }
}

static bool has_word_naively(struct bb_bytes text, struct bb_bytes wanted, bool folds)
{
    struct bb_word_rules rules;
    struct bb_word_walk walk;
    struct bb_bytes word;
    uint8_t space[BB_WORD_FOLDED_MAX];
    bb_word_rules_init(&rules);
    bb_word_walk_begin(&walk, &rules, text);
    while (bb_word_walk_next(&walk, &word))
        if (bb_bytes_equal(folds ? bb_word_fold(word, space) : word, wanted))
            return true;
    return false;
}

/* A search finds a word where a walk over all words does. */
static void words__are_found_by_a_search(void **state)
{
    (void)state;
    skip_without_words();
    struct bb_rng rng;
    struct bb_word_rules rules;
    static uint8_t text[1 << 14];
    uint8_t wanted[64];
    size_t found = 0;
    bb_rng_init(&rng, bb_rng_seed("words_test", 2));
    bb_word_rules_init(&rules);
    for (uint32_t turn = 0; turn < 50000; turn += (uint32_t)bb_test_step()) {
        size_t size = draw_text(&rng, bb_rng_one_in(&rng, 100) ? 2000 : 20, text);
        struct bb_bytes word = bb_bytes_of(wanted, draw_text(&rng, 3, wanted));
        if (!bb_word_is_one(&rules, word))
            continue;
        bool is_in = has_word_naively(bb_bytes_of(text, size), word, false);
        found += is_in;
        if (bb_word_find(&rules, bb_bytes_of(text, size), word) != is_in)
            fail_msg("turn %u: \"%.*s\" in \"%.*s\"", turn, (int)word.size, (char *)wanted,
                     (int)size, (char *)text);
    }
    assert_true(found > 0);
}

/* A text with a literal has the words inside the literal, for all surroundings. */
static void words__inside_a_literal_are_words_of_every_text_with_it(void **state)
{
    (void)state;
    skip_without_words();
    struct bb_rng rng;
    struct bb_word_rules rules;
    uint8_t text[512];
    size_t found = 0;
    bb_rng_init(&rng, bb_rng_seed("words_test", 3));
    bb_word_rules_init(&rules);
    for (uint32_t turn = 0; turn < 50000; turn += (uint32_t)bb_test_step()) {
        struct bb_word_walk walk;
        struct bb_bytes word;
        size_t size = draw_text(&rng, 20, text);
        size_t begin = bb_rng_below(&rng, size + 1);
        size_t end = begin + bb_rng_below(&rng, size - begin + 1);
        struct bb_bytes literal = bb_bytes_of(text + begin, end - begin);
        bb_word_walk_begin(&walk, &rules, bb_word_inside(&rules, literal, begin == 0, end == size));
        for (; bb_word_walk_next(&walk, &word); found++)
            if (!has_word_naively(bb_bytes_of(text, size), word, false))
                fail_msg("turn %u: \"%.*s\" is no word of \"%.*s\"", turn, (int)word.size,
                         (const char *)word.data, (int)size, (char *)text);
    }
    assert_true(found > 0);
}

static void assert_folded(const char *word, const char *expected)
{
    uint8_t space[BB_WORD_FOLDED_MAX];
    struct bb_bytes folded = bb_word_fold(bb_bytes_of_text(word), space);
    assert_int_equal(folded.size, strlen(expected));
    assert_memory_equal(folded.data, expected, folded.size);
}

static void words__are_folded_fully(void **state)
{
    (void)state;
    skip_without_words();
    assert_folded("HTTP", "http");
    assert_folded("STRASSE", "strasse");
    assert_folded("Stra\xc3\x9f"
                  "e",
                  "strasse");
    assert_folded("\xce\xa3\xce\xaf\xcf\x83\xcf\x85\xcf\x86\xce\xbf\xcf\x82",
                  "\xcf\x83\xce\xaf\xcf\x83\xcf\x85\xcf\x86\xce\xbf\xcf\x83");
    assert_folded("\xd0\x9c\xd0\x98\xd0\xa0", "\xd0\xbc\xd0\xb8\xd1\x80");
    assert_folded("\xe6\xbc\xa2", "\xe6\xbc\xa2");
}

/* The longest form of each character fits into the space for it. */
static void words__folded_have_at_most_three_times_the_bytes(void **state)
{
    (void)state;
    skip_without_words();
    uint8_t word[BB_WORD_SIZE_MAX];
    uint8_t space[BB_WORD_FOLDED_MAX];
    /* U+0390, U+1E9E, U+FB03, U+1FB7, U+0130. */
    static const char *const longest[] = {"\xce\x90", "\xe1\xba\x9e", "\xef\xac\x83",
                                          "\xe1\xbe\xb7", "\xc4\xb0"};
    for (size_t i = 0; i < sizeof(longest) / sizeof(longest[0]); i++) {
        size_t length = strlen(longest[i]);
        size_t size = 0;
        for (; size + length <= sizeof(word); size += length)
            memcpy(word + size, longest[i], length);
        struct bb_bytes folded = bb_word_fold(bb_bytes_of(word, size), space);
        assert_true(folded.data == space && folded.size <= 3 * size);
    }
}

static bool is_ascii(struct bb_bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] >= 0x80)
            return false;
    return true;
}

static bool has_form(struct bb_bytes word, struct bb_bytes character)
{
    struct bb_bytes forms[BB_WORD_OTHER_FORMS_MAX];
    size_t count = bb_word_other_forms(word, forms);
    for (size_t i = 0; i < count; i++)
        if (character.size >= forms[i].size &&
            memcmp(character.data, forms[i].data, forms[i].size) == 0)
            return true;
    return false;
}

/* Every character of Unicode that folds to ASCII letters is in the list of other forms. */
static void words__other_forms_are_all_that_fold_to_ascii(void **state)
{
    (void)state;
    skip_without_words();
    uint8_t space[BB_WORD_FOLDED_MAX];
    size_t count = 0;
    for (uint32_t code = 0x80; code < 0x20000; code++) {
        if (code >= 0xd800 && code < 0xe000)
            continue;
        uint8_t bytes[4] = {(uint8_t)(0xf0 | code >> 18), (uint8_t)(0x80 | (code >> 12 & 63)),
                            (uint8_t)(0x80 | (code >> 6 & 63)), (uint8_t)(0x80 | (code & 63))};
        size_t skipped = code >= 0x10000 ? 0 : code >= 0x800 ? 1 : 2;
        if (code < 0x10000)
            bytes[skipped] = (uint8_t)(skipped == 1 ? 0xe0 | code >> 12 : 0xc0 | code >> 6);
        struct bb_bytes character = bb_bytes_of(bytes + skipped, 4 - skipped);
        struct bb_bytes folded = bb_word_fold(character, space);
        if (!is_ascii(folded))
            continue;
        count++;
        if (!has_form(folded, character))
            fail_msg("U+%04X folds to \"%.*s\"", code, (int)folded.size, (char *)space);
    }
    assert_int_equal(count, 11);
}

/* --- Conditions --- */

/* A scan looks for the bytes of the word in either case, and for its other forms. */
static void assert_scanned(const char *where, const char *text)
{
    struct bb_schema *schema = NULL;
    struct bb_condition *condition = NULL;
    struct bb_matcher matcher;
    bool matches = false;
    struct bb_bytes value = bb_bytes_of_text(text);
    assert_status(bb_schema_create(&schema), BB_OK);
    assert_status(bb_schema_add(schema, "text bytes = value"), BB_OK);
    assert_status(bb_condition_parse(schema, bb_bytes_of_text(where), &condition), BB_OK);
    assert_status(bb_matcher_init(&matcher, schema, condition), BB_OK);
    assert_status(bb_matcher_test(&matcher, bb_bytes_of("k", 1), value, &matches), BB_OK);
    assert_false(bb_needle_finder_is_empty(&matcher.finder));
    assert_true(matches && bb_matcher_may_match(&matcher, value));
    bb_matcher_deinit(&matcher);
    bb_condition_destroy(condition);
    bb_schema_destroy(schema);
}

static void words__of_folded_conditions_are_found_in_other_forms(void **state)
{
    (void)state;
    skip_without_words();
    assert_scanned("ihas_word(text, 'kiss')", "a \xe2\x84\xaaI\xc5\xbf\xc5\xbf b");
    assert_scanned("ihas_word(text, 'kiss')", "a ki\xe1\xba\x9e b");
    assert_scanned("ihas_word(text, 'kiss')", "a kISs b");
    assert_scanned("ihas_word(text, 'office')", "an o\xef\xac\x83"
                                                "ce");
    assert_scanned("ihas_word(text, 'first')", "\xef\xac\x81r\xef\xac\x86");
    assert_scanned("ihas_all_words(text, 'OFF first')", "o\xef\xac\x80 FIR\xef\xac\x85");
    assert_scanned("ihas_any_word(text, 'KEY', 'x')", "\xe2\x84\xaa"
                                                      "ey");
}

static void words__in_conditions(void **state)
{
    (void)state;
    skip_without_words();
    assert_text("has_word(text, 'don''t')", "I don't", TRUE);
    assert_text("has_word(text, 'don')", "I don't", FALSE);
    assert_text("has_word(text, '3.14')", "pi=3.14;", TRUE);
    assert_text("has_word(text, 'Stra\xc3\x9f"
                "e')",
                "STRASSE", FALSE);
    assert_text("ihas_word(text, 'Stra\xc3\x9f"
                "e')",
                "Die STRASSE!", TRUE);
    assert_text("ihas_word(text, 'strasse')",
                "stra\xc3\x9f"
                "e",
                TRUE);
    assert_text("has_word(text, '\xe6\xbc\xa2')", "\xe6\xbc\xa2\xe5\xad\x97", TRUE);
    assert_text("has_all_words(text, 'b a')", "a-b", TRUE);
    assert_text("has_all_words(text, 'b a', 'c')", "a-b", FALSE);
    assert_text("has_any_word(text, 'x', 'b y')", "a-b", TRUE);
    assert_text("ihas_any_word(text, 'X', 'Y')", "a-b y", TRUE);
    assert_text("NOT ihas_all_words(text, 'A B')", "a-b", FALSE);
    assert_text("has_word(text, 'a')",
                "\xff"
                "a\xc3",
                TRUE);
    assert_text("has_word(text, 'a')", "", FALSE);
}

static void words__one_text_for_one_tree(void **state)
{
    (void)state;
    skip_without_words();
    static const char *const texts[][2] = {
        {"has_any_word(text, 'a a')", "has_word(text, 'a')"},
        {"has_all_words(text, 'b.a it''s', 'c')", "has_all_words(text, 'b.a', 'it''s', 'c')"},
        {"IHAS_WORD(text, 'STRA\xc3\x9f"
         "E')",
         "ihas_word(text, 'strasse')"},
        {"ihas_any_word(text, 'A b', 'B')", "ihas_any_word(text, 'a', 'b')"},
        {"ihas_all_words(text, 'A b', 'B')", "ihas_all_words(text, 'a', 'b')"},
        {"NOT has_any_word(text, 'b-a')", "NOT has_any_word(text, 'b', 'a')"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_prints(texts[i][0], texts[i][1]);
        assert_prints(texts[i][1], texts[i][1]);
    }
}

static void words__what_is_refused(void **state)
{
    (void)state;
    skip_without_words();
    static char text[2100];
    static char long_word[1200] = "";
    assert_refused("has_word(text, 'a-b')", "at byte 15: expected one word of Unicode");
    assert_refused("has_word(text, ' a')", "at byte 15: expected one word of Unicode");
    assert_refused("ihas_word(text, '')", "at byte 16: expected one word of Unicode");
    assert_refused("has_all_words(text, 'a', '--')", "expected a text with a word in it");
    assert_refused("has_word(i, 'a')", "expected an attribute of type bytes");
    /* 1,000 bytes whose folded form has 1,500: printed, it would be two words. */
    while (strlen(long_word) < 1000)
        strcat(long_word, "\xc4\xb0");
    sprintf(text, "ihas_word(text, '%s')", long_word);
    assert_refused(text, "words of up to 1024 bytes in lower case");
}

/* A match has the bytes of a folded word in either case, or those of another form. */
static void words__pieces_of_folded_conditions_ignore_case(void **state)
{
    (void)state;
    skip_without_words();
    struct bb_condition *condition = parse("ihas_word(text, 'STRASSE')");
    assert_int_equal(condition->leaf.word_group_count, 1);
    assert_true(condition->leaf.words_are_folded);
    assert_int_equal(condition->leaf.group_count, 1);
    assert_int_equal(condition->leaf.groups[0].piece_count, 5);
    assert_true(condition->leaf.groups[0].pieces[0].ignores_case);
    for (size_t i = 1; i < 5; i++)
        assert_true(condition->leaf.groups[0].pieces[i].is_other_form);
    bb_condition_destroy(condition);
    condition = parse("ihas_word(text, 'gr\xc3\xbc\xc3\x9f')");
    assert_int_equal(condition->leaf.group_count, 0);
    bb_condition_destroy(condition);
    condition = parse("has_word(text, 'Strasse')");
    assert_int_equal(condition->leaf.group_count, 1);
    assert_false(condition->leaf.groups[0].pieces[0].is_token);
    bb_condition_destroy(condition);
}

static void words__a_build_without_them_names_the_package(void **state)
{
    (void)state;
    if (bb_words_are_built())
        skip();
    assert_status(bb_words_check(), BB_UNSUPPORTED);
    assert_message("libunistring-dev");
    struct bb_condition *condition = NULL;
    assert_status(try_to_parse(bb_bytes_of_text("has_word(text, 'a')"), &condition),
                  BB_UNSUPPORTED);
    assert_message("libunistring-dev");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words__of_latin_text),
        cmocka_unit_test(words__of_numbers),
        cmocka_unit_test(words__of_other_scripts),
        cmocka_unit_test(words__have_a_letter_or_a_digit),
        cmocka_unit_test(words__invalid_bytes_separate),
        cmocka_unit_test(words__longer_than_the_window_are_cut),
        cmocka_unit_test(words__are_those_of_the_whole_text),
        cmocka_unit_test(words__are_found_by_a_search),
        cmocka_unit_test(words__inside_a_literal_are_words_of_every_text_with_it),
        cmocka_unit_test(words__are_folded_fully),
        cmocka_unit_test(words__folded_have_at_most_three_times_the_bytes),
        cmocka_unit_test(words__other_forms_are_all_that_fold_to_ascii),
        cmocka_unit_test(words__of_folded_conditions_are_found_in_other_forms),
        cmocka_unit_test(words__in_conditions),
        cmocka_unit_test(words__one_text_for_one_tree),
        cmocka_unit_test(words__what_is_refused),
        cmocka_unit_test(words__pieces_of_folded_conditions_ignore_case),
        cmocka_unit_test(words__a_build_without_them_names_the_package),
    };
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
