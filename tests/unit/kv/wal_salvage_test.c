/* Goal: for any damage of a log, the salvage returns every intact record, before and after the
 * damage, in order, and no other; and reports the amount of lost data.
 *
 * Method: logs in memory of records that are smaller and larger than blocks, overwritten over a
 * stretch anywhere, cut anywhere, or not at all.
 */
#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/wal/wal_fragment.h"
#include "kv/wal/wal_salvage.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define PATH       "/000007.wal"
#define LOG_NUMBER 7
#define RECORDS    40

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "the store's id.";
static const uint8_t other_id[BB_WAL_STORE_ID_SIZE] = "of another one.";

struct log {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
    struct bb_buf payloads[RECORDS];
    uint64_t ends[RECORDS]; /* of the file after each record */
    /* The result of the salvage. */
    bool is_given[RECORDS];
    size_t next;
    uint64_t offset;
    size_t given;
    size_t given_max; /* the visit fails after this many */
};

static void log_init(struct log *log, struct bb_rng *rng)
{
    struct bb_wal_writer *writer = NULL;
    *log = (struct log){.memory = bb_file_memory_create(1), .given_max = SIZE_MAX};
    log->fs = bb_file_memory_system(log->memory);
    assert_ok(bb_wal_writer_create(log->fs, PATH, LOG_NUMBER, store_id, 0, &writer));
    for (size_t i = 0; i < RECORDS; i++) {
        size_t size = 16 + (bb_rng_one_in(rng, 5) ? bb_rng_below(rng, 3 * BB_WAL_BLOCK_SIZE)
                                                  : bb_rng_below(rng, 300));
        uint8_t *bytes = NULL;
        assert_ok(bb_buf_extend(&log->payloads[i], size, &bytes));
        bb_rng_bytes(rng, bytes, size);
        struct bb_bytes payload = bb_buf_bytes(&log->payloads[i]);
        assert_ok(bb_wal_writer_append(writer, &payload, 1));
        log->ends[i] = bb_wal_writer_size(writer);
        if (bb_rng_one_in(rng, 10))
            assert_ok(bb_wal_writer_sync(writer));
    }
    assert_ok(bb_wal_writer_sync(writer));
    assert_ok(bb_wal_writer_close(writer)); /* a mark is the last of it */
}

static void log_deinit(struct log *log)
{
    for (size_t i = 0; i < RECORDS; i++)
        bb_buf_deinit(&log->payloads[i]);
    bb_file_memory_destroy(log->memory);
}

static enum bb_status visit(void *context, struct bb_bytes payload, uint64_t offset)
{
    struct log *log = context;
    size_t i = log->next;
    while (i < RECORDS && !bb_bytes_equal(payload, bb_buf_bytes(&log->payloads[i])))
        i++;
    assert_true(i < RECORDS); /* an appended one, and in order */
    assert_true(log->given == 0 || offset > log->offset);
    assert_in_range(offset, i == 0 ? BB_WAL_HEADER_SIZE : log->ends[i - 1], log->ends[i] - 1);
    log->is_given[i] = true;
    log->next = i + 1;
    log->offset = offset;
    return ++log->given > log->given_max ? bb_fail(BB_NO_SPACE, "enough") : BB_OK;
}

/* Of the log's file, as it is in fs. */
static enum bb_status salvage(struct log *log, struct bb_file_system *fs,
                              struct bb_wal_salvage_report *ret_report)
{
    memset(log->is_given, 0, sizeof(log->is_given));
    log->next = log->given = 0;
    *ret_report = (struct bb_wal_salvage_report){0};
    enum bb_status status = bb_wal_salvage(fs, PATH, LOG_NUMBER, store_id, visit, log, ret_report);
    if (status == BB_OK)
        assert_int_equal(ret_report->record_count, log->given);
    return status;
}

static struct bb_wal_salvage_report salvage_bytes(struct log *log, const uint8_t *bytes,
                                                  size_t size)
{
    struct bb_wal_salvage_report report;
    struct bb_file_memory *memory = bb_file_memory_create(2);
    bb_file_memory_put(memory, PATH, bb_bytes_of(bytes, size));
    assert_ok(salvage(log, bb_file_memory_system(memory), &report));
    bb_file_memory_destroy(memory);
    return report;
}

