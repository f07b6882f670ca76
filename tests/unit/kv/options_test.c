/* Goal: every option has the default and the limits in docs/options.md, and a value outside is
 * refused by name. Method: a table of all numeric options (offset, width, default, limits), each
 * tested at 0, at its limits and one step beyond; the page is read and compared with the table. */
#include "tests/support/assert_status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "kv/options.h"
#include "sstable/filter/filter_split.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define TIB (GIB * 1024)

struct numeric {
    const char *name;
    size_t offset;
    size_t width;
    uint64_t fallback;
    uint64_t min;
    uint64_t max;
};

#define NUMERIC(field, fallback, min, max)                                                         \
    {                                                                                              \
#field, offsetof(struct bb_db_options, field),                                             \
            sizeof(((struct bb_db_options *)NULL)->field), fallback, min, max                      \
    }

static const struct numeric numerics[] = {
    NUMERIC(write_buffer_bytes, 64 * MIB, 64 * KIB, 16 * GIB),
    NUMERIC(cache_bytes, 64 * MIB, 64 * KIB, TIB),
    NUMERIC(open_tables_max, 1000, 16, 1000000),
    NUMERIC(filter_granularity, 1, 1, UINT32_MAX),
    NUMERIC(block_size_bytes, 4096, 64, 16 * MIB),
    NUMERIC(restart_interval, 20, 1, 1024),
    NUMERIC(table_size_bytes, 8 * MIB, 4 * KIB, 64 * GIB),
    NUMERIC(level0_run_count_compact, 4, 1, 1000),
    NUMERIC(level0_run_count_busy, 12, 1, 9999),
    NUMERIC(level0_run_count_stop, 36, 2, 10000),
    NUMERIC(level1_size_bytes, 4 * 64 * MIB, 4 * KIB, TIB),
    NUMERIC(level_size_ratio, 10, 2, 100),
    NUMERIC(background_bytes_per_second, 0, 65536, UINT64_C(1) << 40),
    NUMERIC(wal_buffer_bytes, 0, 0, GIB),
};

static void set(struct bb_db_options *options, const struct numeric *numeric, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    void *field = (uint8_t *)options + numeric->offset;
    if (numeric->width == sizeof(value))
        memcpy(field, &value, sizeof(value));
    else
        memcpy(field, &narrow, sizeof(narrow));
}

static uint64_t get(const struct bb_db_options *options, const struct numeric *numeric)
{
    uint64_t value = 0;
    uint32_t narrow = 0;
    const void *field = (const uint8_t *)options + numeric->offset;
    if (numeric->width == sizeof(narrow))
        memcpy(&narrow, field, sizeof(narrow));
    else
        memcpy(&value, field, sizeof(value));
    return numeric->width == sizeof(narrow) ? narrow : value;
}

/* Options with one field set, and its neighbour out of its way. */
static struct bb_db_options with(const struct numeric *numeric, uint64_t value)
{
    struct bb_db_options options = {0};
    if (strcmp(numeric->name, "level0_run_count_compact") == 0)
        options.level0_run_count_stop = 10000;
    if (strcmp(numeric->name, "level0_run_count_stop") == 0)
        options.level0_run_count_compact = 1;
    if (strcmp(numeric->name, "level0_run_count_busy") == 0) {
        options.level0_run_count_compact = 1;
        options.level0_run_count_stop = 10000;
    }
    set(&options, numeric, value);
    return options;
}

static void assert_default(const struct bb_db_options *o)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(numerics); i++)
        assert_int_equal(get(o, &numerics[i]), numerics[i].fallback);
    assert_false(o->create_if_missing || o->error_if_exists || o->cache_off || o->wal_off);
    assert_false(o->deterministic);
    assert_int_equal(o->recovery, BB_RECOVERY_SYNCED);
    assert_null(o->comparator);
    assert_null(o->file_system);
    assert_null(o->secret);
    assert_null(o->on_event);
    assert_null(o->event_context);
    assert_int_equal(o->index_residency, BB_INDEX_PINNED);
    assert_int_equal(o->filter_amount.unit, BB_FILTER_WASTED_READS);
    assert_true(o->filter_amount.value == 0.01);
    assert_true(o->absent_share == 1);
    assert_int_equal(o->filter_kind, BB_FILTER_RIBBON);
    assert_int_equal(o->compression, BB_COMPRESSION_LZ4);
}

