/* Goal: the predicted cost of filters agrees with the tables. Method: real tables (shelf.h) of all
 * kinds, sizes of blocks and rates; the cost is calibrated on tables of one rate and compared with
 * tables of another. */
#include "tests/unit/compaction/shelf.h"

#include <math.h>

#include "base/assert.h"
#include "compaction/rates/filter_cost.h"

#define KEYS 4000

/* A level with one table of that rate. */
static struct bb_levels *build(struct shelf *shelf, const struct bb_entry_array *array, double rate)
{
    struct bb_levels *empty = NULL;
    struct bb_levels *levels = NULL;
    shelf->env.options.filter_rate = rate;
    struct bb_level_change change = {.level = 1, .file = shelf_put(shelf, array, 0, array->count)};
    assert_ok(bb_levels_create_empty(NULL, &empty));
    assert_ok(bb_levels_apply(empty, NULL, 0, &change, 1, &levels));
    bb_table_file_unref(change.file);
    bb_levels_unref(empty);
    return levels;
}

static double real_bits(const struct bb_levels *levels)
{
    const struct bb_level *level = &levels->levels[1];
    return 8 * (double)level->filter_bytes / (double)level->key_count;
}

static struct bb_filter_cost calibrate(const struct bb_levels *levels, enum bb_filter_kind kind,
                                       double table_filter_bits)
{
    const struct bb_filter_cost_tables tables = {.kind = kind,
                                                 .table_filter_bits = table_filter_bits};
    return bb_filter_cost_calibrate(levels, &tables);
}

static void check(enum bb_filter_kind kind, double table_filter_bits, uint32_t block_size,
                  double error_max)
{
    static const double rates[] = {0.3, 0.1, 0.01, 0.004, 0.0003, 1e-5};
    struct shelf shelf;
    struct bb_entry_array array = {0};
    shelf_init(&shelf, NULL);
    char key[32];
    for (uint64_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key%08" PRIu64, i);
        bb_entry_array_add_text(&array, key, i + 1, "a value of some length");
    }
    shelf.env.options.filter_kind = kind;
    shelf.env.options.block_size_bytes = block_size;
    shelf.env.options.table_filter_bits = table_filter_bits;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(rates); i++) {
        struct bb_levels *levels = build(&shelf, &array, rates[i]);
        struct bb_filter_cost cost = calibrate(levels, kind, table_filter_bits);
        /* Exact for the tables that it was calibrated with. Lines are not divided. */
        double more = bb_filter_cost_bits(&cost, rates[i]) - real_bits(levels);
        assert_true(more > -0.01 && more < (kind == BB_FILTER_BLOCKED_BLOOM ? 2.2 : 0.01));
        bb_levels_unref(levels);
        for (size_t j = i > 0 ? i - 1 : 0; j < BB_ARRAY_LENGTH(rates) && j <= i + 1; j++) {
            levels = build(&shelf, &array, rates[j]);
            double error = fabs(bb_filter_cost_bits(&cost, rates[j]) / real_bits(levels) - 1);
            if (error > error_max)
                fail_msg("kind %d, blocks of %u: from %g to %g off by %.3f", (int)kind, block_size,
                         rates[i], rates[j], error);
            bb_levels_unref(levels);
        }
    }
    bb_entry_array_deinit(&array);
    shelf_deinit(&shelf);
}

static void filter_cost__of_ribbons(void **state)
{
    (void)state;
    static const double table_filters[] = {BB_TABLE_FILTER_NONE, BB_TABLE_FILTER_ALL, 4};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(table_filters); i++) {
        check(BB_FILTER_RIBBON, table_filters[i], 512, 0.1);
        check(BB_FILTER_RIBBON, table_filters[i], 2048, 0.06);
        check(BB_FILTER_RIBBON, table_filters[i], 16384, 0.06);
    }
}

static void filter_cost__of_blooms(void **state)
{
    (void)state;
    check(BB_FILTER_BLOOM, BB_TABLE_FILTER_NONE, 4096, 0.12);
    check(BB_FILTER_BLOCKED_BLOOM, BB_TABLE_FILTER_NONE, 8192, 0.3);
    check(BB_FILTER_BLOOM, BB_TABLE_FILTER_ALL, 4096, 0.06);
    check(BB_FILTER_BLOOM, 4, 512, 0.1);
    check(BB_FILTER_BLOOM, 4, 4096, 0.06);
}

/* Without tables: as is usual, for the kind; no filter costs nothing. */
static void filter_cost__of_an_empty_store(void **state)
{
    (void)state;
    struct bb_levels *levels = NULL;
    assert_ok(bb_levels_create_empty(NULL, &levels));
    struct bb_filter_cost ribbon = calibrate(levels, BB_FILTER_RIBBON, BB_TABLE_FILTER_NONE);
    struct bb_filter_cost bloom = calibrate(levels, BB_FILTER_BLOOM, BB_TABLE_FILTER_NONE);
    struct bb_filter_cost lines = calibrate(levels, BB_FILTER_BLOCKED_BLOOM, BB_TABLE_FILTER_NONE);
    double bits = bb_filter_cost_bits(&ribbon, 0.01);
    assert_true(bits > 6.8 && bits < 7.5);
    assert_true(bb_filter_cost_bits(&bloom, 0.01) > bits);
    assert_true(bb_filter_cost_bits(&lines, 0.01) > bb_filter_cost_bits(&bloom, 0.01));
    assert_true(bb_filter_cost_bits(&ribbon, 1) == 0 && bb_filter_cost_bits(&bloom, 1) == 0);
    /* Whole bits, and the mixtures between them on a straight line in the rate. */
    ribbon = (struct bb_filter_cost){.kind = BB_FILTER_RIBBON, .slope = 1};
    assert_true(bb_filter_cost_bits(&ribbon, 0.5) == 1);
    assert_true(bb_filter_cost_bits(&ribbon, 0.125) == 3);
    assert_true(bb_filter_cost_bits(&ribbon, 0.375) == 1.5);
    bb_levels_unref(levels);
}

