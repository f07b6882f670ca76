/* Goal: a store keeps the options that shape its data. Method: the bytes, damaged and hostile; then
 * stores that are opened again with other options, checkpointed, repaired, and read. */
#include "kv/stored_options.h"

#include "tests/support/store.h"

#include <math.h>

#include "base/coding.h"
#include "kv/manifest/manifest.h"
#include "kv/options.h"

#define USED_NO_MORE 7

static const struct bb_place nowhere = {.file = "options"};

static struct bb_stored_options stored_of(struct bb_db_options options)
{
    return bb_stored_options_of(&options);
}

/* ---- bytes ---- */

static void stored_options__every_option_survives(void **state)
{
    (void)state;
    const struct bb_db_options options = {
        .filter_amount = {BB_FILTER_BYTES, 1e6},
        .filter_kind = BB_FILTER_BLOOM,
        .filter_granularity = BB_GRANULARITY_PAGE,
        .absent_share = 0.5,
        .table_filter_bits = BB_TABLE_FILTER_ALL,
        .write_buffer_bytes = UINT64_C(1) << 33,
        .block_size_bytes = 1000,
        .compression = BB_COMPRESSION_NONE,
        .restart_interval = 7,
        .table_size_bytes = UINT64_C(5) << 32,
        .compaction_style = BB_COMPACTION_LAZY_LEVELING,
        .level0_run_count_compact = 3,
        .level0_run_count_busy = 5,
        .level0_run_count_stop = 9,
        .level1_size_bytes = UINT64_C(6) << 32,
        .level_size_ratio = 8,
        .tombstone_age_max = UINT64_MAX,
    };
    struct bb_stored_options stored = stored_of(options);
    struct bb_stored_options decoded;
    struct bb_db_options filled = {0};
    struct bb_buf bytes = {0};
    for (size_t i = 1; i < BB_STORED_OPTION_END; i++)
        assert_int_equal(stored.values[i] != 0, i != USED_NO_MORE);
    assert_ok(bb_stored_options_encode(&stored, &bytes));
    assert_ok(bb_stored_options_decode(bb_buf_bytes(&bytes), nowhere, &decoded));
    assert_true(bb_stored_options_are_equal(&stored, &decoded));
    bb_stored_options_fill(&decoded, &filled);
    assert_memory_equal(&filled, &options, sizeof(options));
    bb_buf_deinit(&bytes);
}

static void stored_options__zeros_are_not_given(void **state)
{
    (void)state;
    struct bb_stored_options stored =
        stored_of((struct bb_db_options){.filter_amount = {BB_FILTER_WASTED_READS, -0.0},
                                         .absent_share = -0.0,
                                         .cache_bytes = 1,
                                         .create_if_missing = true});
    assert_true(bb_stored_options_are_empty(&stored));
    stored = bb_stored_options_of(NULL);
    assert_true(bb_stored_options_are_empty(&stored));
}

static enum bb_status decode(const uint8_t *data, size_t size)
{
    struct bb_stored_options options;
    return bb_stored_options_decode(bb_bytes_of(data, size), nowhere, &options);
}

static void add(struct bb_buf *bytes, uint64_t number, uint64_t value)
{
    assert_ok(bb_append_varint(bytes, number));
    assert_ok(bb_append_u64(bytes, value));
}

static void expect(struct bb_buf *bytes, enum bb_status status, const char *message)
{
    assert_status(decode(bytes->data, bytes->size), status);
    assert_non_null(strstr(bb_error_last()->message, message));
    bb_buf_reset(bytes);
}

