/* Goal: if any allocation fails while a log is written or read, the status is BB_NO_MEMORY, nothing
 * leaks, and a writer continues at the same place: lack of memory leaves no hole in the log.
 *
 * Method: the allocation seam fails at each allocation, once and permanently; and each read of a
 * damaged log fails.
 */
#include "tests/support/assert_status.h"

#include <string.h>

#include "base/bytes.h"
#include "kv/batch.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_salvage.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"

#define PATH "/1.log"

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "id";

static enum bb_status write_log(struct bb_file_system *fs)
{
    static uint8_t bytes[100000];
    struct bb_wal_writer *writer = NULL;
    struct bb_bytes payloads[] = {bb_bytes_of(bytes, 10), bb_bytes_of(bytes, sizeof(bytes))};
    enum bb_status status = bb_wal_writer_create(fs, PATH, 1, store_id, 500, &writer);
    if (status == BB_OK)
        status = bb_wal_writer_append(writer, payloads, 1);
    if (status == BB_OK)
        status = bb_wal_writer_append(writer, payloads, 2);
    if (status == BB_OK)
        status = bb_wal_writer_sync(writer);
    enum bb_status closed = bb_wal_writer_close(writer);
    return status != BB_OK ? status : closed;
}

static enum bb_status read_log(struct bb_file_system *fs)
{
    struct bb_wal_reader *reader = NULL;
    struct bb_bytes payload;
    enum bb_status status = bb_wal_reader_open(fs, PATH, 1, store_id, false, &reader);
    while (status == BB_OK)
        status = bb_wal_reader_next(reader, &payload);
    if (status == BB_NOT_FOUND)
        status = bb_wal_reader_report(reader)->record_count == 3 ? BB_OK : BB_CORRUPT;
    bb_wal_reader_close(reader);
    return status;
}

static enum bb_status write_and_read(void *context)
{
    (void)context;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    enum bb_status status = write_log(bb_file_memory_system(memory));
    if (status == BB_OK)
        status = read_log(bb_file_memory_system(memory));
    bb_file_memory_destroy(memory);
    return status;
}

static void wal_alloc__every_allocation_fails(void **state)
{
    (void)state;
    assert_true(bb_alloc_fault_sweep(write_and_read, NULL, false) > 5);
}

static enum bb_status count_record(void *context, struct bb_bytes payload, uint64_t offset)
{
    (void)payload;
    (void)offset;
    ++*(unsigned *)context;
    return BB_OK;
}

static enum bb_status salvage_log(void *context)
{
    struct bb_wal_salvage_report report = {0};
    unsigned count = 0;
    enum bb_status status =
        bb_wal_salvage(context, PATH, 1, store_id, count_record, &count, &report);
    return status == BB_OK && count != 3 ? BB_CORRUPT : status;
}

static void wal_alloc__salvage_without_memory(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    assert_ok(write_log(fs));
    assert_true(bb_alloc_fault_sweep(salvage_log, fs, false) > 3);
    bb_file_memory_destroy(memory);
}

/* An append without memory changes nothing: the next one follows the previous one. */
static void wal_alloc__want_of_memory_does_not_stick(void **state)
{
    (void)state;
    static uint8_t bytes[100000];
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_wal_writer *writer = NULL;
    struct bb_bytes small = bb_bytes_of(bytes, 10);
    struct bb_bytes large = bb_bytes_of(bytes, sizeof(bytes));
    assert_ok(bb_wal_writer_create(fs, PATH, 1, store_id, 0, &writer));
    assert_ok(bb_wal_writer_append(writer, &small, 1));
    uint64_t size = bb_wal_writer_size(writer);
    bb_alloc_fault_arm(1, true);
    assert_status(bb_wal_writer_append(writer, &large, 1), BB_NO_MEMORY);
    bb_alloc_fault_disarm();
    assert_int_equal(bb_wal_writer_size(writer), size);
    assert_ok(bb_wal_writer_append(writer, &large, 1));
    assert_ok(bb_wal_writer_append(writer, &small, 1));
    assert_ok(bb_wal_writer_close(writer));
    assert_ok(read_log(fs));
    bb_file_memory_destroy(memory);
}