static struct bb_filter_cost estimate(const struct bb_levels *levels, enum bb_filter_kind kind,
                                      double keys_per_block, uint32_t blocks_per_filter)
{
    const struct bb_filter_cost_tables tables = {.kind = kind,
                                                 .table_filter_bits = 5,
                                                 .keys_per_block = keys_per_block,
                                                 .blocks_per_filter = blocks_per_filter};
    return bb_filter_cost_calibrate(levels, &tables);
}

/* Block filters of few keys are expensive, so the table filter gets all bits. */
static void filter_cost__is_estimated_from_the_keys_of_a_block(void **state)
{
    (void)state;
    struct bb_levels *levels = NULL;
    assert_ok(bb_levels_create_empty(NULL, &levels));
    struct bb_filter_cost two = estimate(levels, BB_FILTER_RIBBON, 2, 1);
    struct bb_filter_cost ten = estimate(levels, BB_FILTER_RIBBON, 10, 1);
    struct bb_filter_cost page = estimate(levels, BB_FILTER_RIBBON, 2, UINT32_MAX);
    struct bb_filter_cost lines = estimate(levels, BB_FILTER_BLOCKED_BLOOM, 40, 1);
    assert_false(bb_filter_cost_splits(&two, 0.001));
    assert_true(bb_filter_cost_splits(&ten, 0.001));
    assert_true(bb_filter_cost_splits(&page, 0.001));
    assert_false(bb_filter_cost_splits(&lines, 0.001));
    assert_true(fabs(bb_filter_cost_bits(&ten, 0.001) - bb_filter_cost_bits(&two, 0.001) - 2.1) <
                0.01);
    bb_levels_unref(levels);
}

/* A budget that a table filter can use, and a table filter with block filters cannot. */
static void filter_cost__does_not_split_a_budget_that_is_too_small(void **state)
{
    (void)state;
    struct bb_levels *levels = NULL;
    assert_ok(bb_levels_create_empty(NULL, &levels));
    for (double bits = 4; bits <= 14; bits += 0.5) {
        const struct bb_filter_cost_tables tables = {.kind = BB_FILTER_RIBBON,
                                                     .table_filter_bits = 5,
                                                     .keys_per_block = 6,
                                                     .budget_bits = bits};
        struct bb_filter_cost cost = bb_filter_cost_calibrate(levels, &tables);
        double rate = bb_filter_cost_rate(&cost, bits);
        assert_true(cost.may_split == (bits > 10.5));
        assert_true(bits - bb_filter_cost_bits(&cost, rate) < 0.1);
    }
    bb_levels_unref(levels);
}

/* A table without filters shows how many keys a block has. */
static void filter_cost__counts_the_keys_of_blocks_without_filters(void **state)
{
    (void)state;
    struct shelf shelf;
    struct bb_entry_array array = {0};
    char key[32];
    shelf_init(&shelf, NULL);
    for (uint64_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key%08" PRIu64, i);
        bb_entry_array_add_text(&array, key, i + 1, "a value of some length");
    }
    shelf.env.options.filter_kind = BB_FILTER_NONE;
    shelf.env.options.block_size_bytes = 64; /* two entries */
    struct bb_levels *levels = build(&shelf, &array, 1);
    struct bb_filter_cost found = estimate(levels, BB_FILTER_RIBBON, 0, 1);
    assert_true(found.keys_per_filter >= 1 && found.keys_per_filter < 4);
    bb_levels_unref(levels);
    bb_entry_array_deinit(&array);
    shelf_deinit(&shelf);
}

/* A table without filters has no effect on their cost. */
static void filter_cost__ignores_tables_without_filters(void **state)
{
    (void)state;
    struct shelf shelf;
    struct bb_entry_array array = {0};
    struct bb_levels *both = NULL;
    char key[32];
    shelf_init(&shelf, NULL);
    for (uint64_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key%08" PRIu64, i);
        bb_entry_array_add_text(&array, key, i + 1, "a value of some length");
    }
    struct bb_levels *levels = build(&shelf, &array, 0.01);
    shelf.env.options.filter_kind = BB_FILTER_NONE;
    struct bb_level_change change = {.level = 2, .file = shelf_put(&shelf, &array, 0, array.count)};
    assert_ok(bb_levels_apply(levels, NULL, 0, &change, 1, &both));
    struct bb_filter_cost expected = calibrate(levels, BB_FILTER_RIBBON, 0);
    struct bb_filter_cost found = calibrate(both, BB_FILTER_RIBBON, 0);
    for (double rate = 0.3; rate > 1e-6; rate /= 7)
        assert_true(bb_filter_cost_bits(&found, rate) == bb_filter_cost_bits(&expected, rate));
    bb_table_file_unref(change.file);
    bb_levels_unref(both);
    bb_levels_unref(levels);
    bb_entry_array_deinit(&array);
    shelf_deinit(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_cost__of_ribbons),
        cmocka_unit_test(filter_cost__of_blooms),
        cmocka_unit_test(filter_cost__of_an_empty_store),
        cmocka_unit_test(filter_cost__is_estimated_from_the_keys_of_a_block),
        cmocka_unit_test(filter_cost__does_not_split_a_budget_that_is_too_small),
        cmocka_unit_test(filter_cost__counts_the_keys_of_blocks_without_filters),
        cmocka_unit_test(filter_cost__ignores_tables_without_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
