/* Goal: each recovery mode keeps its guarantees, and the report of an opening describes the dropped
 * data. Method: a store whose process crashed, with synced and unsynced batches in its log; every
 * bit of the log and the manifest flipped, every cut. */
#include "tests/unit/kv/repair_fixture.h"

#include "kv/wal/wal_format.h"
#include "tests/support/step.h"

#define BATCHES     8
#define SYNCED_LAST 5 /* those up to here; the others are not synced */
#define FILES       2

struct victim {
    struct bb_file_memory *memory;
    struct bb_db_options options;
    char paths[FILES][128]; /* log, manifest */
    size_t sizes[FILES];
    size_t ends[2 * BATCHES]; /* of records and marks */
    size_t end_count;
    size_t synced_end; /* of the log: of the last synced record */
};

static size_t size_of(struct store *store, const char *part, char path[128])
{
    char paths[16][128];
    size_t size = 0;
    size_t count = find_files(store, part, paths);
    memcpy(path, paths[count - 1], sizeof(paths[0]));
    assert_non_null(bb_file_memory_bytes(store->memory, path, &size));
    return size;
}

/* All fragments of the log are records or marks of one fragment. */
static void find_ends(struct victim *victim)
{
    size_t size = 0;
    const uint8_t *log = bb_file_memory_bytes(victim->memory, victim->paths[0], &size);
    size_t at = BB_WAL_HEADER_SIZE;
    victim->ends[victim->end_count++] = at;
    while (at < size) {
        at += BB_WAL_FRAGMENT_HEADER + bb_load16(log + at + 8);
        victim->ends[victim->end_count++] = at;
    }
    assert_int_equal(at, size);
}

static struct victim make(void)
{
    struct victim victim = {0};
    struct store store;
    char key[2] = "a";
    store_init(&store);
    store_open(&store);
    for (int i = 0; i < BATCHES; i++, key[0]++) {
        if (i > SYNCED_LAST)
            store_put(&store, key, "1");
        else
            store_put_synced(&store, key, "1");
        if (i == SYNCED_LAST)
            victim.synced_end = size_of(&store, ".wal", victim.paths[0]);
    }
    victim.sizes[0] = size_of(&store, ".wal", victim.paths[0]);
    victim.sizes[1] = size_of(&store, "MANIFEST", victim.paths[1]);
    victim.memory = bb_file_memory_clone(store.memory);
    victim.options = store.options;
    find_ends(&victim);
    store_deinit(&store);
    return victim;
}

static struct store copy_of(const struct victim *victim, enum bb_recovery recovery,
                            struct bb_db_recovery *report)
{
    struct store store = {.memory = bb_file_memory_clone(victim->memory)};
    store.options = victim->options;
    store.options.file_system = bb_file_memory_system(store.memory);
    store.options.recovery = recovery;
    store.options.recovery_report = report;
    return store;
}

/* A verification in the same mode predicts the opening's result; repairs are excluded. */
static enum bb_status open_foreseen(struct store *store)
{
    struct bb_db_recovery foreseen;
    struct bb_db_options options = store->options;
    options.recovery_report = &foreseen;
    enum bb_status verified = bb_db_verify(STORE_PATH, &options, NULL);
    enum bb_status opened = bb_db_open(STORE_PATH, &store->options, &store->db);
    if (options.recovery != BB_RECOVERY_SALVAGE)
        assert_int_equal(verified, opened);
    if (verified == BB_OK && opened == BB_OK)
        assert_memory_equal(&foreseen, store->options.recovery_report, sizeof(foreseen));
    return opened;
}

static enum bb_status open_flipped(const struct victim *victim, int file, size_t bit,
                                   struct store *store)
{
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(store->memory, victim->paths[file], &size);
    bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1U << bit % 8);
    return open_foreseen(store);
}

/* The number of batches from the first on; those after a missing one do not count. */
static int front_part(struct store *store)
{
    char key[2] = "a";
    struct bb_buf value = {0};
    int count = 0;
    while (count < BATCHES && bb_db_get(store->db, NULL, bb_bytes_of_text(key), &value) == BB_OK) {
        count++;
        key[0]++;
    }
    bb_buf_deinit(&value);
    return count;
}

static int count_all(struct store *store)
{
    char key[2] = "a";
    struct bb_buf value = {0};
    int count = 0;
    for (int i = 0; i < BATCHES; i++, key[0]++)
        count += bb_db_get(store->db, NULL, bb_bytes_of_text(key), &value) == BB_OK;
    bb_buf_deinit(&value);
    return count;
}

static void finish(struct store *store)
{
    if (store->db != NULL)
        store_close(store);
    bb_file_memory_destroy(store->memory);
}

static void recovery_modes__what_is_whole_opens_in_each(void **state)
{
    (void)state;
    struct victim victim = make();
    for (int mode = BB_RECOVERY_SYNCED; mode <= BB_RECOVERY_SALVAGE; mode++) {
        struct bb_db_recovery report;
        struct store store = copy_of(&victim, (enum bb_recovery)mode, &report);
        store_open(&store);
        assert_int_equal(front_part(&store), BATCHES);
        assert_int_equal(report.logs, 1);
        assert_int_equal(report.records, BATCHES);
        assert_int_equal(report.sequence_first, 1);
        assert_int_equal(report.sequence_last, BATCHES);
        assert_int_equal(report.dropped_bytes + report.dropped_records + report.dropped_logs, 0);
        assert_false(report.is_damaged || report.is_repaired);
        finish(&store);
    }
    bb_file_memory_destroy(victim.memory);
}

