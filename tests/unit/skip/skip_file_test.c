/* Index files are never wrong: a row that satisfies a condition is in a granule that may satisfy
 * it, a row that fails it in a granule that may fail, and likewise for unknown. */
#include "tests/unit/skip/indexed_rows.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "tests/support/step.h"

/* Some of the specs; which[i]: the number of the i-th one. */
static void draw_specs(struct bb_rng *rng, const char **specs, size_t *which)
{
    size_t count = 0;
    for (size_t i = 0; all_specs[i] != NULL; i++) {
        if (count > 0 && !bb_rng_one_in(rng, 3))
            continue;
        which[count] = i;
        specs[count++] = all_specs[i];
    }
    specs[count] = NULL;
}

/* With some of all indexes at a time: if all are used, the first ones leave no granules to the
 * others. */
static void conditions__lose_no_row(void **state)
{
    (void)state;
    struct bb_rng rng;
    static char text[1 << 14];
    uint64_t excluded[32] = {0};
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 8));
    for (uint32_t turn = 0; turn < 40; turn++) {
        const char *specs[32];
        size_t which[32];
        struct indexed_rows rows;
        struct bb_skip_file *file = NULL;
        struct bb_skip_account accounts[32] = {{0}};
        draw_specs(&rng, specs, which);
        indexed_rows_init(&rows, &rng, 1 + bb_rng_skewed(&rng, 200), 1 + bb_rng_skewed(&rng, 60),
                          specs);
        assert_ok(open_rows(&rows, turn % 2 == 0, &file));
        assert_ok(bb_skip_file_verify(file));
        for (size_t i = 0; i < 200; i += bb_test_step()) {
            draw_condition(&rng, (uint32_t)bb_rng_below(&rng, 4), text);
            check_condition(&rows, file, text, accounts);
        }
        for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
            assert_int_equal(accounts[i].damaged_segments, 0);
            excluded[which[i]] += accounts[i].granules_excluded;
        }
        bb_skip_file_close(file);
        indexed_rows_deinit(&rows);
    }
    for (size_t i = 0; all_specs[i] != NULL && bb_test_step() == 1; i++)
        assert_true(excluded[i] > 0);
}

static const char *const columns[] = {"column(words)",
                                      "column(name)",
                                      "column(number)",
                                      "column(count)",
                                      "column(ratio)",
                                      "column(ts)",
                                      NULL};

static void columns__decide_every_row(void **state)
{
    (void)state;
    struct bb_rng rng;
    static char text[1 << 14];
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 14));
    for (uint32_t turn = 0; turn < 10; turn++) {
        struct indexed_rows rows;
        struct bb_skip_file *file = NULL;
        indexed_rows_init(&rows, &rng, 1 + bb_rng_skewed(&rng, 1500), 1 + bb_rng_skewed(&rng, 150),
                          columns);
        assert_ok(open_rows(&rows, turn % 2 == 0, &file));
        assert_ok(bb_skip_file_verify(file));
        for (size_t i = 0; i < 40; i += bb_test_step()) {
            draw_condition(&rng, (uint32_t)bb_rng_below(&rng, 4), text);
            check_columns(&rows, file, text);
        }
        bb_skip_file_close(file);
        indexed_rows_deinit(&rows);
    }
}

static bool has_bit(const uint64_t *words, uint64_t bit)
{
    return (words[bit / 64] >> bit % 64 & 1) != 0;
}

