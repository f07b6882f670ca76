/* Goal: the bugs of other stores (TiKV, Pebble, Badger, TidesDB, CockroachDB) do not occur here.
 * Each test is named after the store, the issue or pull request, and the bug. Method: small
 * scenarios, on a file system in memory that forgets unsynced data, or lets calls fail. */
#include "tests/support/store.h"

#include <stdlib.h>

#include "tests/support/rng.h"

static size_t count_files(struct bb_file_memory *memory, const char *part)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_names names = {0};
    size_t count = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++)
        count += strstr(names.names[i], part) != NULL;
    bb_file_names_deinit(&names);
    return count;
}

/* The path of the only file whose name has this in it. */
static void path_of(struct bb_file_memory *memory, const char *part, char path[128])
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_names names = {0};
    assert_int_equal(count_files(memory, part), 1);
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        if (strstr(names.names[i], part) != NULL)
            snprintf(path, 128, STORE_PATH "/%.64s", names.names[i]);
    }
    bb_file_names_deinit(&names);
}

/* TiKV 19963: CURRENT was lost, and an empty store was created over the old one. */
static void tikv_19963_missing_current(void **state)
{
    (void)state;
    struct bb_db *db = NULL;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    store_close(&store);
    struct bb_file_memory *sound = bb_file_memory_clone(store.memory);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    size_t tables = count_files(store.memory, ".bbt");
    assert_ok(fs->ops->remove(fs, STORE_PATH "/CURRENT"));
    for (int flag = 0; flag < 2; flag++) {
        store.options.create_if_missing = flag != 0;
        assert_status(bb_db_open(STORE_PATH, &store.options, &db), BB_CORRUPT);
        assert_message("CURRENT");
        assert_message(".bbt");
        assert_int_equal(count_files(store.memory, ".bbt"), tables);
    }
    bb_file_memory_destroy(store.memory);
    store.memory = sound;
    store.options.file_system = bb_file_memory_system(sound);
    store_open(&store);
    assert_content(&store, "a=1");
    store_deinit(&store);
}

/* Pebble 453: damage in the middle of a log was mistaken for its end, without a report. */
static void pebble_453_damage_taken_for_the_end(void **state)
{
    (void)state;
    struct bb_db *db = NULL;
    char path[128];
    char key[16];
    struct store store;
    store_init(&store);
    store_open(&store);
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof(key), "%02d", i);
        store_put_synced(&store, key, "value");
    }
    struct bb_file_memory *image = bb_file_memory_clone(store.memory);
    path_of(image, ".wal", path);
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(image, path, &size);
    struct bb_db_options options = store_options(image);
    /* Everything except the last record is durable, as recorded by the next one. */
    for (size_t offset = 0; offset + 100 < size; offset += 7) {
        bytes[offset] ^= 0x20;
        assert_status(bb_db_open(STORE_PATH, &options, &db), BB_CORRUPT);
        assert_message(".wal");
        bytes[offset] ^= 0x20;
    }
    bb_file_memory_destroy(image);
    store_deinit(&store);
}

/* Pebble 1212, and RocksDB 7.4: the crash came between the next log and the next manifest; the
 * older log's torn end, which is legal, was then called corruption. */
struct second_crash {
    struct bb_file_memory *images[64];
    size_t count;
};

static enum bb_status crash_again(void *context, struct bb_file_memory *memory, uint64_t number,
                                  enum bb_file_call call, const char *path)
{
    struct second_crash *second = context;
    (void)number;
    (void)call;
    (void)path;
    struct bb_crash all = {.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL};
    if (second->count < 64)
        second->images[second->count++] = bb_file_memory_crash(memory, &all);
    return BB_OK;
}

