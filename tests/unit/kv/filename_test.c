/* Goal: exactly the names of the grammar are ours, and each number has one name per kind.
 * Method: tables of good and of nearly good names; every name that differs from a good one in one
 * byte; round trips over random numbers; names for lost files up to the limit. */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "kv/manifest/filename.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

static const enum bb_file_kind numbered[] = {BB_FILE_MANIFEST, BB_FILE_LOG, BB_FILE_TABLE,
                                             BB_FILE_NEW_TABLE, BB_FILE_TEMPORARY};

static struct bb_filename decode(const char *name)
{
    return bb_filename_decode(bb_bytes_of_text(name));
}

static void filename__known_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum bb_file_kind kind;
        uint64_t number;
    } good[] = {
        {"CURRENT", BB_FILE_CURRENT, 0},
        {"LOCK", BB_FILE_LOCK, 0},
        {"MANIFEST-000001", BB_FILE_MANIFEST, 1},
        {"000002.wal", BB_FILE_LOG, 2},
        {"999999.bbt", BB_FILE_TABLE, 999999},
        {"1000000.bbt", BB_FILE_TABLE, 1000000},
        {"000007.bbt.new", BB_FILE_NEW_TABLE, 7},
        {"000100.tmp", BB_FILE_TEMPORARY, 100},
        {"4611686018427387903.wal", BB_FILE_LOG, BB_FILE_NUMBER_MAX},
        {"MANIFEST-4611686018427387903", BB_FILE_MANIFEST, BB_FILE_NUMBER_MAX},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        char name[BB_FILENAME_SIZE_MAX];
        struct bb_filename found = decode(good[i].name);
        assert_int_equal(found.kind, good[i].kind);
        assert_int_equal(found.number, good[i].number);
        bb_filename_encode(good[i].kind, good[i].number, name);
        assert_string_equal(name, good[i].name);
    }
}

static void filename__foreign_names(void **state)
{
    (void)state;
    static const char *const foreign[] = {
        "",
        ".",
        "..",
        "current",
        "CURRENT ",
        "CURRENT.tmp",
        "CURRENT\n",
        "LOCK2",
        "MANIFEST-",
        "MANIFEST-1",
        "MANIFEST-000000",
        "MANIFEST-0000001",
        "MANIFEST-000001.tmp",
        "MANIFEST-00000x",
        "manifest-000001",
        "MANIFEST--00001",
        "MANIFEST-+00001",
        "../MANIFEST-000001",
        "/MANIFEST-000001",
        "000001",
        "000001.",
        "000001.sst",
        "000001.ldb",
        "000001.log",
        "000001.WAL",
        "000001.wal~",
        "000001.wal.damaged",
        ".wal",
        "1.wal",
        "00001.wal",
        "0000001.wal",
        "0999999.wal",
        "000000.bbt",
        " 00001.bbt",
        "-00001.bbt",
        "0x0001.bbt",
        "4611686018427387904.bbt",
        "9999999999999999999.bbt",
        "18446744073709551617.bbt",
        "99999999999999999999999999999999999999.bbt",
        "MANIFEST-99999999999999999999999999999999",
        "lost+found",
    };
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        struct bb_filename found = decode(foreign[i]);
        if (found.kind != BB_FILE_FOREIGN)
            fail_msg("\"%s\" is taken for a file of kind %d", foreign[i], (int)found.kind);
        assert_int_equal(found.number, 0);
    }
    assert_int_equal(bb_filename_decode(bb_bytes_of("CURRENT", 8)).kind, BB_FILE_FOREIGN);
    assert_int_equal(bb_filename_decode(bb_bytes_of("000001.wal", 11)).kind, BB_FILE_FOREIGN);
    assert_int_equal(bb_filename_decode((struct bb_bytes){0}).kind, BB_FILE_FOREIGN);
}

/* Every accepted name equals the result of encode: one name for one number, over all changes of one
 * byte. */
