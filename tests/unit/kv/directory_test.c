/* Goal: every name of a directory is classified by the rules of docs/durability.md (R7 to R9): no
 * needed and no foreign file is ever removed, and no store is created over possible data. Method:
 * directories in memory made for each rule; for removal, random directories compared with a second
 * implementation of the rules. */
#include "tests/unit/kv/sample_edit.h"

#include <stdio.h>

#include "base/alloc.h"
#include "kv/directory/directory.h"
#include "kv/manifest/current.h"
#include "kv/wal/wal_writer.h"
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

static void put(struct bb_file_memory *memory, const char *name, size_t size)
{
    static const uint8_t zeros[5000];
    char path[128];
    snprintf(path, sizeof(path), "/db/%s", name);
    bb_file_memory_put(memory, path, bb_bytes_of(zeros, size));
}

static bool is_there(struct bb_file_memory *memory, const char *name)
{
    char path[128];
    size_t size = 0;
    snprintf(path, sizeof(path), "/db/%s", name);
    return bb_file_memory_bytes(memory, path, &size) != NULL;
}

static struct bb_directory scan(struct bb_file_system *fs)
{
    struct bb_directory directory = {0};
    assert_ok(bb_directory_scan(fs, "/db", &directory));
    return directory;
}

/* A state with these tables of `file_size` 1000 + number, and the first log. */
static struct bb_manifest_state make_state(const uint64_t *tables, size_t count,
                                           uint64_t log_number)
{
    struct bb_manifest_state state = {0};
    struct bb_rng rng;
    struct bb_edit edit = {
        .has_identity = true, .identity = sample_identity(1), .next_file_number = 1000};
    bb_rng_init(&rng, 1);
    edit.last_sequence = 100;
    edit.log_number = log_number;
    for (size_t i = 0; i < count; i++) {
        sample_add_table(&rng, &edit, 1, tables[i], 100);
        edit.added[i].meta.file_size = 1000 + tables[i];
        edit.added[i].meta.filter_bytes = 1;
    }
    assert_ok(bb_manifest_state_apply(&state, &edit, (struct bb_place){0}));
    bb_edit_deinit(&edit);
    return state;
}

/* ---- scanning ---- */

static void directory__scan(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_file_system *fs = bb_file_memory_system(memory);
    static const char *const expected[] = {"000300.sst",      "000400.bbt", "notes",
                                           "CURRENT",         "LOCK",       "MANIFEST-000009",
                                           "MANIFEST-000010", "000011.wal", "1000000.wal",
                                           "000012.bbt",      "000010.tmp"};
    struct bb_directory directory = scan(fs);
    assert_int_equal(directory.file_count, 0);
    assert_false(directory.has_current);
    bb_directory_deinit(&directory);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        put(memory, expected[(i * 7) % 11], i);
    assert_ok(fs->ops->remove(fs, "/db/000400.bbt"));
    assert_ok(fs->ops->make_directory(fs, "/db/000400.bbt"));
    put(memory, "000012.bbt", 77);
    directory = scan(fs);
    assert_int_equal(directory.file_count, sizeof(expected) / sizeof(expected[0]));
    for (size_t i = 0; i < directory.file_count; i++)
        assert_string_equal(directory.files[i].name, expected[i]);
    assert_int_equal(directory.files[1].is.kind, BB_FILE_FOREIGN); /* a directory of that name */
    assert_true(directory.files[1].is_directory);
    assert_int_equal(directory.files[9].size, 77);
    assert_true(directory.has_current);
    bb_directory_deinit(&directory);
    assert_status(bb_directory_scan(fs, "/none", &directory), BB_NOT_FOUND);
}

static void directory__failed_scan_is_an_error(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    struct bb_file_system *fs = bb_file_fault_system(fault);
    struct bb_directory directory = {0};
    put(memory, "000001.wal", 1);
    put(memory, "000002.wal", 1);
    static const struct bb_file_fault_plan plans[] = {{.call = BB_FILE_CALL_LIST, .nth = 1},
                                                      {.call = BB_FILE_CALL_STATUS, .nth = 1},
                                                      {.call = BB_FILE_CALL_STATUS, .nth = 2}};
    for (size_t i = 0; i < 3; i++) {
        bb_file_fault_arm(fault, &plans[i]);
        assert_status(bb_directory_scan(fs, "/db", &directory), BB_IO);
        assert_int_equal(directory.file_count, 0);
    }
    bb_file_fault_destroy(fault);
}

