/* Goal: the fault layer affects exactly the requested call, in the requested way, and no other.
 * Method: over files in memory, so that the real effects can be examined. */
#include "tests/support/assert_status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"

struct place {
    struct bb_file_memory *memory;
    struct bb_file_fault *fault;
    struct bb_file_system *fs;
};

static void arm(struct place *place, enum bb_file_call call, uint64_t nth, bool lasting)
{
    struct bb_file_fault_plan plan = {.call = call, .nth = nth, .lasting = lasting};
    bb_file_fault_arm(place->fault, &plan);
}

static void file_fault__nth_call_fails_once(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    arm(place, BB_FILE_CALL_CREATE, 3, false);
    char path[] = "/0";
    for (unsigned i = 1; i <= 5; i++) {
        path[1] = (char)('0' + i);
        assert_status(bb_file_create(place->fs, path, &file), i == 3 ? BB_IO : BB_OK);
        if (i == 3) {
            assert_errno_message("/3: create: ", EIO);
            continue;
        }
        assert_ok(bb_file_close(file));
    }
    assert_int_equal(bb_file_fault_hits(place->fault), 1);
    assert_int_equal(bb_file_fault_calls(place->fault, BB_FILE_CALL_CREATE), 5);
    assert_int_equal(bb_file_fault_calls(place->fault, BB_FILE_CALL_CLOSE), 4);
    assert_int_equal(bb_file_fault_calls(place->fault, BB_FILE_CALL_ANY), 9);
    size_t size = 0;
    assert_null(bb_file_memory_bytes(place->memory, "/3", &size));
    assert_non_null(bb_file_memory_bytes(place->memory, "/4", &size));
}

static void file_fault__lasting_until_disarmed(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    arm(place, BB_FILE_CALL_ANY, 2, true);
    assert_ok(place->fs->ops->make_directory(place->fs, "/d"));
    assert_status(place->fs->ops->sync_directory(place->fs, "/d"), BB_IO);
    assert_status(bb_file_create(place->fs, "/d/a", &file), BB_IO);
    assert_int_equal(bb_file_fault_hits(place->fault), 2);
    bb_file_fault_disarm(place->fault);
    assert_ok(bb_file_create(place->fs, "/d/a", &file));
    assert_ok(bb_file_close(file));
}

static void file_fault__path_and_error_can_be_chosen(void **state)
{
    struct place *place = *state;
    struct bb_file *wal = NULL;
    struct bb_file *table = NULL;
    struct bb_file_fault_plan plan = {
        .call = BB_FILE_CALL_APPEND, .path_part = ".tbl", .nth = 1, .error_number = ENOSPC};
    assert_ok(bb_file_create(place->fs, "/1.wal", &wal));
    assert_ok(bb_file_create(place->fs, "/2.tbl", &table));
    bb_file_fault_arm(place->fault, &plan);
    assert_ok(bb_file_append(wal, bb_bytes_of_text("x")));
    assert_status(bb_file_append(table, bb_bytes_of_text("x")), BB_NO_SPACE);
    assert_message("/2.tbl: append: No space left on device");
    assert_ok(bb_file_close(wal));
    assert_ok(bb_file_close(table));
}

/* The cause is the failed read, not the failed close after it. */
static void file__the_first_of_two_failures_is_reported(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    struct bb_buf contents = {0};
    struct bb_file_fault_plan plan = {
        .call = BB_FILE_CALL_ANY, .path_part = "/f", .nth = 3, .lasting = true};
    assert_ok(bb_file_create(place->fs, "/f", &file));
    assert_ok(bb_file_append(file, bb_bytes_of_text("x")));
    assert_ok(bb_file_close(file));
    bb_file_fault_arm(place->fault, &plan); /* open, size, read, close */
    assert_status(bb_file_read_whole(place->fs, "/f", 10, &contents), BB_IO);
    assert_int_equal(bb_file_fault_hits(place->fault), 2);
    assert_message("/f: read");
    bb_file_fault_disarm(place->fault);
    assert_int_equal(contents.size, 0);
}

