/* Goal: damage of a window, and a kill between two stores of its writer, lose no record without a
 * report, and give no other record. The head is not needed to read a window.
 *
 * Method: the bytes of a log and its window on disk, changed, are read on a file system in memory.
 */
#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"
#include "tests/unit/kv/window_log.h"

static void wal_window_head__a_changed_bit_gives_no_other_record(void **state)
{
    (void)state;
    struct disk disk;
    struct bb_rng rng;
    disk_init(&disk);
    bb_rng_init(&rng, 13);
    warm_up(&disk);
    for (int i = 0; i < 200; i++)
        append(&disk, 30);
    struct bb_buf log = read_file(&disk, disk.log);
    struct bb_buf window = read_file(&disk, disk.window);
    uint64_t in_window = 0;
    size_t step = bb_test_step();
    for (size_t i = 0; i < 2000; i += step) {
        size_t at = (size_t)bb_rng_below(&rng, 12000);
        window.data[at] ^= (uint8_t)(1U << bb_rng_below(&rng, 8));
        struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
        assert_true(found.status == BB_NOT_FOUND || found.status == BB_UNSUPPORTED);
        /* A reader drops the records after a defect, and reports them. The last one may be a record
         * that was being copied. */
        if (found.count + 1 < disk.count)
            assert_true(found.report.dropped_bytes > 0);
        in_window += found.count < disk.count;
        bb_buf_deinit(&window);
        window = read_file(&disk, disk.window);
    }
    assert_in_range(in_window * step, 1000, 1900);
    bb_buf_deinit(&log);
    bb_buf_deinit(&window);
    disk_deinit(&disk);
}

/* The fragments show their place, so a damaged head loses nothing. */
static void wal_window_head__a_changed_bit_of_the_head_loses_nothing(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    warm_up(&disk);
    for (int i = 0; i < 300; i++) /* two fillings: the remains of the first are in the file */
        append(&disk, 1200);
    struct bb_buf log = read_file(&disk, disk.log);
    struct bb_buf window = read_file(&disk, disk.window);
    assert_true(log.size > BB_WAL_WINDOW_FILE_SIZE && log.size < bb_wal_writer_size(disk.writer));
    for (size_t bit = 0; bit < (size_t)BB_WAL_WINDOW_BYTES * 8; bit += bb_test_step()) {
        window.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
        assert_whole(&found, disk.count);
        window.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    memset(window.data, 0xa5, BB_WAL_WINDOW_BYTES);
    struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
    assert_whole(&found, disk.count);
    bb_buf_deinit(&log);
    bb_buf_deinit(&window);
    disk_deinit(&disk);
}

/* Damage of the head and of the first record together: the others show that there was one. */
static void wal_window_head__a_damaged_head_and_a_damaged_record_are_reported(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    warm_up(&disk);
    struct bb_buf log = read_file(&disk, disk.log);
    struct bb_buf window = read_file(&disk, disk.window);
    window.data[BB_WAL_HEADER_SIZE] ^= 1;
    window.data[BB_WAL_WINDOW_BYTES + 20] ^= 1;
    struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
    assert_int_equal(found.status, BB_NOT_FOUND);
    assert_true(found.count < disk.count && found.report.dropped_bytes > 0);
    assert_true(found.report.reason[0] != 0);
    bb_buf_deinit(&log);
    bb_buf_deinit(&window);
    disk_deinit(&disk);
}

/* A kill may come between any two stores of a put: here after each of the bytes that the put
 * changes, in both directions. The put writes the log first, if the window
 * was full. */
static void wal_window_head__a_kill_within_a_put_loses_nothing(void **state)
{
    (void)state;
    struct disk disk;
    struct bb_rng rng;
    size_t fillings = 0;
    size_t heads = 0;
    disk_init(&disk);
    bb_rng_init(&rng, 14);
    warm_up(&disk);
    for (int i = 0; i < 400; i++) {
        struct bb_buf before = read_file(&disk, disk.window);
        append(&disk, 8 + (size_t)bb_rng_below(&rng, 4000));
        struct bb_buf log = read_file(&disk, disk.log);
        struct bb_buf after = read_file(&disk, disk.window);
        bool is_filling = memcmp(before.data, after.data, BB_WAL_WINDOW_BYTES) != 0;
        fillings += is_filling;
        for (size_t at = 0; at < after.size && (is_filling || i % 40 == 0); at++) {
            if (before.data[at] == after.data[at] || (at > 200 && bb_rng_below(&rng, 30) > 0))
                continue;
            struct bb_buf mixed = {0};
            assert_ok(bb_buf_append(&mixed, after.data, at));
            assert_ok(bb_buf_append(&mixed, before.data + at, before.size - at));
            struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&mixed));
            assert_whole(&found, disk.count - 1);
            memcpy(mixed.data, before.data, at);
            memcpy(mixed.data + at, after.data + at, after.size - at);
            found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&mixed));
            assert_true(found.count >= disk.count - 1);
            assert_whole(&found, found.count);
            heads += at < BB_WAL_WINDOW_BYTES;
            bb_buf_deinit(&mixed);
        }
        bb_buf_deinit(&before);
        bb_buf_deinit(&after);
        bb_buf_deinit(&log);
    }
    assert_true(fillings > 1 && heads > 15);
    disk_deinit(&disk);
}

