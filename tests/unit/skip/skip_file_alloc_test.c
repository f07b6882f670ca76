/* A lack of memory while an index file is built or asked is reported, and leaks nothing. */
#include "base/status.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/unit/skip/indexed_rows.h"

static const char *const specs[] = {"min_max(count)", "set(name, values=60)",    "values(number)",
                                    "tokens(words)",  "ngrams(words, n=3)",      "column(count)",
                                    "column(words)",  "text(words, counts=yes)", NULL};

static enum bb_status build(struct indexed_rows *rows, const struct bb_skip_spec *parsed,
                            size_t count)
{
    struct bb_hash_secret secret;
    struct bb_skip_builder *builder = NULL;
    bb_hash_secret_from_seed(7, &secret);
    struct bb_skip_options options = {.file_system = bb_file_memory_system(rows->memory),
                                      .secret = &secret};
    enum bb_status status =
        bb_skip_builder_create("again.bbi", &options, rows->schema, parsed, count, &builder);
    for (size_t i = 0; i < rows->row_count && status == BB_OK; i++) {
        status = bb_skip_builder_add(builder, rows->rows[i].attributes);
        if (status == BB_OK &&
            (i + 1 == rows->row_count || rows->granules[i + 1] != rows->granules[i]))
            status = bb_skip_builder_end_granule(builder, rows->granules[i]);
    }
    if (status == BB_OK)
        status = bb_skip_builder_finish(builder);
    bb_skip_builder_destroy(builder);
    return status;
}

struct scenario {
    struct indexed_rows rows;
    struct bb_skip_spec parsed[9];
    size_t count;
    struct bb_condition *condition;
    struct bb_condition *by_columns;
    bool is_resident;
    enum bb_truth truths[200]; /* of each row */
};

static enum bb_status build_again(void *context)
{
    struct scenario *scenario = context;
    struct bb_file_system *fs = bb_file_memory_system(scenario->rows.memory);
    enum bb_status status = build(&scenario->rows, scenario->parsed, scenario->count);
    struct bb_error error = *bb_error_last();
    (void)!fs->ops->remove(fs, "again.bbi");
    /* The removal may have failed too, for a file that was not made. */
    return status == BB_OK ? BB_OK : bb_error_restore(&error);
}

static enum bb_status ask(struct scenario *scenario, struct bb_skip_file *file)
{
    struct bb_skip_verdicts verdicts = {0};
    struct bb_skip_rows *rows = NULL;
    struct bb_skip_row_bits bits;
    enum bb_status status =
        bb_skip_file_evaluate(file, scenario->condition, scenario->rows.schema, NULL, &verdicts);
    for (size_t i = 0; i < scenario->rows.row_count && status == BB_OK; i++)
        assert_true(may_be(&verdicts, scenario->truths[i], scenario->rows.granules[i]));
    bb_skip_verdicts_deinit(&verdicts);
    if (status == BB_OK)
        status = bb_skip_rows_create(file, scenario->by_columns, scenario->rows.schema, &rows);
    for (size_t i = 0; i < scenario->rows.granule_count && status == BB_OK; i++)
        status = bb_skip_rows_read(rows, i, NULL, &bits);
    bb_skip_rows_destroy(rows);
    return status == BB_OK ? bb_skip_file_verify(file) : status;
}

static enum bb_status open_and_ask(void *context)
{
    struct scenario *scenario = context;
    struct bb_skip_file *file = NULL;
    enum bb_status status = open_rows(&scenario->rows, scenario->is_resident, &file);
    if (status == BB_OK)
        status = ask(scenario, file);
    bb_skip_file_close(file);
    return status;
}

static void judge_rows(struct scenario *scenario)
{
    struct bb_condition_run *run = NULL;
    assert_ok(bb_condition_run_create(scenario->condition, &run));
    for (size_t i = 0; i < scenario->rows.row_count; i++)
        assert_ok(bb_condition_test(run, scenario->rows.rows[i].attributes, &scenario->truths[i]));
    bb_condition_run_destroy(run);
}

static void set_up(struct scenario *scenario)
{
    struct bb_rng rng;
    static const char text[] =
        "count < 30 AND name = 'GET' OR has_token(words, 'w1') OR number = 5";
    static const char by_columns[] = "words LIKE '%w1%' AND count < 30";
    bb_rng_init(&rng, bb_rng_seed("skip_file_alloc_test", 40));
    indexed_rows_init(&scenario->rows, &rng, 10, 20, specs);
    scenario->count = parse_specs(scenario->rows.schema, specs, scenario->parsed);
    assert_ok(bb_condition_parse(scenario->rows.schema,
                                 (struct bb_bytes){(const uint8_t *)text, sizeof(text) - 1},
                                 &scenario->condition));
    assert_ok(
        bb_condition_parse(scenario->rows.schema,
                           (struct bb_bytes){(const uint8_t *)by_columns, sizeof(by_columns) - 1},
                           &scenario->by_columns));
    judge_rows(scenario);
}

static void each_allocation__may_fail(void **state)
{
    (void)state;
    struct scenario scenario;
    set_up(&scenario);
    assert_true(bb_alloc_fault_sweep(build_again, &scenario, false) > 40);
    for (int is_resident = 0; is_resident < 2; is_resident++) {
        scenario.is_resident = is_resident;
        assert_true(bb_alloc_fault_sweep(open_and_ask, &scenario, false) > 20);
    }
    bb_condition_destroy(scenario.condition);
    bb_condition_destroy(scenario.by_columns);
    indexed_rows_deinit(&scenario.rows);
}

/* Segments end early where members hardly repeat, so that the pairs of three indexes fit. */
static void building__takes_32_mebibytes_at_most(void **state)
{
    (void)state;
    static const char *const texts[] = {"tokens(words)", "tokens(words, fold=lower)",
                                        "values(words)", "text(words, counts=yes)", NULL};
    struct indexed_rows rows = {.memory = bb_file_memory_create(1)};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("skip_file_alloc_test", 41));
    assert_ok(bb_schema_create(&rows.schema));
    assert_ok(bb_schema_add(rows.schema, "words bytes = value"));
    uint64_t before = bb_alloc_fault_bytes();
    bb_alloc_fault_peak_reset();
    struct bb_skip_builder *builder = rows_builder(&rows, texts);
    for (uint64_t granule = 0; granule < 600; granule++) {
        for (uint32_t row = 0; row < 100; row++) {
            char text[400];
            size_t size = 0;
            for (uint32_t word = 0; word < 30; word++)
                size += (size_t)sprintf(text + size, "%x ", (unsigned)bb_rng_next(&rng));
            assert_ok(bb_skip_builder_add_record(builder, (struct bb_bytes){0},
                                                 (struct bb_bytes){(const uint8_t *)text, size}));
        }
        assert_ok(bb_skip_builder_end_granule(builder, granule));
    }
    assert_ok(bb_skip_builder_finish(builder));
    assert_true(bb_alloc_fault_peak() - before > 4 << 20);
    assert_true(bb_alloc_fault_peak() - before <= 32 << 20);
    bb_skip_builder_destroy(builder);
    bb_schema_destroy(rows.schema);
    bb_file_memory_destroy(rows.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation__may_fail),
                                       cmocka_unit_test(building__takes_32_mebibytes_at_most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