/* Every record has a permitted truth, and certain results are right. */
static void check_possible(struct indexed_rows *rows, struct bb_skip_rows *decided,
                           const struct bb_condition *condition, const char *text)
{
    struct bb_skip_row_bits bits = {0};
    struct bb_condition_run *run = NULL;
    uint64_t in_granule = 0;
    assert_ok(bb_condition_run_create(condition, &run));
    for (size_t i = 0; i < rows->row_count; i++, in_granule++) {
        enum bb_truth truth = BB_TRUTH_UNKNOWN;
        if (i == 0 || rows->granules[i] != rows->granules[i - 1]) {
            assert_ok(bb_skip_rows_read(decided, rows->granules[i], NULL, &bits));
            in_granule = 0;
        }
        assert_ok(bb_condition_test(run, rows->rows[i].attributes, &truth));
        bool is_true = has_bit(bits.is_true, in_granule);
        bool is_null = has_bit(bits.is_null, in_granule);
        bool may_be_true = has_bit(bits.may_be_true, in_granule);
        if ((is_true && truth != BB_TRUTH_TRUE) || (is_null && truth != BB_TRUTH_UNKNOWN) ||
            (truth == BB_TRUTH_TRUE && !may_be_true))
            fail_msg("row %zu: %s is %d", i, text, (int)truth);
        assert_true(may_be_true || !is_true);
    }
    bb_condition_run_destroy(run);
}

static void columns__decide_with_other_indexes(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "column(number)", "column(name)", "min_max(count)", "set(ratio)",
        "tokens(words)",  "min_max(ts)",  "values(count)",  NULL};
    struct bb_rng rng;
    static char text[1 << 14];
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 17));
    for (uint32_t turn = 0; turn < 10; turn++) {
        struct indexed_rows rows;
        struct bb_skip_file *file = NULL;
        indexed_rows_init(&rows, &rng, 1 + bb_rng_skewed(&rng, 1500), 1 + bb_rng_skewed(&rng, 150),
                          specs);
        assert_ok(open_rows(&rows, turn % 2 == 0, &file));
        for (size_t i = 0; i < 60; i += bb_test_step()) {
            struct bb_condition *condition = NULL;
            struct bb_skip_rows *decided = NULL;
            draw_condition(&rng, (uint32_t)bb_rng_below(&rng, 4), text);
            assert_ok(bb_condition_parse(rows.schema, bb_bytes_of_text(text), &condition));
            if (bb_skip_rows_create(file, condition, rows.schema, &decided) == BB_OK)
                check_possible(&rows, decided, condition, text);
            bb_skip_rows_destroy(decided);
            bb_condition_destroy(condition);
        }
        bb_skip_file_close(file);
        indexed_rows_deinit(&rows);
    }
}

static void conditions__without_columns_are_not_decided(void **state)
{
    (void)state;
    struct bb_rng rng;
    static const char *const specs[] = {"column(number)", NULL};
    static const char text[] = "count = 2 OR name = 'GET'";
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    struct bb_condition *condition = NULL;
    struct bb_skip_rows *decided = NULL;
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 15));
    indexed_rows_init(&rows, &rng, 3, 5, specs);
    assert_ok(open_rows(&rows, false, &file));
    assert_ok(bb_condition_parse(
        rows.schema, (struct bb_bytes){(const uint8_t *)text, sizeof(text) - 1}, &condition));
    assert_int_equal(bb_skip_rows_create(file, condition, rows.schema, &decided), BB_NOT_FOUND);
    bb_condition_destroy(condition);
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

/* Regression: names were compared too, and a condition under another name read everything. */
static void indexes__serve_an_attribute_under_another_name(void **state)
{
    (void)state;
    static const char *const specs[] = {"values(name)", NULL};
    static const char text[] = "other = 'is nowhere'";
    struct bb_rng rng;
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    struct bb_schema *schema = NULL;
    struct bb_condition *condition = NULL;
    struct bb_skip_verdicts verdicts = {0};
    struct bb_skip_account account = {0};
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 10));
    indexed_rows_init(&rows, &rng, 100, 5, specs);
    assert_ok(open_rows(&rows, false, &file));
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "name bytes = tsv(1)"));
    assert_ok(bb_schema_add(schema, "other bytes = tsv(2)"));
    assert_ok(bb_condition_parse(schema, bb_bytes_of_text(text), &condition));
    assert_ok(bb_skip_file_evaluate(file, condition, schema, &account, &verdicts));
    assert_true(account.granules_excluded > 50);
    bb_skip_verdicts_deinit(&verdicts);
    bb_condition_destroy(condition);
    bb_schema_destroy(schema);
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

