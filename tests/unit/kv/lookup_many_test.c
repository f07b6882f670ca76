/* Goal: a batch of gets has the results of single gets, status by status and value by value, and
 * two stores, one used each way, have the same statistics, read by read. Method: twin stores with
 * data in memtables and tables of several levels, under many options, with the same keys; the same
 * where some or all blocks must be waited for; snapshots; invalid keys; reads that fail. */
#include "tests/support/store.h"

#include <stdlib.h>

#include "tests/support/file_fault.h"
#include "tests/support/rng.h"

#define KEYS  2500
#define ASKED 3000
/* Long enough for the fast path of runs: eight bytes after the keys' shared prefix. */
#define KEY_TEXT "key%08u and a tail"
#define KEY_SIZE 32

struct asked {
    char texts[ASKED][KEY_SIZE];
    struct bb_bytes keys[ASKED];
};

static void put(struct bb_db *db, uint32_t i, uint32_t version)
{
    char key[KEY_SIZE];
    char value[64];
    snprintf(key, sizeof(key), KEY_TEXT, 2 * i);
    snprintf(value, sizeof(value), "value %u of %u, and some more text", version, i);
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(value)));
}

/* One level filled by compaction, others by later writes; tombstones; some data in memory. */
static void fill(struct bb_db *db)
{
    char key[KEY_SIZE];
    for (uint32_t i = 0; i < KEYS; i++)
        put(db, (uint32_t)(i * 7919ULL % KEYS), 0);
    assert_ok(bb_db_compact(db));
    for (uint32_t i = 0; i < KEYS; i += 2)
        put(db, i, 1);
    for (uint32_t i = 0; i < KEYS; i += 5) {
        snprintf(key, sizeof(key), KEY_TEXT, 2 * i);
        assert_ok(bb_db_delete(db, NULL, bb_bytes_of_text(key)));
    }
    assert_ok(bb_db_flush(db));
    for (uint32_t i = 0; i < KEYS; i += 50)
        put(db, i, 2);
}

/* Present and absent ones, in no order, some more than once. */
static struct asked *draw_keys(struct bb_rng *rng)
{
    struct asked *asked = calloc(1, sizeof(*asked));
    assert_non_null(asked);
    for (size_t i = 0; i < ASKED; i++) {
        snprintf(asked->texts[i], sizeof(asked->texts[i]), KEY_TEXT,
                 (uint32_t)bb_rng_below(rng, 2 * KEYS + 20));
        asked->keys[i] = bb_bytes_of_text(asked->texts[i]);
    }
    return asked;
}

/* The same keys, one by one in one store and together in the other. */
static void assert_same_answers(struct bb_db *one_by_one, struct bb_db *together,
                                struct bb_get_options options, const struct asked *asked,
                                size_t count)
{
    struct bb_buf *values = calloc(ASKED, sizeof(*values));
    enum bb_status *statuses = calloc(ASKED, sizeof(*statuses));
    struct bb_read_stats single = {0};
    struct bb_read_stats many = {0};
    struct bb_buf value = {0};
    assert_true(values != NULL && statuses != NULL);
    options.stats = &many;
    assert_ok(bb_db_get_many(together, &options, asked->keys, count, values, statuses));
    options.stats = &single;
    for (size_t i = 0; i < count; i++) {
        enum bb_status status = bb_db_get(one_by_one, &options, asked->keys[i], &value);
        assert_int_equal(statuses[i], status);
        if (status == BB_OK)
            assert_true(bb_bytes_equal((struct bb_bytes){values[i].data, values[i].size},
                                       (struct bb_bytes){value.data, value.size}));
        bb_buf_deinit(&values[i]);
    }
    /* The first store's reads are cached for the other one. Blocks that a batch waits for are read
     * later, and by then more may be known to be in memory. */
    bool are_twins = one_by_one != together;
    single.blocks_mapped = many.blocks_mapped;
    assert_memory_equal(&single, &many, are_twins ? sizeof(single) : sizeof(single.visits));
    assert_int_equal(single.block_requests, many.block_requests);
    bb_buf_deinit(&value);
    free(values);
    free(statuses);
}

static void assert_same_statistics(struct bb_db *one_by_one, struct bb_db *together)
{
    struct bb_db_stats a;
    struct bb_db_stats b;
    bb_db_stats(one_by_one, &a);
    bb_db_stats(together, &b);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        a.system_reads += a.level_reads[level].blocks_mapped;
        b.system_reads += b.level_reads[level].blocks_mapped;
        a.level_reads[level].blocks_mapped = b.level_reads[level].blocks_mapped;
    }
    assert_memory_equal(a.level_reads, b.level_reads, sizeof(a.level_reads));
    assert_int_equal(a.gets, b.gets);
    assert_int_equal(a.gets_found, b.gets_found);
    assert_int_equal(a.memtable_visits, b.memtable_visits);
    assert_int_equal(a.memtable_hits, b.memtable_hits);
    assert_int_equal(a.system_reads, b.system_reads);
}

