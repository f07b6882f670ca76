/* Goal: bb_db_compact_range works as documented in include/bb/db.h: dead data in the range is
 * dropped, the contents stay, the target is kept, other compactions and writes continue, and a
 * failure is reported and repaired. Method: stores with several levels on a file system in memory,
 * random ranges, threads that request ranges next to writers, calls that fail. */
#include "tests/support/store.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/sync.h"
#include "tests/support/file_fault.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define KEYS 3000

static struct bb_bytes key_of(uint32_t i, char key[16])
{
    snprintf(key, 16, "key%08u", i);
    return bb_bytes_of_text(key);
}

static void put(struct bb_db *db, uint32_t i, uint32_t version)
{
    char key[16];
    char value[64];
    snprintf(value, sizeof(value), "value %u of %u, and some more text", version, i);
    assert_ok(bb_db_put(db, NULL, key_of(i, key), bb_bytes_of_text(value)));
}

/* Everything twice, then every third key deleted. */
static void fill(struct store *store)
{
    char key[16];
    store_init(store);
    store_open(store);
    for (uint32_t i = 0; i < 2 * KEYS; i++)
        put(store->db, (uint32_t)(i * 7919ULL % KEYS), i / KEYS);
    for (uint32_t i = 0; i < KEYS; i += 3)
        assert_ok(bb_db_delete(store->db, NULL, key_of(i, key)));
}

static void assert_filled(struct bb_db *db)
{
    char key[16];
    char value[64];
    for (uint32_t i = 0; i < KEYS; i++) {
        key_of(i, key);
        snprintf(value, sizeof(value), "value 1 of %u, and some more text", i);
        assert_get_at(db, NULL, key, i % 3 == 0 ? NULL : value);
    }
}

static uint64_t entry_count(struct store *store)
{
    struct bb_db_stats stats = store_stats(store);
    uint64_t count = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        count += stats.levels[level].entry_count;
    return count;
}

static void compact(struct store *store, uint32_t low, uint32_t high)
{
    char texts[2][16];
    struct bb_bytes first = key_of(low, texts[0]);
    struct bb_bytes end = key_of(high, texts[1]);
    assert_ok(bb_db_compact_range(store->db, &first, &end));
}

/* leveldb#227, #454: deleted data is gone, not only hidden. */
static void range_request__drops_what_is_dead(void **state)
{
    (void)state;
    struct store store;
    fill(&store);
    assert_ok(bb_db_compact_range(store.db, NULL, NULL));
    assert_int_equal(entry_count(&store), KEYS - KEYS / 3);
    assert_filled(store.db);
    /* In the last level too. */
    char key[16];
    assert_ok(bb_db_compact(store.db));
    struct bb_snapshot *snapshot = store_snapshot(&store);
    for (uint32_t i = 1000; i < 1200; i++)
        assert_ok(bb_db_delete(store.db, NULL, key_of(i, key)));
    assert_ok(bb_db_compact_range(store.db, NULL, NULL));
    assert_true(entry_count(&store) > KEYS - KEYS / 3);
    bb_snapshot_release(store.db, snapshot);
    compact(&store, 1000, 1200);
    assert_int_equal(entry_count(&store), KEYS - KEYS / 3 - 134);
    store_deinit(&store);
}

/* After each compaction: the maximum of the expected waste as a factor of the target. */
struct watch {
    struct bb_db *db; /* NULL: not yet */
    double greatest;
};

static void look(void *context, const struct bb_event *event)
{
    struct watch *watch = context;
    struct bb_db_stats stats;
    if (watch->db == NULL || event->kind != BB_EVENT_COMPACTION)
        return;
    bb_db_stats(watch->db, &stats);
    double part = stats.expected_wasted_reads / stats.target_wasted_reads;
    watch->greatest = part > watch->greatest ? part : watch->greatest;
}

