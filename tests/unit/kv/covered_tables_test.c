/* Goal: data completely hidden by a deleted range is removed without being read, as soon as the
 * deletion is in a table, and not while a snapshot needs it; the store has the same contents after
 * a power failure at any moment. Method: a store of many tables under one deletion, on a file
 * system that keeps a log of calls. */
#include "tests/support/store.h"

#include "tests/support/file_fault.h"
#include "tests/support/rng.h"

#define KEYS 3000

static void put_all(struct store *store)
{
    char key[16];
    char value[101];
    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = 0;
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "k%05d", i);
        store_put(store, key, value);
    }
    assert_ok(bb_db_compact(store->db));
}

static void begin(struct store *store)
{
    store_init(store);
    store->options.compression = BB_COMPRESSION_NONE;
    store_open(store);
    put_all(store);
}

static void delete_most(struct store *store)
{
    assert_ok(bb_db_delete_range(store->db, NULL, bb_bytes_of_text("k00100"),
                                 bb_bytes_of_text("k02900")));
}

static uint64_t count_keys(struct bb_db *db, const struct bb_snapshot *snapshot)
{
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_db_iter *iter = NULL;
    uint64_t count = 0;
    assert_ok(bb_db_iter_create(db, &options, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        count++;
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    return count;
}

static uint64_t table_count(struct store *store)
{
    struct bb_db_stats stats = store_stats(store);
    uint64_t sum = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        sum += stats.levels[level].table_count;
    return sum;
}

/* No table that was there before is opened or read; most are removed. Gives how many. */
static uint64_t check_calls(struct bb_file_fault *fault, const struct bb_db_table_list *before)
{
    size_t count = 0;
    uint64_t removed = 0;
    const struct bb_file_fault_record *log = bb_file_fault_log(fault, &count);
    for (size_t i = 0; i < count; i++) {
        bool is_removal = log[i].call == BB_FILE_CALL_REMOVE;
        for (size_t t = 0; t < before->count; t++) {
            if (strcmp(log[i].path, before->tables[t].path) != 0)
                continue;
            removed += is_removal;
            assert_true(is_removal);
        }
    }
    return removed;
}

static void covered_tables__go_unread(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_table_list before = {0};
    begin(&store);
    store_close(&store);
    struct bb_file_fault *fault = bb_file_fault_create(store.options.file_system);
    struct bb_file_system *memory = store.options.file_system;
    store.options.file_system = bb_file_fault_system(fault);
    store_open(&store);
    assert_ok(bb_db_tables(store.db, &before));
    bb_file_fault_log_enable(fault, true);
    delete_most(&store);
    assert_ok(bb_db_flush(store.db));
    uint64_t removed = check_calls(fault, &before);
    struct bb_db_stats stats = store_stats(&store);
    assert_true(removed > 10 && removed < before.count);
    assert_int_equal(stats.covered_tables, removed);
    assert_true(stats.covered_bytes > (KEYS - 500) * 100);
    assert_int_equal(stats.compaction_bytes_read, 0);
    assert_int_equal(count_keys(store.db, NULL), 200);
    assert_ok(bb_db_compact(store.db));
    assert_int_equal(count_keys(store.db, NULL), 200);
    bb_db_table_list_deinit(&before);
    store_close(&store);
    store.options.file_system = memory;
    bb_file_fault_destroy(fault);
    store_deinit(&store);
}

static void covered_tables__stay_while_a_snapshot_needs_them(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    uint64_t before = table_count(&store);
    struct bb_snapshot *snapshot = store_snapshot(&store);
    delete_most(&store);
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_wait_idle(store.db));
    assert_int_equal(store_stats(&store).covered_tables, 0);
    assert_int_equal(count_keys(store.db, snapshot), KEYS);
    assert_int_equal(count_keys(store.db, NULL), 200);
    bb_snapshot_release(store.db, snapshot);
    assert_ok(bb_db_wait_idle(store.db));
    assert_true(store_stats(&store).covered_tables > 10);
    assert_true(table_count(&store) < before);
    assert_int_equal(count_keys(store.db, NULL), 200);
    store_deinit(&store);
}

/* Like wait_idle without other calls; the release must wake the thread. */
static void covered_tables__a_release_wakes_the_worker(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store.options.deterministic = false;
    store_reopen(&store);
    struct bb_snapshot *snapshot = store_snapshot(&store);
    delete_most(&store);
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_wait_idle(store.db));
    assert_int_equal(store_stats(&store).covered_tables, 0);
    bb_snapshot_release(store.db, snapshot);
    assert_ok(bb_db_wait_idle(store.db));
    assert_true(store_stats(&store).covered_tables > 10);
    assert_int_equal(count_keys(store.db, NULL), 200);
    store_deinit(&store);
}

