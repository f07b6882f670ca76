/* Goal: for any damage of a log, its reader returns a prefix of the appended records, in order, and
 * never another one; and it distinguishes damage of durable bytes from an unsynced tail.
 *
 * Method: logs in memory of records that are smaller, as large as and larger than blocks, cut at
 * every length, with every bit flipped, with every kind of tail that a crash leaves; the records
 * read must be a prefix of the appended ones, and the status must follow from the durable offset.
 */
#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define PATH        "/000007.log"
#define LOG_NUMBER  7
#define RECORDS_MAX 64

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "the store's id.";

/* A log, and the appended records. */
struct log {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
    struct bb_wal_writer *writer;
    size_t count;
    struct bb_buf payloads[RECORDS_MAX];
    uint64_t ends[RECORDS_MAX]; /* of the file after each record */
    uint64_t durable;           /* the latest offset that a record or the mark tells of */
};

static void log_open(struct log *log)
{
    *log = (struct log){.memory = bb_file_memory_create(1)};
    log->fs = bb_file_memory_system(log->memory);
    assert_ok(bb_wal_writer_create(log->fs, PATH, LOG_NUMBER, store_id, 0, &log->writer));
}

static void log_append(struct log *log, struct bb_rng *rng, size_t size)
{
    struct bb_buf *payload = &log->payloads[log->count];
    uint8_t *bytes = NULL;
    assert_ok(bb_buf_extend(payload, size, &bytes));
    bb_rng_bytes(rng, bytes, size);
    struct bb_bytes record = bb_buf_bytes(payload);
    log->durable = bb_wal_writer_durable(log->writer);
    assert_ok(bb_wal_writer_append(log->writer, &record, 1));
    log->ends[log->count++] = bb_wal_writer_size(log->writer);
}

static void log_sync(struct log *log)
{
    assert_ok(bb_wal_writer_sync(log->writer));
}

static void log_close_writer(struct log *log)
{
    if (log->writer != NULL && bb_wal_writer_durable(log->writer) > 0)
        log->durable = bb_wal_writer_durable(log->writer);
    assert_ok(bb_wal_writer_close(log->writer));
    log->writer = NULL;
}

static void log_deinit(struct log *log)
{
    if (log->writer != NULL)
        log_close_writer(log);
    for (size_t i = 0; i < log->count; i++)
        bb_buf_deinit(&log->payloads[i]);
    bb_file_memory_destroy(log->memory);
}

/* The result of reading. */
struct outcome {
    enum bb_status status; /* BB_NOT_FOUND: the log ended */
    size_t count;
    struct bb_wal_report report;
};

/* Reads the file; fails the test when a record differs from the appended one. */
static struct outcome read_log(const struct log *log, struct bb_file_system *fs, bool tolerate)
{
    struct outcome outcome = {0};
    struct bb_wal_reader *reader = NULL;
    outcome.status = bb_wal_reader_open(fs, PATH, LOG_NUMBER, store_id, tolerate, &reader);
    while (outcome.status == BB_OK) {
        struct bb_bytes payload = {0};
        outcome.status = bb_wal_reader_next(reader, &payload);
        if (outcome.status != BB_OK)
            break;
        assert_true(outcome.count < log->count);
        assert_true(bb_bytes_equal(payload, bb_buf_bytes(&log->payloads[outcome.count])));
        outcome.count++;
    }
    if (reader != NULL) {
        struct bb_bytes payload = {0};
        assert_int_equal(bb_wal_reader_next(reader, &payload), outcome.status); /* it stays so */
        outcome.report = *bb_wal_reader_report(reader);
        assert_true(outcome.report.record_count == outcome.count);
    }
    bb_wal_reader_close(reader);
    return outcome;
}

/* The same of bytes that stand for the file. */
static struct outcome read_bytes(const struct log *log, const uint8_t *bytes, size_t size,
                                 bool tolerate)
{
    struct bb_file_memory *memory = bb_file_memory_create(2);
    bb_file_memory_put(memory, PATH, bb_bytes_of(bytes, size));
    struct outcome outcome = read_log(log, bb_file_memory_system(memory), tolerate);
    bb_file_memory_destroy(memory);
    return outcome;
}

static uint8_t *log_bytes(const struct log *log, size_t *ret_size)
{
    return bb_file_memory_bytes(log->memory, PATH, ret_size);
}

/* Where record i begins, padding before it included. */
static uint64_t begin_of(const struct log *log, size_t i)
{
    return i == 0 ? BB_WAL_HEADER_SIZE : log->ends[i - 1];
}

