/* Goal: the searcher finds the first place, in every form, and the scan of several needles all
 * places in order. Method: random texts of few letters, compared with a search byte by byte; texts
 * of one letter, where every place nearly matches.
 *
 * BB_TEST_SEED sets the seed.
 */
#include "tests/support/assert_status.h"

#include <string.h>

#include "base/bytes.h"
#include "skip/condition/matcher.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define TEXT_SIZE 400
#define DRAWS     100000

static bool is_at(struct bb_bytes text, size_t at, struct bb_bytes wanted, bool ignores_case)
{
    for (size_t i = 0; i < wanted.size; i++) {
        uint8_t byte = text.data[at + i];
        if (ignores_case && byte >= 'A' && byte <= 'Z')
            byte = (uint8_t)(byte - 'A' + 'a');
        if (byte != wanted.data[i])
            return false;
    }
    return true;
}

static bool find_slowly(struct bb_bytes text, size_t from, struct bb_bytes wanted,
                        bool ignores_case, size_t *ret_at)
{
    for (size_t at = from; at + wanted.size <= text.size; at++) {
        if (is_at(text, at, wanted, ignores_case)) {
            *ret_at = at;
            return true;
        }
    }
    return false;
}

static void compare(struct bb_bytes text, size_t from, struct bb_bytes wanted, bool ignores_case)
{
    size_t expected = SIZE_MAX;
    bool is_there = find_slowly(text, from, wanted, ignores_case, &expected);
    for (int cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        struct bb_searcher searcher;
        size_t at = SIZE_MAX;
        if (!bb_cpu_has((enum bb_cpu)cpu))
            continue;
        bb_searcher_init(&searcher, wanted, ignores_case, (enum bb_cpu)cpu);
        assert_int_equal(bb_searcher_find(&searcher, text, from, &at), is_there);
        assert_int_equal(at, expected);
    }
}

static size_t draw(struct bb_rng *rng, uint8_t *bytes, size_t size_max)
{
    static const uint8_t letters[] = {'a', 'b', 'q', '0', 0, 0xc1};
    size_t size = (size_t)bb_rng_skewed(rng, size_max);
    size_t letter_count = bb_rng_one_in(rng, 2) ? 2 : sizeof(letters);
    for (size_t i = 0; i < size; i++)
        bytes[i] = letters[bb_rng_below(rng, letter_count)];
    return size;
}

static void searcher__finds_the_first_place(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("searcher", 11));
    for (size_t i = 0; i < DRAWS; i += bb_test_step()) {
        uint8_t text[TEXT_SIZE];
        uint8_t wanted[20];
        size_t size = draw(&rng, text, TEXT_SIZE);
        size_t wanted_size = draw(&rng, wanted, sizeof(wanted));
        if (wanted_size > 0)
            compare(bb_bytes_of(text, size), (size_t)bb_rng_below(&rng, size + 1),
                    bb_bytes_of(wanted, wanted_size), false);
    }
}

/* Bytes next to the letters differ from others by the same bit as both cases of a letter. */
static void searcher__ignores_the_case_of_letters_only(void **state)
{
    (void)state;
    static const uint8_t letters[] = {'a', 'A', 'z', 'Z',  '[',  '{',
                                      '@', '`', '0', 0x10, 0xc1, 0xe1};
    static const uint8_t lower[] = {'a', 'z', '[', '{', '@', '`', '0', 0x10, 0xc1, 0xe1};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("searcher", 14));
    for (size_t i = 0; i < DRAWS / 10; i += bb_test_step()) {
        uint8_t text[TEXT_SIZE];
        uint8_t wanted[6];
        size_t size = (size_t)bb_rng_skewed(&rng, TEXT_SIZE);
        size_t wanted_size = 1 + (size_t)bb_rng_below(&rng, sizeof(wanted));
        size_t kinds = bb_rng_one_in(&rng, 2) ? 2 : sizeof(letters);
        for (size_t j = 0; j < size; j++)
            text[j] = letters[bb_rng_below(&rng, kinds)];
        for (size_t j = 0; j < wanted_size; j++)
            wanted[j] = lower[bb_rng_below(&rng, kinds == 2 ? 1 : sizeof(lower))];
        compare(bb_bytes_of(text, size), (size_t)bb_rng_below(&rng, size + 1),
                bb_bytes_of(wanted, wanted_size), true);
    }
}

