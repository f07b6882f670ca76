/* Goal: synced data of a log is never lost without a report. The log of a closed store could be
 * emptied, or cut at the end of a record; damage of the last synced record after a kill was
 * mistaken for a torn tail; so was everything after a close mark that a forked child had written
 * into the log of its parent; and a repair did not report that deletions may be lost. Method:
 * stores that are closed or whose process crashes; each cut, each bit, a mark in the middle. */
#include "tests/unit/kv/repair_fixture.h"

#include "kv/wal/wal_format.h"
#include "tests/support/step.h"

#define MARK_SIZE BB_WAL_FRAGMENT_SIZE_MIN

struct victim {
    struct bb_file_memory *memory;
    struct bb_db_options options;
    char log[128];
    size_t size;        /* of the log */
    size_t last_record; /* where it begins */
};

static size_t log_size(struct store *store, char path[128])
{
    char paths[16][128];
    size_t size = 0;
    size_t count = find_files(store, ".wal", paths);
    memcpy(path, paths[count - 1], sizeof(paths[0]));
    assert_non_null(bb_file_memory_bytes(store->memory, path, &size));
    return size;
}

/* x is put, and the last record deletes it. */
static struct victim make(bool is_closed)
{
    struct victim victim = {0};
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put_synced(&store, "x", "1");
    assert_ok(bb_db_flush(store.db));
    store_put_synced(&store, "a", "1");
    store_put_synced(&store, "b", "1");
    victim.last_record = log_size(&store, victim.log);
    assert_ok(
        bb_db_delete(store.db, &(struct bb_write_options){.sync = true}, bb_bytes_of_text("x")));
    if (is_closed)
        store_close(&store);
    victim.size = log_size(&store, victim.log);
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

/* The store has all writes, or is refused. Returns whether it was refused. */
static bool is_noticed(struct store *store)
{
    struct bb_db_verify_report report;
    enum bb_status verified = bb_db_verify(STORE_PATH, &store->options, &report);
    enum bb_status status = bb_db_open(STORE_PATH, &store->options, &store->db);
    assert_int_equal(verified, status);
    if (status == BB_OK) {
        assert_content(store, "a=1 b=1");
        return false;
    }
    assert_status(status, BB_CORRUPT);
    assert_message(".wal: at offset");
    return true;
}

/* The lost data may have been the deletion. */
static void check_repaired(struct store *store)
{
    struct bb_db_repair_report report = repair(store, NULL);
    struct bb_buf value = {0};
    store_open(store);
    enum bb_status status = bb_db_get(store->db, NULL, bb_bytes_of_text("x"), &value);
    assert_true(report.deletions_may_return || status == BB_NOT_FOUND);
    bb_buf_deinit(&value);
    store_deinit(store);
}

static void log_end__a_closed_log_is_cut(void **state)
{
    (void)state;
    struct victim victim = make(true);
    size_t noticed = 0;
    for (size_t size = 0; size < victim.size; size++) {
        struct store store = copy_of(&victim);
        cut_end(&store, victim.log, victim.size - size);
        bool is_refused = is_noticed(&store);
        noticed += is_refused;
        if (is_refused)
            check_repaired(&store);
        else
            store_deinit(&store);
    }
    assert_true(noticed >= victim.size - MARK_SIZE);
    bb_file_memory_destroy(victim.memory);
}

static void flip_all(bool is_closed, size_t from)
{
    struct victim victim = make(is_closed);
    size_t noticed = 0;
    size_t begin = from == 0 ? victim.last_record : from;
    for (size_t bit = 8 * begin; bit < 8 * (victim.size - MARK_SIZE); bit += bb_test_step()) {
        struct store store = copy_of(&victim);
        size_t size = 0;
        uint8_t *bytes = bb_file_memory_bytes(store.memory, victim.log, &size);
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1U << bit % 8);
        assert_true(is_noticed(&store));
        check_repaired(&store);
        noticed++;
    }
    assert_true(noticed > 0);
    bb_file_memory_destroy(victim.memory);
}

static void log_end__a_flipped_bit_of_a_closed_log(void **state)
{
    (void)state;
    flip_all(true, BB_WAL_HEADER_SIZE);
}

