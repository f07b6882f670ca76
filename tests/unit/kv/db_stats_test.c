/* Goal: the statistics are consistent: the classes of visits add up to the lookups' visits, per
 * level and in total, requests to cache hits and reads, reads to the file system's counts, levels
 * to tables. Method: a store with data at several levels, lookups with known number and results,
 * and the sums documented in include/bb/db.h and include/bb/table.h. */
#include "tests/support/store.h"

#include <math.h>

#include "tests/support/rng.h"

#define KEYS 3000

/* Even numbers are present: half of them compacted, the others in younger runs. */
static void key_of(uint32_t i, char key[16])
{
    snprintf(key, 16, "key%08u", i);
}

static void fill(struct store *store)
{
    char key[16];
    char value[64];
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = round; i < KEYS; i += 1 + round * 3) {
            key_of(2 * (i * 7 % KEYS), key);
            snprintf(value, sizeof(value), "%u of round %u, and some more", i, round);
            store_put(store, key, value);
        }
        assert_ok(round == 0 ? bb_db_compact(store->db) : bb_db_flush(store->db));
    }
}

static void init_filled(struct store *store)
{
    store_init(store);
    store->options.level0_run_count_compact = 6;
    store->options.level0_run_count_busy = 6;
    store->options.level0_run_count_stop = 12;
    store_open(store);
    fill(store);
}

static uint64_t visit_sum(const struct bb_read_stats *stats)
{
    uint64_t sum = 0;
    for (int visit = 0; visit < BB_VISIT_COUNT; visit++)
        sum += stats->visits[visit];
    return sum;
}

static struct bb_read_stats sum_of_levels(const struct bb_db_stats *stats)
{
    struct bb_read_stats sum = {0};
    const uint64_t *part = NULL;
    uint64_t *to = (uint64_t *)(void *)&sum;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        part = (const uint64_t *)(const void *)&stats->level_reads[level];
        for (size_t i = 0; i < sizeof(sum) / sizeof(*to); i++)
            to[i] += part[i];
    }
    return sum;
}

/* Holds for the visits of any sum of lookups. */
static void assert_consistent(const struct bb_read_stats *reads)
{
    uint64_t touching = reads->visits[BB_VISIT_FALSE_POSITIVE] + reads->visits[BB_VISIT_TOMBSTONE] +
                        reads->visits[BB_VISIT_NOT_VISIBLE] + reads->visits[BB_VISIT_PRESENT];
    assert_true(reads->block_requests >= touching);
    assert_true(reads->block_reads <= reads->block_requests);
    assert_true(reads->page_reads <= reads->page_requests);
    assert_true(reads->block_reads == 0 || reads->block_read_bytes > 0);
    assert_int_equal(reads->damaged_filters, 0);
    assert_true(reads->avoided_requests >= reads->visits[BB_VISIT_FILTER_NEGATIVE] +
                                               reads->visits[BB_VISIT_TABLE_FILTER_NEGATIVE]);
}

static void db_stats__look_ups_are_counted_once(void **state)
{
    (void)state;
    struct store store;
    struct bb_read_stats mine = {0};
    struct bb_get_options options = {.stats = &mine};
    char key[16];
    init_filled(&store);
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        key_of(i, key);
        assert_status(bb_db_get(store.db, &options, bb_bytes_of_text(key), NULL),
                      i % 2 == 0 ? BB_OK : BB_NOT_FOUND);
    }
    struct bb_db_stats stats = store_stats(&store);
    struct bb_read_stats sum = sum_of_levels(&stats);
    assert_int_equal(stats.gets, 2 * KEYS);
    assert_int_equal(stats.gets_found, KEYS);
    assert_int_equal(stats.memtable_visits, 2 * KEYS);
    assert_int_equal(stats.memtable_hits, 0);
    assert_int_equal(sum.visits[BB_VISIT_PRESENT], KEYS);
    assert_int_equal(sum.visits[BB_VISIT_TOMBSTONE], 0);
    assert_int_equal(sum.visits[BB_VISIT_NOT_VISIBLE], 0);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        assert_consistent(&stats.level_reads[level]);
        if (stats.levels[level].table_count == 0)
            assert_int_equal(visit_sum(&stats.level_reads[level]), 0);
    }
    /* Each run of level 0 and each deeper level is visited at most once by a lookup. */
    uint64_t runs = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        runs += stats.levels[level].run_count;
        assert_true(visit_sum(&stats.level_reads[level]) <=
                    stats.levels[level].run_count * 2 * KEYS);
    }
    assert_true(runs >= 3);
    assert_true(visit_sum(&sum) > 2 * KEYS);
    assert_true(sum.visits[BB_VISIT_FILTER_NEGATIVE] + sum.visits[BB_VISIT_TABLE_FILTER_NEGATIVE] >
                KEYS);
    /* The caller's own count is the same. */
    assert_memory_equal(&mine, &sum, sizeof(sum));
    store_deinit(&store);
}

