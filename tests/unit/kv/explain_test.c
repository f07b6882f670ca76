/* Goal: the report of a lookup has the result of a get, its steps are the get's, and its sums equal
 * the statistics of that get, read by read. Method: twin stores under many options, one used by
 * gets and the other by reports; single stores with known steps. */
#include "bb/db_explain.h"

#include <math.h>

#include "base/buf.h"
#include "kv/view/readers.h"
#include "sstable/format.h"
#include "tests/support/rng.h"
#include "tests/support/store.h"

#define KEYS  2000
#define ASKED 1500

/* ---- twins ---- */

static void put(struct bb_db *db, uint32_t i, uint32_t version)
{
    char key[16];
    char value[64];
    snprintf(key, sizeof(key), "key%08u", 2 * i);
    snprintf(value, sizeof(value), "value %u of %u, and some more text", version, i);
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(value)));
}

/* One level filled by compaction, others by later writes; tombstones; some data in memory. */
static void fill(struct bb_db *db)
{
    char key[16];
    for (uint32_t i = 0; i < KEYS; i++)
        put(db, (uint32_t)(i * 7919ULL % KEYS), 0);
    assert_ok(bb_db_compact(db));
    for (uint32_t i = 0; i < KEYS; i += 2)
        put(db, i, 1);
    for (uint32_t i = 0; i < KEYS; i += 5) {
        snprintf(key, sizeof(key), "key%08u", 2 * i);
        assert_ok(bb_db_delete(db, NULL, bb_bytes_of_text(key)));
    }
    assert_ok(bb_db_flush(db));
    for (uint32_t i = 0; i < KEYS; i += 50)
        put(db, i, 2);
}

static bool is_pinned_or_filled(const struct bb_explain *explain)
{
    for (size_t i = 0; i < explain->step_count; i++) {
        const struct bb_explain_step *step = &explain->steps[i];
        const struct bb_table_explain *table = &step->table;
        if (step->kind == BB_EXPLAIN_TABLE &&
            (table->table_filter.source == BB_SOURCE_MEMORY || table->page == BB_SOURCE_MEMORY))
            return true;
    }
    return false;
}

/* Compares a table's part of the report with its counts. */
static void assert_table_agrees(const struct bb_table_explain *table)
{
    const struct bb_read_stats *stats = &table->stats;
    uint64_t visits = 0;
    for (int visit = 0; visit < BB_VISIT_COUNT; visit++)
        visits += stats->visits[visit];
    if (visits == 0) {
        assert_int_equal(table->visit, BB_VISIT_OUT_OF_BOUNDS);
        return;
    }
    assert_int_equal(visits, 1);
    assert_int_equal(stats->visits[table->visit], 1);
    assert_int_equal(stats->block_requests, table->block != BB_SOURCE_NOT_READ);
    assert_int_equal(stats->block_reads, table->block == BB_SOURCE_FILE);
    assert_int_equal(stats->block_read_bytes,
                     table->block == BB_SOURCE_FILE ? table->block_size_bytes : 0);
    assert_int_equal(stats->page_requests, table->page != BB_SOURCE_NOT_READ);
    assert_int_equal(stats->page_reads, table->page == BB_SOURCE_FILE);
    if (table->page == BB_SOURCE_FILE) /* alone, or with its group */
        assert_in_range(stats->page_read_bytes, table->page_size_bytes,
                        table->page_size_bytes + BB_PAGE_GROUP_SIZE);
    else
        assert_int_equal(stats->page_read_bytes, 0);
    assert_int_equal(stats->table_filter_reads > 0, table->table_filter.source == BB_SOURCE_FILE);
    assert_int_equal(table->table_filter.verdict == BB_VERDICT_NEGATIVE,
                     table->visit == BB_VISIT_TABLE_FILTER_NEGATIVE);
    assert_int_equal(table->filter.verdict == BB_VERDICT_NEGATIVE,
                     table->visit == BB_VISIT_FILTER_NEGATIVE);
    assert_int_equal(stats->damaged_filters, 0);
}