static enum bb_status fill_batch(void *context)
{
    (void)context;
    static uint8_t bytes[3000];
    struct bb_batch *batch = NULL;
    enum bb_status status = bb_batch_create(&batch);
    for (unsigned i = 0; i < 10 && status == BB_OK; i++) {
        size_t count = bb_batch_count(batch);
        size_t size = bb_batch_size_bytes(batch);
        status = bb_batch_put(batch, bb_bytes_of_text("key"), bb_bytes_of(bytes, sizeof(bytes)));
        if (status != BB_OK) { /* nothing was changed */
            assert_int_equal(bb_batch_count(batch), count);
            assert_int_equal(bb_batch_size_bytes(batch), size);
        }
    }
    bb_batch_destroy(batch);
    return status;
}

static void wal_alloc__batch(void **state)
{
    (void)state;
    assert_true(bb_alloc_fault_sweep(fill_batch, NULL, false) > 2);
}

/* ---- calls that fail in a damaged log ---- */

enum damage { FLIP, INSERT };

/* Three records in about 100 KB. FLIP: a bit of the first one, below the durable offset of the
 * others. INSERT: 20 bytes after it, so that all others are displaced. */
static struct bb_file_memory *damaged_log(enum damage damage)
{
    static uint8_t copy[200000];
    struct bb_file_memory *memory = bb_file_memory_create(1);
    size_t size = 0;
    assert_ok(write_log(bb_file_memory_system(memory)));
    uint8_t *bytes = bb_file_memory_bytes(memory, PATH, &size);
    if (damage == FLIP) {
        bytes[BB_WAL_HEADER_SIZE + BB_WAL_FRAGMENT_HEADER + 9] ^= 1;
        return memory;
    }
    size_t end = BB_WAL_HEADER_SIZE + BB_WAL_FRAGMENT_HEADER + BB_WAL_DURABLE_SIZE + 10;
    assert_true(size + 20 < sizeof(copy));
    memcpy(copy, bytes, end);
    memset(copy + end, 0xee, 20);
    memcpy(copy + end + 20, bytes + end, size - end);
    bb_file_memory_put(memory, PATH, bb_bytes_of(copy, size + 20));
    return memory;
}

static enum bb_status read_damaged(struct bb_file_system *fs, bool tolerates, bool *ret_is_damaged)
{
    struct bb_wal_reader *reader = NULL;
    struct bb_bytes payload;
    uint64_t durable = 0;
    enum bb_status status = bb_wal_reader_open(fs, PATH, 1, store_id, tolerates, &reader);
    while (status == BB_OK)
        status = bb_wal_reader_next(reader, &payload);
    if (status == BB_NOT_FOUND) {
        *ret_is_damaged = bb_wal_reader_report(reader)->is_damaged;
        status = bb_wal_reader_durable(reader, &durable);
    }
    bb_wal_reader_close(reader);
    return status;
}

static void check_each_call(enum damage damage, bool tolerates)
{
    struct bb_file_memory *memory = damaged_log(damage);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    uint64_t hits = 1;
    for (uint64_t nth = 1; hits > 0; nth++) {
        struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = nth};
        bool is_damaged = false;
        bb_file_fault_arm(fault, &plan);
        enum bb_status status = read_damaged(bb_file_fault_system(fault), tolerates, &is_damaged);
        hits = bb_file_fault_hits(fault);
        bb_file_fault_disarm(fault);
        assert_status(status, hits > 0 ? BB_IO : tolerates ? BB_OK : BB_CORRUPT);
        assert_true(hits > 0 || (nth > 4 && is_damaged == tolerates));
    }
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(memory);
}

static void wal__each_call_fails_in_a_damaged_log(void **state)
{
    (void)state;
    for (int tolerates = 0; tolerates < 2; tolerates++) {
        check_each_call(FLIP, tolerates);
        check_each_call(INSERT, tolerates);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wal_alloc__every_allocation_fails),
        cmocka_unit_test(wal_alloc__want_of_memory_does_not_stick),
        cmocka_unit_test(wal_alloc__batch),
        cmocka_unit_test(wal__each_call_fails_in_a_damaged_log),
        cmocka_unit_test(wal_alloc__salvage_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
