/* Goal: zeros become the documented defaults, everything out of range is refused by name, and
 * filters are off exactly when they cannot work or are disabled. Method: each option at and beyond
 * its limits. */
#include "tests/support/assert_status.h"

#include <math.h>

#include "sstable/build/table_options.h"
#include "sstable/filter/filter_split.h"
#include "sstable/format.h"

static void table_options__defaults(void **state)
{
    (void)state;
    struct bb_table_options zero = {0};
    const struct bb_table_options *given[] = {NULL, &zero};
    for (size_t i = 0; i < 2; i++) {
        struct bb_table_options o = {0};
        assert_ok(bb_table_options_resolve(given[i], &o));
        assert_int_equal(o.block_size_bytes, 4096);
        assert_int_equal(o.restart_interval, 20);
        assert_int_equal(o.compression, BB_COMPRESSION_LZ4);
        assert_int_equal(o.filter_kind, BB_FILTER_RIBBON);
        assert_true(o.filter_rate == 0.01);
        assert_int_equal(o.filter_granularity, 1);
        assert_true(o.table_filter_bits == BB_TABLE_FILTER_BITS_DEFAULT);
        assert_false(o.table_filter_off);
        assert_int_equal(o.index_page_size_bytes, 4096);
    }
}

static void assert_refused(struct bb_table_options given, const char *name)
{
    struct bb_table_options o = {0};
    assert_status(bb_table_options_resolve(&given, &o), BB_INVALID);
    assert_message(name);
}

static void assert_taken(struct bb_table_options given)
{
    struct bb_table_options o = {0};
    assert_ok(bb_table_options_resolve(&given, &o));
}

static int compare_sizes(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return (a.size > b.size) - (a.size < b.size);
}

static void table_options__comparator(void **state)
{
    (void)state;
    const struct bb_comparator whole = {.name = "sizes", .compare = compare_sizes};
    const struct bb_comparator bad[] = {
        {.compare = compare_sizes}, {.name = "", .compare = compare_sizes}, {.name = "sizes"}};
    assert_taken((struct bb_table_options){.comparator = &whole});
    for (size_t i = 0; i < 3; i++)
        assert_refused((struct bb_table_options){.comparator = &bad[i]}, "comparator");
}

static void table_options__ranges(void **state)
{
    (void)state;
    assert_taken((struct bb_table_options){.block_size_bytes = BB_BLOCK_SIZE_MIN});
    assert_taken((struct bb_table_options){.block_size_bytes = BB_BLOCK_SIZE_MAX});
    assert_refused((struct bb_table_options){.block_size_bytes = BB_BLOCK_SIZE_MIN - 1},
                   "block_size_bytes");
    assert_refused((struct bb_table_options){.block_size_bytes = BB_BLOCK_SIZE_MAX + 1},
                   "block_size_bytes");
    assert_taken((struct bb_table_options){.restart_interval = 1024});
    assert_refused((struct bb_table_options){.restart_interval = 1025}, "restart_interval");
    assert_refused((struct bb_table_options){.compression = (enum bb_compression)3}, "compression");
    assert_refused((struct bb_table_options){.index_page_size_bytes = BB_PAGE_SIZE_MIN - 1},
                   "index_page_size_bytes");
    assert_refused((struct bb_table_options){.index_page_size_bytes = BB_PAGE_SIZE_MAX + 1},
                   "index_page_size_bytes");
    assert_refused((struct bb_table_options){.index_residency = (enum bb_index_residency)2},
                   "index_residency");
    assert_refused((struct bb_table_options){.index_residency = BB_INDEX_CACHED}, "cache");
    assert_refused((struct bb_table_options){.read_mode = (enum bb_read_mode)3}, "read_mode");
}

static void table_options__filters(void **state)
{
    (void)state;
    static const double refused[] = {-1, 1e-8, 0.51, 0.999, 1.01, 1e300};
    struct bb_table_options o = {0};
    for (size_t i = 0; i < 6; i++)
        assert_refused((struct bb_table_options){.filter_rate = refused[i]}, "filter_rate");
    assert_taken((struct bb_table_options){.filter_rate = BB_FILTER_RATE_MIN});
    assert_taken((struct bb_table_options){.filter_rate = BB_FILTER_RATE_MAX});
    struct bb_table_options counting = {.filter_kind = BB_FILTER_COUNTING};
    assert_status(bb_table_options_resolve(&counting, &o), BB_INVALID);
    struct bb_table_options unknown = {.filter_kind = (enum bb_filter_kind)1000};
    assert_status(bb_table_options_resolve(&unknown, &o), BB_INVALID);
}

static void table_options__table_filter(void **state)
{
    (void)state;
    static const double refused[] = {-3, -0.5, 0.5, 24.5, 1e300, (double)NAN};
    for (size_t i = 0; i < 6; i++)
        assert_refused((struct bb_table_options){.table_filter_bits = refused[i]},
                       "table_filter_bits");
    static const double taken[] = {BB_TABLE_FILTER_NONE, BB_TABLE_FILTER_ALL, 1, 3.5, 24};
    for (size_t i = 0; i < 5; i++)
        assert_taken((struct bb_table_options){.table_filter_bits = taken[i]});
    struct bb_table_options bloom = {.filter_kind = BB_FILTER_BLOOM};
    struct bb_table_options o = {0};
    assert_ok(bb_table_options_resolve(&bloom, &o));
    assert_true(o.table_filter_bits == BB_TABLE_FILTER_NONE);
}

static int compare_nothing(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    (void)a;
    (void)b;
    return 0;
}

static void table_options__without_filters(void **state)
{
    (void)state;
    static const struct bb_comparator equating = {
        .name = "equating", .compare = compare_nothing, .equates_different_bytes = true};
    const struct bb_table_options given[] = {
        {.filter_rate = 1},
        {.filter_kind = BB_FILTER_NONE},
        {.filter_kind = BB_FILTER_NONE, .filter_rate = 0.01},
        {.filter_kind = BB_FILTER_BLOOM, .filter_rate = 0.01, .comparator = &equating},
    };
    for (size_t i = 0; i < 4; i++) {
        struct bb_table_options o = {0};
        assert_ok(bb_table_options_resolve(&given[i], &o));
        assert_int_equal(o.filter_kind, BB_FILTER_NONE);
        assert_true(o.filter_rate == 1);
        assert_true(o.table_filter_bits == BB_TABLE_FILTER_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_options__defaults),
        cmocka_unit_test(table_options__comparator),
        cmocka_unit_test(table_options__ranges),
        cmocka_unit_test(table_options__filters),
        cmocka_unit_test(table_options__table_filter),
        cmocka_unit_test(table_options__without_filters),
    };
    return cmocka_run_group_tests_name("table_options", tests, NULL, NULL);
}