/* The number of whole records before an offset. */
static size_t whole_before(const struct log *log, uint64_t offset)
{
    size_t count = 0;
    while (count < log->count && log->ends[count] <= offset)
        count++;
    return count;
}

static void wal_reader__records_of_all_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,     1,     8,      100,   32768 - 48 - 19 - 400,
                                   32767, 32768, 32769,  0,     65536,
                                   65500, 5,     200000, 32757, 32749,
                                   32748, 32747, 32730,  1,     31};
    struct bb_rng rng;
    bb_rng_init(&rng, 1);
    struct log log;
    log_open(&log);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        log_append(&log, &rng, sizes[i]);
    log_sync(&log);
    log_close_writer(&log);
    struct outcome outcome = read_log(&log, log.fs, false);
    assert_int_equal(outcome.status, BB_NOT_FOUND);
    assert_int_equal(outcome.count, log.count);
    assert_int_equal(outcome.report.dropped_bytes, 0);
    assert_string_equal(outcome.report.reason, "");
    log_deinit(&log);
}

/* Every way to end a block: the second record begins 0 ... 60 bytes before its end. */
static void wal_reader__every_place_at_the_end_of_a_block(void **state)
{
    (void)state;
    for (size_t left = 0; left <= 60; left++) {
        struct bb_rng rng;
        bb_rng_init(&rng, left);
        struct log log;
        log_open(&log);
        log_append(&log, &rng,
                   BB_WAL_BLOCK_SIZE - BB_WAL_HEADER_SIZE - BB_WAL_FRAGMENT_SIZE_MIN - left);
        assert_int_equal(BB_WAL_BLOCK_SIZE - log.ends[0], left);
        log_append(&log, &rng, left % 3 == 0 ? 0 : 30);
        log_append(&log, &rng, 40000);
        log_close_writer(&log);
        struct outcome outcome = read_log(&log, log.fs, false);
        assert_int_equal(outcome.status, BB_NOT_FOUND);
        assert_int_equal(outcome.count, 3);
        assert_int_equal(outcome.report.dropped_bytes, 0);
        log_deinit(&log);
    }
}

/* The zeros at the end of a block are checked too: other bytes are damage. */
static void wal_reader__corrupt_padding(void **state)
{
    (void)state;
    for (unsigned synced = 0; synced < 2; synced++) {
        const size_t left = 7;
        struct bb_rng rng;
        bb_rng_init(&rng, 5);
        struct log log;
        log_open(&log);
        log_append(&log, &rng,
                   BB_WAL_BLOCK_SIZE - BB_WAL_HEADER_SIZE - BB_WAL_FRAGMENT_SIZE_MIN - left);
        log_append(&log, &rng, 30);
        if (synced)
            log_sync(&log);
        log_append(&log, &rng, 30);
        log_close_writer(&log);
        size_t size = 0;
        uint8_t *bytes = log_bytes(&log, &size);
        for (size_t bit = 0; bit < left * 8; bit++) {
            size_t at = BB_WAL_BLOCK_SIZE - left + bit / 8;
            bytes[at] ^= (uint8_t)(1 << bit % 8);
            struct outcome outcome = read_log(&log, log.fs, false);
            assert_int_equal(outcome.status, synced ? BB_CORRUPT : BB_NOT_FOUND);
            assert_int_equal(outcome.count, 1);
            assert_message(synced ? "other bytes than zeros" : "");
            bytes[at] ^= (uint8_t)(1 << bit % 8);
        }
        log_deinit(&log);
    }
}

static void make_small(struct log *log, bool synced)
{
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    log_open(log);
    static const size_t sizes[] = {20, 0, 70, 33, 5};
    for (size_t i = 0; i < 5; i++) {
        log_append(log, &rng, sizes[i]);
        if (synced && i < 3)
            log_sync(log);
    }
    log_close_writer(log);
}

/* A log that crosses blocks, with a record over three of them. */
static void make_large(struct log *log, bool synced)
{
    struct bb_rng rng;
    bb_rng_init(&rng, 4);
    log_open(log);
    static const size_t sizes[] = {100, 32000, 70000, 50, 32500, 7};
    for (size_t i = 0; i < 6; i++) {
        log_append(log, &rng, sizes[i]);
        if (synced && i < 4)
            log_sync(log);
    }
    log_close_writer(log);
}