static void ask_all(struct store *store, const struct bb_get_options *options)
{
    char key[16];
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        key_of(i, key);
        assert_status(bb_db_get(store->db, options, bb_bytes_of_text(key), NULL),
                      i % 2 == 0 ? BB_OK : BB_NOT_FOUND);
    }
}

/* Lookups that only need the value take a fast path. */
static void db_stats__the_short_way_counts_as_the_long_one(void **state)
{
    (void)state;
    struct store store;
    struct bb_read_stats mine = {0};
    struct bb_get_options options = {.stats = &mine};
    init_filled(&store);
    ask_all(&store, NULL); /* all later reads are cached */
    struct bb_db_stats before = store_stats(&store);
    struct bb_read_stats first = sum_of_levels(&before);
    ask_all(&store, &options);
    struct bb_db_stats between = store_stats(&store);
    ask_all(&store, NULL);
    struct bb_db_stats after = store_stats(&store);
    struct bb_read_stats second = sum_of_levels(&between);
    struct bb_read_stats third = sum_of_levels(&after);
    assert_true(mine.visits[BB_VISIT_TABLE_FILTER_NEGATIVE] > KEYS / 2);
    for (int visit = 0; visit < BB_VISIT_COUNT; visit++) {
        assert_int_equal(second.visits[visit] - first.visits[visit], mine.visits[visit]);
        assert_int_equal(third.visits[visit] - second.visits[visit], mine.visits[visit]);
        assert_int_equal(first.visits[visit], mine.visits[visit]);
    }
    assert_int_equal(third.avoided_requests - second.avoided_requests, mine.avoided_requests);
    assert_int_equal(third.block_requests - second.block_requests, mine.block_requests);
    assert_int_equal(first.avoided_requests, mine.avoided_requests);
    assert_int_equal(after.memtable_visits - between.memtable_visits,
                     between.memtable_visits - before.memtable_visits);
    store_deinit(&store);
}

static void db_stats__callers_stats_are_added_to(void **state)
{
    (void)state;
    struct store store;
    struct bb_read_stats once = {0};
    struct bb_read_stats twice = {0};
    struct bb_get_options options = {.stats = &once};
    char key[16];
    init_filled(&store);
    key_of(10, key);
    assert_ok(bb_db_get(store.db, &options, bb_bytes_of_text(key), NULL));
    once = (struct bb_read_stats){0};
    assert_ok(bb_db_get(store.db, &options, bb_bytes_of_text(key), NULL));
    options.stats = &twice;
    for (int i = 0; i < 2; i++)
        assert_ok(bb_db_get(store.db, &options, bb_bytes_of_text(key), NULL));
    for (int visit = 0; visit < BB_VISIT_COUNT; visit++)
        assert_int_equal(twice.visits[visit], 2 * once.visits[visit]);
    assert_int_equal(once.visits[BB_VISIT_PRESENT], 1);
    assert_int_equal(twice.block_requests, 2 * once.block_requests);
    store_deinit(&store);
}

