/* Goal: for any bytes of a damaged fragment, the next whole one in the block is found: a reader
 * knows that the damaged bytes were durable, and a salvage returns the later records.
 *
 * Method: logs of records in which each third byte looks like the beginning of a fragment, so that
 * the limit of bytes hashed in vain is reached; one bit of each record at a time.
 */
#include "tests/support/assert_status.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "kv/wal/wal_fragment.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_salvage.h"
#include "kv/wal/wal_search.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"

#define PATH       "/000007.wal"
#define LOG_NUMBER 7
#define RECORDS    40
#define SIZE_LARGE 12000

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "the store's id.";

struct log {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
    uint8_t *payload;             /* of which each record is a front part */
    uint64_t begins[RECORDS + 1]; /* of each record in the file, and after the last */
    uint8_t *bytes;               /* of the file, borrowed */
    size_t size;
};

/* Some three records to a block, the third part of them large. Each is durable before the next. */
static void log_init(struct log *log)
{
    static const uint8_t length_and_type[] = {0xff, 0x3f, BB_WAL_MIDDLE}; /* half of a block */
    struct bb_wal_writer *writer = NULL;
    *log = (struct log){.memory = bb_file_memory_create(1)};
    log->fs = bb_file_memory_system(log->memory);
    log->payload = bb_must_alloc_zeroed(SIZE_LARGE);
    for (size_t i = 0; i < SIZE_LARGE; i++)
        log->payload[i] = length_and_type[i % 3];
    assert_ok(bb_wal_writer_create(log->fs, PATH, LOG_NUMBER, store_id, 0, &writer));
    for (size_t i = 0; i < RECORDS; i++) {
        struct bb_bytes payload = bb_bytes_of(log->payload, i % 3 == 0 ? SIZE_LARGE : 100 + i);
        log->begins[i] = bb_wal_writer_size(writer);
        assert_ok(bb_wal_writer_append(writer, &payload, 1));
        assert_ok(bb_wal_writer_sync(writer));
    }
    log->begins[RECORDS] = bb_wal_writer_size(writer);
    assert_ok(bb_wal_writer_close(writer));
    log->bytes = bb_file_memory_bytes(log->memory, PATH, &log->size);
}

static void log_deinit(struct log *log)
{
    free(log->payload);
    bb_file_memory_destroy(log->memory);
}

/* Of the file up to `end`. */
static enum bb_status read_to_end(const struct log *log, uint64_t end, size_t *ret_count)
{
    struct bb_file_memory *memory = bb_file_memory_create(2);
    struct bb_wal_reader *reader = NULL;
    struct bb_bytes payload;
    bb_file_memory_put(memory, PATH, bb_bytes_of(log->bytes, (size_t)end));
    enum bb_status status = bb_wal_reader_open(bb_file_memory_system(memory), PATH, LOG_NUMBER,
                                               store_id, false, &reader);
    *ret_count = 0;
    while (status == BB_OK && (status = bb_wal_reader_next(reader, &payload)) == BB_OK)
        ++*ret_count;
    bb_wal_reader_close(reader);
    bb_file_memory_destroy(memory);
    return status;
}

/* Only one record after the damage reveals it. */
static void wal_search__damage_of_what_was_durable_is_told(void **state)
{
    (void)state;
    struct log log;
    log_init(&log);
    for (size_t i = 0; i + 1 < RECORDS; i++) {
        size_t count = 0;
        log.bytes[log.begins[i] + 30] ^= 4;
        assert_status(read_to_end(&log, log.begins[i + 2], &count), BB_CORRUPT);
        assert_int_equal(count, i);
        log.bytes[log.begins[i] + 30] ^= 4;
    }
    log_deinit(&log);
}

static enum bb_status count_large(void *context, struct bb_bytes payload, uint64_t offset)
{
    (void)offset;
    *(size_t *)context += payload.size == SIZE_LARGE;
    return BB_OK;
}

static void wal_search__records_after_damage_are_salvaged(void **state)
{
    (void)state;
    struct log log;
    log_init(&log);
    for (size_t i = 0; i < RECORDS; i++) {
        struct bb_wal_salvage_report report = {0};
        size_t large = 0;
        log.bytes[log.begins[i] + 30] ^= 4;
        assert_ok(bb_wal_salvage(log.fs, PATH, LOG_NUMBER, store_id, count_large, &large, &report));
        assert_int_equal(report.record_count, RECORDS - 1);
        assert_int_equal(large, (RECORDS + 2) / 3 - (i % 3 == 0));
        log.bytes[log.begins[i] + 30] ^= 4;
    }
    log_deinit(&log);
}

/* A wrong length leads over whole records: they are found in between, as long as there is no reason
 * to stop. */
static void wal_search__a_wrong_length_hides_nothing(void **state)
{
    (void)state;
    uint8_t bytes[400] = {0};
    struct bb_wal_search search = {0};
    bytes[8] = 200;
    bytes[10] = BB_WAL_FULL;
    uint64_t next = bb_wal_search_next(&search, 0, bb_bytes_of(bytes, sizeof(bytes)));
    assert_int_equal(next, 1);
    assert_int_equal(search.hashed, 200);
    assert_int_equal(search.stated_end, 211);
    next = bb_wal_search_next(&search, 1, bb_bytes_of(bytes + 1, sizeof(bytes) - 1));
    assert_int_equal(next, 2);
    assert_int_equal(search.hashed, 200); /* a type or length that was ruled out costs nothing */
    assert_int_equal(search.stated_end, 211);
    bb_wal_search_found(&search);
    next = bb_wal_search_next(&search, 300, bb_bytes_of(bytes + 300, sizeof(bytes) - 300));
    assert_int_equal(next, 301);
    assert_int_equal(search.stated_end, 400);
    next = bb_wal_search_next(&search, BB_WAL_BLOCK_SIZE, bb_bytes_of(bytes, sizeof(bytes)));
    assert_int_equal(next, BB_WAL_BLOCK_SIZE + 1); /* another block starts again */
    assert_int_equal(search.hashed, 200);
    assert_int_equal(search.stated_end, BB_WAL_BLOCK_SIZE + 211);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wal_search__damage_of_what_was_durable_is_told),
        cmocka_unit_test(wal_search__records_after_damage_are_salvaged),
        cmocka_unit_test(wal_search__a_wrong_length_hides_nothing),
    };
    return cmocka_run_group_tests_name("wal_search", tests, NULL, NULL);
}