static void check_cut(const struct log *log, size_t size)
{
    size_t whole = 0;
    uint8_t *bytes = log_bytes(log, &whole);
    struct outcome outcome = read_bytes(log, bytes, size, false);
    size_t expected = whole_before(log, size);
    assert_int_equal(outcome.status, BB_NOT_FOUND);
    assert_int_equal(outcome.count, expected);
    assert_true(outcome.report.end_offset <= size);
    assert_true(outcome.report.dropped_bytes <= size - outcome.report.end_offset);
    bool at_border = size == 0 || (size >= BB_WAL_HEADER_SIZE && size == begin_of(log, expected));
    if (at_border)
        assert_string_equal(outcome.report.reason, "");
}

/* A truncated file returns its whole records; no later record can prove that more was durable. */
static void wal_reader__corrupt_cut_anywhere(void **state)
{
    (void)state;
    struct log log;
    size_t size = 0;
    make_small(&log, true);
    log_bytes(&log, &size);
    for (size_t cut = 0; cut <= log.ends[log.count - 1]; cut++)
        check_cut(&log, cut);
    log_deinit(&log);
    make_large(&log, true);
    for (size_t cut = 0; cut <= log.ends[log.count - 1];
         cut += cut % 32768 < 100 || cut % 32768 > 32600 ? 1 : 97 * bb_test_step())
        check_cut(&log, cut);
    log_deinit(&log);
}

/* One damaged byte: its place determines the result. */
static void check_damage(const struct log *log, const uint8_t *bytes, size_t size, size_t at)
{
    struct outcome outcome = read_bytes(log, bytes, size, false);
    struct outcome tolerant = read_bytes(log, bytes, size, true);
    size_t before = at < BB_WAL_HEADER_SIZE ? 0 : whole_before(log, at);
    uint64_t lost_from = at < BB_WAL_HEADER_SIZE ? 0 : begin_of(log, before);
    bool was_durable = log->durable > lost_from;
    if (before < log->count) {
        assert_int_equal(outcome.status, was_durable ? BB_CORRUPT : BB_NOT_FOUND);
        if (was_durable) /* the message names file and place */
            assert_int_equal(outcome.report.end_offset, 0);
        assert_true(tolerant.status == BB_NOT_FOUND);
        assert_true(tolerant.report.end_offset <= at);
        assert_true(tolerant.report.dropped_bytes > 0);
        assert_true(tolerant.report.reason[0] != 0);
    }
    assert_true(outcome.count <= before || before == log->count);
    if (tolerant.report.end_offset > 0)
        assert_int_equal(tolerant.count, before);
}

static void flip_bits(struct log *log, size_t step)
{
    size_t size = 0;
    uint8_t *bytes = log_bytes(log, &size);
    for (size_t bit = 0; bit < size * 8; bit += step) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        check_damage(log, bytes, size, bit / 8);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void wal_reader__corrupt_every_bit(void **state)
{
    (void)state;
    struct log log;
    make_small(&log, false);
    flip_bits(&log, 1);
    log_deinit(&log);
    make_small(&log, true);
    flip_bits(&log, 1);
    log_deinit(&log);
}

static void wal_reader__corrupt_bits_of_a_large_log(void **state)
{
    (void)state;
    struct log log;
    make_large(&log, false);
    flip_bits(&log, 1999 * bb_test_step());
    log_deinit(&log);
    make_large(&log, true);
    flip_bits(&log, 1999 * bb_test_step());
    log_deinit(&log);
}

/* A synced log with only the mark of close after the sync. */
static void wal_reader__mark_protects_the_last_records(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, 8);
    struct log log;
    log_open(&log);
    log_append(&log, &rng, 100);
    log_append(&log, &rng, 100);
    log_sync(&log);
    log_close_writer(&log);
    size_t size = 0;
    uint8_t *bytes = log_bytes(&log, &size);
    assert_int_equal(size, log.ends[1] + BB_WAL_FRAGMENT_SIZE_MIN);
    bytes[log.ends[0] + 30] ^= 1;
    struct outcome outcome = read_log(&log, log.fs, false);
    assert_int_equal(outcome.status, BB_CORRUPT);
    assert_message(PATH);
    assert_message("a wrong check");
    assert_message("known durable up to");
    assert_int_equal(outcome.count, 1);
    /* Without the mark the damage is indistinguishable. */
    bytes[size - 1] ^= 1;
    outcome = read_log(&log, log.fs, false);
    assert_int_equal(outcome.status, BB_NOT_FOUND);
    assert_int_equal(outcome.count, 1);
    assert_int_equal(outcome.report.end_offset, log.ends[0]);
    assert_int_equal(outcome.report.dropped_bytes, size - log.ends[0]);
    log_deinit(&log);
}