/* leveldb#184: no deleted key reappears; in any order of ranges. */
static void range_request__keeps_the_content_and_the_target(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct store store;
    struct watch watch = {.greatest = 0};
    fill(&store);
    store.options.on_event = look;
    store.options.event_context = &watch;
    store_reopen(&store);
    watch.db = store.db;
    bb_rng_init(&rng, bb_rng_seed("range_request__keeps_the_content_and_the_target", 1));
    for (int round = 0; round < 30; round++) {
        uint32_t low = (uint32_t)bb_rng_below(&rng, KEYS);
        compact(&store, low, low + 1 + (uint32_t)bb_rng_below(&rng, 600));
        for (int i = 0; i < 200; i++)
            put(store.db, 1 + 3 * (uint32_t)bb_rng_below(&rng, KEYS / 3), 1);
        assert_ok(bb_db_wait_idle(store.db));
        struct bb_db_stats stats = store_stats(&store);
        assert_true(stats.expected_wasted_reads <= 1.1 * stats.target_wasted_reads);
    }
    assert_filled(store.db);
    print_message("greatest share of the target: %.3f\n", watch.greatest);
    assert_true(watch.greatest > 0 && watch.greatest <= 1.1);
    store_deinit(&store);
}

static void range_request__leaves_the_rest_alone(void **state)
{
    (void)state;
    struct store store;
    fill(&store);
    assert_ok(bb_db_compact(store.db));
    uint64_t before = store_stats(&store).compaction_bytes_written;
    compact(&store, 100, 200);       /* no data is dead there */
    compact(&store, KEYS, KEYS * 2); /* nor is anything there */
    compact(&store, 300, 300);
    compact(&store, 400, 300);
    assert_int_equal(store_stats(&store).compaction_bytes_written, before);
    for (uint32_t i = 100; i < 110; i++)
        put(store.db, i, 2);
    uint64_t all = 0;
    struct bb_db_stats stats = store_stats(&store);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        all += stats.levels[level].file_bytes;
    compact(&store, 100, 110);
    uint64_t written = store_stats(&store).compaction_bytes_written - before;
    assert_true(written > 0 && written < all / 2);
    store_deinit(&store);
}

/* ---- everything ---- */

#define MANY_KEYS 30000

static void fill_with_many(struct store *store, enum bb_compaction_style style)
{
    char key[16];
    store_init(store);
    store->options.filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 0.014};
    store->options.compaction_style = style;
    store_open(store);
    for (uint32_t i = 0; i < MANY_KEYS; i++)
        assert_ok(bb_db_put(store->db, NULL, key_of((uint32_t)(i * 7919ULL % MANY_KEYS), key),
                            bb_bytes_of_text("some value or other")));
}

/* The filters, and the runs, that bb_db_compact leaves, after a range from this key on. */
static void check_nearly_all(enum bb_compaction_style style, uint32_t low)
{
    struct store store;
    fill_with_many(&store, style);
    double loaded = store_stats(&store).filter_bits_per_key;
    compact(&store, low, MANY_KEYS);
    assert_ok(bb_db_wait_idle(store.db));
    double requested = store_stats(&store).filter_bits_per_key;
    struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.expected_wasted_reads <= 1.1 * stats.target_wasted_reads);
    assert_ok(bb_db_compact(store.db));
    double compacted = store_stats(&store).filter_bits_per_key;
    print_message("from key %u: %.2f bits per key loaded, %.2f by the range, %.2f compacted\n", low,
                  loaded, requested, compacted);
    assert_true(requested <= compacted + (low == 0 ? 0.1 : 0.5));
    store_deinit(&store);
}

/* With 30,000 keys and a target of 0.014 it left 11.4 bits per key, bb_db_compact 6.6: its pieces
 * were planned while the other levels had data. */
static void range_request__of_everything_ends_like_a_full_compaction(void **state)
{
    (void)state;
    check_nearly_all(BB_COMPACTION_LEVELED, 0);
    check_nearly_all(BB_COMPACTION_LEVELED, MANY_KEYS / 20);
    check_nearly_all(BB_COMPACTION_TIERED, 0);
    check_nearly_all(BB_COMPACTION_LAZY_LEVELING, 0);
}