static void filename__one_name_for_one_number(void **state)
{
    (void)state;
    size_t accepted = 0;
    for (size_t k = 0; k < sizeof(numbered) / sizeof(numbered[0]); k++) {
        char name[BB_FILENAME_SIZE_MAX];
        bb_filename_encode(numbered[k], 1002003, name);
        for (size_t i = 0; name[i] != 0; i++) {
            char changed[BB_FILENAME_SIZE_MAX];
            strcpy(changed, name);
            for (unsigned byte = 0; byte < 256; byte++) {
                changed[i] = (char)byte;
                struct bb_filename found = bb_filename_decode(bb_bytes_of(changed, strlen(name)));
                if (found.kind == BB_FILE_FOREIGN)
                    continue;
                char again[BB_FILENAME_SIZE_MAX];
                bb_filename_encode(found.kind, found.number, again);
                assert_int_equal(strlen(again), strlen(name));
                assert_memory_equal(again, changed, strlen(name));
                accepted++;
            }
        }
    }
    /* Of seven digits the first has 9 good values, the others 10: 69 per kind; 4 kinds; and
     * unchanged names. */
    assert_true(accepted > 4 * 69);
}

static void filename__round_trip(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("filename__round_trip", 5));
    for (size_t n = 0; n < 20000; n++) {
        char name[BB_FILENAME_SIZE_MAX];
        uint64_t number = 1 + bb_rng_skewed(&rng, BB_FILE_NUMBER_MAX - 1);
        enum bb_file_kind kind = numbered[n % 4];
        bb_filename_encode(kind, number, name);
        assert_int_equal(decode(name).kind, kind);
        assert_int_equal(decode(name).number, number);
    }
}

static void filename__paths(void **state)
{
    (void)state;
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path("/a/b", BB_FILE_TABLE, 7, path);
    assert_string_equal(path, "/a/b/000007.bbt");
    bb_filename_path("x/", BB_FILE_CURRENT, 99, path);
    assert_string_equal(path, "x/CURRENT");
}

#define DAMAGED "/000007.wal"

static enum bb_status lose(struct bb_file_system *fs, char ret_path[BB_FILENAME_LOST_SIZE_MAX])
{
    return bb_filename_rename_lost(fs, DAMAGED, ret_path);
}

static void filename__lost_takes_the_first_free_name(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    char path[BB_FILENAME_LOST_SIZE_MAX], expected[BB_FILENAME_LOST_SIZE_MAX];
    for (int i = 1; i < BB_FILENAME_LOST_MAX; i++) {
        bb_filename_lost(DAMAGED, i, expected);
        bb_file_memory_put(memory, expected, bb_bytes_of_text("x"));
    }
    bb_filename_lost(DAMAGED, BB_FILENAME_LOST_MAX, expected);
    bb_file_memory_put(memory, DAMAGED, bb_bytes_of_text("x"));
    assert_ok(lose(fs, path));
    assert_string_equal(path, expected);
    bb_file_memory_put(memory, DAMAGED, bb_bytes_of_text("x"));
    assert_status(lose(fs, path), BB_EXISTS);
    assert_message("there are 1000 copies of it already");
    bb_file_memory_destroy(memory);
}

/* A name whose look-up fails may exist: the file is not renamed. */
static void filename__lost_replaces_no_file_that_it_cannot_see(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    char path[BB_FILENAME_LOST_SIZE_MAX];
    bb_file_memory_put(memory, DAMAGED, bb_bytes_of_text("x"));
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_STATUS, .nth = 1});
    assert_status(lose(bb_file_fault_system(fault), path), BB_IO);
    assert_int_equal(bb_file_fault_calls(fault, BB_FILE_CALL_RENAME), 0);
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filename__known_names),
        cmocka_unit_test(filename__foreign_names),
        cmocka_unit_test(filename__one_name_for_one_number),
        cmocka_unit_test(filename__round_trip),
        cmocka_unit_test(filename__paths),
        cmocka_unit_test(filename__lost_takes_the_first_free_name),
        cmocka_unit_test(filename__lost_replaces_no_file_that_it_cannot_see),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