static void check_tail(const struct log *log, const uint8_t *bytes, size_t size, uint64_t dropped)
{
    struct outcome outcome = read_bytes(log, bytes, size, false);
    assert_int_equal(outcome.status, BB_NOT_FOUND);
    assert_int_equal(outcome.count, log->count);
    assert_int_equal(outcome.report.end_offset, log->ends[log->count - 1]);
    assert_int_equal(outcome.report.dropped_bytes, dropped);
}

static void wal_reader__tails(void **state)
{
    (void)state;
    struct log log;
    make_small(&log, false);
    size_t size = 0;
    uint8_t *whole = log_bytes(&log, &size);
    size_t space = 200000;
    uint8_t *bytes = bb_must_alloc_zeroed(space);
    memcpy(bytes, whole, size);
    /* Zeros: the length was written, the bytes were not, or the space was reserved. No data was
     * lost. */
    for (size_t tail = 1; tail < 300; tail++)
        check_tail(&log, bytes, size + tail, 0);
    check_tail(&log, bytes, space, 0);
    /* One byte in a sea of zeros. */
    bytes[150000] = 1;
    check_tail(&log, bytes, space, 150001 - size);
    /* Garbage. */
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("wal_reader__tails", 9));
    bb_rng_bytes(&rng, bytes + size, space - size);
    bytes[space - 1] = 1;
    check_tail(&log, bytes, space, space - size);
    free(bytes);
    log_deinit(&log);
}

/* Blocks that were lost in the middle while later ones reached the disk. */
static void wal_reader__holes(void **state)
{
    (void)state;
    struct log log;
    make_large(&log, false);
    size_t size = 0;
    uint8_t *bytes = log_bytes(&log, &size);
    memset(bytes + 32768, 0, 32768); /* in the third record */
    struct outcome outcome = read_log(&log, log.fs, false);
    assert_int_equal(outcome.status, BB_NOT_FOUND);
    assert_int_equal(outcome.count, 2);
    assert_int_equal(outcome.report.end_offset, log.ends[1]);
    assert_int_equal(outcome.report.dropped_bytes, size - log.ends[1]);
    log_deinit(&log);

    make_large(&log, true);
    bytes = log_bytes(&log, &size);
    memset(bytes + 32768, 0, 32768);
    assert_int_equal(read_log(&log, log.fs, false).status, BB_CORRUPT);
    log_deinit(&log);
}

/* Bytes of another log, or of another place in this one, are never records. */
static void wal_reader__corrupt_foreign_bytes(void **state)
{
    (void)state;
    struct log log;
    make_small(&log, false);
    size_t size = 0;
    uint8_t *bytes = log_bytes(&log, &size);
    struct log other;
    make_small(&other, false);
    bb_file_memory_put(log.memory, "/other", bb_bytes_of(bytes, size));

    struct bb_wal_reader *reader = NULL;
    assert_status(bb_wal_reader_open(log.fs, PATH, LOG_NUMBER + 1, store_id, true, &reader),
                  BB_CORRUPT);
    assert_message("log number 7, expected 8");
    static const uint8_t other_id[BB_WAL_STORE_ID_SIZE] = "another store.";
    assert_status(bb_wal_reader_open(log.fs, PATH, LOG_NUMBER, other_id, true, &reader),
                  BB_CORRUPT);
    assert_message("another store");
    assert_status(bb_wal_reader_open(log.fs, "/none", LOG_NUMBER, store_id, false, &reader),
                  BB_NOT_FOUND);
    log_deinit(&other);

    /* The log of another number, under our header. */
    struct bb_wal_writer *writer = NULL;
    assert_ok(bb_wal_writer_create(log.fs, "/8", LOG_NUMBER + 1, store_id, 0, &writer));
    struct bb_bytes record = bb_buf_bytes(&log.payloads[0]);
    assert_ok(bb_wal_writer_append(writer, &record, 1));
    assert_ok(bb_wal_writer_close(writer));
    size_t foreign_size = 0;
    uint8_t *foreign = bb_file_memory_bytes(log.memory, "/8", &foreign_size);
    memcpy(foreign, bytes, BB_WAL_HEADER_SIZE);
    struct outcome outcome = read_bytes(&log, foreign, foreign_size, false);
    assert_int_equal(outcome.status, BB_NOT_FOUND);
    assert_int_equal(outcome.count, 0);

    /* The first record again, after the others. */
    uint8_t *twice = bb_must_alloc_zeroed(size + 100);
    memcpy(twice, bytes, size);
    size_t first = log.ends[0] - BB_WAL_HEADER_SIZE;
    memcpy(twice + size, bytes + BB_WAL_HEADER_SIZE, first);
    check_tail(&log, twice, size + first, first);
    free(twice);
    log_deinit(&log);
}

