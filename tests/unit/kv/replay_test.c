/* Goal: the check of a log accepts sequences that follow each other, ends at a gap, and refuses a
 * sequence that is there twice. Method: logs of two batches with chosen sequences. */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "kv/batch.h"
#include "kv/recovery/replay.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/file_memory.h"

#define PATH "/000007.wal"

static const uint8_t store_id[16] = {1, 2, 3};

static struct bb_wal_end *end_of_log; /* of the next log; may be NULL */

/* Writes a log of batches with two operations each, and checks it from sequence 10 on. */
static enum bb_status check(uint64_t first, uint64_t second, struct bb_log_check *check)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_wal_writer *writer = NULL;
    struct bb_batch *batch = NULL;
    assert_ok(bb_wal_writer_create(fs, PATH, 7, store_id, 0, &writer));
    assert_ok(bb_batch_create(&batch));
    assert_ok(bb_batch_put(batch, bb_bytes_of_text("a"), bb_bytes_of_text("1")));
    assert_ok(bb_batch_delete(batch, bb_bytes_of_text("b")));
    for (int i = 0; i < 2; i++) {
        struct bb_bytes record = bb_batch_stamp(batch, i == 0 ? first : second);
        assert_ok(bb_wal_writer_append(writer, &record, 1));
    }
    if (end_of_log != NULL)
        *end_of_log = bb_wal_writer_end(writer);
    assert_ok(bb_wal_writer_close(writer));
    bb_batch_destroy(batch);
    check->expected_sequence = 10;
    enum bb_status status =
        bb_replay_check_log(fs, PATH, 7, store_id, BB_RECOVERY_SYNCED, check, NULL, NULL);
    bb_file_memory_destroy(memory);
    return status;
}

static void replay__sequences_that_follow(void **state)
{
    (void)state;
    struct bb_log_check found = {0};
    assert_ok(check(10, 12, &found));
    assert_int_equal(found.record_count, 2);
    assert_int_equal(found.expected_sequence, 14);
    assert_false(found.is_gap || found.is_damaged);
}

static void replay__sequence_that_is_there_twice(void **state)
{
    (void)state;
    struct bb_log_check found = {0};
    assert_status(check(10, 11, &found), BB_CORRUPT);
    assert_message("sequence 11, expected 12: an operation is there twice");
    found = (struct bb_log_check){0};
    assert_status(check(9, 11, &found), BB_CORRUPT);
    assert_message("sequence 9, expected 10");
}

static void replay__gap_before_the_log(void **state)
{
    (void)state;
    struct bb_log_check found = {0};
    assert_ok(check(11, 13, &found));
    assert_true(found.is_gap);
    assert_int_equal(found.record_count, 0);
}

static void replay__gap_within_the_log(void **state)
{
    (void)state;
    struct bb_log_check found = {0};
    assert_status(check(10, 13, &found), BB_CORRUPT);
}

/* The end that a manifest recorded at the close of a store. */
static void replay__end_of_a_closed_log(void **state)
{
    (void)state;
    struct bb_log_check found = {0};
    struct bb_wal_end end = {0};
    end_of_log = &end;
    assert_ok(check(10, 12, &found));
    end_of_log = NULL;
    end.log_number = 7;
    struct bb_wal_end ends[] = {{.log_number = 6}, end};
    found = (struct bb_log_check){.ends = ends, .end_count = 2};
    assert_ok(check(10, 12, &found));
    ends[1].offset++;
    found = (struct bb_log_check){.ends = ends, .end_count = 2};
    assert_status(check(10, 12, &found), BB_CORRUPT);
    assert_message("are missing");
    ends[1].offset--;
    ends[1].check++;
    found = (struct bb_log_check){.ends = ends, .end_count = 2};
    assert_status(check(10, 12, &found), BB_CORRUPT);
    assert_message("others than these");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay__sequences_that_follow),
        cmocka_unit_test(replay__sequence_that_is_there_twice),
        cmocka_unit_test(replay__gap_before_the_log),
        cmocka_unit_test(replay__gap_within_the_log),
        cmocka_unit_test(replay__end_of_a_closed_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