/* A failing call is reported; the request is dropped, the store continues. */
static void range_request__tells_a_failure(void **state)
{
    (void)state;
    for (int deterministic = 0; deterministic < 2; deterministic++) {
        struct store store;
        fill(&store);
        store_close(&store);
        struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store.memory));
        store.options.file_system = bb_file_fault_system(fault);
        store.options.deterministic = deterministic;
        store_open(&store);
        assert_ok(bb_db_wait_idle(store.db));
        put(store.db, 1, 1);
        assert_ok(bb_db_flush(store.db));
        bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_CREATE,
                                                              .path_part = ".bbt",
                                                              .nth = 1,
                                                              .lasting = true});
        assert_status(bb_db_compact_range(store.db, NULL, NULL), BB_IO);
        bb_file_fault_disarm(fault);
        enum bb_status status = BB_IO;
        for (int i = 0; i < 1000 && status != BB_OK; i++) {
            (void)usleep(10000);
            status = bb_db_compact_range(store.db, NULL, NULL);
        }
        assert_ok(status);
        assert_filled(store.db);
        store_close(&store);
        bb_file_fault_destroy(fault);
        store.options.file_system = bb_file_memory_system(store.memory);
        store_deinit(&store);
    }
}

/* ---- next to other work ---- */

struct company {
    struct bb_db *db;
    uint32_t seed;
    _Atomic bool is_over;
    _Atomic uint64_t rounds;
    _Atomic uint64_t failures;
};

static void ask_for_ranges(void *argument)
{
    struct company *company = argument;
    struct bb_rng rng;
    bb_rng_init(&rng, company->seed);
    while (!atomic_load(&company->is_over)) {
        char texts[2][16];
        uint32_t at = (uint32_t)bb_rng_below(&rng, KEYS);
        struct bb_bytes low = key_of(at, texts[0]);
        struct bb_bytes high = key_of(at + 500, texts[1]);
        if (bb_db_compact_range(company->db, &low, &high) != BB_OK)
            atomic_fetch_add(&company->failures, 1);
        atomic_fetch_add(&company->rounds, 1);
    }
}

/* Requests ranges without a pause, and full compactions sometimes, during writes: level 0 never
 * stays full, and every request ends. */
static void range_request__starves_nobody(void **state)
{
    (void)state;
    struct store store;
    struct company company[2] = {{.seed = 1}, {.seed = 2}};
    struct bb_thread threads[2];
    fill(&store);
    store_close(&store);
    store.options.deterministic = false;
    store_open(&store);
    for (int i = 0; i < 2; i++) {
        company[i].db = store.db;
        assert_ok(bb_thread_create(&threads[i], ask_for_ranges, &company[i]));
    }
    uint32_t written = 0;
    while (written < 6 * KEYS || atomic_load(&company[0].rounds) < 3 ||
           atomic_load(&company[1].rounds) < 3) {
        uint32_t i = 1 + 3 * (uint32_t)(written * 7919ULL % (KEYS / 3));
        put(store.db, i, 1);
        written++;
        if (written % (2 * KEYS) == 0)
            assert_ok(bb_db_compact(store.db));
    }
    for (int i = 0; i < 2; i++) {
        atomic_store(&company[i].is_over, true);
        bb_thread_join(&threads[i]);
        assert_int_equal(atomic_load(&company[i].failures), 0);
    }
    assert_filled(store.db);
    assert_ok(bb_db_wait_idle(store.db));
    struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.levels[0].run_count < store.options.level0_run_count_compact);
    assert_true(stats.expected_wasted_reads <= 1.1 * stats.target_wasted_reads);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(range_request__tells_a_failure),
        cmocka_unit_test(range_request__starves_nobody),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_request__drops_what_is_dead),
        cmocka_unit_test(range_request__keeps_the_content_and_the_target),
        cmocka_unit_test(range_request__leaves_the_rest_alone),
        cmocka_unit_test(range_request__of_everything_ends_like_a_full_compaction),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