/* The needle is longer than the part that is searched for rare bytes. */
static void searcher__every_place_nearly_matches(void **state)
{
    (void)state;
    static uint8_t text[20000];
    uint8_t wanted[100];
    memset(text, 'a', sizeof(text));
    memset(wanted, 'a', sizeof(wanted));
    for (size_t odd = 0; odd < sizeof(wanted); odd++) {
        wanted[odd] = 'b';
        compare(bb_bytes_of(text, sizeof(text)), 0, bb_bytes_of(wanted, sizeof(wanted)), false);
        if (odd % 33 == 0)
            compare(bb_bytes_of(text, sizeof(text)), 0, bb_bytes_of(wanted, sizeof(wanted)), true);
        text[19000] = 'b';
        compare(bb_bytes_of(text, sizeof(text)), 0, bb_bytes_of(wanted, sizeof(wanted)), false);
        if (odd % 33 == 0)
            compare(bb_bytes_of(text, sizeof(text)), 0, bb_bytes_of(wanted, sizeof(wanted)), true);
        text[19000] = 'a';
        wanted[odd] = 'a';
    }
}

/* A set finds the first place of any of its strings, in every form, at the ends of texts too. */
static void searcher__a_set_finds_the_first_place_of_any(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("searcher", 15));
    for (size_t i = 0; i < DRAWS / 50; i += bb_test_step()) {
        uint8_t bytes[TEXT_SIZE];
        uint8_t wanted[BB_SEARCHER_SET_MAX][8];
        size_t sizes[BB_SEARCHER_SET_MAX];
        bool folds[BB_SEARCHER_SET_MAX];
        size_t count = 1 + (size_t)bb_rng_below(&rng, BB_SEARCHER_SET_MAX);
        struct bb_bytes text = bb_bytes_of(bytes, draw(&rng, bytes, TEXT_SIZE));
        size_t from = (size_t)bb_rng_below(&rng, text.size + 1);
        size_t expected = SIZE_MAX;
        for (size_t j = 0; j < text.size; j++)
            if (bytes[j] >= 'a' && bytes[j] <= 'z' && bb_rng_one_in(&rng, 3))
                bytes[j] ^= 'a' ^ 'A';
        for (size_t j = 0; j < count; j++) {
            size_t place = 0;
            while ((sizes[j] = draw(&rng, wanted[j], sizeof(wanted[j]))) == 0)
                continue;
            folds[j] = bb_rng_one_in(&rng, 2);
            if (find_slowly(text, from, bb_bytes_of(wanted[j], sizes[j]), folds[j], &place) &&
                place < expected)
                expected = place;
        }
        for (int cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
            struct bb_searcher_set set;
            size_t at = SIZE_MAX;
            if (!bb_cpu_has((enum bb_cpu)cpu))
                continue;
            bb_searcher_set_init(&set, (enum bb_cpu)cpu);
            for (size_t j = 0; j < count; j++)
                bb_searcher_set_add(&set, bb_bytes_of(wanted[j], sizes[j]), folds[j]);
            assert_int_equal(bb_searcher_set_find(&set, text, from, &at), expected != SIZE_MAX);
            assert_int_equal(at, expected);
        }
    }
}

static bool find_run_slowly(struct bb_bytes text, size_t size, size_t from, size_t *ret_at)
{
    for (size_t at = from; at + size <= text.size; at++) {
        size_t count = 0;
        while (count < size && text.data[at + count] >= '0' && text.data[at + count] <= '9')
            count++;
        if (count < size)
            continue;
        *ret_at = at;
        return true;
    }
    return false;
}

static void searcher__finds_the_first_run_of_digits(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {'0', '9', '5', '/', ':', 0, 0xb5};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("searcher", 13));
    for (size_t i = 0; i < DRAWS; i += bb_test_step()) {
        uint8_t text[TEXT_SIZE];
        size_t size = (size_t)bb_rng_skewed(&rng, TEXT_SIZE);
        size_t run =
            BB_DIGIT_RUN_MIN + (size_t)bb_rng_below(&rng, BB_DIGIT_RUN_MAX - BB_DIGIT_RUN_MIN + 1);
        size_t from = (size_t)bb_rng_below(&rng, size + 1);
        for (size_t j = 0; j < size; j++)
            text[j] =
                bytes[bb_rng_one_in(&rng, 8) ? 3 + bb_rng_below(&rng, 4) : bb_rng_below(&rng, 3)];
        for (int cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
            size_t at = SIZE_MAX;
            size_t expected = SIZE_MAX;
            if (!bb_cpu_has((enum bb_cpu)cpu))
                continue;
            bool is_found =
                bb_digit_run_choose((enum bb_cpu)cpu)(bb_bytes_of(text, size), run, from, &at);
            assert_int_equal(is_found,
                             find_run_slowly(bb_bytes_of(text, size), run, from, &expected));
            assert_int_equal(at, expected);
        }
    }
}