static void db_stats__memtable_hits(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    store_delete(&store, "b");
    assert_get(&store, "a", "1");
    assert_get(&store, "b", NULL);
    assert_get(&store, "c", NULL);
    struct bb_db_stats stats = store_stats(&store);
    assert_int_equal(stats.gets, 3);
    assert_int_equal(stats.gets_found, 1);
    assert_int_equal(stats.memtable_visits, 3);
    assert_int_equal(stats.memtable_hits, 2);
    assert_int_equal(stats.writes, 2);
    assert_int_equal(stats.write_bytes, 3);
    assert_int_equal(stats.commits, 2);
    assert_true(stats.wal_bytes > 3);
    assert_true(stats.memtable_bytes > 0);
    assert_int_equal(stats.last_sequence, 2);
    store_deinit(&store);
}

/* After a flush the memory of the entries is kept for others, and still counted. */
static void db_stats__memory_held_for_memtables(void **state)
{
    (void)state;
    struct store store;
    char key[16];
    store_init(&store);
    store_open(&store);
    struct bb_db_stats first = store_stats(&store);
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "%08d", i);
        store_put(&store, key, "a value of some length");
    }
    struct bb_db_stats full = store_stats(&store);
    assert_true(full.flushes >= 2 && full.memtable_held_bytes >= full.memtable_bytes);
    assert_ok(bb_db_flush(store.db));
    struct bb_db_stats after = store_stats(&store);
    assert_true(after.memtable_bytes < first.memtable_bytes + 1024);
    /* A memtable that was full, and the active one. */
    assert_true(after.memtable_held_bytes > store.options.write_buffer_bytes * 3 / 4);
    assert_true(after.memtable_held_bytes < 3 * store.options.write_buffer_bytes);
    store_deinit(&store);
}

/* Tombstones and versions invisible to a snapshot have separate classes. */
static void db_stats__classes(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    struct bb_snapshot *before = store_snapshot(&store);
    store_put(&store, "b", "1");
    store_put(&store, "y", "1");
    store_delete(&store, "d");
    assert_ok(bb_db_flush(store.db));
    assert_get_at(store.db, before, "b", NULL);
    assert_get(&store, "d", NULL);
    assert_get(&store, "y", "1");
    assert_get(&store, "a", NULL);
    assert_get(&store, "z", NULL);
    struct bb_db_stats stats = store_stats(&store);
    const uint64_t *visits = stats.level_reads[0].visits;
    assert_int_equal(visits[BB_VISIT_NOT_VISIBLE], 1);
    assert_int_equal(visits[BB_VISIT_TOMBSTONE], 1);
    assert_int_equal(visits[BB_VISIT_PRESENT], 1);
    /* Outside all tables' bounds: no table is visited, or the visit is counted as out of bounds. */
    assert_int_equal(visit_sum(&stats.level_reads[0]) - visits[BB_VISIT_OUT_OF_BOUNDS], 3);
    bb_snapshot_release(store.db, before);
    store_deinit(&store);
}

static void check_system_reads(enum bb_read_mode mode)
{
    struct store store;
    char key[16];
    init_filled(&store);
    store.options.cache_off = true;
    store.options.read_mode = mode;
    store_reopen(&store);
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        key_of(i, key);
        (void)!bb_db_get(store.db, NULL, bb_bytes_of_text(key), NULL);
    }
    struct bb_db_stats before = store_stats(&store);
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        key_of(i, key);
        (void)!bb_db_get(store.db, NULL, bb_bytes_of_text(key), NULL);
    }
    struct bb_db_stats after = store_stats(&store);
    struct bb_read_stats first = sum_of_levels(&before);
    struct bb_read_stats second = sum_of_levels(&after);
    uint64_t reads = second.block_reads - first.block_reads;
    bool uses_calls = mode == BB_READ_CALLS;
    assert_int_equal(second.blocks_mapped - first.blocks_mapped, uses_calls ? 0 : reads);
    assert_int_equal(after.system_reads - before.system_reads, uses_calls ? reads : 0);
    assert_int_equal(after.system_read_bytes - before.system_read_bytes,
                     uses_calls ? second.block_read_bytes - first.block_read_bytes : 0);
    assert_int_equal(second.page_reads, first.page_reads);
    assert_int_equal(second.block_reads, second.block_requests);
    store_deinit(&store);
}

/* Every block read is one pread of the file system, or one copy: without a cache, once the tables
 * are open, there are no others. */