static void options__zero_means_default(void **state)
{
    (void)state;
    struct bb_db_options resolved;
    memset(&resolved, 0xee, sizeof(resolved));
    assert_ok(bb_options_resolve(NULL, &resolved));
    assert_default(&resolved);
    memset(&resolved, 0xee, sizeof(resolved));
    assert_ok(bb_options_resolve(&(struct bb_db_options){0}, &resolved));
    assert_default(&resolved);
}

static void options__limits_are_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(numerics); i++) {
        const struct numeric *numeric = &numerics[i];
        struct bb_db_options resolved;
        struct bb_db_options options = with(numeric, numeric->min);
        assert_ok(bb_options_resolve(&options, &resolved));
        assert_int_equal(get(&resolved, numeric),
                         numeric->min == 0 ? numeric->fallback : numeric->min);
        options = with(numeric, numeric->max);
        assert_ok(bb_options_resolve(&options, &resolved));
        assert_int_equal(get(&resolved, numeric), numeric->max);
    }
}

static void assert_refused(const struct bb_db_options *options, const char *name)
{
    struct bb_db_options resolved;
    struct bb_db_options before;
    memset(&resolved, 0x5a, sizeof(resolved));
    memset(&before, 0x5a, sizeof(before));
    assert_status(bb_options_resolve(options, &resolved), BB_INVALID);
    assert_message(name);
    assert_memory_equal(&resolved, &before, sizeof(resolved)); /* outputs are untouched */
}

/* The message has the option's name, its value, and both limits. */
static void assert_refused_number(const struct numeric *numeric, uint64_t value)
{
    char text[32];
    struct bb_db_options options = with(numeric, value);
    assert_refused(&options, numeric->name);
    snprintf(text, sizeof(text), "%" PRIu64, value);
    assert_message(text);
    snprintf(text, sizeof(text), "%" PRIu64 " to ", numeric->min);
    assert_message(text);
    snprintf(text, sizeof(text), " to %" PRIu64, numeric->max);
    assert_message(text);
}

static void options__beyond_limits_is_refused(void **state)
{
    (void)state;
    size_t refused = 0;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(numerics); i++) {
        const struct numeric *numeric = &numerics[i];
        uint64_t widest = numeric->width == 4 ? UINT32_MAX : UINT64_MAX;
        /* One below 1 is 0, the default. */
        if (numeric->min > 1) {
            assert_refused_number(numeric, numeric->min - 1);
            assert_refused_number(numeric, 1);
            refused++;
        }
        if (numeric->max < widest) {
            assert_refused_number(numeric, numeric->max + 1);
            assert_refused_number(numeric, widest);
            refused++;
        }
    }
    assert_int_equal(refused, 22);
}

static void options__level1_follows_the_write_buffer(void **state)
{
    (void)state;
    struct bb_db_options resolved;
    struct bb_db_options options = {.write_buffer_bytes = 16 * GIB};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.level1_size_bytes, 64 * GIB);
    options = (struct bb_db_options){.write_buffer_bytes = 64 * KIB};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.level1_size_bytes, 256 * KIB);
    options.level1_size_bytes = 5 * KIB;
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.level1_size_bytes, 5 * KIB);
}

static void options__stop_is_above_compact(void **state)
{
    (void)state;
    struct bb_db_options resolved;
    struct bb_db_options options = {.level0_run_count_compact = 7, .level0_run_count_stop = 8};
    assert_ok(bb_options_resolve(&options, &resolved));
    options.level0_run_count_stop = 7;
    assert_refused(&options, "level0_run_count_stop");
    assert_message("level0_run_count_compact");
    options.level0_run_count_stop = 6;
    assert_refused(&options, "level0_run_count_stop");
    /* Against a default too. */
    options = (struct bb_db_options){.level0_run_count_compact = 36};
    assert_refused(&options, "level0_run_count_stop");
    options = (struct bb_db_options){.level0_run_count_stop = 4};
    assert_refused(&options, "level0_run_count_stop");
    options = (struct bb_db_options){.level0_run_count_stop = 5};
    assert_ok(bb_options_resolve(&options, &resolved));
}

static void options__busy_is_between_compact_and_stop(void **state)
{
    (void)state;
    struct bb_db_options resolved;
    struct bb_db_options options = {.level0_run_count_compact = 7, .level0_run_count_stop = 9};
    for (uint32_t busy = 7; busy < 9; busy++) {
        options.level0_run_count_busy = busy;
        assert_ok(bb_options_resolve(&options, &resolved));
        assert_int_equal(resolved.level0_run_count_busy, busy);
    }
    options.level0_run_count_busy = 6;
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.level0_run_count_busy, 7);
    options.level0_run_count_busy = 9;
    assert_refused(&options, "level0_run_count_busy");
    assert_message("level0_run_count_stop (9)");
    /* The default is limited by the stop. */
    options.level0_run_count_busy = 0;
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.level0_run_count_busy, 8);
    options.level0_run_count_stop = 100;
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.level0_run_count_busy, 21);
}