static void wal_reader__newer_version(void **state)
{
    (void)state;
    struct log log;
    make_small(&log, true);
    size_t size = 0;
    uint8_t *bytes = log_bytes(&log, &size);
    bb_store32(bytes + 8, BB_WAL_VERSION + 1);
    bb_store64(bytes + 40, bb_wal_format_check_header(bytes));
    assert_int_equal(read_log(&log, log.fs, true).status, BB_UNSUPPORTED);
    assert_message("version");
    log_deinit(&log);
}

/* A read that fails, or is shorter than the file, is no end of the log; a wrong bit of one read is
 * read again. */
static void wal_reader__failing_reads(void **state)
{
    (void)state;
    struct log log;
    make_large(&log, false);
    struct bb_file_fault *fault = bb_file_fault_create(log.fs);
    for (int mode = BB_FILE_FAULT_ERROR; mode <= BB_FILE_FAULT_BIT_FLIP; mode++) {
        if (mode == BB_FILE_FAULT_SHORT_WRITE)
            continue;
        for (uint64_t nth = 1;; nth++) {
            struct bb_file_fault_plan plan = {
                .mode = (enum bb_file_fault_mode)mode, .call = BB_FILE_CALL_READ_AT, .nth = nth};
            bb_file_fault_arm(fault, &plan);
            struct outcome outcome = read_log(&log, bb_file_fault_system(fault), false);
            if (bb_file_fault_hits(fault) == 0) {
                assert_true(nth > 3);
                break;
            }
            if (mode == BB_FILE_FAULT_BIT_FLIP) {
                assert_int_equal(outcome.status, BB_NOT_FOUND);
                assert_int_equal(outcome.count, log.count);
                assert_int_equal(outcome.report.dropped_bytes, 0);
            } else {
                assert_int_equal(outcome.status, mode == BB_FILE_FAULT_ERROR ? BB_IO : BB_CORRUPT);
            }
        }
        bb_file_fault_disarm(fault);
    }
    bb_file_fault_destroy(fault);
    log_deinit(&log);
}

/* Power fails at a random moment, and destroys any part of the unsynced data. */
static void wal_reader__crashes(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("wal_reader__crashes", 10));
    for (unsigned round = 0; round < 400; round++) {
        struct log log;
        log_open(&log);
        size_t synced = 0;
        size_t count = bb_rng_below(&rng, 20);
        for (size_t i = 0; i < count; i++) {
            log_append(&log, &rng, bb_rng_skewed(&rng, 50000));
            if (bb_rng_one_in(&rng, 4)) {
                log_sync(&log);
                synced = log.count;
            }
        }
        assert_ok(log.fs->ops->sync_directory(log.fs, "/"));
        struct bb_crash crash = {
            .bytes = BB_CRASH_BYTES_ANY, .names = BB_CRASH_NAMES_ALL, .seed = bb_rng_next(&rng)};
        struct bb_file_memory *image = bb_file_memory_crash(log.memory, &crash);
        struct outcome outcome = read_log(&log, bb_file_memory_system(image), false);
        assert_int_equal(outcome.status, BB_NOT_FOUND);
        assert_true(outcome.count >= synced);
        bb_file_memory_destroy(image);
        log_deinit(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wal_reader__records_of_all_sizes),
        cmocka_unit_test(wal_reader__every_place_at_the_end_of_a_block),
        cmocka_unit_test(wal_reader__corrupt_padding),
        cmocka_unit_test(wal_reader__corrupt_cut_anywhere),
        cmocka_unit_test(wal_reader__corrupt_every_bit),
        cmocka_unit_test(wal_reader__corrupt_bits_of_a_large_log),
        cmocka_unit_test(wal_reader__mark_protects_the_last_records),
        cmocka_unit_test(wal_reader__tails),
        cmocka_unit_test(wal_reader__holes),
        cmocka_unit_test(wal_reader__corrupt_foreign_bytes),
        cmocka_unit_test(wal_reader__newer_version),
        cmocka_unit_test(wal_reader__failing_reads),
        cmocka_unit_test(wal_reader__crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