static void directory__next_number(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_manifest_state none = {0};
    struct bb_manifest_state known = {.next_file_number = 50};
    uint64_t number = 0;
    struct bb_directory directory = scan(bb_file_memory_system(memory));
    assert_ok(bb_directory_next_number("/db", &directory, &none, &number));
    assert_int_equal(number, 1);
    assert_ok(bb_directory_next_number("/db", &directory, &known, &number));
    assert_int_equal(number, 50);
    bb_directory_deinit(&directory);
    put(memory, "000049.tmp", 0);
    directory = scan(bb_file_memory_system(memory));
    assert_ok(bb_directory_next_number("/db", &directory, &known, &number));
    assert_int_equal(number, 50);
    bb_directory_deinit(&directory);
    put(memory, "000050.bbt", 0);
    directory = scan(bb_file_memory_system(memory));
    assert_ok(bb_directory_next_number("/db", &directory, &known, &number));
    assert_int_equal(number, 51);
    bb_directory_deinit(&directory);
    known.next_file_number = BB_FILE_NUMBER_MAX + 1;
    directory = scan(bb_file_memory_system(memory));
    assert_status(bb_directory_next_number("/db", &directory, &known, &number), BB_TOO_LARGE);
    assert_message("/db: all file numbers");
    bb_directory_deinit(&directory);
}

/* The farthest number of a name that counts, and the next one. */
static void directory__next_number_is_not_taken_from_far_names(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_manifest_state none = {0};
    struct bb_manifest_state known = {.next_file_number = 50};
    uint64_t number = 0;
    put(memory, "1099511627826.bbt", 0);       /* 50 + 2^40 */
    put(memory, "4611684918915760127.wal", 0); /* 2^62 - 1 - 2^40 */
    put(memory, "4611686018427387903.wal", 0);
    struct bb_directory directory = scan(bb_file_memory_system(memory));
    assert_ok(bb_directory_next_number("/db", &directory, &known, &number));
    assert_int_equal(number, 50);
    assert_ok(bb_directory_next_number("/db", &directory, &none, &number));
    assert_int_equal(number, 1099511627827);
    bb_directory_deinit(&directory);
    put(memory, "1099511627825.bbt", 0);
    directory = scan(bb_file_memory_system(memory));
    assert_ok(bb_directory_next_number("/db", &directory, &known, &number));
    assert_int_equal(number, 1099511627826);
    bb_directory_deinit(&directory);
}

static void directory__logs(void **state)
{
    struct bb_file_memory *memory = *state;
    static const char *const names[] = {"000007.wal", "000020.wal", "000008.wal",
                                        "000100.wal", "000101.bbt", "000009.wal.old"};
    uint64_t *numbers = NULL;
    size_t count = 7;
    struct bb_manifest_state known = {.log_number = 8};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put(memory, names[i], 1);
    struct bb_directory directory = scan(bb_file_memory_system(memory));
    assert_ok(bb_directory_logs(&directory, &known, &numbers, &count));
    assert_int_equal(count, 3);
    assert_int_equal(numbers[0], 8);
    assert_int_equal(numbers[1], 20);
    assert_int_equal(numbers[2], 100);
    bb_free(numbers);
    known.log_number = 101;
    assert_ok(bb_directory_logs(&directory, &known, &numbers, &count));
    assert_int_equal(count, 0);
    assert_null(numbers);
    bb_directory_deinit(&directory);
}

/* ---- is it complete, may it be new ---- */

static void check_complete(struct bb_file_memory *memory, const struct bb_manifest_state *known,
                           enum bb_status status, const char *message)
{
    struct bb_directory directory = scan(bb_file_memory_system(memory));
    assert_status(bb_directory_check_complete("/db", &directory, known), status);
    if (status != BB_OK)
        assert_message(message);
    bb_directory_deinit(&directory);
}