static void options__filter_amount(void **state)
{
    (void)state;
    static const struct {
        enum bb_filter_unit unit;
        double good[4];
        double bad[4];
        const char *message;
    } rows[] = {
        {BB_FILTER_WASTED_READS,
         {1e-6, 0.01, 0.5, 1},
         {9.99e-7, 1.0000001, -0.01, 1e300},
         "wasted reads, allowed are 1e-06 to 1"},
        {BB_FILTER_BYTES,
         {1, 8192, 1e12, 0x1p50},
         {0, 0.5, -8, 0x1p51},
         "bytes, allowed are 1 to 1.12589991e+15"},
        {BB_FILTER_BITS_PER_KEY,
         {0.01, 1, 10, 100},
         {0, 0.0099, 100.1, -1},
         "bits per key, allowed are 0.01 to 100"},
    };
    static const double never[] = {(double)NAN, (double)INFINITY, -1e-300};
    struct bb_db_options resolved;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(rows); i++) {
        struct bb_db_options options = {.filter_amount.unit = rows[i].unit};
        for (size_t j = 0; j < 4; j++) {
            options.filter_amount.value = rows[i].good[j];
            assert_ok(bb_options_resolve(&options, &resolved));
            assert_true(bb_options_filter_amount(&resolved, rows[i].unit) == rows[i].good[j]);
            options.filter_amount.value = rows[i].bad[j];
            assert_refused(&options, "option filter_amount is ");
            assert_message(rows[i].message);
        }
        for (size_t j = 0; j < BB_ARRAY_LENGTH(never); j++) {
            options.filter_amount.value = never[j];
            assert_refused(&options, "option filter_amount is ");
        }
    }
}

static void options__filter_amount_of_no_unit(void **state)
{
    (void)state;
    struct bb_db_options options = {.filter_amount = {(enum bb_filter_unit)3, 10}};
    assert_refused(&options, "option filter_amount has the unit 3, allowed are 0 to 2");
}

/* An amount is either a target or a budget; with a budget the target is the default. */
static void options__filter_amount_is_one_thing(void **state)
{
    (void)state;
    struct bb_db_options target = {.filter_amount = {BB_FILTER_WASTED_READS, 0.5}};
    struct bb_db_options bytes = {.filter_amount = {BB_FILTER_BYTES, 7}};
    assert_true(bb_options_target(&target) == 0.5);
    assert_true(bb_options_filter_amount(&target, BB_FILTER_BYTES) == 0);
    assert_true(bb_options_target(&bytes) == BB_TARGET_WASTED_READS_DEFAULT);
    assert_true(bb_options_filter_amount(&bytes, BB_FILTER_BITS_PER_KEY) == 0);
}

static void options__what_is_known_of_look_ups(void **state)
{
    (void)state;
    static const double bad_shares[] = {-0.1, 1.0001, (double)NAN, (double)INFINITY};
    struct bb_db_options resolved;
    struct bb_db_options options = {.absent_share = 0.001};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_true(resolved.absent_share == 0.001);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(bad_shares); i++) {
        options = (struct bb_db_options){.absent_share = bad_shares[i]};
        assert_refused(&options, "absent_share");
    }
}

static void options__filter_kinds(void **state)
{
    (void)state;
    static const enum bb_filter_kind good[] = {BB_FILTER_NONE, BB_FILTER_RIBBON,
                                               BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM};
    struct bb_db_options resolved;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(good); i++) {
        struct bb_db_options options = {.filter_kind = good[i]};
        assert_ok(bb_options_resolve(&options, &resolved));
        assert_int_equal(resolved.filter_kind, good[i]);
    }
    for (int kind = BB_FILTER_SPLIT_BLOCK; kind < BB_FILTER_PARTITIONED + 3; kind++) {
        struct bb_db_options options = {.filter_kind = (enum bb_filter_kind)kind};
        assert_refused(&options, "filter_kind");
    }
}

static int compare_nothing(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    (void)a;
    (void)b;
    return 0;
}