/* Makes every call of the seam once; the first failure. */
static enum bb_status call_everything(struct bb_file_system *fs, struct bb_file *reader,
                                      struct bb_file *writer)
{
    char byte = 0;
    size_t got = 0;
    uint64_t number = 0;
    bool is_directory = false;
    struct bb_file_names list = {0};
    struct bb_file_map *map = NULL;
    enum bb_status status = bb_file_read_at(reader, 0, &byte, 1, &got);
    if (status == BB_OK)
        status = bb_file_size(reader, &number);
    if (status == BB_OK)
        status = bb_file_append(writer, bb_bytes_of_text("x"));
    if (status == BB_OK)
        status = bb_file_map_create(reader, 1, &map);
    bb_file_map_destroy(map);
    if (status == BB_OK)
        status = bb_file_sync(writer);
    if (status == BB_OK)
        status = fs->ops->make_directory(fs, "/d");
    if (status == BB_OK)
        status = fs->ops->list(fs, "/d", &list);
    bb_file_names_deinit(&list);
    if (status == BB_OK)
        status = fs->ops->sync_directory(fs, "/d");
    if (status == BB_OK)
        status = fs->ops->remove_directory(fs, "/d");
    if (status == BB_OK)
        status = fs->ops->status(fs, "/f", &is_directory, &number);
    if (status == BB_OK)
        status = fs->ops->rename(fs, "/f", "/g");
    if (status == BB_OK)
        status = fs->ops->link(fs, "/g", "/h");
    if (status == BB_OK)
        status = fs->ops->remove(fs, "/g");
    if (status == BB_OK)
        status = fs->ops->free_space(fs, "/", &number);
    if (status == BB_OK)
        status = fs->ops->random(fs, &byte, 1);
    return status;
}

static enum bb_status open_and_call_everything(struct bb_file_system *fs)
{
    struct bb_file *lock = NULL;
    struct bb_file *reader = NULL;
    struct bb_file *writer = NULL;
    enum bb_status status = fs->ops->lock_shared(fs, "/LOCK", &lock);
    if (status == BB_OK)
        status = fs->ops->unlock(fs, lock);
    lock = NULL;
    if (status == BB_OK)
        status = fs->ops->lock(fs, "/LOCK", &lock);
    if (status == BB_OK)
        status = bb_file_create(fs, "/f", &writer);
    if (status == BB_OK)
        status = bb_file_open(fs, "/f", &reader);
    if (status == BB_OK)
        status = call_everything(fs, reader, writer);
    enum bb_status ends[3] = {bb_file_close(reader), bb_file_close(writer),
                              lock == NULL ? BB_OK : fs->ops->unlock(fs, lock)};
    for (size_t i = 0; i < 3 && status == BB_OK; i++)
        status = ends[i];
    return status;
}

/* Every call of the table can fail, and releases everything that it must: tear-down finds open
 * files. */
static void file_fault__every_call_can_fail(void **state)
{
    (void)state;
    uint64_t calls = BB_FILE_CALL_ANY + 2; /* close and unlock come twice */
    for (uint64_t nth = 1; nth <= calls + 1; nth++) {
        struct bb_file_memory *memory = bb_file_memory_create(1);
        struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
        struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_ANY, .nth = nth};
        bb_file_fault_arm(fault, &plan);
        enum bb_status status = open_and_call_everything(bb_file_fault_system(fault));
        assert_int_equal(status, nth <= calls ? BB_IO : BB_OK);
        assert_int_equal(bb_file_fault_hits(fault), nth <= calls);
        if (nth > calls) {
            for (enum bb_file_call call = 0; call < BB_FILE_CALL_ANY; call++)
                assert_int_equal(bb_file_fault_calls(fault, call),
                                 call == BB_FILE_CALL_CLOSE || call == BB_FILE_CALL_UNLOCK ? 2 : 1);
        }
        bb_file_fault_destroy(fault);
        bb_file_memory_destroy(memory);
    }
}