static void db_stats__reads_are_what_the_system_was_asked_for(void **state)
{
    (void)state;
    check_system_reads(BB_READ_COPIES);
    check_system_reads(BB_READ_MAPPED);
    check_system_reads(BB_READ_CALLS);
}

static void db_stats__requests_are_hits_and_misses(void **state)
{
    (void)state;
    struct store store;
    char key[16];
    init_filled(&store);
    struct bb_db_stats before = store_stats(&store);
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        key_of(i, key);
        (void)!bb_db_get(store.db, NULL, bb_bytes_of_text(key), NULL);
    }
    struct bb_db_stats after = store_stats(&store);
    struct bb_read_stats sum = sum_of_levels(&after);
    assert_int_equal(after.cache.misses - before.cache.misses, sum.block_reads);
    assert_int_equal(after.cache.hits - before.cache.hits, sum.block_requests - sum.block_reads);
    assert_true(sum.block_reads < sum.block_requests);
    assert_true(after.cache.used_bytes > 0);
    bb_db_clear_cache(store.db);
    assert_int_equal(store_stats(&store).cache.used_bytes, 0);
    key_of(0, key);
    assert_ok(bb_db_get(store.db, NULL, bb_bytes_of_text(key), NULL));
    assert_int_equal(store_stats(&store).cache.misses, after.cache.misses + 1);
    store_deinit(&store);
}