/* cold_one_in: for the reads of the store that is used with batches. */
static void check_cold(const struct bb_db_options *options, uint64_t seed, uint32_t cold_one_in)
{
    struct store stores[2];
    struct bb_rng rng;
    for (int i = 0; i < 2; i++) {
        store_init(&stores[i]);
        struct bb_file_system *system = stores[i].options.file_system;
        stores[i].options = *options;
        stores[i].options.file_system = system;
        store_open(&stores[i]);
        fill(stores[i].db);
        store_reopen(&stores[i]);
        put(stores[i].db, 3, 9);
    }
    bb_file_memory_set_cold(stores[1].memory, cold_one_in);
    bb_rng_init(&rng, seed);
    struct asked *asked = draw_keys(&rng);
    static const struct bb_get_options reads[] = {
        {0}, {.ignore_filters = true}, {.account_avoided = true}, {.bypass_fill = true}};
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        size_t count = i == 0 ? ASKED : (size_t)bb_rng_below(&rng, ASKED);
        assert_same_answers(stores[0].db, stores[1].db, reads[i], asked, count);
        assert_same_statistics(stores[0].db, stores[1].db);
    }
    free(asked);
    store_deinit(&stores[0]);
    store_deinit(&stores[1]);
}

static void check_options(const struct bb_db_options *options, uint64_t seed)
{
    check_cold(options, seed, 0);
}

static void lookup_many__is_as_single_gets(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("lookup_many__is_as_single_gets", 1);
    struct bb_file_memory *unused = bb_file_memory_create(1);
    struct bb_db_options options = store_options(unused);
    options.cache_bytes = 16 << 20;
    check_options(&options, seed);
    options.cache_off = true;
    check_options(&options, seed + 1);
    options.filter_kind = BB_FILTER_BLOCKED_BLOOM;
    check_options(&options, seed + 2);
    options.filter_kind = BB_FILTER_NONE;
    check_options(&options, seed + 3);
    options.filter_kind = BB_FILTER_RIBBON;
    options.table_filter_bits = BB_TABLE_FILTER_ALL;
    options.level0_run_count_compact = 30;
    options.level0_run_count_busy = 30;
    options.level0_run_count_stop = 60;
    check_options(&options, seed + 4);
    options.cache_off = false;
    options.index_residency = BB_INDEX_CACHED;
    check_options(&options, seed + 5);
    options.level0_run_count_compact = 100;
    options.level0_run_count_busy = 100;
    options.level0_run_count_stop = 200;
    options.table_filter_off = true;
    check_options(&options, seed + 6);
    bb_file_memory_destroy(unused);
}

static void lookup_many__waiting_changes_no_answer_and_no_count(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("lookup_many__waiting_changes_no_answer_and_no_count", 2);
    struct bb_file_memory *unused = bb_file_memory_create(1);
    struct bb_db_options options = store_options(unused);
    options.cache_bytes = 16 << 20;
    for (uint32_t one_in = 1; one_in <= 3; one_in++)
        check_cold(&options, seed + one_in, one_in);
    options.cache_off = true;
    for (uint32_t one_in = 1; one_in <= 3; one_in++)
        check_cold(&options, seed + 3 + one_in, one_in);
    bb_file_memory_destroy(unused);
}

/* The second time all blocks are known to be in memory. */
static void lookup_many__copies_blocks_that_were_read(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    store_init(&store);
    store.options.cache_off = true;
    store_open(&store);
    fill(store.db);
    store_reopen(&store);
    bb_rng_init(&rng, bb_rng_seed("lookup_many__copies_blocks_that_were_read", 8));
    struct asked *asked = draw_keys(&rng);
    enum bb_status *statuses = calloc(ASKED, sizeof(*statuses));
    struct bb_read_stats stats[2];
    memset(stats, 0, sizeof(stats));
    for (int round = 0; round < 2; round++) {
        struct bb_get_options options = {.stats = &stats[round]};
        assert_ok(bb_db_get_many(store.db, &options, asked->keys, ASKED, NULL, statuses));
    }
    assert_true(stats[0].blocks_mapped < stats[0].block_reads);
    assert_true(stats[1].block_reads > 0);
    assert_int_equal(stats[1].blocks_mapped, stats[1].block_reads);
    free(statuses);
    free(asked);
    store_deinit(&store);
}