static void pebble_1212_torn_log_after_a_new_one(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put_synced(&store, "a", "1");
    store_put(&store, "b", "a-value-that-is-torn");
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct bb_crash torn = {
            .bytes = BB_CRASH_BYTES_TORN_BYTE, .names = BB_CRASH_NAMES_ALL, .seed = seed};
        struct bb_file_memory *image = bb_file_memory_crash(store.memory, &torn);
        struct second_crash second = {.count = 0};
        struct bb_db_options options = store_options(image);
        struct bb_db *db = NULL;
        bb_file_memory_set_hook(image, crash_again, &second);
        assert_ok(bb_db_open(STORE_PATH, &options, &db));
        bb_file_memory_set_hook(image, NULL, NULL);
        assert_ok(bb_db_close(db));
        assert_true(second.count > 5);
        for (size_t i = 0; i < second.count; i++) {
            options = store_options(second.images[i]);
            assert_ok(bb_db_open(STORE_PATH, &options, &db));
            assert_get_at(db, NULL, "a", "1");
            assert_ok(bb_db_close(db));
            bb_file_memory_destroy(second.images[i]);
        }
        bb_file_memory_destroy(image);
    }
    store_deinit(&store);
}

/* Badger 2278, 2143: a deletion passed a level that still had the key, and the key was there again.
 */
static void badger_2278_tombstone_passes_a_level(void **state)
{
    (void)state;
    char key[16];
    char value[128];
    struct store store;
    store_init(&store);
    store.options.level0_run_count_compact = 2;
    store.options.level1_size_bytes = 8192;
    store.options.level_size_ratio = 2;
    store.options.table_size_bytes = 4096;
    store.options.compression = BB_COMPRESSION_NONE;
    store_open(&store);
    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = 0;
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < 200; i++) {
            snprintf(key, sizeof(key), "%04d", (i * 13 + round) % 400);
            store_put(&store, key, value);
        }
        /* The keys of this round are deleted again; they may be in any level from earlier
         * rounds. */
        for (int i = 0; i < 200; i += 3) {
            snprintf(key, sizeof(key), "%04d", (i * 13 + round) % 400);
            store_delete(&store, key);
        }
        assert_ok(bb_db_flush(store.db));
        for (int i = 0; i < 200; i += 3) {
            snprintf(key, sizeof(key), "%04d", (i * 13 + round) % 400);
            assert_get(&store, key, NULL);
        }
    }
    assert_true(store_stats(&store).levels[2].table_count > 0);
    static char expected[64 * 1024];
    static char found[64 * 1024];
    store_print(store.db, NULL, false, expected, sizeof(expected));
    assert_ok(bb_db_compact(store.db));
    store_print(store.db, NULL, false, found, sizeof(found));
    assert_string_equal(found, expected);
    store_deinit(&store);
}

/* TidesDB 494, RocksDB 2349: filters were probed for a seek or a compaction, and keys were
 * skipped. */
static void tidesdb_494_filter_asked_for_a_seek(void **state)
{
    (void)state;
    enum { KEYS = 400 };
    char key[16];
    struct bb_db_iter *iter = NULL;
    struct store store;
    store_init(&store);
    store.options.filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 1e-4};
    store.options.block_size_bytes = 64;
    store_open(&store);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key%05d", 10 * i);
        store_put(&store, key, "x");
        if (i % 100 == 99)
            assert_ok(bb_db_flush(store.db));
    }
    for (int compacted = 0; compacted < 2; compacted++) {
        assert_ok(bb_db_iter_create(store.db, NULL, &iter));
        for (int i = 0; i < 10 * KEYS - 10; i += 3) {
            snprintf(key, sizeof(key), "key%05d", i);
            bb_db_iter_seek(iter, bb_bytes_of_text(key));
            snprintf(key, sizeof(key), "key%05d", (i + 9) / 10 * 10);
            assert_true(bb_db_iter_valid(iter));
            assert_true(bb_bytes_equal(bb_db_iter_key(iter), bb_bytes_of_text(key)));
        }
        bb_db_iter_destroy(iter);
        assert_ok(bb_db_compact(store.db));
    }
    assert_int_equal(
        store_stats(&store).levels[1].key_count + store_stats(&store).levels[2].key_count, KEYS);
    store_deinit(&store);
}