static void scan_all(struct store *store, struct bb_read_stats *stats)
{
    struct bb_get_options options = {.stats = stats};
    struct bb_db_iter *iter = NULL;
    uint64_t count = 0;
    assert_ok(bb_db_iter_create(store->db, &options, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        count++;
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    assert_int_equal(count, KEYS);
}

/* Scans are counted apart from lookups; the store counts those too whose caller counts. */
static void db_stats__scans(void **state)
{
    (void)state;
    struct store store;
    struct bb_read_stats mine = {0};
    init_filled(&store);
    scan_all(&store, NULL);
    struct bb_db_stats first = store_stats(&store);
    assert_true(first.scan_reads.block_requests > 10);
    assert_int_equal(visit_sum(&first.scan_reads), 0);
    assert_int_equal(first.gets, 0);
    scan_all(&store, &mine);
    struct bb_db_stats second = store_stats(&store);
    assert_int_equal(mine.block_requests, first.scan_reads.block_requests);
    assert_int_equal(second.scan_reads.block_requests, 2 * first.scan_reads.block_requests);
    store_deinit(&store);
}

static void db_stats__levels_are_the_tables(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_table_list list = {0};
    uint64_t counts[BB_LEVEL_COUNT] = {0};
    uint64_t bytes[BB_LEVEL_COUNT] = {0};
    uint64_t entries[BB_LEVEL_COUNT] = {0};
    init_filled(&store);
    struct bb_db_stats stats = store_stats(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    double expected = 0;
    assert_ok(bb_db_tables(store.db, &list));
    for (size_t i = 0; i < list.count; i++) {
        const struct bb_db_table *table = &list.tables[i];
        bool is_directory = false;
        uint64_t size = 0;
        assert_ok(fs->ops->status(fs, table->path, &is_directory, &size));
        assert_int_equal(size, table->file_size);
        counts[table->level]++;
        bytes[table->level] += table->file_size;
        entries[table->level] += table->entry_count;
        assert_true(i == 0 || table->level >= list.tables[i - 1].level);
    }
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        assert_int_equal(stats.levels[level].table_count, counts[level]);
        assert_int_equal(stats.levels[level].file_bytes, bytes[level]);
        assert_int_equal(stats.levels[level].entry_count, entries[level]);
        assert_true(stats.levels[level].key_count <= entries[level]);
        expected += stats.levels[level].filter_rate_sum;
    }
    assert_true(list.count > 3);
    assert_true(stats.expected_wasted_reads > expected - 1e-9 &&
                stats.expected_wasted_reads < expected + 1e-9);
    assert_true(stats.target_wasted_reads == 0.01);
    assert_true(stats.expected_wasted_reads <= 1.1 * stats.target_wasted_reads);
    bb_db_table_list_deinit(&list);
    assert_int_equal(list.count, 0);
    store_deinit(&store);
}

/* Most lookups here find their key in the last level, which therefore needs no filters. The level's
 * parts add up to the total, each with its share and cost. */
static void db_stats__weights(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.level0_run_count_compact = 6;
    store.options.level0_run_count_busy = 6;
    store.options.level0_run_count_stop = 12;
    store.options.absent_share = 0.005;
    store_open(&store);
    fill(&store);
    struct bb_db_stats stats = store_stats(&store);
    double sum = 0;
    int last = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        sum += stats.levels[level].expected_wasted_reads;
        last = stats.levels[level].table_count > 0 ? level : last;
    }
    assert_true(last > 0 && stats.levels[0].run_count > 0);
    assert_true(fabs(sum - stats.expected_wasted_reads) <= 1e-12);
    assert_true(stats.expected_wasted_reads <= 1.1 * stats.target_wasted_reads);
    assert_true(fabs(stats.levels[last].visit_share - 0.005) <= 1e-12);
    assert_int_equal(stats.levels[last].filter_bytes, 0);
    assert_true(fabs(stats.levels[last].expected_wasted_reads - 0.005) <= 1e-12);
    assert_true(stats.levels[0].visit_share > 0.005 && stats.levels[0].visit_share < 1);
    assert_true(stats.levels[0].filter_bytes > 0);
    assert_true(stats.levels[0].expected_wasted_reads <= stats.levels[0].filter_rate_sum);
    assert_int_equal(stats.filter_bytes, stats.levels[0].filter_bytes);
    assert_int_equal(stats.filter_budget_bytes, 0);
    uint64_t keys = stats.levels[0].key_count + stats.levels[last].key_count;
    assert_true(fabs(stats.filter_bits_per_key * (double)keys - 8 * (double)stats.filter_bytes) <
                1e-3);
    store_deinit(&store);
}

/* Wasted reads of one lookup in five, which is for an absent key, and of the others, which find
 * theirs somewhere: as many as expected, level by level. */
static void db_stats__weighted_waste_is_what_is_measured(void **state)
{
    (void)state;
    enum { STORED = 12000, LOOKUPS = 60000 };
    struct store store;
    struct bb_rng rng;
    struct bb_hash_secret secret;
    char key[16];
    bb_rng_init(&rng, bb_rng_seed("db_stats__weighted_waste_is_what_is_measured", 6));
    bb_hash_secret_from_seed(bb_rng_next(&rng), &secret);
    store_init(&store);
    store.options.secret = &secret;
    store.options.filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 0.2};
    store.options.absent_share = 0.2;
    store_open(&store);
    for (uint32_t i = 0; i < STORED; i++) {
        key_of(2 * (i * 7 % STORED), key);
        store_put(&store, key, "a value");
    }
    assert_ok(bb_db_flush(store.db));
    struct bb_db_stats expected = store_stats(&store);
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        bool is_absent = i % 5 == 0;
        key_of(2 * (uint32_t)bb_rng_below(&rng, STORED - 1) + is_absent, key);
        assert_status(bb_db_get(store.db, NULL, bb_bytes_of_text(key), NULL),
                      is_absent ? BB_NOT_FOUND : BB_OK);
    }
    struct bb_db_stats stats = store_stats(&store);
    uint64_t levels = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        const uint64_t *visits = stats.level_reads[level].visits;
        double found = (double)visits[BB_VISIT_FALSE_POSITIVE];
        double vain = found + (double)(visits[BB_VISIT_FILTER_NEGATIVE] +
                                       visits[BB_VISIT_TABLE_FILTER_NEGATIVE]);
        double share = expected.levels[level].visit_share * LOOKUPS;
        double waste = expected.levels[level].expected_wasted_reads * LOOKUPS;
        /* Five standard errors. Keys between the tables of a level check no table. */
        assert_true(vain <= share + 5 * sqrt(share) + 1);
        waste *= share > 0 ? vain / share : 1;
        /* Three standard errors, where each stored key is drawn four times. One key with a false
         * positive may be drawn a dozen times. */
        assert_true(fabs(found - waste) <= 3 * sqrt(5 * waste) + 12);
        levels += waste > 100;
    }
    assert_true(levels >= 2);
    assert_true(expected.expected_wasted_reads <= 1.1 * 0.2);
    store_deinit(&store);
}