#define RUNS 80

static void delete_some(struct bb_db *db, uint32_t from)
{
    char low[KEY_SIZE];
    char high[KEY_SIZE];
    snprintf(low, sizeof(low), KEY_TEXT, from);
    snprintf(high, sizeof(high), KEY_TEXT, from + 300);
    assert_ok(bb_db_delete_range(db, NULL, bb_bytes_of_text(low), bb_bytes_of_text(high)));
}

/* Each with keys over the whole range; of the last ones, one in seven with a range tombstone. */
static void fill_runs(struct bb_db *db, uint32_t plain_runs)
{
    for (uint32_t run = 0; run < RUNS; run++) {
        if (run >= plain_runs && run % 7 == 3)
            delete_some(db, run * 60);
        for (uint32_t i = 0; i < 30; i++)
            put(db, (run * 37 + i * 83) % KEYS, run);
        assert_ok(bb_db_flush(db));
    }
}

static void check_runs(uint32_t plain_runs, uint64_t seed)
{
    struct store stores[2];
    struct bb_rng rng;
    for (int i = 0; i < 2; i++) {
        store_init(&stores[i]);
        stores[i].options.level0_run_count_compact = 100;
        stores[i].options.level0_run_count_busy = 100;
        stores[i].options.level0_run_count_stop = 200;
        store_open(&stores[i]);
        fill_runs(stores[i].db, plain_runs);
        store_reopen(&stores[i]);
    }
    assert_int_equal(store_stats(&stores[0]).run_count, RUNS);
    bb_rng_init(&rng, seed);
    struct asked *asked = draw_keys(&rng);
    for (int i = 0; i < 2; i++) { /* the second time with table filters that are ready */
        assert_same_answers(stores[0].db, stores[1].db, (struct bb_get_options){0}, asked, ASKED);
        assert_same_statistics(stores[0].db, stores[1].db);
    }
    free(asked);
    store_deinit(&stores[0]);
    store_deinit(&stores[1]);
}

/* Runs beyond BB_DENIALS_RUNS are probed one by one, for any results of the others. */
static void lookup_many__of_more_runs_than_are_asked_ahead(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("lookup_many__of_more_runs_than_are_asked_ahead", 3);
    check_runs(RUNS, seed);
    check_runs(0, seed + 1);
}

static uint64_t needs_of(struct store *store)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_file_counters counters;
    fs->ops->counters(fs, &counters);
    return counters.needs;
}

/* Announces no block when no read waits, nor a single block; otherwise each block once. Each table
 * filter is announced once, and then read in two parts. */
static void lookup_many__announces_what_it_waits_for(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    enum bb_status *statuses = calloc(ASKED, sizeof(*statuses));
    struct bb_read_stats reads = {0};
    struct bb_get_options options = {.stats = &reads};
    assert_non_null(statuses);
    store_init(&store);
    store.options.cache_bytes = 64 << 20;
    store.options.read_mode = BB_READ_CALLS;
    store_open(&store);
    fill(store.db);
    store_reopen(&store);
    bb_rng_init(&rng, 8);
    struct asked *asked = draw_keys(&rng);
    assert_ok(bb_db_get_many(store.db, &options, asked->keys, ASKED, NULL, statuses));
    assert_true(reads.table_filter_reads > 0);
    assert_int_equal(needs_of(&store), reads.table_filter_reads / 2);
    assert_true(reads.block_reads > 100);
    store_reopen(&store);
    bb_file_memory_set_cold(store.memory, 1);
    assert_ok(bb_db_get_many(store.db, &options, asked->keys, 1, NULL, statuses));
    uint64_t blocks = reads.block_reads;
    assert_ok(bb_db_get_many(store.db, &options, asked->keys, ASKED, NULL, statuses));
    uint64_t needs = needs_of(&store) - reads.table_filter_reads / 2;
    blocks = reads.block_reads - blocks;
    assert_in_range(needs, blocks * 9 / 10, blocks);
    free(asked);
    free(statuses);
    store_deinit(&store);
}

static void lookup_many__sees_one_snapshot(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    store_init(&store);
    store_open(&store);
    fill(store.db);
    struct bb_snapshot *snapshot = store_snapshot(&store);
    for (uint32_t i = 0; i < KEYS; i++)
        put(store.db, i, 7);
    bb_rng_init(&rng, 5);
    struct asked *asked = draw_keys(&rng);
    assert_same_answers(store.db, store.db, (struct bb_get_options){.snapshot = snapshot}, asked,
                        ASKED);
    assert_same_answers(store.db, store.db, (struct bb_get_options){0}, asked, ASKED);
    bb_snapshot_release(store.db, snapshot);
    free(asked);
    store_deinit(&store);
}

