/* Text indexes report exactly the granules that have a word or a part of a word. Their counts equal
 * the numbers of records. */
#include "tests/unit/skip/indexed_rows.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "tests/support/step.h"

static const char *const text_specs[] = {"text(words, counts=yes)", "text(name)", "min_max(ts)",
                                         NULL};

static struct bb_condition *parse(const struct indexed_rows *rows, const char *text)
{
    struct bb_condition *condition = NULL;
    assert_ok(bb_condition_parse(rows->schema, bb_bytes_of_text(text), &condition));
    return condition;
}

/* Records of each granule of which a condition is true. */
static uint64_t *count_rows(const struct indexed_rows *rows, const struct bb_condition *condition)
{
    struct bb_condition_run *run = NULL;
    uint64_t *counts = calloc(rows->granule_count + 1, sizeof(counts[0]));
    assert_ok(bb_condition_run_create(condition, &run));
    for (size_t i = 0; i < rows->row_count; i++) {
        enum bb_truth truth = BB_TRUTH_UNKNOWN;
        assert_ok(bb_condition_test(run, rows->rows[i].attributes, &truth));
        counts[rows->granules[i]] += truth == BB_TRUTH_TRUE;
    }
    bb_condition_run_destroy(run);
    return counts;
}

/* The verdicts have exactly the granules with a match. */
static void check_exact(const struct indexed_rows *rows, struct bb_skip_file *file,
                        const char *text)
{
    struct bb_condition *condition = parse(rows, text);
    struct bb_skip_verdicts verdicts = {0};
    assert_ok(bb_skip_file_evaluate(file, condition, rows->schema, NULL, &verdicts));
    uint64_t *counts = count_rows(rows, condition);
    for (size_t granule = 0; granule < rows->granule_count; granule++)
        if (may_be(&verdicts, BB_TRUTH_TRUE, granule) != (counts[granule] > 0))
            fail_msg("granule %zu has %llu rows with %s", granule,
                     (unsigned long long)counts[granule], text);
    free(counts);
    bb_skip_verdicts_deinit(&verdicts);
    bb_condition_destroy(condition);
}

/* One word, or a part of one. */
static void draw_part(struct bb_rng *rng, char *text)
{
    static const char *const forms[] = {"has_token(%s, '%s')", "contains(%s, '%s')",
                                        "%s LIKE '%%%s%%'", "%s ILIKE '%%%s%%'"};
    static const char *const names[] = {"words", "name"};
    char word[ROW_TEXT_MAX] = "";
    size_t size = 0;
    while (size == 0)
        size = draw_word(rng, word);
    const char *form = forms[bb_rng_below(rng, 4)];
    if (form == forms[0]) {
        sprintf(text, form, names[bb_rng_below(rng, 2)], word);
        return;
    }
    size_t first = bb_rng_below(rng, size);
    word[first + 1 + bb_rng_below(rng, size - first)] = 0;
    sprintf(text, form, names[bb_rng_below(rng, 2)], word + first);
}

static void words_and_parts__are_found_exactly(void **state)
{
    (void)state;
    struct bb_rng rng;
    char text[256];
    bb_rng_init(&rng, bb_rng_seed("text_index_test", 50));
    for (uint32_t turn = 0; turn < 12; turn++) {
        struct indexed_rows rows;
        struct bb_skip_file *file = NULL;
        indexed_rows_init(&rows, &rng, 1 + bb_rng_skewed(&rng, 1500), 1 + bb_rng_skewed(&rng, 30),
                          text_specs);
        assert_ok(open_rows(&rows, turn % 2 == 0, &file));
        assert_ok(bb_skip_file_verify(file));
        for (size_t i = 0; i < 100; i += bb_test_step()) {
            draw_part(&rng, text);
            check_exact(&rows, file, text);
        }
        bb_skip_file_close(file);
        indexed_rows_deinit(&rows);
    }
}

/* Gives of how many granules the count is known. */
static size_t check_counts(const struct indexed_rows *rows, struct bb_skip_file *file,
                           const char *text)
{
    struct bb_condition *condition = parse(rows, text);
    struct bb_skip_counts *counts = NULL;
    size_t known = 0;
    enum bb_status status = bb_skip_counts_create(file, condition, rows->schema, NULL, &counts);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    uint64_t *expected = count_rows(rows, condition);
    for (size_t granule = 0; granule < rows->granule_count && counts != NULL; granule++) {
        uint64_t count = UINT64_MAX;
        status = bb_skip_counts_read(counts, granule, &count);
        assert_true(status == BB_OK || status == BB_NOT_FOUND);
        known += status == BB_OK;
        if (status == BB_OK && count != expected[granule])
            fail_msg("granule %zu: %llu rows with %s, not %llu", granule,
                     (unsigned long long)expected[granule], text, (unsigned long long)count);
    }
    free(expected);
    bb_skip_counts_destroy(counts);
    bb_condition_destroy(condition);
    return known;
}