static void assert_steps_add_up(const struct bb_explain *explain)
{
    struct bb_read_stats sum = {0};
    uint64_t memtables = 0;
    uint64_t opened = 0;
    int level = -1;
    for (size_t i = 0; i < explain->step_count; i++) {
        const struct bb_explain_step *step = &explain->steps[i];
        assert_true(step->level >= level);
        level = step->level;
        memtables += step->kind == BB_EXPLAIN_MEMTABLE;
        opened += step->was_opened;
        assert_int_equal(step->path != NULL, step->kind == BB_EXPLAIN_TABLE);
        /* Only the last step decides. */
        if (i + 1 < explain->step_count)
            assert_int_equal(step->found, BB_EXPLAIN_NOTHING);
        else
            assert_int_equal(step->found == BB_EXPLAIN_VALUE, explain->is_found);
        if (step->kind == BB_EXPLAIN_TABLE) {
            assert_table_agrees(&step->table);
            bb_readers_add_stats(&sum, &step->table.stats);
        }
    }
    assert_int_equal(memtables, explain->memtable_visits);
    assert_int_equal(opened, explain->tables_opened);
    assert_memory_equal(&sum, &explain->reads, sizeof(sum));
}

/* One key, asked both ways. */
static void compare_one(struct bb_db *single, struct bb_db *explained,
                        const struct bb_snapshot *const snapshots[2], struct bb_bytes key,
                        size_t *ret_in_memory)
{
    struct bb_read_stats of_get = {0};
    struct bb_read_stats of_explain = {0};
    struct bb_get_options options = {
        .snapshot = snapshots[0], .account_avoided = true, .stats = &of_get};
    struct bb_buf expected = {0};
    struct bb_buf found = {0};
    struct bb_explain explain;
    enum bb_status status = bb_db_get(single, &options, key, &expected);
    options.snapshot = snapshots[1];
    options.stats = &of_explain;
    assert_ok(bb_db_explain(explained, &options, key, &found, &explain));
    assert_int_equal(explain.is_found, status == BB_OK);
    if (explain.is_found)
        assert_true(bb_bytes_equal(bb_buf_bytes(&found), bb_buf_bytes(&expected)));
    assert_memory_equal(&of_get, &of_explain, sizeof(of_get));
    assert_memory_equal(&of_get, &explain.reads, sizeof(of_get));
    assert_steps_add_up(&explain);
    *ret_in_memory += is_pinned_or_filled(&explain);
    bb_explain_deinit(&explain);
    bb_buf_deinit(&expected);
    bb_buf_deinit(&found);
}

static void assert_statistics_agree(struct bb_db *single, struct bb_db *explained)
{
    struct bb_db_stats a;
    struct bb_db_stats b;
    bb_db_stats(single, &a);
    bb_db_stats(explained, &b);
    assert_int_equal(a.gets, b.gets);
    assert_int_equal(a.gets_found, b.gets_found);
    assert_int_equal(a.memtable_visits, b.memtable_visits);
    assert_int_equal(a.memtable_hits, b.memtable_hits);
    assert_int_equal(a.system_reads, b.system_reads);
    assert_int_equal(a.system_read_bytes, b.system_read_bytes);
    assert_memory_equal(a.level_reads, b.level_reads, sizeof(a.level_reads));
}