static void log_end__a_flipped_bit_of_the_last_synced_record(void **state)
{
    (void)state;
    flip_all(false, 0);
}

/* The number is in the name, the store's id in the header. */
static void make_mark(const struct victim *victim, const uint8_t *log, uint64_t offset,
                      uint8_t mark[MARK_SIZE])
{
    uint64_t number = strtoull(strrchr(victim->log, '/') + 1, NULL, 10);
    struct bb_wal_identity identity = bb_wal_identity(number, log + 24);
    struct bb_bytes body = bb_bytes_of(mark + BB_WAL_FRAGMENT_HEADER, BB_WAL_DURABLE_SIZE);
    bb_store64(mark + BB_WAL_FRAGMENT_HEADER, offset);
    bb_store64(mark, bb_wal_format_check(bb_wal_format_seed(&identity), offset, BB_WAL_MARK, body));
    bb_store16(mark + 8, BB_WAL_DURABLE_SIZE);
    mark[10] = BB_WAL_MARK;
}

/* A forked child has closed the store at this offset; the parent continued. */
static void insert_mark(struct store *store, const struct victim *victim, size_t offset)
{
    struct bb_buf bytes = {0};
    uint8_t mark[MARK_SIZE];
    size_t size = 0;
    const uint8_t *log = bb_file_memory_bytes(store->memory, victim->log, &size);
    make_mark(victim, log, offset, mark);
    assert_ok(bb_buf_append(&bytes, log, offset));
    assert_ok(bb_buf_append(&bytes, mark, sizeof(mark)));
    assert_ok(bb_buf_append(&bytes, log + offset, size - offset));
    bb_file_memory_put(store->memory, victim->log, bb_buf_bytes(&bytes));
    bb_buf_deinit(&bytes);
}

static void log_end__a_close_mark_of_a_forked_child(void **state)
{
    (void)state;
    struct victim victim = make(false);
    size_t size = 0;
    const uint8_t *log = bb_file_memory_bytes(victim.memory, victim.log, &size);
    size_t second = BB_WAL_HEADER_SIZE;
    size_t places = 0;
    for (; second < victim.last_record + 1; places++) {
        struct store store = copy_of(&victim);
        insert_mark(&store, &victim, second);
        assert_true(is_noticed(&store));
        assert_message("another process has written to it");
        struct bb_db_repair_report report = repair(&store, NULL);
        assert_true(report.log_records >= 1);
        store_open(&store);
        assert_content(&store, "a=1 b=1");
        store_deinit(&store);
        second += BB_WAL_FRAGMENT_HEADER + bb_load16(log + second + 8);
    }
    assert_true(places >= 3);
    bb_file_memory_destroy(victim.memory);
}

/* Bytes at the end that were never synced are no damage: there is nothing to keep for a look. */
static void log_end__a_torn_tail_is_not_kept(void **state)
{
    (void)state;
    struct victim victim = make(false);
    struct store store = copy_of(&victim);
    char paths[16][128];
    store.options.recovery = BB_RECOVERY_POINT_IN_TIME;
    cut_end(&store, victim.log, MARK_SIZE + 1);
    store_open(&store);
    assert_content(&store, "a=1 b=1 x=1");
    assert_int_equal(find_files(&store, ".damaged", paths), 0);
    store_deinit(&store);
    store = copy_of(&victim);
    store.options.recovery = BB_RECOVERY_POINT_IN_TIME;
    size_t size = 0;
    bb_file_memory_bytes(store.memory, victim.log, &size)[victim.last_record + 20] ^= 1;
    store_open(&store);
    assert_int_equal(find_files(&store, ".damaged", paths), 1);
    store_deinit(&store);
    bb_file_memory_destroy(victim.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_end__a_closed_log_is_cut),
        cmocka_unit_test(log_end__a_flipped_bit_of_a_closed_log),
        cmocka_unit_test(log_end__a_flipped_bit_of_the_last_synced_record),
        cmocka_unit_test(log_end__a_close_mark_of_a_forked_child),
        cmocka_unit_test(log_end__a_torn_tail_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
