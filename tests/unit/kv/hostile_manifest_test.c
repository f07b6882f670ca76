/* Goal: no absurd manifest ends the process: every call on such a store returns a status. Method: a
 * store in memory with tables of several levels, range tombstones and a log; one or a few numbers
 * of its manifest are replaced by limits and their neighbours, its checksums are sound; then the
 * store is verified, read, written, compacted, repaired and destroyed. Seeds are fixed and
 * printed. */
#include "tests/support/store.h"

#include <inttypes.h>
#include <math.h>

#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define KEYS 600
#define RUNS 400

static void put_keys(struct bb_db *db, int begin, int end)
{
    char key[16];
    char value[128];
    for (int i = begin; i < end; i++) {
        snprintf(key, sizeof(key), "k%06d", i);
        snprintf(value, sizeof(value), "%0100d", i);
        assert_ok(bb_db_put(db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(value)));
    }
}

static void fill(struct store *store)
{
    store_init(store);
    store->options.write_buffer_bytes = 64 * 1024;
    store->options.level1_size_bytes = 16 * 1024;
    store_open(store);
    put_keys(store->db, 0, KEYS);
    assert_ok(bb_db_compact(store->db));
    put_keys(store->db, 0, KEYS / 2);
    assert_ok(bb_db_delete_range(store->db, NULL, bb_bytes_of_text("k000100"),
                                 bb_bytes_of_text("k000110")));
    assert_ok(bb_db_flush(store->db));
    store_put(store, "a", "1");
    assert_ok(bb_db_flush(store->db));
    store_put(store, "b", "2");
    store_close(store);
}

/* ---- absurd numbers ---- */

static uint64_t absurd(struct bb_rng *rng)
{
    static const uint64_t edges[] = {0,
                                     UINT64_C(1) << 8,
                                     UINT64_C(1) << 16,
                                     UINT64_C(1) << 31,
                                     UINT64_C(1) << 32,
                                     UINT64_C(1) << 40,
                                     UINT64_C(1) << 53,
                                     BB_SEQUENCE_MAX,
                                     BB_FILE_NUMBER_MAX,
                                     UINT64_C(1) << 62,
                                     UINT64_C(1) << 63,
                                     UINT64_MAX};
    uint64_t edge = edges[bb_rng_below(rng, sizeof(edges) / sizeof(edges[0]))];
    return edge + bb_rng_below(rng, 5) - 2; /* wraps around on purpose */
}

static double absurd_rate(struct bb_rng *rng)
{
    static const double rates[] = {0, 5e-324, 1e-300, 1e-30, 1e-9, 0.999999, 1, 1.5, -1, HUGE_VAL};
    size_t count = sizeof(rates) / sizeof(rates[0]);
    size_t i = (size_t)bb_rng_below(rng, count + 1);
    return i == count ? (double)NAN : rates[i];
}

static void twist_counts(struct bb_rng *rng, struct bb_table_meta *meta)
{
    uint64_t *const counts[] = {&meta->entry_count,
                                &meta->key_count,
                                &meta->tombstone_count,
                                &meta->block_count,
                                &meta->raw_bytes,
                                &meta->filter_bytes,
                                &meta->table_filter_bytes,
                                &meta->sequence_min,
                                &meta->sequence_max,
                                &meta->range_tombstone_count,
                                &meta->tombstone_sequence_min,
                                &meta->file_size};
    size_t count = sizeof(counts) / sizeof(counts[0]);
    *counts[bb_rng_below(rng, count)] = absurd(rng);
}

/* Counts that agree only with each other. */
static void twist_together(struct bb_rng *rng, struct bb_table_meta *meta)
{
    uint64_t value = absurd(rng);
    meta->entry_count = value;
    meta->key_count = value - bb_rng_below(rng, 2);
    meta->block_count = absurd(rng);
    meta->raw_bytes = absurd(rng);
}

static void twist_bounds(struct bb_rng *rng, struct bb_table_meta *meta)
{
    static const char *const keys[] = {"", "a", "k", "k000100", "zzzz", "\xff\xff"};
    struct bb_buf *bound = bb_rng_below(rng, 2) == 0 ? &meta->smallest : &meta->largest;
    assert_ok(bb_buf_assign(bound, bb_bytes_of_text(keys[bb_rng_below(rng, 6)])));
    meta->largest_is_exclusive = bb_rng_below(rng, 2) == 0;
}

static void twist_place(struct bb_rng *rng, struct bb_edit_table *table)
{
    static const uint64_t runs[] = {0,
                                    1,
                                    BB_RUN_NUMBER_MAX - 2,
                                    BB_RUN_NUMBER_MAX - 1,
                                    BB_RUN_NUMBER_MAX,
                                    BB_RUN_NUMBER_MAX + 1};
    if (bb_rng_below(rng, 2) == 0)
        table->level = (int)bb_rng_below(rng, BB_LEVEL_COUNT + 1);
    if (table->level > 0)
        table->run = runs[bb_rng_below(rng, sizeof(runs) / sizeof(runs[0]))];
}

static void twist_table(struct bb_rng *rng, struct bb_edit_table *table)
{
    switch (bb_rng_below(rng, 7)) {
    case 0:
        table->meta.filter_rate = absurd_rate(rng);
        break;
    case 5:
        table->meta.predicted_block_rate = absurd_rate(rng);
        table->meta.predicted_table_filter_rate = absurd_rate(rng);
        break;
    case 1:
        table->meta.table_filter_rate = absurd_rate(rng);
        break;
    case 2:
        twist_bounds(rng, &table->meta);
        break;
    case 3:
        twist_place(rng, table);
        break;
    case 4:
        twist_together(rng, &table->meta);
        break;
    default:
        twist_counts(rng, &table->meta);
        break;
    }
}

