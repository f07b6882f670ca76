/* Goal: a flipped bit in the last record of a manifest loses no acknowledged write. An ingest, or a
 * flush without a log, was gone after it: opening, verification and repair called the store sound,
 * and the second opening removed the table. Method: stores whose process crashes; each bit of the
 * last record and its mark; the record without the mark, as after a power failure. */
#include "tests/unit/kv/repair_fixture.h"

#include "kv/wal/wal_format.h"
#include "tests/support/step.h"

#define MARK_SIZE BB_WAL_FRAGMENT_SIZE_MIN

/* A store whose process crashed after its last change of the manifest. */
struct victim {
    struct bb_file_memory *memory;
    struct bb_db_options options;
    char manifest[128];
    size_t record_offset;
    size_t size;
};

static size_t manifest_size(struct store *store, char path[128])
{
    char paths[16][128];
    size_t size = 0;
    assert_int_equal(find_files(store, "MANIFEST", paths), 1);
    memcpy(path, paths[0], sizeof(paths[0]));
    assert_non_null(bb_file_memory_bytes(store->memory, path, &size));
    return size;
}

/* a=1 exists before; the last record adds e=1. */
static struct victim make(bool wal_off)
{
    struct victim victim = {0};
    struct store store;
    store_init(&store);
    store.options.wal_off = wal_off;
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    victim.record_offset = manifest_size(&store, victim.manifest);
    if (wal_off) {
        store_put(&store, "e", "1");
        assert_ok(bb_db_flush(store.db));
    } else {
        ingest(&store, "e", "1");
    }
    victim.size = manifest_size(&store, victim.manifest);
    victim.memory = bb_file_memory_clone(store.memory);
    victim.options = store.options;
    store_deinit(&store);
    return victim;
}

static struct store copy_of(const struct victim *victim)
{
    struct store store = {.memory = bb_file_memory_clone(victim->memory)};
    store.options = victim->options;
    store.options.file_system = bb_file_memory_system(store.memory);
    return store;
}

static void check_repaired(struct store *store)
{
    struct bb_db_repair_report report = repair(store, NULL);
    assert_false(report.is_whole);
    store_open(store);
    assert_content(store, "a=1 e=1");
    store_reopen(store);
    assert_content(store, "a=1 e=1");
    store_deinit(store);
}

/* Returns whether it was noticed. */
static bool flip(const struct victim *victim, size_t bit)
{
    struct store store = copy_of(victim);
    struct bb_db_verify_report report;
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(store.memory, victim->manifest, &size);
    bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1U << bit % 8);
    enum bb_status verified = bb_db_verify(STORE_PATH, &store.options, &report);
    enum bb_status status = bb_db_open(STORE_PATH, &store.options, &store.db);
    assert_int_equal(verified, status);
    if (status != BB_OK) {
        assert_status(status, BB_CORRUPT);
        check_repaired(&store);
        return true;
    }
    assert_content(&store, "a=1 e=1");
    store_deinit(&store);
    return false;
}

static void flip_all(bool wal_off)
{
    struct victim victim = make(wal_off);
    size_t noticed = 0;
    for (size_t bit = 8 * victim.record_offset; bit < 8 * victim.size; bit += bb_test_step())
        noticed += flip(&victim, bit);
    assert_true(noticed * bb_test_step() >=
                8 * (victim.size - victim.record_offset - MARK_SIZE) - 8 * bb_test_step());
    bb_file_memory_destroy(victim.memory);
}

static void manifest_end__a_flipped_bit_after_an_ingest(void **state)
{
    (void)state;
    flip_all(false);
}

static void manifest_end__a_flipped_bit_after_a_flush_without_a_log(void **state)
{
    (void)state;
    flip_all(true);
}

/* The record with a damaged byte, and no mark after it: it may never have been synced. */
static void tear(struct store *store, const struct victim *victim)
{
    size_t size = 0;
    bb_file_memory_bytes(store->memory, victim->manifest, &size)[victim->record_offset + 30] ^= 1;
    cut_end(store, victim->manifest, MARK_SIZE);
}

static size_t count_lost(struct store *store)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_file_names names = {0};
    size_t count = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++)
        count += strstr(names.names[i], ".bbt.lost") != NULL;
    bb_file_names_deinit(&names);
    return count;
}

/* An opening cannot know whether the record was acknowledged. It continues without it, as after a
 * power failure, and keeps the table. */
static void check_kept(bool wal_off)
{
    struct victim victim = make(wal_off);
    struct store store = copy_of(&victim);
    struct bb_db_verify_report report;
    tear(&store, &victim);
    assert_status(bb_db_verify(STORE_PATH, &store.options, &report), BB_CORRUPT);
    assert_message("no manifest names this intact table of the store");
    for (int i = 0; i < 3; i++) {
        store_open(&store);
        assert_content(&store, "a=1");
        assert_int_equal(count_lost(&store), 1);
        store_close(&store);
    }
    store_deinit(&store);
    bb_file_memory_destroy(victim.memory);
}

static void manifest_end__an_unnamed_table_is_kept(void **state)
{
    (void)state;
    check_kept(false);
    check_kept(true);
}

static void manifest_end__an_unnamed_table_is_repaired(void **state)
{
    (void)state;
    for (int wal_off = 0; wal_off < 2; wal_off++) {
        struct victim victim = make(wal_off != 0);
        struct store store = copy_of(&victim);
        tear(&store, &victim);
        check_repaired(&store);
        bb_file_memory_destroy(victim.memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifest_end__a_flipped_bit_after_an_ingest),
        cmocka_unit_test(manifest_end__a_flipped_bit_after_a_flush_without_a_log),
        cmocka_unit_test(manifest_end__an_unnamed_table_is_kept),
        cmocka_unit_test(manifest_end__an_unnamed_table_is_repaired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