static void stored_options__corrupt_bytes_are_refused(void **state)
{
    (void)state;
    struct bb_buf bytes = {0};
    add(&bytes, BB_STORED_BLOCK_SIZE, 4096);
    for (size_t size = 1; size < bytes.size; size++)
        assert_status(decode(bytes.data, size), BB_CORRUPT);
    add(&bytes, BB_STORED_BLOCK_SIZE, 4096);
    expect(&bytes, BB_CORRUPT, "out of order");
    add(&bytes, BB_STORED_BLOCK_SIZE, 0);
    expect(&bytes, BB_CORRUPT, "or 0");
    add(&bytes, BB_STORED_BLOCK_SIZE, UINT64_C(1) << 32);
    expect(&bytes, BB_CORRUPT, "at most 4294967295");
    add(&bytes, BB_STORED_FILTER_UNIT, 1);
    expect(&bytes, BB_CORRUPT, "without its unit or value");
    add(&bytes, BB_STORED_FILTER_VALUE, 1);
    expect(&bytes, BB_CORRUPT, "without its unit or value");
    add(&bytes, BB_STORED_OPTION_END, 1);
    expect(&bytes, BB_UNSUPPORTED, "this version knows up to 19");
    bb_buf_deinit(&bytes);
}

/* Version 0.1.0 stored a filter_slack: any value counts as not given, and is not
 * written again. The options around it are read. */
static void stored_options__one_of_version_0_1_is_ignored(void **state)
{
    (void)state;
    static const uint64_t slacks[] = {0x3fb999999999999a /* 0.1 */, 1, UINT64_MAX};
    struct bb_stored_options expected = stored_of(
        (struct bb_db_options){.table_filter_bits = 6, .write_buffer_bytes = UINT64_C(1) << 20});
    for (size_t i = 0; i < sizeof(slacks) / sizeof(slacks[0]); i++) {
        struct bb_stored_options found;
        struct bb_buf bytes = {0};
        add(&bytes, BB_STORED_TABLE_FILTER_BITS, expected.values[BB_STORED_TABLE_FILTER_BITS]);
        add(&bytes, USED_NO_MORE, slacks[i]);
        add(&bytes, BB_STORED_WRITE_BUFFER, expected.values[BB_STORED_WRITE_BUFFER]);
        assert_ok(bb_stored_options_decode(bb_buf_bytes(&bytes), nowhere, &found));
        assert_true(bb_stored_options_are_equal(&found, &expected));
        bb_buf_deinit(&bytes);
    }
    struct bb_buf zero = {0};
    add(&zero, USED_NO_MORE, 0);
    expect(&zero, BB_CORRUPT, "stored option 7 is out of order or 0");
    bb_buf_deinit(&zero);
}

/* ---- merging ---- */

static void stored_options__given_ones_replace_stored_ones(void **state)
{
    (void)state;
    const struct bb_stored_options stored = stored_of(
        (struct bb_db_options){.filter_amount = {BB_FILTER_BYTES, 5000}, .block_size_bytes = 512});
    const struct bb_stored_options given = stored_of((struct bb_db_options){
        .filter_amount = {BB_FILTER_WASTED_READS, 0.1}, .restart_interval = 3});
    const struct bb_stored_options expected =
        stored_of((struct bb_db_options){.filter_amount = {BB_FILTER_WASTED_READS, 0.1},
                                         .block_size_bytes = 512,
                                         .restart_interval = 3});
    struct bb_stored_options merged = bb_stored_options_merge(&stored, &given);
    assert_true(bb_stored_options_are_equal(&merged, &expected));
}

static void stored_options__no_filters_and_an_amount_replace_each_other(void **state)
{
    (void)state;
    const struct bb_stored_options amount =
        stored_of((struct bb_db_options){.filter_amount = {BB_FILTER_BYTES, 5000}});
    const struct bb_stored_options none =
        stored_of((struct bb_db_options){.filter_kind = BB_FILTER_NONE});
    struct bb_stored_options merged = bb_stored_options_merge(&amount, &none);
    assert_true(bb_stored_options_are_equal(&merged, &none));
    merged = bb_stored_options_merge(&none, &amount);
    assert_true(bb_stored_options_are_equal(&merged, &amount));
}

/* ---- stores ---- */