static void options__no_filters_where_different_bytes_are_equal(void **state)
{
    (void)state;
    struct bb_comparator comparator = {.name = "nothing", .compare = compare_nothing};
    struct bb_db_options resolved;
    struct bb_db_options options = {.comparator = &comparator, .filter_kind = BB_FILTER_BLOOM};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.filter_kind, BB_FILTER_BLOOM);
    assert_ptr_equal(resolved.comparator, &comparator);
    comparator.equates_different_bytes = true;
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.filter_kind, BB_FILTER_NONE);
    comparator.name = NULL;
    assert_refused(&options, "option comparator has no name");
    comparator = (struct bb_comparator){.name = "nothing"};
    assert_refused(&options, "option comparator (\"nothing\") has no function");
}

static void options__compressions(void **state)
{
    (void)state;
    struct bb_db_options resolved;
    struct bb_db_options options = {.compression = BB_COMPRESSION_NONE};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.compression, BB_COMPRESSION_NONE);
    options.compression = (enum bb_compression)3;
    assert_refused(&options, "option compression is 3, allowed are 1 (none) and 2 (LZ4)");
}

static void options__style(void **state)
{
    (void)state;
    struct bb_db_options resolved;
    struct bb_db_options options = {.compaction_style = BB_COMPACTION_DEFAULT};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.compaction_style, BB_COMPACTION_LEVELED);
    assert_int_equal(resolved.level_size_ratio, 10);
    for (int style = BB_COMPACTION_TIERED; style <= BB_COMPACTION_LAZY_LEVELING; style++) {
        options = (struct bb_db_options){.compaction_style = (enum bb_compaction_style)style};
        assert_ok(bb_options_resolve(&options, &resolved));
        assert_int_equal(resolved.level_size_ratio, 4);
        options.level_size_ratio = 7;
        assert_ok(bb_options_resolve(&options, &resolved));
        assert_int_equal(resolved.level_size_ratio, 7);
    }
    options.compaction_style = (enum bb_compaction_style)4;
    assert_refused(&options, "compaction_style");
}

static void options__index_residency(void **state)
{
    (void)state;
    struct bb_db_options resolved;
    struct bb_db_options options = {.index_residency = BB_INDEX_CACHED};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.index_residency, BB_INDEX_CACHED);
    options.index_residency = (enum bb_index_residency)2;
    assert_refused(&options, "index_residency");
}

static void options__read_mode(void **state)
{
    (void)state;
    struct bb_db_options resolved;
    struct bb_db_options options = {.read_mode = BB_READ_MAPPED};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.read_mode, BB_READ_MAPPED);
    options.read_mode = (enum bb_read_mode)3;
    assert_refused(&options, "read_mode");
}

static void options__table_filter(void **state)
{
    (void)state;
    static const double wrong[] = {0.5, -3, 25, (double)NAN};
    struct bb_db_options resolved;
    struct bb_db_options options = {0};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_true(resolved.table_filter_bits == BB_TABLE_FILTER_BITS_DEFAULT);
    options.filter_kind = BB_FILTER_BLOCKED_BLOOM;
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_true(resolved.table_filter_bits == BB_TABLE_FILTER_NONE);
    options.table_filter_bits = BB_TABLE_FILTER_ALL;
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_true(resolved.table_filter_bits == BB_TABLE_FILTER_ALL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        options.table_filter_bits = wrong[i];
        assert_refused(&options, "option table_filter_bits is");
    }
    options.table_filter_bits = 0;
    options.table_filter_off = true;
    options.table_filter_bits = 6;
    options.filter_kind = BB_FILTER_RIBBON;
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_true(resolved.table_filter_bits == BB_TABLE_FILTER_NONE); /* it would never be probed */
}

static void options__borrowed_and_flags_are_kept(void **state)
{
    (void)state;
    struct bb_hash_secret secret = {{1}};
    struct bb_db_options resolved;
    struct bb_db_options options = {.create_if_missing = true,
                                    .error_if_exists = true,
                                    .cache_off = true,
                                    .wal_off = true,
                                    .recovery = BB_RECOVERY_STRICT,
                                    .deterministic = true,
                                    .secret = &secret,
                                    .event_context = &secret};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_true(resolved.create_if_missing && resolved.error_if_exists && resolved.cache_off);
    assert_true(resolved.wal_off && resolved.deterministic);
    assert_int_equal(resolved.recovery, BB_RECOVERY_STRICT);
    assert_ptr_equal(resolved.secret, &secret);
    assert_ptr_equal(resolved.event_context, &secret);
}