static void wal_salvage__a_whole_log_is_given_whole(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("wal_salvage__a_whole_log_is_given_whole", 1));
    for (int round = 0; round < 20; round++) {
        struct bb_wal_salvage_report report;
        struct log log;
        log_init(&log, &rng);
        assert_ok(salvage(&log, log.fs, &report));
        assert_int_equal(report.record_count, RECORDS);
        assert_int_equal(report.bytes_lost, 0);
        assert_int_equal(report.holes, 0);
        log_deinit(&log);
    }
}

static void wal_salvage__what_is_beside_the_damage_is_given(void **state)
{
    (void)state;
    struct bb_rng rng;
    size_t lost_in_all = 0, found_after = 0;
    struct log log;
    bb_rng_init(&rng, bb_rng_seed("wal_salvage__what_is_beside_the_damage_is_given", 2));
    log_init(&log, &rng);
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(log.memory, PATH, &size);
    uint8_t *damaged = bb_must_alloc_zeroed(size);
    for (size_t round = 0; round < 400; round += bb_test_step()) {
        uint64_t begin = bb_rng_between(&rng, BB_WAL_HEADER_SIZE, size - 1);
        uint64_t length = 1 + bb_rng_skewed(&rng, size - begin - 1);
        memcpy(damaged, bytes, size);
        for (uint64_t i = begin; i < begin + length; i++)
            damaged[i] ^= (uint8_t)bb_rng_between(&rng, 1, 255);
        struct bb_wal_salvage_report report = salvage_bytes(&log, damaged, size);
        size_t lost = 0;
        for (size_t i = 0; i < RECORDS; i++) {
            uint64_t from = i == 0 ? BB_WAL_HEADER_SIZE : log.ends[i - 1];
            if (log.ends[i] <= begin || from >= begin + length)
                assert_true(log.is_given[i]);
            lost += !log.is_given[i];
            found_after += log.is_given[i] && from >= begin + length;
        }
        assert_true(report.holes <= 1);
        assert_true(lost == 0 || report.bytes_lost >= length / 2);
        lost_in_all += lost;
    }
    size_t least = 400 / bb_test_step();
    assert_true(lost_in_all > least && found_after > least);
    free(damaged);
    log_deinit(&log);
}

static void wal_salvage__an_overwritten_end_is_lost(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct log log;
    bb_rng_init(&rng, bb_rng_seed("wal_salvage__an_overwritten_end_is_lost", 10));
    log_init(&log, &rng);
    size_t size = 0;
    const uint8_t *bytes = bb_file_memory_bytes(log.memory, PATH, &size);
    uint8_t *damaged = bb_must_alloc_zeroed(size);
    for (size_t last = 0; last + 1 < RECORDS; last++) {
        size_t end = log.ends[last];
        memcpy(damaged, bytes, end);
        bb_rng_bytes(&rng, damaged + end, size - end);
        damaged[size - 1] = 1;
        struct bb_wal_salvage_report report = salvage_bytes(&log, damaged, size);
        assert_int_equal(log.given, last + 1);
        assert_int_equal(report.bytes_lost, size - end);
        assert_int_equal(report.end_offset, size);
    }
    free(damaged);
    log_deinit(&log);
}

static void wal_salvage__a_cut_log_is_given_up_to_the_cut(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct log log;
    bb_rng_init(&rng, bb_rng_seed("wal_salvage__a_cut_log_is_given_up_to_the_cut", 3));
    log_init(&log, &rng);
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(log.memory, PATH, &size);
    for (size_t round = 0; round < 300; round += bb_test_step()) {
        size_t cut = bb_rng_between(&rng, BB_WAL_HEADER_SIZE, size);
        struct bb_wal_salvage_report report = salvage_bytes(&log, bytes, cut);
        for (size_t i = 0; i < RECORDS; i++)
            assert_int_equal(log.is_given[i], log.ends[i] <= cut);
        assert_int_equal(report.holes, 0);
    }
    log_deinit(&log);
}

static enum bb_status count_bytes(void *context, struct bb_bytes payload, uint64_t offset)
{
    uint64_t *bytes = context;
    assert_int_equal(offset, BB_WAL_HEADER_SIZE);
    *bytes += payload.size;
    return BB_OK;
}