static struct bb_db_options kept_by(struct store *store)
{
    struct bb_db_options options;
    bb_db_stored_options(store->db, &options);
    return options;
}

static double target_of(struct store *store)
{
    struct bb_db_stats stats;
    bb_db_stats(store->db, &stats);
    return stats.target_wasted_reads;
}

/* A store that was made with a target and a block size, and closed. */
static void begin(struct store *store)
{
    *store = (struct store){.memory = store_memory(1)};
    store->options = (struct bb_db_options){.create_if_missing = true,
                                            .deterministic = true,
                                            .file_system = bb_file_memory_system(store->memory),
                                            .filter_amount = {BB_FILTER_WASTED_READS, 0.001},
                                            .block_size_bytes = 1024};
    store_open(store);
    store_put(store, "a", "1");
    store_close(store);
    store->options.filter_amount.value = 0;
    store->options.block_size_bytes = 0;
}

static void stored_options__a_later_opening_has_them(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    for (int i = 0; i < 3; i++) {
        store_open(&store);
        assert_true(target_of(&store) == 0.001);
        assert_int_equal(kept_by(&store).block_size_bytes, 1024);
        assert_int_equal(kept_by(&store).write_buffer_bytes, 0);
        store_put(&store, "b", "2");
        store_close(&store);
    }
    store_deinit(&store);
}

static void stored_options__a_change_is_stored_even_without_a_write(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store.options.filter_amount = (struct bb_filter_amount){BB_FILTER_BITS_PER_KEY, 12};
    store_open(&store);
    store_close(&store);
    store.options.filter_amount = (struct bb_filter_amount){0};
    store_open(&store);
    assert_int_equal(kept_by(&store).filter_amount.unit, BB_FILTER_BITS_PER_KEY);
    assert_true(kept_by(&store).filter_amount.value == 12);
    assert_int_equal(kept_by(&store).block_size_bytes, 1024);
    store_close(&store);
    store_deinit(&store);
}

static void stored_options__a_change_is_durable_with_the_opening(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store.options.filter_amount.value = 0.25;
    store_open(&store);
    store.options.filter_amount.value = 0;
    store_cut_power(&store);
    assert_true(target_of(&store) == 0.25); /* durable since the opening returned */
    store_close(&store);
    store_deinit(&store);
}

static void stored_options__readers_use_and_do_not_store_them(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store.options.create_if_missing = false;
    store.options.read_only = true;
    store_open(&store);
    assert_true(target_of(&store) == 0.001);
    store_close(&store);
    store.options.filter_amount.value = 0.5;
    store_open(&store);
    assert_true(target_of(&store) == 0.5);
    assert_true(kept_by(&store).filter_amount.value == 0.001);
    store_close(&store);
    store_deinit(&store);
}

static void stored_options__a_checkpoint_and_a_repair_keep_them(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_repair_report report;
    begin(&store);
    store_open(&store);
    assert_ok(bb_db_checkpoint(store.db, "/data/copy"));
    store_close(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->remove(fs, "/data/copy/CURRENT"));
    assert_ok(bb_db_repair("/data/copy", &store.options, NULL, &report));
    assert_false(report.is_whole);
    assert_ok(bb_db_open("/data/copy", &store.options, &store.db));
    assert_true(target_of(&store) == 0.001);
    assert_int_equal(kept_by(&store).block_size_bytes, 1024);
    store_close(&store);
    store_deinit(&store);
}

static void stored_options__the_counts_of_level0_are_replaced_together(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store.options.level0_run_count_busy = 5;
    store.options.level0_run_count_stop = 6;
    store_open(&store);
    store_close(&store);
    store.options.level0_run_count_busy = 0;
    store.options.level0_run_count_stop = 0;
    store.options.level0_run_count_compact = 10;
    store_open(&store);
    assert_int_equal(kept_by(&store).level0_run_count_compact, 10);
    assert_int_equal(kept_by(&store).level0_run_count_busy, 0);
    assert_int_equal(kept_by(&store).level0_run_count_stop, 0);
    store_close(&store);
    store_deinit(&store);
}