static void options__for_a_table(void **state)
{
    (void)state;
    struct bb_hash_secret secret = {{1}};
    struct bb_table_options table;
    struct bb_db_options options;
    struct bb_db_options given = {.block_size_bytes = 128,
                                  .compression = BB_COMPRESSION_NONE,
                                  .restart_interval = 3,
                                  .filter_kind = BB_FILTER_BLOOM,
                                  .filter_granularity = 2,
                                  .index_residency = BB_INDEX_CACHED,
                                  .table_filter_bits = 6,
                                  .table_filter_off = true};
    /* never dereferenced */
    struct bb_block_cache *cache = (struct bb_block_cache *)(void *)&secret;
    assert_ok(bb_options_resolve(&given, &options));
    bb_options_for_table(&options, NULL, &secret, cache, &table);
    assert_int_equal(table.compression, BB_COMPRESSION_NONE);
    assert_int_equal(table.block_size_bytes, 128);
    assert_int_equal(table.restart_interval, 3);
    assert_int_equal(table.filter_kind, BB_FILTER_BLOOM);
    assert_int_equal(table.filter_granularity, 2);
    assert_int_equal(table.index_residency, BB_INDEX_CACHED);
    assert_true(table.table_filter_off && table.table_filter_bits == BB_TABLE_FILTER_NONE);
    assert_ptr_equal(table.secret, &secret);
    assert_ptr_equal(table.cache, cache);
    bb_options_for_table(&options, NULL, &secret, NULL, &table);
    /* Without a cache the index pages have no other place. */
    assert_int_equal(table.index_residency, BB_INDEX_PINNED);
}

/* "64 MiB", "1,000,000" and similar, as in docs/options.md. */
static void print_limit(const struct numeric *numeric, uint64_t value, char *text, size_t size)
{
    static const char *const units[] = {"", " KiB", " MiB", " GiB", " TiB"};
    bool is_bytes = strstr(numeric->name, "_bytes") != NULL;
    size_t unit = 0;
    for (; is_bytes && value >= KIB && value % KIB == 0 && unit + 1 < BB_ARRAY_LENGTH(units);
         unit++)
        value /= KIB;
    if (value > 99999)
        snprintf(text, size, "%" PRIu64 ",%03" PRIu64 ",%03" PRIu64, value / 1000000,
                 value / 1000 % 1000, value % 1000);
    else
        snprintf(text, size, "%" PRIu64 "%s", value, units[unit]);
}

/* The page's line about an option has its limits. */
static void assert_documented(const char *page, const struct numeric *numeric)
{
    char name[64];
    char min[32];
    char max[32];
    char line[600];
    char range[80];
    snprintf(name, sizeof(name), "`%s`", numeric->name);
    const char *start = strstr(page, name);
    assert_non_null(start);
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(start, "\n"), start);
    print_limit(numeric, numeric->min, min, sizeof(min));
    print_limit(numeric, numeric->max, max, sizeof(max));
    snprintf(range, sizeof(range), "%s ... %s", min, max);
    if (strstr(line, range) == NULL)
        fail_msg("docs/options.md: %s has no \"%s\": %s", numeric->name, range, line);
}

static void options__are_documented(void **state)
{
    (void)state;
    static char page[64 * 1024];
    FILE *file = fopen(BB_SOURCE_DIR "/docs/options.md", "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof(page) - 1, file);
    fclose(file);
    assert_true(size > 1000 && size < sizeof(page) - 1);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(numerics); i++) {
        /* The granularity's range is its type's, and the page has no limit. */
        if (numerics[i].max != UINT32_MAX)
            assert_documented(page, &numerics[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options__zero_means_default),
        cmocka_unit_test(options__limits_are_allowed),
        cmocka_unit_test(options__beyond_limits_is_refused),
        cmocka_unit_test(options__level1_follows_the_write_buffer),
        cmocka_unit_test(options__style),
        cmocka_unit_test(options__stop_is_above_compact),
        cmocka_unit_test(options__busy_is_between_compact_and_stop),
        cmocka_unit_test(options__filter_amount),
        cmocka_unit_test(options__filter_amount_of_no_unit),
        cmocka_unit_test(options__filter_amount_is_one_thing),
        cmocka_unit_test(options__what_is_known_of_look_ups),
        cmocka_unit_test(options__filter_kinds),
        cmocka_unit_test(options__no_filters_where_different_bytes_are_equal),
        cmocka_unit_test(options__compressions),
        cmocka_unit_test(options__index_residency),
        cmocka_unit_test(options__read_mode),
        cmocka_unit_test(options__table_filter),
        cmocka_unit_test(options__borrowed_and_flags_are_kept),
        cmocka_unit_test(options__for_a_table),
        cmocka_unit_test(options__are_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