static void directory__incomplete(void **state)
{
    struct bb_file_memory *memory = *state;
    static const uint64_t tables[] = {5, 6, 300};
    struct bb_manifest_state known = make_state(tables, 3, 40);
    put(memory, "000005.bbt", 1005);
    put(memory, "000300.bbt", 1300);
    put(memory, "000040.wal", 0);
    check_complete(memory, &known, BB_CORRUPT,
                   "/db/000006.bbt: missing, and the manifest has it in level 1");
    put(memory, "000006.bbt", 1007);
    check_complete(memory, &known, BB_CORRUPT,
                   "/db/000006.bbt: has 1007 bytes, the manifest has 1006");
    put(memory, "000006.bbt", 1006);
    check_complete(memory, &known, BB_OK, NULL);
    assert_ok(bb_file_memory_system(memory)->ops->remove(bb_file_memory_system(memory),
                                                         "/db/000040.wal"));
    put(memory, "000041.wal", 0);
    check_complete(memory, &known, BB_CORRUPT,
                   "/db/000040.wal: missing, but the manifest requires recovery to begin with");
    known.log_is_absent = true;
    check_complete(memory, &known, BB_OK, NULL);
    known.log_is_absent = false;
    known.log_number = 0;
    check_complete(memory, &known, BB_OK, NULL);
    bb_manifest_state_deinit(&known);
}

static void check_new(struct bb_file_memory *memory, enum bb_status status, const char *message)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_directory directory = scan(fs);
    uint64_t calls = bb_file_memory_calls(memory);
    assert_status(bb_directory_check_new(fs, "/db", &directory), status);
    assert_int_equal(bb_file_memory_calls(memory), calls); /* nothing was changed */
    if (status != BB_OK)
        assert_message(message);
    bb_directory_deinit(&directory);
}

static void write_manifest(struct bb_file_system *fs, uint64_t number,
                           struct bb_manifest_state known)
{
    struct bb_manifest *manifest = NULL;
    assert_ok(bb_manifest_create(fs, "/db", number, &known, &manifest));
    assert_ok(bb_manifest_close(manifest));
    assert_ok(fs->ops->remove(fs, "/db/CURRENT"));
}

static void directory__new_store(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_file_system *fs = bb_file_memory_system(memory);
    static const uint64_t table = 5;
    struct bb_manifest_state empty = make_state(NULL, 0, 0);
    check_new(memory, BB_OK, NULL);
    put(memory, "LOCK", 5);
    put(memory, "README", 5);
    put(memory, "000001.sst", 5);
    check_new(memory, BB_OK, NULL);
    /* Leftovers of an interrupted creation. */
    put(memory, "000002.tmp", 10);
    put(memory, "MANIFEST-000001", 0);
    put(memory, "MANIFEST-000002", 300);
    check_new(memory, BB_OK, NULL);
    write_manifest(fs, 3, empty);
    check_new(memory, BB_OK, NULL);
    /* More than a leftover. */
    put(memory, "MANIFEST-000004", 1025);
    check_new(memory, BB_CORRUPT,
              "/db: has no CURRENT, but files of a store: MANIFEST-000001, MANIFEST-000002, "
              "MANIFEST-000003, MANIFEST-000004, 000002.tmp");
    assert_ok(fs->ops->remove(fs, "/db/MANIFEST-000004"));
    check_new(memory, BB_OK, NULL);
    write_manifest(fs, 5, make_state(NULL, 0, 40));
    check_new(memory, BB_CORRUPT, "MANIFEST-000005");
    assert_ok(fs->ops->remove(fs, "/db/MANIFEST-000005"));
    write_manifest(fs, 6, make_state(&table, 1, 0));
    check_new(memory, BB_CORRUPT, "MANIFEST-000006");
    assert_ok(fs->ops->remove(fs, "/db/MANIFEST-000006"));
    check_new(memory, BB_OK, NULL);
    put(memory, "000007.wal", 0);
    check_new(memory, BB_CORRUPT, "000007.wal");
    for (int i = 10; i < 30; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%06d.bbt", i);
        put(memory, name, 0);
    }
    check_new(memory, BB_CORRUPT,
              "000007.wal, 000010.bbt, 000011.bbt, 000012.bbt, 000013.bbt and 17 more");
    assert_ok(bb_current_publish(fs, "/db", 99));
    check_new(memory, BB_EXISTS, "/db: there is a store");
}

