/* Goal: with tombstone_age_max no deletion of a key or a range stays in tables longer, in any
 * style, unless a snapshot needs it; after the snapshot's release its space is freed. Method:
 * random puts and deletions with occasional snapshots; the statistics are checked when idle. */
#include "tests/support/store.h"

#include "tests/support/rng.h"

#define KEYS   400
#define ROUNDS 120

static void begin(struct store *store, enum bb_compaction_style style, uint64_t age_max)
{
    store_init(store);
    store->options.compaction_style = style;
    store->options.level1_size_bytes = 4 * 1024;
    store->options.table_size_bytes = 4 * 1024;
    store->options.compression = BB_COMPRESSION_NONE;
    store->options.tombstone_age_max = age_max;
    store_open(store);
}

static void key_of(uint64_t number, char key[8])
{
    snprintf(key, 8, "k%05u", (unsigned)number);
}

static void write_one(struct store *store, struct bb_rng *rng)
{
    char value[100];
    char key[8];
    char high[8];
    uint64_t number = bb_rng_below(rng, KEYS);
    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = 0;
    key_of(number, key);
    key_of(number + bb_rng_between(rng, 1, 10), high);
    if (bb_rng_one_in(rng, 10))
        assert_ok(
            bb_db_delete_range(store->db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(high)));
    else if (bb_rng_one_in(rng, 3))
        store_delete(store, key);
    else
        store_put(store, key, value);
}

static void come_to_rest(struct store *store)
{
    assert_ok(bb_db_flush(store->db));
    assert_ok(bb_db_wait_idle(store->db));
}

/* The sequence of the snapshot is the present one. */
static void check_age(struct store *store, uint64_t snapshot_sequence)
{
    struct bb_db_stats stats = store_stats(store);
    uint64_t oldest = stats.last_sequence - stats.oldest_tombstone_age;
    assert_true(stats.oldest_tombstone_age < store->options.tombstone_age_max ||
                oldest > snapshot_sequence);
}

static void run_style(enum bb_compaction_style style, bool is_deterministic)
{
    struct store store;
    struct bb_rng rng;
    struct bb_snapshot *snapshot = NULL;
    uint64_t sequence = UINT64_MAX;
    uint64_t most = 0;
    bb_rng_init(&rng, bb_rng_seed("tombstone_age", 12));
    begin(&store, style, 200);
    store.options.deterministic = is_deterministic;
    store_reopen(&store);
    for (int round = 1; round <= ROUNDS; round++) {
        for (uint64_t count = bb_rng_between(&rng, 1, 80); count > 0; count--)
            write_one(&store, &rng);
        if (round % 8 == 3) {
            sequence = store_stats(&store).last_sequence;
            snapshot = store_snapshot(&store);
        }
        come_to_rest(&store);
        check_age(&store, sequence);
        most =
            store_stats(&store).tombstone_count > most ? store_stats(&store).tombstone_count : most;
        if (round % 8 == 0) {
            bb_snapshot_release(store.db, snapshot);
            snapshot = NULL;
            sequence = UINT64_MAX;
            assert_ok(bb_db_wait_idle(store.db));
            check_age(&store, sequence);
        }
        if (round % 24 == 0)
            store_reopen(&store);
    }
    assert_true(most > 20);
    store_deinit(&store);
}

static void tombstone_age__leveled(void **state)
{
    (void)state;
    run_style(BB_COMPACTION_LEVELED, true);
}

static void tombstone_age__tiered(void **state)
{
    (void)state;
    run_style(BB_COMPACTION_TIERED, true);
}

static void tombstone_age__lazy_leveling(void **state)
{
    (void)state;
    run_style(BB_COMPACTION_LAZY_LEVELING, true);
}

static void tombstone_age__with_workers(void **state)
{
    (void)state;
    run_style(BB_COMPACTION_LEVELED, false);
    run_style(BB_COMPACTION_TIERED, false);
}

static void write_all(struct store *store, const char *value)
{
    for (uint64_t number = 0; number < KEYS; number++) {
        char key[8];
        key_of(number, key);
        if (value == NULL)
            store_delete(store, key);
        else
            store_put(store, key, value);
    }
}

static uint64_t entries(struct store *store)
{
    struct bb_db_stats stats = store_stats(store);
    uint64_t sum = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        sum += stats.levels[level].entry_count;
    return sum;
}

/* The range is never read or written any more: the tables at the bottom would keep it forever. */
static void tombstone_age__what_a_snapshot_held_is_given_back(void **state)
{
    (void)state;
    struct store store;
    begin(&store, BB_COMPACTION_LEVELED, 10);
    for (int is_deleted = 0; is_deleted < 2; is_deleted++) {
        write_all(&store, "old");
        struct bb_snapshot *snapshot = store_snapshot(&store);
        write_all(&store, is_deleted ? NULL : "new");
        assert_ok(bb_db_compact(store.db));
        assert_int_equal(entries(&store), 2 * KEYS);
        for (int i = 0; i < 20; i++)
            store_put(&store, "k00000", "elsewhere");
        come_to_rest(&store);
        assert_true(entries(&store) >= 2 * KEYS);
        bb_snapshot_release(store.db, snapshot);
        assert_ok(bb_db_wait_idle(store.db));
        assert_true(entries(&store) <= (is_deleted ? 1 : KEYS) + 1);
    }
    store_deinit(&store);
}

/* The bound is off by default: harmless data stays. */
static void tombstone_age__no_bound(void **state)
{
    (void)state;
    struct store store;
    begin(&store, BB_COMPACTION_LEVELED, 0);
    store_put(&store, "a", "1");
    assert_ok(bb_db_compact(store.db));
    store_delete(&store, "a");
    for (int i = 0; i < 1000; i++)
        store_put(&store, "b", "2");
    come_to_rest(&store);
    struct bb_db_stats stats = store_stats(&store);
    assert_int_equal(stats.tombstone_count, 1);
    assert_int_equal(stats.oldest_tombstone_age, 1000);
    store.options.tombstone_age_max = 1000;
    store_reopen(&store);
    assert_ok(bb_db_wait_idle(store.db));
    stats = store_stats(&store);
    assert_int_equal(stats.tombstone_count, 0);
    assert_int_equal(stats.oldest_tombstone_age, 0);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tombstone_age__leveled),
        cmocka_unit_test(tombstone_age__tiered),
        cmocka_unit_test(tombstone_age__lazy_leveling),
        cmocka_unit_test(tombstone_age__with_workers),
        cmocka_unit_test(tombstone_age__what_a_snapshot_held_is_given_back),
        cmocka_unit_test(tombstone_age__no_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