static void file_fault__short_read_and_bit_flip_are_transient(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    char buffer[8];
    size_t got = 0;
    bb_file_memory_put(place->memory, "/f", bb_bytes_of_text("01234567"));
    assert_ok(bb_file_open(place->fs, "/f", &file));

    struct bb_file_fault_plan plan = {.mode = BB_FILE_FAULT_SHORT_READ, .nth = 1};
    bb_file_fault_arm(place->fault, &plan);
    assert_ok(bb_file_read_at(file, 0, buffer, 8, &got));
    assert_int_equal(got, 4);
    bb_file_fault_arm(place->fault, &plan);
    assert_status(bb_file_read_exactly(file, 0, buffer, 8), BB_CORRUPT);
    assert_message("/f: at offset 4: file ends here");
    assert_ok(bb_file_read_exactly(file, 0, buffer, 8));

    plan.mode = BB_FILE_FAULT_BIT_FLIP;
    bb_file_fault_arm(place->fault, &plan);
    assert_ok(bb_file_read_exactly(file, 0, buffer, 8));
    unsigned wrong_bits = 0;
    for (size_t i = 0; i < 8; i++)
        wrong_bits += (unsigned)__builtin_popcount((unsigned)(buffer[i] ^ (char)('0' + i)));
    assert_int_equal(wrong_bits, 1);
    assert_ok(bb_file_read_exactly(file, 0, buffer, 8));
    assert_memory_equal(buffer, "01234567", 8);
    assert_ok(bb_file_close(file));
}

static void file_fault__short_write_leaves_a_part(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    size_t size = 0;
    struct bb_file_fault_plan plan = {.mode = BB_FILE_FAULT_SHORT_WRITE, .nth = 2};
    assert_ok(bb_file_create(place->fs, "/f", &file));
    bb_file_fault_arm(place->fault, &plan);
    assert_ok(bb_file_append(file, bb_bytes_of_text("abcd")));
    assert_status(bb_file_append(file, bb_bytes_of_text("efgh")), BB_IO);
    assert_memory_equal(bb_file_memory_bytes(place->memory, "/f", &size), "abcdef", 6);
    assert_int_equal(size, 6);
    assert_ok(bb_file_close(file));
}

static void file_fault__books_tell_of_writes_after_a_failure(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    struct bb_file *other = NULL;
    assert_ok(bb_file_create(place->fs, "/f", &file));
    assert_ok(bb_file_create(place->fs, "/g", &other));
    assert_ok(bb_file_append(file, bb_bytes_of_text("abcd")));
    arm(place, BB_FILE_CALL_SYNC, 1, false);
    assert_status(bb_file_sync(file), BB_IO);
    assert_ok(bb_file_append(other, bb_bytes_of_text("fine")));
    assert_int_equal(bb_file_fault_writes_after_failure(place->fault), 0);
    assert_ok(bb_file_sync(file)); /* an engine must not do this */
    assert_ok(bb_file_append(file, bb_bytes_of_text("x")));
    assert_int_equal(bb_file_fault_writes_after_failure(place->fault), 2);
    assert_ok(bb_file_close(file));
    assert_ok(bb_file_close(other));
}

static void file_fault__log_lists_the_calls(void **state)
{
    struct place *place = *state;
    size_t count = 0;
    struct bb_file *file = NULL;
    assert_ok(bb_file_create(place->fs, "/before", &file));
    assert_ok(bb_file_close(file));
    bb_file_fault_log_enable(place->fault, true);
    assert_ok(bb_file_create(place->fs, "/f", &file));
    assert_ok(bb_file_close(file));
    assert_status(bb_file_open(place->fs, "/none", &file), BB_NOT_FOUND);
    const struct bb_file_fault_record *log = bb_file_fault_log(place->fault, &count);
    assert_int_equal(count, 3);
    assert_int_equal(log[0].call, BB_FILE_CALL_CREATE);
    assert_string_equal(log[0].path, "/f");
    assert_string_equal(bb_file_call_name(log[1].call), "close");
    assert_string_equal(log[2].path, "/none");
    bb_file_fault_log_clear(place->fault);
    (void)bb_file_fault_log(place->fault, &count);
    assert_int_equal(count, 0);
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_non_null(place);
    place->memory = bb_file_memory_create(1);
    place->fault = bb_file_fault_create(bb_file_memory_system(place->memory));
    place->fs = bb_file_fault_system(place->fault);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    bb_file_fault_destroy(place->fault);
    bb_file_memory_destroy(place->memory);
    free(place);
    return 0;
}

#define fault_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fault_test(file_fault__nth_call_fails_once),
        fault_test(file_fault__lasting_until_disarmed),
        fault_test(file_fault__path_and_error_can_be_chosen),
        fault_test(file__the_first_of_two_failures_is_reported),
        fault_test(file_fault__every_call_can_fail),
        fault_test(file_fault__short_read_and_bit_flip_are_transient),
        fault_test(file_fault__short_write_leaves_a_part),
        fault_test(file_fault__books_tell_of_writes_after_a_failure),
        fault_test(file_fault__log_lists_the_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