static void compare_twins(const struct bb_db_options *extra, uint64_t seed)
{
    struct store twins[2];
    const struct bb_snapshot *snapshots[2] = {NULL, NULL};
    struct bb_snapshot *held[2];
    struct bb_hash_secret secret;
    struct bb_rng rng;
    size_t in_memory = 0;
    bb_hash_secret_from_seed(7, &secret);
    bb_rng_init(&rng, seed);
    for (int i = 0; i < 2; i++) {
        store_init(&twins[i]);
        twins[i].options.secret = &secret;
        twins[i].options.filter_kind = extra->filter_kind;
        twins[i].options.filter_granularity = extra->filter_granularity;
        twins[i].options.table_filter_bits = extra->table_filter_bits;
        twins[i].options.table_filter_off = extra->table_filter_off;
        twins[i].options.index_residency = extra->index_residency;
        twins[i].options.cache_off = extra->cache_off;
        store_open(&twins[i]);
        fill(twins[i].db);
        store_reopen(&twins[i]);
        held[i] = store_snapshot(&twins[i]);
        for (uint32_t k = 0; k < KEYS; k += 7)
            put(twins[i].db, k, 3);
    }
    for (int i = 0; i < ASKED; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key%08u", (uint32_t)bb_rng_below(&rng, 2 * KEYS + 20));
        bool is_held = bb_rng_one_in(&rng, 3);
        snapshots[0] = is_held ? held[0] : NULL;
        snapshots[1] = is_held ? held[1] : NULL;
        compare_one(twins[0].db, twins[1].db, snapshots, bb_bytes_of_text(key), &in_memory);
    }
    assert_true(in_memory > 0);
    assert_statistics_agree(twins[0].db, twins[1].db);
    for (int i = 0; i < 2; i++) {
        bb_snapshot_release(twins[i].db, held[i]);
        store_deinit(&twins[i]);
    }
}

static void explain__answers_and_counts_as_a_get(void **state)
{
    (void)state;
    static const struct bb_db_options variants[] = {
        {.filter_kind = BB_FILTER_DEFAULT},
        {.filter_kind = BB_FILTER_DEFAULT, .cache_off = true},
        {.filter_kind = BB_FILTER_RIBBON, .table_filter_bits = BB_TABLE_FILTER_NONE},
        {.filter_kind = BB_FILTER_RIBBON, .table_filter_bits = BB_TABLE_FILTER_ALL},
        {.index_residency = BB_INDEX_CACHED},
        {.table_filter_off = true},
        {.filter_kind = BB_FILTER_BLOOM, .filter_granularity = 4},
        {.filter_kind = BB_FILTER_BLOCKED_BLOOM, .filter_granularity = BB_GRANULARITY_PAGE},
        {.filter_kind = BB_FILTER_NONE},
    };
    uint64_t seed = bb_rng_seed("explain_test twins", 1);
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
        compare_twins(&variants[i], seed + i);
}

/* ---- the contents of the steps ---- */

static struct bb_explain explain_key(struct store *store, const char *key)
{
    struct bb_explain explain;
    assert_ok(bb_db_explain(store->db, NULL, bb_bytes_of_text(key), NULL, &explain));
    return explain;
}

static void explain__names_where_a_key_is(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    store_put(&store, "k", "1");
    store_put(&store, "z", "1");
    struct bb_explain explain = explain_key(&store, "k");
    assert_true(explain.is_found);
    assert_int_equal(explain.step_count, 1);
    assert_int_equal(explain.steps[0].kind, BB_EXPLAIN_MEMTABLE);
    assert_int_equal(explain.steps[0].found, BB_EXPLAIN_VALUE);
    assert_int_equal(explain.steps[0].sequence, 2);
    bb_explain_deinit(&explain);

    assert_ok(bb_db_compact(store.db));
    store_delete(&store, "k");
    assert_ok(bb_db_flush(store.db));
    store_put(&store, "q", "1");
    explain = explain_key(&store, "k");
    assert_false(explain.is_found);
    assert_int_equal(explain.step_count, 2);
    assert_int_equal(explain.steps[0].found, BB_EXPLAIN_NOTHING);
    assert_int_equal(explain.steps[1].kind, BB_EXPLAIN_TABLE);
    assert_int_equal(explain.steps[1].level, 0);
    assert_int_equal(explain.steps[1].found, BB_EXPLAIN_TOMBSTONE);
    assert_int_equal(explain.steps[1].sequence, 4);
    assert_true(explain.steps[1].was_opened);
    assert_int_equal(explain.steps[1].table.block, BB_SOURCE_FILE);
    bb_explain_deinit(&explain);

    /* The second time everything is in memory. Level 0 leaves the key out by its bounds. */
    explain = explain_key(&store, "k");
    assert_false(explain.steps[1].was_opened);
    assert_int_equal(explain.steps[1].table.page, BB_SOURCE_MEMORY);
    assert_int_equal(explain.steps[1].table.block, BB_SOURCE_MEMORY);
    assert_int_equal(explain.reads.block_reads + explain.reads.page_reads, 0);
    bb_explain_deinit(&explain);
    explain = explain_key(&store, "z");
    assert_true(explain.is_found);
    assert_int_equal(explain.step_count, 3);
    assert_int_equal(explain.steps[1].table.visit, BB_VISIT_OUT_OF_BOUNDS);
    assert_false(explain.steps[1].was_opened);
    assert_true(explain.steps[2].level > 0);
    bb_explain_deinit(&explain);

    explain = explain_key(&store, "zz");
    assert_false(explain.is_found);
    assert_int_equal(explain.step_count, 3);
    assert_int_equal(explain.steps[2].kind, BB_EXPLAIN_NO_TABLE);
    assert_int_equal(explain.tables_opened, 0);
    bb_explain_deinit(&explain);
    store_deinit(&store);
}