static void twist_counters(struct bb_rng *rng, struct bb_manifest_state *state)
{
    switch (bb_rng_below(rng, 4)) {
    case 0:
        state->next_file_number = absurd(rng);
        break;
    case 1:
        state->log_number = absurd(rng);
        break;
    case 2:
        state->log_is_absent = !state->log_is_absent;
        break;
    default:
        state->last_sequence = absurd(rng);
        break;
    }
}

/* Sequences near the end, with all that has to agree with them. */
static void twist_end(struct bb_rng *rng, struct bb_manifest_state *state)
{
    state->last_sequence = BB_SEQUENCE_MAX - bb_rng_below(rng, 5);
    state->log_is_absent = true;
}

/* Always in the order of the tables' numbers, as the state requires. */
static void twist(struct bb_rng *rng, struct bb_manifest_state *state)
{
    uint64_t changes = 1 + bb_rng_below(rng, 3);
    for (uint64_t i = 0; i < changes; i++) {
        uint64_t what = bb_rng_below(rng, 8);
        if (what == 0)
            twist_counters(rng, state);
        else if (what == 1)
            twist_end(rng, state);
        else
            twist_table(rng, state->tables[bb_rng_below(rng, state->table_count)]);
    }
}

static void write_manifest(struct store *store, struct bb_rng *rng)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    struct bb_manifest *manifest = NULL;
    assert_ok(bb_manifest_load(fs, STORE_PATH, &state, &report));
    twist(rng, &state);
    uint64_t number =
        state.next_file_number > report.number + 1000 || state.next_file_number <= report.number
            ? report.number + 1000
            : state.next_file_number;
    assert_ok(bb_manifest_create(fs, STORE_PATH, number, &state, &manifest));
    assert_ok(bb_manifest_close(manifest));
    bb_manifest_state_deinit(&state);
}

/* ---- everything that can be done with it ---- */

static void check_status(enum bb_status status)
{
    if (status == BB_OK || status == BB_NOT_FOUND)
        return;
    assert_true(bb_error_last()->message[0] != 0);
    if (status != BB_CORRUPT && status != BB_TOO_LARGE && status != BB_INVALID &&
        status != BB_NO_MEMORY && status != BB_EXISTS)
        fail_msg("status %d: %s", (int)status, bb_error_last()->message);
}

static void read_all(struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    struct bb_buf value = {0};
    struct bb_db_stats stats;
    char key[16];
    for (int i = 0; i < KEYS; i += 7) {
        snprintf(key, sizeof(key), "k%06d", i);
        check_status(bb_db_get(db, NULL, bb_bytes_of_text(key), &value));
    }
    bb_buf_deinit(&value);
    check_status(bb_db_iter_create(db, NULL, &iter));
    if (iter == NULL)
        return;
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        continue;
    check_status(bb_db_iter_status(iter));
    for (bb_db_iter_seek_last(iter); bb_db_iter_valid(iter); bb_db_iter_prev(iter))
        continue;
    check_status(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    bb_db_stats(db, &stats);
}

static void write_all(struct bb_db *db)
{
    char key[16];
    char value[128];
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "k%06d", i * 2);
        snprintf(value, sizeof(value), "%0100d", i);
        check_status(bb_db_put(db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(value)));
    }
    check_status(
        bb_db_delete_range(db, NULL, bb_bytes_of_text("k0002"), bb_bytes_of_text("k0003")));
    check_status(bb_db_flush(db));
    check_status(bb_db_compact(db));
    check_status(bb_db_checkpoint(db, "/data/checkpoint"));
}

static void open_and_use(struct store *store)
{
    struct bb_db_options reading = store->options;
    struct bb_db *db = NULL;
    reading.create_if_missing = false;
    reading.read_only = true;
    enum bb_status status = bb_db_open(STORE_PATH, &reading, &db);
    check_status(status);
    if (status == BB_OK) {
        read_all(db);
        check_status(bb_db_close(db));
    }
    status = bb_db_open(STORE_PATH, &store->options, &db);
    check_status(status);
    if (status == BB_OK) {
        read_all(db);
        write_all(db);
        read_all(db);
        check_status(bb_db_close(db));
    }
}

static void run(const struct store *original, uint64_t seed, bool is_repaired_first)
{
    struct store store = *original;
    struct bb_rng rng;
    bb_rng_init(&rng, seed);
    store.memory = bb_file_memory_clone(original->memory);
    store.options.file_system = bb_file_memory_system(store.memory);
    store.options.compaction_style = (enum bb_compaction_style)bb_rng_below(&rng, 2);
    write_manifest(&store, &rng);
    check_status(bb_db_verify(STORE_PATH, &store.options, NULL));
    check_status(bb_db_repair(STORE_PATH, &store.options,
                              &(struct bb_db_repair_options){.dry_run = true}, NULL));
    if (!is_repaired_first)
        open_and_use(&store);
    check_status(bb_db_repair(STORE_PATH, &store.options, NULL, NULL));
    if (is_repaired_first)
        open_and_use(&store);
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, NULL));
    bb_file_memory_destroy(store.memory);
}

static void hostile_manifest__every_call_gives_a_status(void **state)
{
    (void)state;
    struct store store;
    fill(&store);
    print_message("seeds 1 to %d\n", RUNS);
    for (uint64_t seed = 1; seed <= RUNS; seed += bb_test_step())
        run(&store, seed, seed % 4 == 0);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_manifest__every_call_gives_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