/* Later writes are not covered, in any table. */
static void covered_tables__later_writes_stay(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    delete_most(&store);
    store_put(&store, "k01500", "again");
    assert_ok(bb_db_flush(store.db));
    assert_true(store_stats(&store).covered_tables > 10);
    assert_get(&store, "k01500", "again");
    assert_get(&store, "k01501", NULL);
    assert_ok(bb_db_compact(store.db));
    assert_get(&store, "k01500", "again");
    assert_int_equal(count_keys(store.db, NULL), 201);
    store_deinit(&store);
}

/* An iterator continues over tables that later readers do not see. */
static void covered_tables__an_iterator_keeps_its_own(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *iter = NULL;
    uint64_t count = 0;
    begin(&store);
    assert_ok(bb_db_iter_create(store.db, NULL, &iter));
    delete_most(&store);
    assert_ok(bb_db_flush(store.db));
    assert_true(store_stats(&store).covered_tables > 10);
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        count++;
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    assert_int_equal(count, KEYS);
    store_deinit(&store);
}

/* ---- the power fails ---- */

struct cut {
    uint64_t at;
    struct bb_file_memory *image; /* as it is then */
};

static enum bb_status cut_at(void *context, struct bb_file_memory *memory, uint64_t number,
                             enum bb_file_call call, const char *path)
{
    struct cut *cut = context;
    (void)call;
    (void)path;
    if (number == cut->at)
        cut->image = bb_file_memory_crash(memory, &(struct bb_crash){.bytes = BB_CRASH_BYTES_ANY,
                                                                     .names = BB_CRASH_NAMES_ANY,
                                                                     .seed = number});
    return BB_OK;
}

static void check_image(const struct store *store, struct bb_file_memory *image)
{
    struct store after = {.memory = image, .options = store->options};
    after.options.file_system = bb_file_memory_system(image);
    store_open(&after);
    uint64_t count = count_keys(after.db, NULL);
    assert_true(count == KEYS || count == 200);
    assert_ok(bb_db_flush(after.db));
    assert_ok(bb_db_wait_idle(after.db));
    assert_int_equal(count_keys(after.db, NULL), count);
    store_deinit(&after);
}

static void covered_tables__whole_or_not_at_all_when_the_power_fails(void **state)
{
    (void)state;
    struct store store;
    bool is_within = true;
    begin(&store);
    store_close(&store);
    for (uint64_t call = 1; is_within; call++) {
        struct store run = {.memory = bb_file_memory_clone(store.memory)};
        run.options = store.options;
        run.options.file_system = bb_file_memory_system(run.memory);
        store_open(&run);
        struct cut cut = {.at = bb_file_memory_calls(run.memory) + call};
        bb_file_memory_set_hook(run.memory, cut_at, &cut);
        delete_most(&run);
        assert_ok(bb_db_flush(run.db));
        assert_true(store_stats(&run).covered_tables > 10);
        bb_file_memory_set_hook(run.memory, NULL, NULL);
        is_within = cut.image != NULL;
        if (is_within)
            check_image(&run, cut.image);
        store_deinit(&run);
        assert_true(is_within || call > 10);
    }
    store_deinit(&store);
}

/* ---- the target ---- */

struct promise {
    struct store store;
    uint64_t looks;
    double worst; /* sum of the rates over the live tables, as a factor of the target */
};

static void look(struct promise *promise)
{
    struct bb_db_stats stats = store_stats(&promise->store);
    double part = stats.expected_wasted_reads / stats.target_wasted_reads;
    promise->worst = part > promise->worst ? part : promise->worst;
    promise->looks++;
}

/* Before each change of the directory, the last installed state is live. */
static enum bb_status look_on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                                   enum bb_file_call call, const char *path)
{
    struct promise *promise = context;
    (void)memory;
    (void)number;
    (void)path;
    if (promise->store.db != NULL && (call == BB_FILE_CALL_CREATE || call == BB_FILE_CALL_REMOVE))
        look(promise);
    return BB_OK;
}