/* A record of two fragments, the second of which has few bytes and is the end of the file. A
 * fragment of less than BB_WAL_FRAGMENT_SIZE_MIN bytes was read as the end of a block. */
static void wal_salvage__a_short_last_fragment_is_given(void **state)
{
    (void)state;
    size_t first = BB_WAL_BLOCK_SIZE - BB_WAL_HEADER_SIZE - BB_WAL_FRAGMENT_HEADER;
    for (size_t last = 1; last <= 10; last++) {
        struct bb_file_memory *memory = bb_file_memory_create(1);
        struct bb_wal_writer *writer = NULL;
        struct bb_wal_salvage_report report = {0};
        uint64_t given = 0;
        struct bb_bytes payload = {.size = first - BB_WAL_DURABLE_SIZE + last};
        uint8_t *bytes = bb_must_alloc_zeroed(payload.size);
        struct bb_file_system *fs = bb_file_memory_system(memory);
        payload.data = bytes;
        assert_ok(bb_wal_writer_create(fs, PATH, LOG_NUMBER, store_id, 0, &writer));
        assert_ok(bb_wal_writer_append(writer, &payload, 1));
        assert_int_equal(bb_wal_writer_size(writer),
                         BB_WAL_BLOCK_SIZE + BB_WAL_FRAGMENT_HEADER + last);
        assert_ok(bb_wal_salvage(fs, PATH, LOG_NUMBER, store_id, count_bytes, &given, &report));
        assert_int_equal(given, payload.size);
        assert_int_equal(report.bytes_lost, 0);
        assert_ok(bb_wal_writer_close(writer));
        bb_file_memory_destroy(memory);
        free(bytes);
    }
}

static void wal_salvage__another_log_is_no_damage(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct bb_wal_salvage_report report;
    struct log log;
    bb_rng_init(&rng, 4);
    log_init(&log, &rng);
    assert_status(bb_wal_salvage(log.fs, PATH, LOG_NUMBER + 1, store_id, visit, &log, &report),
                  BB_CORRUPT);
    assert_status(bb_wal_salvage(log.fs, PATH, LOG_NUMBER, other_id, visit, &log, &report),
                  BB_CORRUPT);
    assert_status(bb_wal_salvage(log.fs, "/no", LOG_NUMBER, store_id, visit, &log, &report),
                  BB_NOT_FOUND);
    assert_int_equal(log.given, 0);
    log_deinit(&log);
}

static void wal_salvage__failures_end_it(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct bb_wal_salvage_report report;
    struct log log;
    uint64_t nth = 0;
    bb_rng_init(&rng, 5);
    log_init(&log, &rng);
    log.given_max = 3; /* the visitor's, */
    assert_status(salvage(&log, log.fs, &report), BB_NO_SPACE);
    assert_int_equal(log.given, 4);
    log.given_max = SIZE_MAX;
    struct bb_file_fault *fault = bb_file_fault_create(log.fs);
    uint64_t failures = 0;
    do { /* and the allocations of each call; closing a file that was only read may fail */
        struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_ANY, .nth = ++nth};
        bb_file_fault_arm(fault, &plan);
        enum bb_status status = salvage(&log, bb_file_fault_system(fault), &report);
        assert_true(status == BB_IO || (status == BB_OK && log.given == RECORDS));
        failures += status == BB_IO;
    } while (bb_file_fault_hits(fault) > 0);
    assert_true(failures > 6);
    bb_file_fault_destroy(fault);
    log_deinit(&log);
}

/* Bytes were removed from the middle: later fragments are before their places, and not given. */
static void wal_salvage__fragments_before_their_places_are_not_given(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct log log;
    bb_rng_init(&rng, bb_rng_seed("wal_salvage__fragments_before_their_places", 8));
    log_init(&log, &rng);
    size_t size = 0;
    const uint8_t *bytes = bb_file_memory_bytes(log.memory, PATH, &size);
    for (size_t middle = 0; middle + 1 < RECORDS; middle++) {
        size_t end = log.ends[middle];
        size_t removed = 40;
        uint8_t *shorter = bb_must_alloc_zeroed(size);
        memcpy(shorter, bytes, end - removed);
        memcpy(shorter + end - removed, bytes + end, size - end);
        (void)salvage_bytes(&log, shorter, size - removed);
        for (size_t i = 0; i + 1 < middle; i++) /* record middle - 1 may have lost bytes too */
            assert_true(log.is_given[i]);
        free(shorter);
    }
    log_deinit(&log);
}