/* A record at the wrong place shows that another process writes to the log. A copy of a record that
 * is also at its place, here in the window, does not. */
static void wal_window_head__a_copy_of_its_record_in_the_log_proves_nothing(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    warm_up(&disk);
    struct bb_buf log = read_file(&disk, disk.log);
    struct bb_buf window = read_file(&disk, disk.window);
    size_t in_window = (size_t)bb_wal_writer_size(disk.writer) - log.size;
    size_t size = BB_WAL_FRAGMENT_HEADER + BB_WAL_DURABLE_SIZE + 20; /* of a record of warm_up */
    assert_true(in_window > 3 * size);
    uint8_t *record = window.data + BB_WAL_WINDOW_BYTES + in_window - 2 * size;
    assert_ok(bb_buf_append(&log, record, size));
    struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
    assert_int_equal(found.status, BB_NOT_FOUND);
    assert_true(found.count < disk.count && found.report.dropped_bytes > 0);
    record[size - 1] ^= 1; /* not at its place any more */
    found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
    assert_int_equal(found.status, BB_CORRUPT);
    assert_message("another process");
    bb_buf_deinit(&log);
    bb_buf_deinit(&window);
    disk_deinit(&disk);
}

/* Checks have no secret: a file may claim any place. */
static void wal_window_head__far_after_its_log_is_ignored(void **state)
{
    (void)state;
    static uint8_t window[BB_WAL_WINDOW_FILE_SIZE];
    struct disk disk;
    disk_init(&disk);
    append(&disk, 20);
    struct bb_buf log = read_file(&disk, disk.log);
    const struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    static const uint64_t bases[] = {UINT64_C(65) << 20, UINT64_C(1) << 40, INT64_MAX - 100000,
                                     UINT64_MAX - 4096};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(bases); i++) {
        uint64_t base = bases[i] - bases[i] % BB_WAL_BLOCK_SIZE;
        uint8_t *fragment = window + BB_WAL_WINDOW_BYTES;
        uint64_t seed = bb_wal_format_seed(&identity);
        bb_store64(window + BB_WAL_HEADER_SIZE, base);
        bb_store64(window + BB_WAL_HEADER_SIZE + 8, bb_hash_mix(bb_hash_mix(seed) ^ base));
        bb_store64(fragment,
                   bb_wal_format_check(seed, base, BB_WAL_FULL, bb_bytes_of(fragment + 11, 16)));
        bb_store16(fragment + 8, 16);
        fragment[10] = BB_WAL_FULL;
        for (int is_damaged = 0; is_damaged < 2; is_damaged++) {
            struct found found =
                read_bytes(bb_buf_bytes(&log), bb_bytes_of(window, sizeof(window)));
            assert_whole(&found, 1);
            window[BB_WAL_HEADER_SIZE] ^= 1;
        }
    }
    bb_buf_deinit(&log);
    disk_deinit(&disk);
}

static void wal_window_head__of_a_newer_version_is_refused(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    warm_up(&disk);
    struct bb_buf log = read_file(&disk, disk.log);
    struct bb_buf window = read_file(&disk, disk.window);
    bb_store32(window.data + 8, 99);
    bb_store64(window.data + 40, bb_wal_format_check_header(window.data));
    struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
    assert_int_equal(found.status, BB_UNSUPPORTED);
    assert_message("format version 99");
    bb_buf_deinit(&log);
    bb_buf_deinit(&window);
    disk_deinit(&disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wal_window_head__a_changed_bit_gives_no_other_record),
        cmocka_unit_test(wal_window_head__a_changed_bit_of_the_head_loses_nothing),
        cmocka_unit_test(wal_window_head__a_damaged_head_and_a_damaged_record_are_reported),
        cmocka_unit_test(wal_window_head__a_kill_within_a_put_loses_nothing),
        cmocka_unit_test(wal_window_head__a_copy_of_its_record_in_the_log_proves_nothing),
        cmocka_unit_test(wal_window_head__far_after_its_log_is_ignored),
        cmocka_unit_test(wal_window_head__of_a_newer_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