static void segments__end_at_1024_granules(void **state)
{
    (void)state;
    struct bb_rng rng;
    static char text[1 << 14];
    static const char *const specs[] = {"tokens(words)", "min_max(ts)", "set(number, values=1000)",
                                        "set(name, values=2)", NULL};
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    struct bb_skip_index_info info;
    struct bb_skip_granule_info granule;
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 9));
    indexed_rows_init(&rows, &rng, 2500, 3, specs);
    assert_ok(open_rows(&rows, false, &file));
    assert_int_equal(bb_skip_file_granule_count(file), 2500);
    bb_skip_file_granule(file, 1700, &granule);
    assert_int_equal(granule.place, 17000);
    for (size_t i = 0; i < 3; i++) {
        bb_skip_file_index(file, i, &info);
        assert_int_equal(info.segment_count, 3);
        assert_int_equal(info.unindexed_granules, 0);
    }
    /* More than two values: the result is unknown, and no row is lost. */
    bb_skip_file_index(file, 3, &info);
    assert_int_equal(info.unindexed_granules, 2500);
    assert_string_equal(info.attribute_definition, bb_schema_definition(rows.schema, ROW_NAME));
    for (size_t i = 0; i < 200; i += bb_test_step()) {
        draw_condition(&rng, 2, text);
        check_condition(&rows, file, text, NULL);
    }
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

static uint32_t count_bits(const uint64_t *words, size_t count)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits += (uint32_t)__builtin_popcountll(words[i]);
    return bits;
}

static struct bb_skip_verdicts ask(struct indexed_rows *rows, struct bb_skip_file *file,
                                   const char *text, struct bb_skip_account *accounts)
{
    struct bb_condition *condition = NULL;
    struct bb_skip_verdicts verdicts = {0};
    assert_ok(bb_condition_parse(
        rows->schema, (struct bb_bytes){(const uint8_t *)text, strlen(text)}, &condition));
    assert_ok(bb_skip_file_evaluate(file, condition, rows->schema, accounts, &verdicts));
    bb_condition_destroy(condition);
    return verdicts;
}

/* For ranges over ascending times, granules completely inside certainly match, and are not read. */
static void ranges__decide_whole_granules(void **state)
{
    (void)state;
    struct bb_rng rng;
    static const char *const specs[] = {"min_max(ts)", NULL};
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    struct bb_skip_account account = {0};
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 10));
    indexed_rows_init(&rows, &rng, 1500, 5, specs);
    assert_ok(open_rows(&rows, false, &file));
    struct bb_skip_verdicts verdicts = ask(&rows, file, "ts >= '1970-01-01T01:00:00Z'", &account);
    /* A granule has only the seconds 10 * g: 360 of them are before. */
    assert_true(count_bits(verdicts.may_be_true, verdicts.word_count) <= 1140);
    assert_true(count_bits(verdicts.may_be_false, verdicts.word_count) <= 360);
    for (size_t granule = 360; granule < 1500; granule++)
        assert_false(may_be(&verdicts, BB_TRUTH_FALSE, granule));
    bb_skip_verdicts_deinit(&verdicts);
    /* The second segment was decided by its own bounds. */
    assert_int_equal(account.segments_searched, 2);
    assert_int_equal(account.reads, 2);
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