static void directory__new_store_needs_a_sound_look(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    struct bb_file_system *fs = bb_file_fault_system(fault);
    struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = 1};
    put(memory, "MANIFEST-000002", 300);
    struct bb_directory directory = scan(fs);
    bb_file_fault_arm(fault, &plan);
    assert_status(bb_directory_check_new(fs, "/db", &directory), BB_IO);
    bb_file_fault_disarm(fault);
    bb_directory_deinit(&directory);
    bb_file_fault_destroy(fault);
}

/* ---- orphans ---- */

static enum bb_file_verdict judge(enum bb_file_kind kind, uint64_t number,
                                  const struct bb_manifest_state *known)
{
    struct bb_directory_file file = {.name = "", .is = {.kind = kind, .number = number}};
    return bb_directory_judge(&file, known, 70);
}

static void directory__judge(void **state)
{
    (void)state;
    static const uint64_t tables[] = {5, 80};
    struct bb_manifest_state known = make_state(tables, 2, 40);
    static const struct {
        enum bb_file_kind kind;
        uint64_t number;
        enum bb_file_verdict verdict;
    } cases[] = {
        {BB_FILE_FOREIGN, 0, BB_FILE_VERDICT_FOREIGN},
        {BB_FILE_CURRENT, 0, BB_FILE_VERDICT_NEEDED},
        {BB_FILE_LOCK, 0, BB_FILE_VERDICT_NEEDED},
        {BB_FILE_MANIFEST, 70, BB_FILE_VERDICT_NEEDED},
        {BB_FILE_MANIFEST, 69, BB_FILE_VERDICT_ORPHAN},
        {BB_FILE_MANIFEST, 71, BB_FILE_VERDICT_ORPHAN},
        {BB_FILE_LOG, 39, BB_FILE_VERDICT_ORPHAN},
        {BB_FILE_LOG, 40, BB_FILE_VERDICT_NEEDED},
        {BB_FILE_LOG, 41, BB_FILE_VERDICT_NEEDED},
        {BB_FILE_TABLE, 5, BB_FILE_VERDICT_NEEDED},
        {BB_FILE_TABLE, 6, BB_FILE_VERDICT_ORPHAN},
        {BB_FILE_TABLE, 80, BB_FILE_VERDICT_NEEDED},
        {BB_FILE_TABLE, 5000, BB_FILE_VERDICT_ORPHAN},
        {BB_FILE_NEW_TABLE, 5, BB_FILE_VERDICT_ORPHAN},
        {BB_FILE_NEW_TABLE, 80, BB_FILE_VERDICT_ORPHAN},
        {BB_FILE_TEMPORARY, 70, BB_FILE_VERDICT_ORPHAN},
        {BB_FILE_TEMPORARY, 5, BB_FILE_VERDICT_ORPHAN},
        /* 1000 + 2^40: beyond the numbers that the store can have used. */
        {BB_FILE_TABLE, 1099511628775, BB_FILE_VERDICT_ORPHAN},
        {BB_FILE_TABLE, 1099511628776, BB_FILE_VERDICT_FOREIGN},
        {BB_FILE_LOG, 1099511628775, BB_FILE_VERDICT_NEEDED},
        {BB_FILE_LOG, 1099511628776, BB_FILE_VERDICT_FOREIGN},
        {BB_FILE_MANIFEST, BB_FILE_NUMBER_MAX, BB_FILE_VERDICT_FOREIGN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(judge(cases[i].kind, cases[i].number, &known), cases[i].verdict);
    }
    bb_manifest_state_deinit(&known);
}

/* The rules again, for only a name. */
static bool may_go(const char *name, const struct bb_manifest_state *known)
{
    unsigned long long number = 0;
    char kind[8] = "";
    if (sscanf(name, "MANIFEST-%llu", &number) == 1)
        return number != 70;
    if (strlen(name) != 10 || sscanf(name, "%6llu.%3s", &number, kind) != 2)
        return false;
    if (strcmp(kind, "wal") == 0)
        return number < known->log_number;
    if (strcmp(kind, "bbt") == 0)
        return bb_manifest_state_find(known, number) == NULL;
    return strcmp(kind, "tmp") == 0;
}

/* A name that is ours, nearly ours, or foreign. */
static void make_name(unsigned form, unsigned number, char name[64])
{
    static const char *const suffixes[] = {"wal", "bbt", "tmp", "ldb", "bbt.bak"};
    if (form == 0)
        snprintf(name, 64, "MANIFEST-%06u", number);
    else if (form <= 5)
        snprintf(name, 64, "%06u.%s", number, suffixes[form - 1]);
    else
        snprintf(name, 64, "%u.bbt", number);
}

static void fill(struct bb_file_memory *memory, struct bb_rng *rng)
{
    put(memory, "CURRENT", 1);
    put(memory, "LOCK", 1);
    for (int n = 0; n < 60; n++) {
        char name[64];
        make_name((unsigned)bb_rng_below(rng, 7), (unsigned)bb_rng_between(rng, 1, 99), name);
        put(memory, name, 1);
    }
}

static void directory__remove_orphans(void **unused)
{
    (void)unused;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("directory__remove_orphans", 1));
    for (int round = 0; round < 60; round++) {
        struct bb_file_memory *memory = bb_file_memory_create(1);
        struct bb_file_system *fs = bb_file_memory_system(memory);
        uint64_t tables[] = {bb_rng_between(&rng, 1, 30), bb_rng_between(&rng, 31, 60),
                             bb_rng_between(&rng, 61, 99)};
        struct bb_manifest_state known = make_state(tables, 3, bb_rng_between(&rng, 1, 99));
        struct bb_directory_report report;
        size_t expected = 0;
        size_t foreign = 0;
        assert_ok(fs->ops->make_directory(fs, "/db"));
        fill(memory, &rng);
        struct bb_directory directory = scan(fs);
        put(memory, "000098.tmp.later", 1);
        for (size_t i = 0; i < directory.file_count; i++) {
            expected += may_go(directory.files[i].name, &known);
            foreign += directory.files[i].is.kind == BB_FILE_FOREIGN;
        }
        bb_directory_remove_orphans(fs, "/db", &directory, &known, 70, &report);
        assert_int_equal(report.removed, expected);
        assert_int_equal(report.foreign, foreign);
        assert_int_equal(report.failed, 0);
        for (size_t i = 0; i < directory.file_count; i++)
            assert_int_equal(is_there(memory, directory.files[i].name),
                             !may_go(directory.files[i].name, &known));
        assert_true(is_there(memory, "000098.tmp.later"));
        bb_directory_deinit(&directory);
        bb_manifest_state_deinit(&known);
        bb_file_memory_destroy(memory);
    }
}