static void counts__are_exact(void **state)
{
    (void)state;
    struct bb_rng rng;
    static char text[1 << 14];
    size_t known = 0;
    bb_rng_init(&rng, bb_rng_seed("text_index_test", 51));
    for (uint32_t turn = 0; turn < 12; turn++) {
        struct indexed_rows rows;
        struct bb_skip_file *file = NULL;
        indexed_rows_init(&rows, &rng, 1 + bb_rng_skewed(&rng, 1500), 1 + bb_rng_skewed(&rng, 150),
                          text_specs);
        assert_ok(open_rows(&rows, turn % 2 == 0, &file));
        for (size_t i = 0; i < 100; i += bb_test_step()) {
            draw_condition(&rng, (uint32_t)bb_rng_below(&rng, 4), text);
            known += check_counts(&rows, file, text);
        }
        bb_skip_file_close(file);
        indexed_rows_deinit(&rows);
    }
    assert_true(known > 0);
}

/* The documented conditions have a count in every granule. */
static void counts__are_known_of_words_and_of_nulls(void **state)
{
    (void)state;
    struct bb_rng rng;
    static const char *const texts[] = {
        "has_token(words, 'GET')",
        "has_token(words, 'w1')",
        "NOT has_token(words, 'w1')",
        "has_token(words, 'isnowhere')",
        "words IS NULL",
        "name IS NOT NULL",
        "has_token(words, 'w0') AND ts >= '1970-01-01T00:00:00Z' AND ts IS NULL",
        "has_any_token(words, 'w0') AND TRUE",
        "has_token(words, 'w0') OR FALSE",
    };
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    bb_rng_init(&rng, bb_rng_seed("text_index_test", 52));
    indexed_rows_init(&rows, &rng, 1200, 40, text_specs);
    assert_ok(open_rows(&rows, false, &file));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t known = check_counts(&rows, file, texts[i]);
        if (i != 6)
            assert_int_equal(known, rows.granule_count);
    }
    /* An index without counts, and several words, have no count. */
    assert_int_equal(check_counts(&rows, file, "has_token(name, 'w1')"), 0);
    assert_int_equal(check_counts(&rows, file, "has_all_tokens(words, 'w1 w2')"), 0);
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

