/* Goal: CURRENT is accepted only when it is exactly one name and a newline; publishing replaces it
 * atomically, and keeps the old one when it fails before that. Method: damaged contents one by one;
 * every call of publishing fails one by one. */
#include "tests/support/assert_status.h"

#include <string.h>

#include "base/bytes.h"
#include "kv/manifest/current.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"

static int setup(void **state)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    assert_ok(fs->ops->make_directory(fs, "/db"));
    *state = memory;
    return 0;
}

static int teardown(void **state)
{
    bb_file_memory_destroy(*state);
    return 0;
}

static void current__damaged(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_file_system *fs = bb_file_memory_system(memory);
    static const struct {
        const char *bytes;
        size_t size;
    } damaged[] = {
#define CASE(text) {text, sizeof(text) - 1}
        CASE(""),
        CASE("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        CASE("\n"),
        CASE("MANIFEST-000001"),
        CASE("MANIFEST-000001\n\n"),
        CASE("MANIFEST-000001\nMANIFEST-000002\n"),
        CASE("MANIFEST-000001\r\n"),
        CASE("MANIFEST-000001 \n"),
        CASE(" MANIFEST-000001\n"),
        CASE("MANIFEST-000001\0\n"),
        CASE("MANIFEST-000001\n\0"),
        CASE("MANIFEST-00001\n"),
        CASE("MANIFEST-0000001\n"),
        CASE("MANIFEST-000000\n"),
        CASE("MANIFEST-9999999999999999999\n"),
        CASE("../MANIFEST-000001\n"),
        CASE("./MANIFEST-000001\n"),
        CASE("/MANIFEST-000001\n"),
        CASE("../../etc/passwd\n"),
        CASE("000001.wal\n"),
        CASE("000001.bbt\n"),
        CASE("CURRENT\n"),
        CASE("LOCK\n"),
        CASE("manifest-000001\n"),
        CASE("MANIFEST-000001MANIFEST-000001MANIFEST-000001MANIFEST-000001MANIFEST-000001\n"),
#undef CASE
    };
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        uint64_t number = 77;
        bb_file_memory_put(memory, "/db/CURRENT", bb_bytes_of(damaged[i].bytes, damaged[i].size));
        assert_status(bb_current_read(fs, "/db", &number), BB_CORRUPT);
        assert_message("/db/CURRENT: ");
        assert_int_equal(number, 77);
    }
}

/* Any single bit: another sound name or an error, never anything else. */
static void current__corrupt_bit(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_file_system *fs = bb_file_memory_system(memory);
    char bytes[] = "MANIFEST-000123\n";
    for (size_t bit = 0; bit < 8 * strlen("MANIFEST-000123\n"); bit++) {
        uint64_t number = 0;
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        bb_file_memory_put(memory, "/db/CURRENT", bb_bytes_of(bytes, sizeof(bytes) - 1));
        if (bb_current_read(fs, "/db", &number) == BB_OK)
            assert_int_not_equal(number, 123);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
}

static void current__missing_or_no_file(void **state)
{
    struct bb_file_system *fs = bb_file_memory_system(*state);
    uint64_t number = 0;
    assert_status(bb_current_read(fs, "/db", &number), BB_NOT_FOUND);
    assert_ok(fs->ops->make_directory(fs, "/db/CURRENT"));
    assert_status(bb_current_read(fs, "/db", &number), BB_INVALID);
    assert_message("/db/CURRENT");
}

static void current__publish(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_file_system *fs = bb_file_memory_system(memory);
    uint64_t number = 0;
    size_t size = 0;
    assert_ok(bb_current_publish(fs, "/db", 5));
    assert_ok(bb_current_read(fs, "/db", &number));
    assert_int_equal(number, 5);
    assert_ok(bb_current_publish(fs, "/db", 1234567));
    assert_ok(bb_current_read(fs, "/db", &number));
    assert_int_equal(number, 1234567);
    assert_memory_equal(bb_file_memory_bytes(memory, "/db/CURRENT", &size), "MANIFEST-1234567\n",
                        17);
    assert_int_equal(size, 17);
    assert_null(bb_file_memory_bytes(memory, "/db/1234567.tmp", &size));
    assert_int_equal(bb_file_memory_pending_bytes(memory), 0);
    /* A temporary that is there was made by another attempt: its number is used up. */
    bb_file_memory_put(memory, "/db/000009.tmp", (struct bb_bytes){0});
    assert_status(bb_current_publish(fs, "/db", 9), BB_EXISTS);
    assert_ok(bb_current_read(fs, "/db", &number));
    assert_int_equal(number, 1234567);
}

/* After a failed append the failed close keeps the append's message. */
static void current__publish_with_lasting_failures(void **state)
{
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(*state));
    struct bb_file_system *fs = bb_file_fault_system(fault);
    for (uint64_t nth = 1; nth <= 4; nth++) {
        struct bb_file_fault_plan plan = {
            .call = BB_FILE_CALL_ANY, .path_part = ".tmp", .nth = nth, .lasting = true};
        bb_file_fault_arm(fault, &plan);
        assert_status(bb_current_publish(fs, "/db", nth), BB_IO);
        assert_message(nth == 2 ? "append" : ".tmp");
        bb_file_fault_disarm(fault);
    }
    bb_file_fault_destroy(fault);
}

static void current__publish_fails_at_every_call(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    struct bb_file_system *fs = bb_file_fault_system(fault);
    uint64_t number = 0;
    uint64_t attempt = 1;
    bool was_hit = true;
    bool was_published = false;
    assert_ok(bb_current_publish(fs, "/db", attempt));
    uint64_t in_force = attempt;
    for (uint64_t nth = 1; was_hit; nth++) {
        struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_ANY, .nth = nth};
        bb_file_fault_arm(fault, &plan);
        enum bb_status status = bb_current_publish(fs, "/db", ++attempt);
        was_hit = bb_file_fault_hits(fault) > 0;
        bb_file_fault_disarm(fault);
        assert_int_equal(status == BB_OK, !was_hit);
        assert_ok(bb_current_read(fs, "/db", &number));
        if (number != in_force) { /* the rename was made, but is not known to be durable */
            was_published = true;
            assert_int_equal(number, attempt);
            in_force = attempt;
        } else {
            assert_false(was_published); /* calls after the rename are at the end */
        }
    }
    assert_true(was_published);
    assert_int_equal(bb_file_fault_writes_after_failure(fault), 0);
    bb_file_fault_destroy(fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(current__damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(current__corrupt_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(current__missing_or_no_file, setup, teardown),
        cmocka_unit_test_setup_teardown(current__publish, setup, teardown),
        cmocka_unit_test_setup_teardown(current__publish_fails_at_every_call, setup, teardown),
        cmocka_unit_test_setup_teardown(current__publish_with_lasting_failures, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