/* A condition that no index knows anything of reads nothing. */
static void unusable_indexes__are_not_read(void **state)
{
    (void)state;
    struct bb_rng rng;
    static const char *const specs[] = {"tokens(words)", "values(number)", NULL};
    static const char *const texts[] = {"words LIKE '%ab%'", "number > 5",
                                        "ts IS NULL OR count = 1", "words ILIKE '% GET %'",
                                        "words < 'b'"};
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    struct bb_skip_account accounts[2] = {{0}};
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 11));
    indexed_rows_init(&rows, &rng, 100, 5, specs);
    assert_ok(open_rows(&rows, false, &file));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct bb_skip_verdicts verdicts = ask(&rows, file, texts[i], accounts);
        bb_skip_verdicts_deinit(&verdicts);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(accounts[i].leaves, 0);
        assert_int_equal(accounts[i].reads, 0);
    }
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

/* A granule with more members than are kept is not excluded by them; its neighbours are. */
static void granules_with_too_many_members__are_not_indexed(void **state)
{
    (void)state;
    enum { TOKENS = 300000 };
    struct indexed_rows rows = {.memory = bb_file_memory_create(1)};
    static const char *const specs[] = {"tokens(words)", NULL};
    struct bb_skip_file *file = NULL;
    struct bb_skip_index_info info;
    char *text = malloc(TOKENS * 8);
    size_t size = 0;
    for (uint32_t i = 0; i < TOKENS; i++)
        size += (size_t)sprintf(text + size, "%x ", i);
    assert_ok(bb_schema_create(&rows.schema));
    assert_ok(bb_schema_add(rows.schema, "words bytes = value"));
    struct bb_skip_builder *builder = rows_builder(&rows, specs);
    for (uint64_t granule = 0; granule < 3; granule++) {
        struct bb_bytes value = {(const uint8_t *)text, granule == 1 ? size : 8};
        assert_ok(bb_skip_builder_add_record(builder, (struct bb_bytes){0}, value));
        assert_ok(bb_skip_builder_end_granule(builder, granule));
    }
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
    assert_ok(open_rows(&rows, false, &file));
    bb_skip_file_index(file, 0, &info);
    assert_int_equal(info.unindexed_granules, 1);
    struct bb_skip_verdicts verdicts = ask(&rows, file, "has_token(words, '2')", NULL);
    assert_int_equal(verdicts.may_be_true[0], 7);
    bb_skip_verdicts_deinit(&verdicts);
    verdicts = ask(&rows, file, "has_token(words, 'absent')", NULL);
    assert_int_equal(verdicts.may_be_true[0], 2);
    bb_skip_verdicts_deinit(&verdicts);
    bb_skip_file_close(file);
    bb_schema_destroy(rows.schema);
    bb_file_memory_destroy(rows.memory);
    free(text);
}

/* An extractor that changed under its name finds no index, and loses no row. */
static void changed_definition__finds_no_index(void **state)
{
    (void)state;
    struct bb_rng rng;
    static const char *const specs[] = {"values(number)", "min_max(number)", NULL};
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    struct bb_skip_account accounts[2] = {{0}};
    struct bb_schema *other = NULL;
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 12));
    indexed_rows_init(&rows, &rng, 20, 5, specs);
    assert_ok(open_rows(&rows, false, &file));
    assert_ok(bb_schema_create(&other));
    assert_ok(bb_schema_add(other, "number i64 = tsv(9)"));
    struct bb_schema *own = rows.schema;
    rows.schema = other;
    struct bb_skip_verdicts verdicts = ask(&rows, file, "number = 123456", accounts);
    assert_int_equal(count_bits(verdicts.may_be_true, verdicts.word_count), 20);
    assert_int_equal(accounts[0].leaves + accounts[1].leaves, 0);
    bb_skip_verdicts_deinit(&verdicts);
    rows.schema = own;
    bb_schema_destroy(other);
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