/* CockroachDB 70967: a key vanished from a snapshot that was held over compactions. */
static void cockroach_70967_key_lost_from_a_snapshot(void **state)
{
    (void)state;
    enum { SNAPSHOTS = 12, KEYS = 30 };
    struct bb_snapshot *snapshots[SNAPSHOTS];
    static char expected[SNAPSHOTS][8192];
    static char found[8192];
    char key[16];
    char value[32];
    struct bb_rng rng;
    struct store store;
    bb_rng_init(&rng, bb_rng_seed("regress_others_test", 1));
    store_init(&store);
    store.options.level0_run_count_compact = 2;
    store_open(&store);
    for (int round = 0; round < SNAPSHOTS; round++) {
        for (int i = 0; i < 60; i++) {
            snprintf(key, sizeof(key), "k%02d", (int)bb_rng_below(&rng, KEYS));
            snprintf(value, sizeof(value), "%d-%d", round, i);
            if (bb_rng_one_in(&rng, 3))
                store_delete(&store, key);
            else
                store_put(&store, key, value);
        }
        snapshots[round] = store_snapshot(&store);
        store_print(store.db, snapshots[round], false, expected[round], sizeof(expected[round]));
        assert_ok(round % 3 == 2 ? bb_db_compact(store.db) : bb_db_flush(store.db));
    }
    for (int round = 0; round < SNAPSHOTS; round++) {
        /* From the middle outwards: the remaining ones are older and newer than the released
         * one. */
        int which = (SNAPSHOTS / 2 + (round % 2 == 0 ? round / 2 : -(round + 1) / 2) + SNAPSHOTS) %
                    SNAPSHOTS;
        store_print(store.db, snapshots[which], false, found, sizeof(found));
        assert_string_equal(found, expected[which]);
        bb_snapshot_release(store.db, snapshots[which]);
        assert_ok(bb_db_compact(store.db));
    }
    assert_content(&store, expected[SNAPSHOTS - 1]);
    store_deinit(&store);
}

/* RocksDB 7621, Pebble 788, LevelDB 905: a file number was used again after a crash, and the
 * existing file was overwritten or removed. */
static enum bb_status note_creation(void *context, struct bb_file_memory *memory, uint64_t number,
                                    enum bb_file_call call, const char *path)
{
    uint64_t *greatest = context;
    (void)memory;
    (void)number;
    if (call != BB_FILE_CALL_CREATE)
        return BB_OK;
    const char *name = strrchr(path, '/') + 1;
    uint64_t given = strtoull(name + strcspn(name, "0123456789"), NULL, 10);
    /* CURRENT's temporary has the number of the manifest that it names. */
    assert_true(given > *greatest || (strstr(name, ".tmp") != NULL && given <= *greatest));
    if (given > *greatest)
        *greatest = given;
    return BB_OK;
}

static void pebble_788_file_number_reused(void **state)
{
    (void)state;
    uint64_t greatest = 0;
    struct store store;
    store_init(&store);
    bb_file_memory_set_hook(store.memory, note_creation, &greatest);
    store_open(&store);
    for (int round = 0; round < 6; round++) {
        store_put(&store, "a", "1");
        if (round % 2 == 0)
            assert_ok(bb_db_flush(store.db));
        store_put(&store, "b", "2");
        /* Names that survive the crash count, whether anything refers to them or not. */
        struct bb_crash crash = {.names = BB_CRASH_NAMES_ALL, .bytes = BB_CRASH_BYTES_NONE};
        struct bb_file_memory *image = bb_file_memory_crash(store.memory, &crash);
        store_close(&store);
        store_replace_disk(&store, image);
        greatest = 0;
        struct bb_file_system *fs = bb_file_memory_system(image);
        struct bb_file_names names = {0};
        assert_ok(fs->ops->list(fs, STORE_PATH, &names));
        for (size_t i = 0; i < names.count; i++) {
            const char *name = names.names[i];
            uint64_t number = strtoull(name + strcspn(name, "0123456789"), NULL, 10);
            greatest = number > greatest ? number : greatest;
        }
        bb_file_names_deinit(&names);
        bb_file_memory_set_hook(image, note_creation, &greatest);
        store_open(&store);
    }
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tikv_19963_missing_current),
        cmocka_unit_test(pebble_453_damage_taken_for_the_end),
        cmocka_unit_test(pebble_1212_torn_log_after_a_new_one),
        cmocka_unit_test(badger_2278_tombstone_passes_a_level),
        cmocka_unit_test(tidesdb_494_filter_asked_for_a_seek),
        cmocka_unit_test(cockroach_70967_key_lost_from_a_snapshot),
        cmocka_unit_test(pebble_788_file_number_reused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