static void directory__failed_removal_is_counted(void **state)
{
    struct bb_file_memory *memory = *state;
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    struct bb_file_system *fs = bb_file_fault_system(fault);
    struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_REMOVE, .nth = 2};
    struct bb_manifest_state known = make_state(NULL, 0, 40);
    struct bb_directory_report report;
    put(memory, "000001.bbt", 1);
    put(memory, "000002.bbt", 1);
    put(memory, "000003.bbt", 1);
    struct bb_directory directory = scan(fs);
    bb_file_fault_arm(fault, &plan);
    bb_directory_remove_orphans(fs, "/db", &directory, &known, 70, &report);
    assert_int_equal(report.removed, 2);
    assert_int_equal(report.failed, 1);
    assert_true(is_there(memory, "000002.bbt"));
    bb_directory_deinit(&directory);
    bb_manifest_state_deinit(&known);
    bb_file_fault_destroy(fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(directory__scan, setup, teardown),
        cmocka_unit_test_setup_teardown(directory__failed_scan_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(directory__next_number, setup, teardown),
        cmocka_unit_test_setup_teardown(directory__next_number_is_not_taken_from_far_names, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(directory__logs, setup, teardown),
        cmocka_unit_test_setup_teardown(directory__incomplete, setup, teardown),
        cmocka_unit_test_setup_teardown(directory__new_store, setup, teardown),
        cmocka_unit_test_setup_teardown(directory__new_store_needs_a_sound_look, setup, teardown),
        cmocka_unit_test(directory__judge),
        cmocka_unit_test(directory__remove_orphans),
        cmocka_unit_test_setup_teardown(directory__failed_removal_is_counted, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