static void recovery_modes__strict_refuses_each_flip(void **state)
{
    (void)state;
    struct victim victim = make();
    for (int file = 0; file < FILES; file++) {
        for (size_t bit = 0; bit < 8 * victim.sizes[file]; bit += bb_test_step()) {
            struct bb_db_recovery report;
            struct store store = copy_of(&victim, BB_RECOVERY_STRICT, &report);
            enum bb_status status = open_flipped(&victim, file, bit, &store);
            assert_true(status == BB_CORRUPT || status == BB_UNSUPPORTED);
            assert_true(report.records < BATCHES || bit >= 8 * victim.synced_end);
            finish(&store);
        }
    }
    bb_file_memory_destroy(victim.memory);
}

static bool is_end(const struct victim *victim, size_t size)
{
    for (size_t i = 0; i < victim->end_count; i++) {
        if (victim->ends[i] == size)
            return true;
    }
    return false;
}

/* A file that ends with a record, or a mark, equals its state when the process might have
 * crashed. */
static void recovery_modes__strict_refuses_each_cut_within_a_record(void **state)
{
    (void)state;
    struct victim victim = make();
    for (size_t size = 1; size < victim.sizes[0]; size++) {
        struct bb_db_recovery report;
        struct store store = copy_of(&victim, BB_RECOVERY_STRICT, &report);
        cut_end(&store, victim.paths[0], victim.sizes[0] - size);
        enum bb_status status = open_foreseen(&store);
        if (is_end(&victim, size)) {
            assert_ok(status);
            assert_int_equal(report.records, front_part(&store));
        } else {
            assert_status(status, BB_CORRUPT);
            assert_message("Recovery is strict");
        }
        finish(&store);
    }
    bb_file_memory_destroy(victim.memory);
}

/* Synced data is present, or the store is refused. */
static void recovery_modes__synced_drops_what_was_not(void **state)
{
    (void)state;
    struct victim victim = make();
    size_t dropped = 0;
    for (size_t bit = 0; bit < 8 * victim.sizes[0]; bit += bb_test_step()) {
        struct bb_db_recovery report;
        struct store store = copy_of(&victim, BB_RECOVERY_SYNCED, &report);
        enum bb_status status = open_flipped(&victim, 0, bit, &store);
        if (status == BB_OK) {
            int count = front_part(&store);
            assert_true(count > SYNCED_LAST);
            assert_int_equal(report.records, count);
            assert_true(report.dropped_bytes > 0);
            assert_false(report.is_damaged);
            dropped++;
        }
        finish(&store);
    }
    assert_true(dropped > 0);
    bb_file_memory_destroy(victim.memory);
}

static void check_dropped(const struct bb_db_recovery *report, int count)
{
    assert_int_equal(report->records, count);
    assert_true(report->dropped_bytes > 0);
    assert_int_equal(report->dropped_logs, 1);
    assert_true(report->dropped_records <= (uint64_t)(BATCHES - count));
    if (report->dropped_records == 0)
        return;
    assert_in_range(report->dropped_sequence_first, count + 1, BATCHES);
    assert_int_equal(report->dropped_sequence_last, BATCHES);
}

static void recovery_modes__point_in_time_ends_before_the_damage(void **state)
{
    (void)state;
    struct victim victim = make();
    size_t damaged = 0;
    for (size_t bit = 8 * BB_WAL_HEADER_SIZE; bit < 8 * victim.sizes[0]; bit += bb_test_step()) {
        struct bb_db_recovery report;
        struct store store = copy_of(&victim, BB_RECOVERY_POINT_IN_TIME, &report);
        char paths[16][128];
        assert_ok(open_flipped(&victim, 0, bit, &store));
        check_dropped(&report, front_part(&store));
        assert_int_equal(count_all(&store), front_part(&store));
        assert_int_equal(find_files(&store, ".damaged", paths), report.files_set_aside);
        assert_int_equal(report.files_set_aside, report.is_damaged);
        damaged += report.is_damaged;
        finish(&store);
    }
    assert_true(damaged > 0);
    bb_file_memory_destroy(victim.memory);
}

/* One batch is lost at most, and only with a word. */
static void recovery_modes__salvage_takes_what_is_after_the_damage(void **state)
{
    (void)state;
    struct victim victim = make();
    size_t repaired = 0;
    for (size_t bit = 8 * BB_WAL_HEADER_SIZE; bit < 8 * victim.synced_end; bit += bb_test_step()) {
        struct bb_db_recovery report;
        struct store store = copy_of(&victim, BB_RECOVERY_SALVAGE, &report);
        assert_ok(open_flipped(&victim, 0, bit, &store));
        assert_true(count_all(&store) >= BATCHES - 1 || !report.is_repaired);
        if (report.is_repaired) {
            assert_true(report.is_damaged && report.deletions_may_return);
            assert_true(report.dropped_bytes > 0 && report.files_set_aside > 0);
            repaired++;
        }
        finish(&store);
    }
    assert_true(repaired > 0);
    bb_file_memory_destroy(victim.memory);
}

static void recovery_modes__others_are_refused(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.recovery = (enum bb_recovery)(BB_RECOVERY_SALVAGE + 1);
    assert_status(bb_db_open(STORE_PATH, &store.options, &store.db), BB_INVALID);
    assert_message("option recovery is 4, allowed are 0 to 3");
    bb_file_memory_destroy(store.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recovery_modes__what_is_whole_opens_in_each),
        cmocka_unit_test(recovery_modes__strict_refuses_each_flip),
        cmocka_unit_test(recovery_modes__strict_refuses_each_cut_within_a_record),
        cmocka_unit_test(recovery_modes__synced_drops_what_was_not),
        cmocka_unit_test(recovery_modes__point_in_time_ends_before_the_damage),
        cmocka_unit_test(recovery_modes__salvage_takes_what_is_after_the_damage),
        cmocka_unit_test(recovery_modes__others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