static void lookup_many__at_its_limits(void **state)
{
    (void)state;
    struct store store;
    static uint8_t long_key[BB_KEY_SIZE_MAX + 1];
    struct bb_bytes keys[] = {bb_bytes_of_text("a"), bb_bytes_of(long_key, sizeof(long_key)),
                              bb_bytes_of_text(""), bb_bytes_of_text("b"), bb_bytes_of_text("a")};
    enum bb_status statuses[5];
    struct bb_buf values[5] = {{0}};
    store_init(&store);
    store_open(&store);
    assert_ok(bb_db_get_many(store.db, NULL, NULL, 0, NULL, NULL));
    store_put(&store, "a", "1");
    store_put(&store, "", "empty");
    for (int flushed = 0; flushed < 2; flushed++) {
        uint64_t gets = store_stats(&store).gets;
        assert_status(bb_db_get_many(store.db, NULL, keys, 5, values, statuses), BB_TOO_LARGE);
        assert_message("key 1 ");
        assert_int_equal(store_stats(&store).gets, gets + 4);
        static const enum bb_status expected[] = {BB_OK, BB_TOO_LARGE, BB_OK, BB_NOT_FOUND, BB_OK};
        for (int i = 0; i < 5; i++)
            assert_int_equal(statuses[i], expected[i]);
        assert_memory_equal(values[2].data, "empty", 5);
        assert_memory_equal(values[4].data, "1", 1);
        keys[1] = bb_bytes_of_text("c");
        assert_ok(bb_db_get_many(store.db, NULL, keys, 5, NULL, statuses));
        assert_int_equal(statuses[2], BB_OK);
        assert_int_equal(statuses[1], BB_NOT_FOUND);
        keys[1] = bb_bytes_of(long_key, sizeof(long_key));
        assert_ok(bb_db_flush(store.db));
    }
    for (int i = 0; i < 5; i++)
        bb_buf_deinit(&values[i]);
    store_deinit(&store);
}

/* A read that fails costs the keys that needed it, and no other. */
static void lookup_many__tells_which_failed(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    store_init(&store);
    store.options.cache_off = true;
    store.options.read_mode = BB_READ_CALLS;
    store_open(&store);
    fill(store.db);
    store_close(&store);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store.memory));
    store.options.file_system = bb_file_fault_system(fault);
    bb_rng_init(&rng, 6);
    struct asked *asked = draw_keys(&rng);
    enum bb_status *sound = calloc(ASKED, sizeof(*sound));
    enum bb_status *statuses = calloc(ASKED, sizeof(*statuses));
    store_open(&store);
    assert_ok(bb_db_get_many(store.db, NULL, asked->keys, ASKED, NULL, sound));
    uint64_t points = 0;
    size_t failures = 0;
    bool is_hit = true;
    for (uint64_t nth = 1; is_hit; nth = nth * 3 / 2 + 1) {
        store_reopen(&store);
        bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_READ_AT,
                                                              .path_part = ".bbt",
                                                              .nth = nth});
        enum bb_status status = bb_db_get_many(store.db, NULL, asked->keys, ASKED, NULL, statuses);
        is_hit = bb_file_fault_hits(fault) > 0;
        points += is_hit;
        bb_file_fault_disarm(fault);
        size_t failed = 0;
        for (size_t i = 0; i < ASKED; i++) {
            failed += statuses[i] == BB_IO;
            assert_true(statuses[i] == BB_IO || statuses[i] == sound[i]);
        }
        /* A table filter that cannot be read costs no answer. */
        assert_true(failed <= 1 && status == (failed > 0 ? BB_IO : BB_OK));
        failures += failed;
    }
    assert_true(points >= 10 && failures >= 3);
    store_close(&store);
    bb_file_fault_destroy(fault);
    store.options.file_system = bb_file_memory_system(store.memory);
    free(sound);
    free(statuses);
    free(asked);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookup_many__is_as_single_gets),
        cmocka_unit_test(lookup_many__waiting_changes_no_answer_and_no_count),
        cmocka_unit_test(lookup_many__copies_blocks_that_were_read),
        cmocka_unit_test(lookup_many__of_more_runs_than_are_asked_ahead),
        cmocka_unit_test(lookup_many__announces_what_it_waits_for),
        cmocka_unit_test(lookup_many__sees_one_snapshot),
        cmocka_unit_test(lookup_many__at_its_limits),
        cmocka_unit_test(lookup_many__tells_which_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