static void put_hostile_options(struct store *store)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_manifest_state state;
    struct bb_manifest *manifest = NULL;
    assert_ok(bb_manifest_load(fs, STORE_PATH, &state, NULL));
    state.options.values[BB_STORED_RESTART_INTERVAL] = 1025;
    state.is_closed = false;
    assert_ok(bb_manifest_create(fs, STORE_PATH, 1000, &state, &manifest));
    assert_ok(bb_manifest_close(manifest));
    bb_manifest_state_deinit(&state);
}

static void stored_options__a_store_with_impossible_ones_is_repaired(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_repair_report report;
    begin(&store);
    put_hostile_options(&store);
    assert_status(bb_db_open(STORE_PATH, &store.options, &store.db), BB_INVALID);
    assert_status(bb_db_verify(STORE_PATH, &store.options, NULL), BB_CORRUPT);
    assert_non_null(strstr(bb_error_last()->message, "restart_interval is 1025"));
    assert_ok(bb_db_repair(STORE_PATH, &store.options, NULL, &report));
    assert_false(report.is_whole);
    store_open(&store);
    assert_int_equal(kept_by(&store).restart_interval, 0);
    store_close(&store);
    store_deinit(&store);
}

/* Valid checksums, and a value that no opening stores. */
static void stored_options__a_value_out_of_range_opens_no_store(void **state)
{
    (void)state;
    const struct bb_db_options given = {.restart_interval = 0};
    struct bb_db_options resolved;
    struct bb_stored_options merged;
    for (size_t i = 1; i < BB_STORED_OPTION_END; i++) {
        struct bb_stored_options stored = {{0}};
        stored.values[i] = i == BB_STORED_FILTER_UNIT ? 4 : UINT32_MAX - 1;
        bool is_free = i == BB_STORED_FILTER_GRANULARITY || i == BB_STORED_WRITE_BUFFER ||
                       i == BB_STORED_TABLE_SIZE || i == BB_STORED_LEVEL1_SIZE ||
                       i == BB_STORED_TOMBSTONE_AGE || i == BB_STORED_FILTER_VALUE ||
                       i == BB_STORED_ABSENT_SHARE || i == USED_NO_MORE;
        enum bb_status status = bb_options_resolve_stored(&given, &stored, &resolved, &merged);
        if (is_free && status == BB_OK)
            continue;
        assert_status(status, BB_INVALID);
        assert_non_null(strstr(bb_error_last()->message, "with the options that the store keeps"));
    }
    struct bb_stored_options nan = {{0}};
    nan.values[BB_STORED_ABSENT_SHARE] = UINT64_MAX;
    assert_status(bb_options_resolve_stored(&given, &nan, &resolved, &merged), BB_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_options__every_option_survives),
        cmocka_unit_test(stored_options__zeros_are_not_given),
        cmocka_unit_test(stored_options__corrupt_bytes_are_refused),
        cmocka_unit_test(stored_options__one_of_version_0_1_is_ignored),
        cmocka_unit_test(stored_options__given_ones_replace_stored_ones),
        cmocka_unit_test(stored_options__no_filters_and_an_amount_replace_each_other),
        cmocka_unit_test(stored_options__a_later_opening_has_them),
        cmocka_unit_test(stored_options__a_change_is_stored_even_without_a_write),
        cmocka_unit_test(stored_options__a_change_is_durable_with_the_opening),
        cmocka_unit_test(stored_options__readers_use_and_do_not_store_them),
        cmocka_unit_test(stored_options__a_checkpoint_and_a_repair_keep_them),
        cmocka_unit_test(stored_options__the_counts_of_level0_are_replaced_together),
        cmocka_unit_test(stored_options__a_store_with_impossible_ones_is_repaired),
        cmocka_unit_test(stored_options__a_value_out_of_range_opens_no_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