static void assert_places(const struct bb_needle_finder *finder, struct bb_bytes text)
{
    struct bb_needle_scan scan;
    size_t at = 0;
    bb_needle_scan_init(&scan, finder, text);
    for (size_t from = 0; from <= text.size; from = at + 1) {
        size_t expected = SIZE_MAX;
        for (size_t i = 0; i < finder->needles.count; i++) {
            size_t place = 0;
            if (find_slowly(text, from, bb_needle_bytes(&finder->needles.items[i]), false,
                            &place) &&
                place < expected)
                expected = place;
        }
        bool is_found = bb_needle_scan_next(&scan, from, &at);
        assert_int_equal(is_found, expected != SIZE_MAX);
        if (!is_found)
            return;
        assert_int_equal(at, expected);
    }
}

static void searcher__a_scan_finds_all_places_of_all_needles(void **state)
{
    (void)state;
    struct bb_schema *schema = NULL;
    struct bb_condition *condition = NULL;
    struct bb_needle_finder finder;
    struct bb_rng rng;
    uint8_t text[TEXT_SIZE];
    bb_rng_init(&rng, bb_rng_seed("searcher", 12));
    assert_status(bb_schema_create(&schema), BB_OK);
    assert_status(bb_schema_add(schema, "line bytes = value"), BB_OK);
    assert_status(bb_condition_parse(schema,
                                     bb_bytes_of_text("line = 'ab' OR line = 'qa0' OR line = 'b'"),
                                     &condition),
                  BB_OK);
    bb_needle_scan_init_finder(&finder, condition, schema);
    assert_int_equal(finder.needles.count, 3);
    for (size_t i = 0; i < 2000; i++)
        assert_places(&finder, bb_bytes_of(text, draw(&rng, text, TEXT_SIZE)));
    bb_condition_destroy(condition);
    bb_schema_destroy(schema);
}

/* A line of a common log with a status of random characters. */
static struct bb_bytes draw_line(struct bb_rng *rng, uint8_t *line)
{
    static const char begin[] = "h 404 5404 [t] \"GET /404 x\" ";
    static const uint8_t letters[] = {'4', '0', '5', '+', '-', ' '};
    size_t size = sizeof(begin) - 1;
    memcpy(line, begin, size);
    for (size_t left = (size_t)bb_rng_between(rng, 0, 3); left > 0; left--)
        line[size++] = letters[bb_rng_below(rng, sizeof(letters))];
    if (bb_rng_one_in(rng, 2)) {
        memcpy(line + size, "404", 3);
        size += 3;
    }
    memcpy(line + size, " 7\n", 3);
    size_t begins = bb_rng_one_in(rng, 2) ? 0 : sizeof(begin) - 2;
    return bb_bytes_of(line + begins, size + 3 - begins);
}

/* Hits inside of longer numbers, words and names are passed. */
static void searcher__numbers_begin_after_the_byte_before_their_field(void **state)
{
    (void)state;
    static const char *const conditions[] = {"status = 404", "status IN (404, 4, 54040)",
                                             "code = 404 OR status = 5", "code = -404"};
    struct bb_rng rng;
    uint8_t line[80];
    bb_rng_init(&rng, bb_rng_seed("searcher", 16));
    for (size_t c = 0; c < sizeof(conditions) / sizeof(conditions[0]); c++) {
        struct bb_schema *schema = NULL;
        struct bb_condition *condition = NULL;
        struct bb_matcher matcher;
        size_t passed = 0;
        assert_status(bb_schema_create(&schema), BB_OK);
        assert_status(bb_schema_add(schema, "status u64 = clf(status)"), BB_OK);
        assert_status(bb_schema_add(schema, "code i64 = clf(status)"), BB_OK);
        assert_status(bb_condition_parse(schema, bb_bytes_of_text(conditions[c]), &condition),
                      BB_OK);
        assert_status(bb_matcher_init(&matcher, schema, condition), BB_OK);
        for (size_t i = 0; i < DRAWS / 5; i += bb_test_step()) {
            bool matches = false;
            struct bb_bytes value = draw_line(&rng, line);
            assert_status(bb_matcher_test(&matcher, bb_bytes_of(line, 0), value, &matches), BB_OK);
            bool may_match = bb_matcher_may_match(&matcher, value);
            assert_true(may_match || !matches);
            passed += !may_match;
        }
        assert_true(matcher.matching > 0 && passed > 0);
        bb_matcher_deinit(&matcher);
        bb_condition_destroy(condition);
        bb_schema_destroy(schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searcher__finds_the_first_place),
        cmocka_unit_test(searcher__ignores_the_case_of_letters_only),
        cmocka_unit_test(searcher__every_place_nearly_matches),
        cmocka_unit_test(searcher__a_set_finds_the_first_place_of_any),
        cmocka_unit_test(searcher__finds_the_first_run_of_digits),
        cmocka_unit_test(searcher__a_scan_finds_all_places_of_all_needles),
        cmocka_unit_test(searcher__numbers_begin_after_the_byte_before_their_field),
    };
    return cmocka_run_group_tests_name("searcher", tests, NULL, NULL);
}