/* Without weights the waste is the sum of the rates. */
static void db_stats__plain_weights(void **state)
{
    (void)state;
    struct store store;
    init_filled(&store);
    struct bb_db_stats stats = store_stats(&store);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        assert_true(stats.levels[level].visit_share == 1);
        assert_true(stats.levels[level].expected_wasted_reads ==
                    stats.levels[level].filter_rate_sum);
    }
    store_deinit(&store);
}

static void db_stats__of_an_empty_store(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_table_list list = {0};
    store_init(&store);
    store_open(&store);
    struct bb_db_stats stats = store_stats(&store);
    assert_int_equal(stats.gets + stats.writes + stats.flushes + stats.compactions, 0);
    assert_int_equal(stats.last_sequence, 0);
    assert_true(stats.expected_wasted_reads == 0);
    assert_ok(bb_db_tables(store.db, &list));
    assert_int_equal(list.count, 0);
    bb_db_table_list_deinit(&list);
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_compact(store.db));
    assert_int_equal(store_stats(&store).flushes, 0);
    store_deinit(&store);
}

/* ---- events ---- */

struct told {
    uint64_t counts[BB_EVENT_ERROR + 1];
    uint64_t flush_bytes;
    uint64_t bytes_read;
    uint64_t bytes_written;
};

static void take_note(void *context, const struct bb_event *event)
{
    struct told *told = context;
    assert_true(event->kind <= BB_EVENT_ERROR);
    assert_non_null(event->message);
    told->counts[event->kind]++;
    if (event->kind == BB_EVENT_FLUSH) {
        assert_int_equal(event->level, 0);
        told->flush_bytes += event->bytes_written;
    } else if (event->kind == BB_EVENT_COMPACTION) {
        assert_in_range(event->level, 0, BB_LEVEL_COUNT - 1);
        told->bytes_read += event->bytes_read;
        told->bytes_written += event->bytes_written;
    }
}

/* The sums of a listener's events equal the statistics. */
static void db_stats__are_the_sums_of_the_events(void **state)
{
    (void)state;
    struct store store;
    struct told told = {.flush_bytes = 0};
    char key[32];
    store_init(&store);
    store.options.on_event = take_note;
    store.options.event_context = &told;
    store_open(&store);
    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(key, sizeof(key), "key%08u", (uint32_t)(i * 7919ULL % 10000));
        store_put(&store, key, "a value that takes some room in a table");
    }
    assert_ok(bb_db_compact(store.db));
    struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.compactions > 5);
    assert_int_equal(told.counts[BB_EVENT_FLUSH], stats.flushes);
    assert_int_equal(told.counts[BB_EVENT_COMPACTION], stats.compactions);
    assert_int_equal(told.flush_bytes, stats.flush_bytes_written);
    assert_int_equal(told.bytes_read, stats.compaction_bytes_read);
    assert_int_equal(told.bytes_written, stats.compaction_bytes_written);
    assert_int_equal(told.counts[BB_EVENT_ERROR] + told.counts[BB_EVENT_RECOVERY], 0);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_stats__look_ups_are_counted_once),
        cmocka_unit_test(db_stats__the_short_way_counts_as_the_long_one),
        cmocka_unit_test(db_stats__callers_stats_are_added_to),
        cmocka_unit_test(db_stats__memtable_hits),
        cmocka_unit_test(db_stats__memory_held_for_memtables),
        cmocka_unit_test(db_stats__classes),
        cmocka_unit_test(db_stats__reads_are_what_the_system_was_asked_for),
        cmocka_unit_test(db_stats__requests_are_hits_and_misses),
        cmocka_unit_test(db_stats__scans),
        cmocka_unit_test(db_stats__levels_are_the_tables),
        cmocka_unit_test(db_stats__weights),
        cmocka_unit_test(db_stats__weighted_waste_is_what_is_measured),
        cmocka_unit_test(db_stats__plain_weights),
        cmocka_unit_test(db_stats__of_an_empty_store),
        cmocka_unit_test(db_stats__are_the_sums_of_the_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