static void ingest(struct promise *promise, char prefix, uint64_t first, uint64_t count)
{
    struct bb_file_system *fs = promise->store.options.file_system;
    struct bb_table_options options = {.file_system = fs};
    struct bb_table_builder *builder = NULL;
    const char *path = "/data/input";
    char key[16];
    assert_ok(bb_table_builder_create(path, &options, &builder));
    for (uint64_t i = first; i < first + count; i++) {
        snprintf(key, sizeof(key), "%c%05u", prefix, (unsigned)i);
        struct bb_entry entry = {.key = bb_bytes_of_text(key), .kind = BB_ENTRY_PUT};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    assert_ok(bb_db_ingest(promise->store.db, &path, 1, NULL));
    assert_ok(fs->ops->remove(fs, path));
}

static void put_and_delete(struct promise *promise, struct bb_rng *rng)
{
    char low[16];
    char high[16];
    uint64_t first = bb_rng_below(rng, KEYS);
    uint64_t count = bb_rng_between(rng, 1, KEYS);
    for (uint64_t i = 0; i < count; i++) {
        snprintf(low, sizeof(low), "k%05u", (unsigned)((first + i) % KEYS));
        store_put(&promise->store, low, "some value that takes a little of the space");
    }
    if (bb_rng_one_in(rng, 3))
        assert_ok(bb_db_compact(promise->store.db));
    if (bb_rng_one_in(rng, 2))
        ingest(promise, 'k', bb_rng_below(rng, KEYS), bb_rng_between(rng, 1, KEYS / 2));
    uint64_t from = bb_rng_below(rng, KEYS);
    snprintf(low, sizeof(low), "k%05u", (unsigned)from);
    snprintf(high, sizeof(high), "k%05u", (unsigned)bb_rng_between(rng, from, KEYS));
    assert_ok(
        bb_db_delete_range(promise->store.db, NULL, bb_bytes_of_text(low), bb_bytes_of_text(high)));
    assert_ok(bb_db_flush(promise->store.db));
    look(promise);
}

/* Tables of low rates are removed, and the mean of the others may exceed the level's share. */
static void covered_tables__the_target_is_kept(void **state)
{
    (void)state;
    static const enum bb_compaction_style styles[] = {BB_COMPACTION_LEVELED, BB_COMPACTION_TIERED,
                                                      BB_COMPACTION_LAZY_LEVELING};
    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
        struct promise promise = {0};
        struct bb_rng rng;
        bb_rng_init(&rng, bb_rng_seed("covered_tables__the_target_is_kept", 20240601) + i);
        store_init(&promise.store);
        promise.store.options.compaction_style = styles[i];
        store_open(&promise.store);
        bb_file_memory_set_hook(promise.store.memory, look_on_call, &promise);
        for (int round = 0; round < 25; round++)
            put_and_delete(&promise, &rng);
        bb_file_memory_set_hook(promise.store.memory, NULL, NULL);
        print_message("style %zu: %llu tables went, at most %.3f of the target\n", i,
                      (unsigned long long)store_stats(&promise.store).covered_tables,
                      promise.worst);
        assert_true(store_stats(&promise.store).covered_tables > 0);
        assert_true(promise.worst <= 1.1 * (1 + 1e-9));
        store_deinit(&promise.store);
    }
}

/* The last table is a small part of a large level, and its only one once the others are removed. */
static void covered_tables__the_target_is_kept_by_what_stays(void **state)
{
    (void)state;
    struct promise promise = {0};
    begin(&promise.store);
    ingest(&promise, 'z', 0, 100);
    look(&promise);
    bb_file_memory_set_hook(promise.store.memory, look_on_call, &promise);
    assert_ok(
        bb_db_delete_range(promise.store.db, NULL, bb_bytes_of_text("k"), bb_bytes_of_text("l")));
    assert_ok(bb_db_flush(promise.store.db));
    bb_file_memory_set_hook(promise.store.memory, NULL, NULL);
    assert_true(store_stats(&promise.store).covered_tables > 10);
    assert_true(promise.worst <= 1.1 * (1 + 1e-9));
    store_deinit(&promise.store);
}

/* A table without filters among many with filters is within the target. When only it remains, the
 * sum shows its cost, and the next pick, before any other wait, gives it filters. No lookup got
 * slower in the meantime: those for removed keys check one table less, the others the same ones. */
static void covered_tables__excess_that_shows_is_mended_at_once(void **state)
{
    (void)state;
    struct promise promise = {0};
    struct store *store = &promise.store;
    begin(store);
    store_close(store);
    store->options.filter_kind = BB_FILTER_NONE;
    store_open(store);
    ingest(&promise, 'z', 0, 2);
    store_close(store);
    store->options.filter_kind = BB_FILTER_RIBBON;
    store_open(store);
    assert_ok(bb_db_wait_idle(store->db));
    look(&promise);
    assert_true(promise.worst <= 1.1 * (1 + 1e-9));
    bb_file_memory_set_hook(store->memory, look_on_call, &promise);
    assert_ok(bb_db_delete_range(store->db, NULL, bb_bytes_of_text("k"), bb_bytes_of_text("l")));
    assert_ok(bb_db_flush(store->db));
    bb_file_memory_set_hook(store->memory, NULL, NULL);
    print_message("at most %.3f of the target, for a moment\n", promise.worst);
    assert_true(store_stats(store).covered_tables > 10);
    assert_true(promise.worst > 1.1);
    promise.worst = 0;
    look(&promise);
    assert_true(promise.worst <= 1.1 * (1 + 1e-9));
    store_deinit(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covered_tables__go_unread),
        cmocka_unit_test(covered_tables__stay_while_a_snapshot_needs_them),
        cmocka_unit_test(covered_tables__a_release_wakes_the_worker),
        cmocka_unit_test(covered_tables__later_writes_stay),
        cmocka_unit_test(covered_tables__an_iterator_keeps_its_own),
        cmocka_unit_test(covered_tables__whole_or_not_at_all_when_the_power_fails),
        cmocka_unit_test(covered_tables__the_target_is_kept),
        cmocka_unit_test(covered_tables__the_target_is_kept_by_what_stays),
        cmocka_unit_test(covered_tables__excess_that_shows_is_mended_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