static enum bb_status count_given(void *context, struct bb_bytes payload, uint64_t offset)
{
    (void)payload;
    (void)offset;
    ++*(size_t *)context;
    return BB_OK;
}

/* Other bytes were written between two records: later fragments are after their places, and given.
 * They move into the middle of a block of which more has been read. Only the first of them is lost
 * if it crosses the end of a block now. */
static void wal_salvage__fragments_after_their_places_are_given(void **state)
{
    (void)state;
    struct bb_rng rng;
    size_t whole = 0, rounds = 0;
    bb_rng_init(&rng, bb_rng_seed("wal_salvage__fragments_after_their_places", 9));
    for (size_t inserted = 100; inserted < 3 * BB_WAL_BLOCK_SIZE; inserted += 3000) {
        struct bb_file_memory *memory = bb_file_memory_create(2);
        struct bb_wal_salvage_report report = {0};
        struct log log;
        size_t size = 0, given = 0;
        log_init(&log, &rng);
        const uint8_t *bytes = bb_file_memory_bytes(log.memory, PATH, &size);
        size_t end = log.ends[RECORDS / 2];
        uint8_t *longer = bb_must_alloc_zeroed(size + inserted);
        memcpy(longer, bytes, end);
        bb_rng_bytes(&rng, longer + end, inserted);
        memcpy(longer + end + inserted, bytes + end, size - end);
        bb_file_memory_put(memory, PATH, bb_bytes_of(longer, size + inserted));
        assert_ok(bb_wal_salvage(bb_file_memory_system(memory), PATH, LOG_NUMBER, store_id,
                                 count_given, &given, &report));
        assert_in_range(given, RECORDS - 1, RECORDS);
        assert_true(report.bytes_lost >= inserted);
        if (given == RECORDS)
            assert_true(report.bytes_lost < inserted + BB_WAL_FRAGMENT_SIZE_MIN);
        assert_int_equal(report.end_offset, size + inserted);
        whole += given == RECORDS;
        rounds++;
        free(longer);
        bb_file_memory_destroy(memory);
        log_deinit(&log);
    }
    assert_true(whole >= rounds / 2);
}

/* A check that is sound for a place within the header, or for a place where the fragment would
 * cross the end of its block. */