static void builder__refuses_what_it_cannot_do(void **state)
{
    (void)state;
    struct bb_rng rng;
    static const char *const specs[] = {"min_max(number)", NULL};
    struct indexed_rows rows;
    struct bb_skip_spec spec;
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 13));
    indexed_rows_init(&rows, &rng, 1, 1, specs);
    assert_status(bb_skip_spec_parse("tokens(number)", rows.schema, &spec), BB_INVALID);
    assert_message("at byte 7: expected an attribute of type bytes");
    assert_status(bb_skip_spec_parse("bloom(number)", rows.schema, &spec), BB_INVALID);
    assert_message("at byte 0");
    assert_status(bb_skip_spec_parse("set(number, rate=0.1)", rows.schema, &spec), BB_INVALID);
    assert_message("at byte 11");
    assert_status(bb_skip_spec_parse("values(number, rate=0)", rows.schema, &spec), BB_INVALID);
    assert_message("at byte 20: expected a rate from 0.0000001 to 0.5");
    assert_status(bb_skip_spec_parse("ngrams(words, n=9)", rows.schema, &spec), BB_INVALID);
    assert_message("at byte 16: expected a whole number from 2 to 8");
    assert_status(bb_skip_spec_parse("set(number, values=65537)", rows.schema, &spec), BB_INVALID);
    assert_message("at byte 19: expected a whole number from 1 to 65536");
    assert_status(bb_skip_spec_parse("min_max(nothing)", rows.schema, &spec), BB_INVALID);
    assert_status(bb_skip_spec_parse("min_max(number) x", rows.schema, &spec), BB_INVALID);
    struct bb_buf buf = {0};
    assert_ok(bb_skip_spec_parse(" ngrams( words ,fold=lower, n=4 ) ", rows.schema, &spec));
    assert_ok(bb_skip_spec_print(&spec, rows.schema, &buf));
    assert_int_equal(buf.size, strlen("ngrams(words, n=4, rate=0.1, fold=lower)"));
    assert_memory_equal(buf.data, "ngrams(words, n=4, rate=0.1, fold=lower)", buf.size);
    bb_buf_deinit(&buf);
    static const char *const rates[] = {"1e-3", "0.25", ".5", "1e-07"};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        char spec_text[64];
        struct bb_skip_spec again;
        sprintf(spec_text, "values(number, rate=%s)", rates[i]);
        assert_ok(bb_skip_spec_parse(spec_text, rows.schema, &spec));
        assert_ok(bb_skip_spec_print(&spec, rows.schema, &buf));
        assert_ok(bb_buf_append(&buf, "", 1));
        assert_ok(bb_skip_spec_parse((const char *)buf.data, rows.schema, &again));
        assert_memory_equal(&again, &spec, sizeof(spec));
        bb_buf_deinit(&buf);
    }
    assert_status(bb_skip_spec_parse("values(number, rate=0,5)", rows.schema, &spec), BB_INVALID);
    assert_ok(bb_file_memory_system(rows.memory)
                  ->ops->remove(bb_file_memory_system(rows.memory), ROWS_PATH));
    struct bb_skip_builder *builder = rows_builder(&rows, specs);
    assert_ok(bb_skip_builder_end_granule(builder, 5));
    assert_ok(bb_skip_builder_add(builder, rows.rows[0].attributes));
    assert_status(bb_skip_builder_finish(builder), BB_INVALID);
    assert_status(bb_skip_builder_end_granule(builder, 9), BB_INVALID);
    bb_skip_builder_destroy(builder);
    indexed_rows_deinit(&rows);
}