/* A count of one word reads one block of each segment and no more. */
static void counts__read_a_block_of_a_segment(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    struct bb_skip_counts *counts = NULL;
    struct bb_skip_account accounts[3] = {{0}};
    bb_rng_init(&rng, bb_rng_seed("text_index_test", 53));
    indexed_rows_init(&rows, &rng, 2500, 20, text_specs);
    struct bb_condition *condition = parse(&rows, "has_token(words, 'w7')");
    assert_ok(open_rows(&rows, false, &file));
    assert_ok(bb_skip_counts_create(file, condition, rows.schema, accounts, &counts));
    for (size_t granule = 0; granule < 2500; granule++) {
        uint64_t count = 0;
        assert_ok(bb_skip_counts_read(counts, granule, &count));
    }
    assert_int_equal(accounts[0].reads, 1 + 3); /* the head, and three segments */
    bb_skip_counts_destroy(counts);
    bb_condition_destroy(condition);
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

/* --- Long words, and many --- */

/* A file of values, one of each granule. */
static struct bb_skip_file *index_values(struct indexed_rows *rows, const struct bb_bytes *values,
                                         size_t count, const char *const *specs)
{
    struct bb_skip_file *file = NULL;
    *rows = (struct indexed_rows){.memory = bb_file_memory_create(1), .granule_count = count};
    assert_ok(bb_schema_create(&rows->schema));
    assert_ok(bb_schema_add(rows->schema, "words bytes = value"));
    struct bb_skip_builder *builder = rows_builder(rows, specs);
    for (size_t i = 0; i < count; i++) {
        assert_ok(bb_skip_builder_add_record(builder, (struct bb_bytes){0}, values[i]));
        assert_ok(bb_skip_builder_end_granule(builder, i));
    }
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
    assert_ok(open_rows(rows, false, &file));
    assert_ok(bb_skip_file_verify(file));
    return file;
}

static uint64_t ask_values(const struct indexed_rows *rows, struct bb_skip_file *file,
                           const char *text)
{
    struct bb_condition *condition = parse(rows, text);
    struct bb_skip_verdicts verdicts = {0};
    assert_ok(bb_skip_file_evaluate(file, condition, rows->schema, NULL, &verdicts));
    uint64_t granules = verdicts.may_be_true[0];
    bb_skip_verdicts_deinit(&verdicts);
    bb_condition_destroy(condition);
    return granules;
}

/* Records of all granules, or UINT64_MAX if the count of a granule is unknown. */
static uint64_t count_values(const struct indexed_rows *rows, struct bb_skip_file *file,
                             const char *text)
{
    struct bb_condition *condition = parse(rows, text);
    struct bb_skip_counts *counts = NULL;
    uint64_t sum = 0;
    enum bb_status status = bb_skip_counts_create(file, condition, rows->schema, NULL, &counts);
    for (size_t granule = 0; granule < rows->granule_count && status == BB_OK; granule++) {
        uint64_t count = 0;
        status = bb_skip_counts_read(counts, granule, &count);
        sum += count;
    }
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    bb_skip_counts_destroy(counts);
    bb_condition_destroy(condition);
    return status == BB_OK ? sum : UINT64_MAX;
}

/* The index has the first 256 bytes of a longer word: the searched part may come later. */
static void long_words__are_not_lost(void **state)
{
    (void)state;
    static const char *const specs[] = {"text(words, counts=yes)", NULL};
    static const size_t sizes[] = {255, 256, 257, 20000};
    static char words[4][20001];
    char text[1024];
    struct bb_bytes values[4];
    struct indexed_rows rows;
    for (size_t i = 0; i < 4; i++) {
        memset(words[i], 'a', sizes[i]);
        memcpy(words[i] + sizes[i] - 3, "end", 3);
        values[i] = bb_bytes_of(words[i], sizes[i]);
    }
    struct bb_skip_file *file = index_values(&rows, values, 4, specs);
    assert_int_equal(ask_values(&rows, file, "contains(words, 'aend')"), 15);
    assert_int_equal(ask_values(&rows, file, "words ILIKE '%AEND'"), 15);
    assert_int_equal(ask_values(&rows, file, "contains(words, 'b')"), 14);
    assert_int_equal(ask_values(&rows, file, "starts_with(words, 'aaaa')"), 15);
    sprintf(text, "has_token(words, '%.*s')", 255, words[0]);
    assert_int_equal(ask_values(&rows, file, text), 1);
    assert_int_equal(count_values(&rows, file, text), 1);
    sprintf(text, "has_token(words, '%.*s')", 257, words[2]);
    assert_true((ask_values(&rows, file, text) & 4) != 0);
    assert_int_equal(count_values(&rows, file, text), UINT64_MAX);
    bb_skip_file_close(file);
    bb_schema_destroy(rows.schema);
    bb_file_memory_destroy(rows.memory);
}

/* More distinct words than a granule may have. Owned: free. */
static char *make_many_words(void)
{
    enum { WORDS = 150000 };
    char *text = malloc(WORDS * 8);
    size_t size = 0;
    assert_non_null(text);
    for (uint32_t i = 0; i < WORDS; i++)
        size += (size_t)sprintf(text + size, "%x ", i);
    return text;
}

/* A granule with more words than are kept is not excluded by them; its neighbours are. */
static void granules_with_too_many_words__are_not_indexed(void **state)
{
    (void)state;
    static const char *const specs[] = {"text(words, counts=yes)", NULL};
    struct indexed_rows rows;
    struct bb_skip_index_info info;
    char *text = make_many_words();
    struct bb_bytes values[3] = {bb_bytes_of(text, 8), bb_bytes_of_text(text),
                                 bb_bytes_of(text, 8)};
    struct bb_skip_file *file = index_values(&rows, values, 3, specs);
    bb_skip_file_index(file, 0, &info);
    assert_int_equal(info.unindexed_granules, 1);
    assert_int_equal(info.pair_count, 8);
    assert_int_equal(ask_values(&rows, file, "has_token(words, '2')"), 7);
    assert_int_equal(ask_values(&rows, file, "has_token(words, 'absent')"), 2);
    assert_int_equal(ask_values(&rows, file, "contains(words, 'bsen')"), 2);
    assert_int_equal(ask_values(&rows, file, "contains(words, 'bsen') AND words IS NULL"), 0);
    assert_int_equal(count_values(&rows, file, "has_token(words, '2')"), UINT64_MAX);
    bb_skip_file_close(file);
    bb_schema_destroy(rows.schema);
    bb_file_memory_destroy(rows.memory);
    free(text);
}

/* The search omits granules that AND has excluded. NOT and OR above must not use their bits. */
static void granules_that_are_not_needed__stay_possible(void **state)
{
    (void)state;
    struct bb_rng rng;
    static char text[1 << 10];
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    bb_rng_init(&rng, bb_rng_seed("text_index_test", 54));
    indexed_rows_init(&rows, &rng, 300, 6, text_specs);
    assert_ok(open_rows(&rows, false, &file));
    for (size_t i = 0; i < 500; i += bb_test_step()) {
        sprintf(text,
                "(ts < '1970-01-01T00:%02u:00Z' AND NOT contains(words, 'w%u')) OR "
                "(ts >= '1970-01-01T00:%02u:30Z' AND words ILIKE '%%%u.w%%') OR "
                "NOT (ts IS NULL AND contains(name, '%u'))",
                (unsigned)bb_rng_below(&rng, 50), (unsigned)bb_rng_below(&rng, 9),
                (unsigned)bb_rng_below(&rng, 50), (unsigned)bb_rng_below(&rng, 9),
                (unsigned)bb_rng_below(&rng, 9));
        check_condition(&rows, file, text, NULL);
        (void)check_counts(&rows, file, text);
    }
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

/* --- Wrong indexes --- */

/* Three granules of two records each. `lie` replaces the third record if it is not NULL. */
static struct bb_skip_file *index_lie(struct indexed_rows *rows, const char *const *specs,
                                      const char *const *records, const char *lie)
{
    struct bb_skip_file *file = NULL;
    *rows = (struct indexed_rows){.memory = bb_file_memory_create(1), .granule_count = 3};
    assert_ok(bb_schema_create(&rows->schema));
    assert_ok(bb_schema_add(rows->schema, "words bytes = value"));
    struct bb_skip_builder *builder = rows_builder(rows, specs);
    for (size_t i = 0; i < 6; i++) {
        const char *record = i == 2 && lie != NULL ? lie : records[i];
        assert_ok(
            bb_skip_builder_add_record(builder, (struct bb_bytes){0}, bb_bytes_of_text(record)));
        if (i % 2 == 1)
            assert_ok(bb_skip_builder_end_granule(builder, i));
    }
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
    assert_ok(open_rows(rows, false, &file));
    return file;
}

static enum bb_status prove(struct bb_skip_file *file, const char *const *records)
{
    struct bb_skip_proof *proof = NULL;
    enum bb_status status = BB_OK;
    assert_ok(bb_skip_proof_create(file, NULL, &proof));
    for (size_t i = 0; i < 6 && status == BB_OK; i++)
        status =
            bb_skip_proof_add(proof, i / 2, (struct bb_bytes){0}, bb_bytes_of_text(records[i]));
    if (status == BB_OK)
        status = bb_skip_proof_finish(proof);
    bb_skip_proof_destroy(proof);
    return status;
}

/* third: the third record. The index is built with `lie` instead, if that is not NULL. */
static void check_third(const char *const *specs, const char *third, const char *lie,
                        const char *message)
{
    const char *const records[] = {"one two", "two three", third, "four two", "two", "six"};
    struct indexed_rows rows;
    struct bb_skip_file *file = index_lie(&rows, specs, records, lie);
    assert_ok(bb_skip_file_verify(file));
    assert_status(prove(file, records), message == NULL ? BB_OK : BB_CORRUPT);
    if (message != NULL)
        assert_message(message);
    bb_skip_file_close(file);
    bb_schema_destroy(rows.schema);
    bb_file_memory_destroy(rows.memory);
}

static void check_lie(const char *const *specs, const char *lie, const char *message)
{
    check_third(specs, "two four five", lie, message);
}

/* Sound bytes of other records: a proof names the word. */
static void proof__finds_every_lie_of_a_dictionary(void **state)
{
    (void)state;
    static const char *const plain[] = {"text(words)", NULL};
    static const char *const counted[] = {"text(words, counts=yes)", NULL};
    check_lie(plain, NULL, NULL);
    check_lie(counted, NULL, NULL);
    check_lie(plain, "two four", "lacks \"five\" in granule 1");
    check_lie(plain, "two four fivf", "lacks \"five\" in granule 1");
    check_lie(plain, "two four five six", "wrongly has \"six\" in granule 1");
    check_lie(plain, "two four five fivf", "wrongly has \"fivf\" in granule 1");
    check_lie(plain, "two four five zero", "wrongly has \"zero\" in granule 1");
    check_lie(plain, "four five", NULL);
    check_lie(counted, "four five", "has the wrong number of records for \"two\" in granule 1");
    check_lie(counted, "two two four five", NULL);
}

static void proof__finds_a_granule_with_too_many_words(void **state)
{
    (void)state;
    static const char *const specs[] = {"text(words)", NULL};
    char *text = make_many_words();
    check_third(specs, text, NULL, NULL);
    check_third(specs, text, "two four five",
                "indexes granule 1, which has too many tokens for it");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_parts__are_found_exactly),
        cmocka_unit_test(counts__are_exact),
        cmocka_unit_test(counts__are_known_of_words_and_of_nulls),
        cmocka_unit_test(counts__read_a_block_of_a_segment),
        cmocka_unit_test(long_words__are_not_lost),
        cmocka_unit_test(granules_with_too_many_words__are_not_indexed),
        cmocka_unit_test(granules_that_are_not_needed__stay_possible),
        cmocka_unit_test(proof__finds_every_lie_of_a_dictionary),
        cmocka_unit_test(proof__finds_a_granule_with_too_many_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