static void wal_fragment__of_an_impossible_place_is_not_found(void **state)
{
    (void)state;
    static const struct {
        uint64_t offset;
        bool is_found;
    } rows[] = {{BB_WAL_HEADER_SIZE, true},
                {BB_WAL_HEADER_SIZE - 1, false},
                {BB_WAL_BLOCK_SIZE - BB_WAL_FRAGMENT_HEADER - 20, true},
                {BB_WAL_BLOCK_SIZE - BB_WAL_FRAGMENT_HEADER - 19, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t bytes[BB_WAL_FRAGMENT_HEADER + 20] = {0};
        struct bb_wal_fragment fragment;
        uint64_t place = 0;
        struct bb_bytes body = bb_bytes_of(bytes + BB_WAL_FRAGMENT_HEADER, 20);
        bb_store64(bytes, bb_wal_format_check(7, rows[i].offset, BB_WAL_FULL, body));
        bb_store16(bytes + 8, (uint16_t)body.size);
        bytes[10] = BB_WAL_FULL;
        assert_int_equal(
            bb_wal_fragment_find(7, 1 << 20, bb_bytes_of(bytes, sizeof(bytes)), &fragment, &place),
            rows[i].is_found);
        assert_true(!rows[i].is_found || place == rows[i].offset);
    }
}

static bool has_first(const struct log *log, uint64_t number)
{
    bool has = false;
    assert_ok(bb_wal_salvage_find_first(log->fs, PATH, number, &has));
    return has;
}

/* Of the header only the id counts, and of the records only the first. */
static void wal_first__is_found_behind_a_damaged_header(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct log log;
    bool has = false;
    size_t size = 0;
    bb_rng_init(&rng, 7);
    log_init(&log, &rng);
    const uint8_t *contents = bb_file_memory_bytes(log.memory, PATH, &size);
    uint8_t *bytes = malloc(size);
    memcpy(bytes, contents, size);
    assert_true(has_first(&log, LOG_NUMBER));
    assert_false(has_first(&log, LOG_NUMBER + 1));
    for (size_t i = 0; i < BB_WAL_HEADER_SIZE + BB_WAL_FRAGMENT_SIZE_MIN; i++) {
        bytes[i] ^= 4;
        bb_file_memory_put(log.memory, PATH, bb_bytes_of(bytes, size));
        assert_int_equal(has_first(&log, LOG_NUMBER),
                         i < 24 || (i >= 40 && i < BB_WAL_HEADER_SIZE));
        bytes[i] ^= 4;
    }
    for (size_t i = 0; i <= BB_WAL_HEADER_SIZE + BB_WAL_FRAGMENT_HEADER; i++) {
        bb_file_memory_put(log.memory, PATH, bb_bytes_of(bytes, i));
        assert_false(has_first(&log, LOG_NUMBER));
    }
    assert_status(bb_wal_salvage_find_first(log.fs, "/no", LOG_NUMBER, &has), BB_NOT_FOUND);
    free(bytes);
    log_deinit(&log);
}

static void wal_claim__is_told_by_a_sound_header_alone(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct log log;
    uint8_t id[BB_WAL_STORE_ID_SIZE] = {0};
    bool is_told = false;
    bb_rng_init(&rng, 6);
    log_init(&log, &rng);
    assert_ok(bb_wal_salvage_read_claim(log.fs, PATH, id, &is_told));
    assert_true(is_told);
    assert_memory_equal(id, store_id, sizeof(id));
    assert_status(bb_wal_salvage_read_claim(log.fs, "/no", id, &is_told), BB_NOT_FOUND);
    size_t size = 0;
    uint8_t bytes[BB_WAL_HEADER_SIZE];
    memcpy(bytes, bb_file_memory_bytes(log.memory, PATH, &size), sizeof(bytes));
    size = sizeof(bytes);
    for (size_t i = 0; i < BB_WAL_HEADER_SIZE; i++) {
        bytes[i] ^= 4;
        bb_file_memory_put(log.memory, PATH, bb_bytes_of(bytes, size));
        assert_ok(bb_wal_salvage_read_claim(log.fs, PATH, id, &is_told));
        assert_false(is_told);
        bytes[i] ^= 4;
        bb_file_memory_put(log.memory, PATH, bb_bytes_of(bytes, i));
        assert_ok(bb_wal_salvage_read_claim(log.fs, PATH, id, &is_told));
        assert_false(is_told);
    }
    struct bb_file_fault *fault = bb_file_fault_create(log.fs);
    for (int call = BB_FILE_CALL_READ_AT; call != BB_FILE_CALL_ANY; call++) {
        if (call != BB_FILE_CALL_READ_AT && call != BB_FILE_CALL_CLOSE)
            continue;
        struct bb_file_fault_plan plan = {.call = (enum bb_file_call)call, .nth = 1};
        bb_file_fault_arm(fault, &plan);
        assert_status(bb_wal_salvage_read_claim(bb_file_fault_system(fault), PATH, id, &is_told),
                      BB_IO);
    }
    bb_file_fault_destroy(fault);
    log_deinit(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wal_salvage__a_whole_log_is_given_whole),
        cmocka_unit_test(wal_salvage__what_is_beside_the_damage_is_given),
        cmocka_unit_test(wal_salvage__an_overwritten_end_is_lost),
        cmocka_unit_test(wal_salvage__a_cut_log_is_given_up_to_the_cut),
        cmocka_unit_test(wal_salvage__a_short_last_fragment_is_given),
        cmocka_unit_test(wal_salvage__another_log_is_no_damage),
        cmocka_unit_test(wal_salvage__failures_end_it),
        cmocka_unit_test(wal_claim__is_told_by_a_sound_header_alone),
        cmocka_unit_test(wal_first__is_found_behind_a_damaged_header),
        cmocka_unit_test(wal_salvage__fragments_before_their_places_are_not_given),
        cmocka_unit_test(wal_salvage__fragments_after_their_places_are_given),
        cmocka_unit_test(wal_fragment__of_an_impossible_place_is_not_found),
    };
    return cmocka_run_group_tests_name("wal_salvage", tests, NULL, NULL);
}