static void records__are_read_by_the_schema(void **state)
{
    (void)state;
    struct indexed_rows rows = {.memory = bb_file_memory_create(1)};
    static const char *const specs[] = {"set(number)", "tokens(words)", NULL};
    struct bb_skip_file *file = NULL;
    uint64_t counts[4];
    assert_ok(bb_schema_create(&rows.schema));
    for (size_t i = 0; i < ROW_WIDTH; i++)
        assert_ok(bb_schema_add(rows.schema, row_definitions[i]));
    struct bb_skip_builder *builder = rows_builder(&rows, specs);
    static const char *const lines[] = {"GET /a\tx\t5", "POST /b\ty\tzz", "PUT /c\tx\t7\t1"};
    for (size_t i = 0; i < 3; i++) {
        assert_ok(bb_skip_builder_add_record(
            builder, (struct bb_bytes){0},
            (struct bb_bytes){(const uint8_t *)lines[i], strlen(lines[i])}));
        assert_ok(bb_skip_builder_end_granule(builder, i));
    }
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
    assert_ok(open_rows(&rows, false, &file));
    bb_skip_file_states(file, 1, 0, counts);
    assert_int_equal(counts[BB_ATTRIBUTE_MALFORMED], 1);
    struct bb_skip_verdicts verdicts = ask(&rows, file, "number = 5", NULL);
    assert_int_equal(verdicts.may_be_true[0], 1);
    assert_int_equal(verdicts.may_be_false[0], 4);
    assert_int_equal(verdicts.may_be_null[0], 2);
    bb_skip_verdicts_deinit(&verdicts);
    verdicts = ask(&rows, file, "has_token(words, 'POST') OR number = 7", NULL);
    assert_int_equal(verdicts.may_be_true[0], 6);
    bb_skip_verdicts_deinit(&verdicts);
    bb_skip_file_close(file);
    bb_schema_destroy(rows.schema);
    bb_file_memory_destroy(rows.memory);
}

/* Files with one secret and with several, queried alternately by one evaluator. */
static void evaluators__ask_many_files(void **state)
{
    (void)state;
    enum { FILES = 4, QUESTIONS = 60 };
    struct bb_rng rng;
    struct indexed_rows rows[FILES];
    struct bb_skip_file *files[FILES];
    static char text[1 << 14];
    bb_rng_init(&rng, bb_rng_seed("skip_file_test", 16));
    for (size_t i = 0; i < FILES; i++) {
        indexed_rows_init(&rows[i], &rng, 200 + 300 * i, 10 + 5 * i, all_specs);
        assert_ok(open_rows(&rows[i], i % 2 == 0, &files[i]));
    }
    for (size_t question = 0; question < QUESTIONS; question += bb_test_step()) {
        struct bb_condition *condition = NULL;
        struct bb_skip_evaluator *evaluator = NULL;
        draw_condition(&rng, (uint32_t)bb_rng_below(&rng, 4), text);
        assert_ok(bb_condition_parse(rows[0].schema, bb_bytes_of_text(text), &condition));
        assert_ok(bb_skip_evaluator_create(condition, rows[0].schema, &evaluator));
        for (size_t turn = 0; turn < 2 * FILES; turn++) {
            struct bb_skip_verdicts verdicts = {0};
            size_t i = turn % FILES;
            assert_ok(bb_skip_evaluator_ask(evaluator, files[i], NULL, &verdicts));
            check_rows(&rows[i], condition, &verdicts, text);
        }
        bb_skip_evaluator_destroy(evaluator);
        bb_condition_destroy(condition);
    }
    for (size_t i = 0; i < FILES; i++) {
        bb_skip_file_close(files[i]);
        indexed_rows_deinit(&rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions__lose_no_row),
        cmocka_unit_test(columns__decide_every_row),
        cmocka_unit_test(columns__decide_with_other_indexes),
        cmocka_unit_test(conditions__without_columns_are_not_decided),
        cmocka_unit_test(indexes__serve_an_attribute_under_another_name),
        cmocka_unit_test(segments__end_at_1024_granules),
        cmocka_unit_test(ranges__decide_whole_granules),
        cmocka_unit_test(unusable_indexes__are_not_read),
        cmocka_unit_test(granules_with_too_many_members__are_not_indexed),
        cmocka_unit_test(changed_definition__finds_no_index),
        cmocka_unit_test(builder__refuses_what_it_cannot_do),
        cmocka_unit_test(records__are_read_by_the_schema),
        cmocka_unit_test(evaluators__ask_many_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