/* Over many absent keys, the predicted rate of the probed filters is the measured one. */
static void explain__predicts_what_filters_let_pass(void **state)
{
    (void)state;
    struct store store;
    double expected[2] = {0};
    double deviation[2] = {0};
    double passed[2] = {0};
    store_init(&store);
    struct bb_hash_secret secret;
    bb_hash_secret_from_seed(bb_rng_seed("explain_test rates", 1), &secret);
    store.options.secret = &secret;
    store.options.filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 0.05};
    store.options.table_filter_bits = 2;
    store_open(&store);
    for (uint32_t i = 0; i < KEYS; i++)
        put(store.db, i, 0);
    assert_ok(bb_db_compact(store.db));
    for (uint32_t i = 0; i + 1 < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key%08u", 2 * i + 1);
        struct bb_explain explain = explain_key(&store, key);
        const struct bb_table_explain *table = &explain.steps[explain.step_count - 1].table;
        const struct bb_filter_explain *asked[2] = {&table->table_filter, &table->filter};
        for (int f = 0; f < 2; f++) {
            if (asked[f]->verdict != BB_VERDICT_MAYBE && asked[f]->verdict != BB_VERDICT_NEGATIVE)
                continue;
            assert_int_equal(asked[f]->kind, BB_FILTER_RIBBON);
            assert_true(asked[f]->size_bytes > 0);
            assert_true(asked[f]->rate > 0 && asked[f]->rate < 1);
            expected[f] += asked[f]->rate;
            deviation[f] += asked[f]->rate * (1 - asked[f]->rate);
            passed[f] += asked[f]->verdict == BB_VERDICT_MAYBE;
        }
        bb_explain_deinit(&explain);
    }
    for (int f = 0; f < 2; f++) {
        double tolerance = 6 * sqrt(deviation[f]) + 0.05 * expected[f];
        assert_true(expected[f] > 20);
        assert_true(passed[f] < expected[f] + tolerance);
        /* A small table filter has whole bits, and may be better than planned. */
        assert_true(f == 0 || passed[f] > expected[f] - tolerance);
    }
    store_deinit(&store);
}

/* ---- failures ---- */

static void explain__fails_as_a_get_does(void **state)
{
    (void)state;
    struct store store;
    struct bb_explain explain = {.step_count = 77};
    static uint8_t large[BB_KEY_SIZE_MAX + 1];
    store_init(&store);
    store_open(&store);
    assert_status(bb_db_explain(store.db, NULL, bb_bytes_of(large, sizeof(large)), NULL, &explain),
                  BB_TOO_LARGE);
    assert_int_equal(explain.step_count, 77);
    assert_int_equal(store_stats(&store).gets, 0);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explain__answers_and_counts_as_a_get),
        cmocka_unit_test(explain__names_where_a_key_is),
        cmocka_unit_test(explain__predicts_what_filters_let_pass),
        cmocka_unit_test(explain__fails_as_a_get_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
