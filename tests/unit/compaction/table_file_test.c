/* Goal: a table file is opened once, stays open as long as it is named, and its file is removed
 * exactly when it is obsolete and unreferenced. Method: real tables in memory; threads that open,
 * read and release the same ones (the thread sanitizer's build finds the rest). */
#include "tests/unit/compaction/shelf.h"
#include "tests/unit/compaction/table_bounds.h"

#include <sched.h>

#include "base/file_forward.h"
#include "base/sync.h"

static struct bb_table_file *one_table(struct shelf *shelf)
{
    struct bb_entry_array array = {0};
    shelf_init(shelf, NULL);
    bb_entry_array_add_text(&array, "c", 2, "value");
    bb_entry_array_add_text(&array, "m", 1, NULL);
    struct bb_table_file *file = shelf_put(shelf, &array, 0, 2);
    bb_entry_array_deinit(&array);
    return file;
}

static void table_file__opens_once(void **state)
{
    (void)state;
    struct shelf shelf;
    struct bb_table *first = NULL;
    struct bb_table *second = NULL;
    struct bb_table_file *file = one_table(&shelf);
    assert_int_equal(bb_file_memory_open_files(shelf.memory), 0);
    assert_int_equal(bb_table_file_memory(file), 0);
    assert_ok(bb_table_file_open(file, &first));
    assert_ok(bb_table_file_open(file, &second));
    assert_ptr_equal(first, second);
    assert_int_equal(bb_file_memory_open_files(shelf.memory), 1);
    assert_int_equal(bb_table_file_memory(file), bb_table_memory(first));
    bb_table_file_unref(bb_table_file_ref(file));
    assert_int_equal(bb_file_memory_open_files(shelf.memory), 1);
    bb_table_file_unref(file);
    assert_int_equal(bb_file_memory_open_files(shelf.memory), 0);
    assert_true(shelf_has(&shelf, 1));
    shelf_deinit(&shelf);
}

static void table_file__obsolete_file_goes_with_the_last_reference(void **state)
{
    (void)state;
    for (int opened = 0; opened < 2; opened++) {
        struct shelf shelf;
        struct bb_table *table = NULL;
        struct bb_table_file *file = one_table(&shelf);
        if (opened == 1)
            assert_ok(bb_table_file_open(file, &table));
        bb_table_file_ref(file);
        atomic_store(&file->is_obsolete, true);
        bb_table_file_unref(file);
        assert_true(shelf_has(&shelf, 1));
        bb_table_file_unref(file);
        assert_false(shelf_has(&shelf, 1));
        shelf_deinit(&shelf);
    }
}

static void table_file__covers_its_bounds(void **state)
{
    (void)state;
    struct shelf shelf;
    struct bb_table_file *file = one_table(&shelf);
    assert_false(table_bounds_contain(file, NULL, bb_bytes_of_text("b")));
    assert_true(table_bounds_contain(file, NULL, bb_bytes_of_text("c")));
    assert_true(table_bounds_contain(file, NULL, bb_bytes_of_text("d")));
    assert_true(table_bounds_contain(file, NULL, bb_bytes_of_text("m")));
    assert_false(table_bounds_contain(file, NULL, bb_bytes_of_text("m0")));
    assert_false(table_bounds_contain(file, NULL, (struct bb_bytes){0}));
    bb_table_file_unref(file);
    shelf_deinit(&shelf);
}

/* Bounds that two tables of a run share would bring their entries out of order. */
static void table_file__bounds_are_those_of_the_manifest(void **state)
{
    (void)state;
    static const char *const others[][2] = {{"c", "n"}, {"b", "m"}, {"c", "l"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) + 1; i++) {
        struct shelf shelf;
        struct bb_table *table = NULL;
        struct bb_table_file *file = one_table(&shelf);
        if (i == 3) {
            file->meta.largest_is_exclusive = true;
        } else {
            assert_ok(bb_buf_assign(&file->meta.smallest, bb_bytes_of_text(others[i][0])));
            assert_ok(bb_buf_assign(&file->meta.largest, bb_bytes_of_text(others[i][1])));
        }
        assert_status(bb_table_file_open(file, &table), BB_CORRUPT);
        assert_message("range of keys");
        assert_message("/000001");
        bb_table_file_unref(file);
        shelf_deinit(&shelf);
    }
}

static void table_file__failed_opening_is_tried_again(void **state)
{
    (void)state;
    struct shelf shelf;
    struct bb_table *table = NULL;
    struct bb_table_file *file = one_table(&shelf);
    assert_ok(shelf.system->ops->rename(shelf.system, "/000001", "/aside"));
    struct bb_table *const unchanged = (struct bb_table *)&shelf;
    table = unchanged;
    assert_status(bb_table_file_open(file, &table), BB_CORRUPT);
    assert_message("/000001");
    assert_ptr_equal(table, unchanged);
    assert_ok(shelf.system->ops->rename(shelf.system, "/aside", "/000001"));
    assert_ok(bb_table_file_open(file, &table));
    bb_table_file_unref(file);
    shelf_deinit(&shelf);
}

#define THREADS 4
#define FILES   5
#define ROUNDS  400

struct readers {
    struct bb_table_file *files[FILES];
    uint64_t key_hash;
    _Atomic int found;
};

static void read_files(void *argument)
{
    struct readers *readers = argument;
    static const struct bb_read_options options;
    struct bb_buf value = {0};
    for (size_t i = 0; i < FILES * ROUNDS; i++) {
        struct bb_table_file *file = bb_table_file_ref(readers->files[i % FILES]);
        struct bb_table *table = NULL;
        uint64_t sequence = 0;
        enum bb_visit visit = BB_VISIT_NOT_VISIBLE;
        if (bb_table_file_open(file, &table) == BB_OK &&
            bb_table_get(table, &options, bb_bytes_of_text("c"), readers->key_hash, BB_SEQUENCE_MAX,
                         NULL, &value, &sequence, &visit) == BB_OK)
            readers->found += visit == BB_VISIT_PRESENT;
        bb_table_file_unref(file);
    }
    bb_buf_deinit(&value);
    for (size_t i = 0; i < FILES; i++)
        bb_table_file_unref(readers->files[i]);
}

static void table_file__threads_share_it(void **state)
{
    (void)state;
    struct shelf shelf;
    struct readers readers = {.found = 0};
    struct bb_thread threads[THREADS];
    struct bb_entry_array array = {0};
    shelf_init(&shelf, NULL);
    bb_entry_array_add_text(&array, "c", 2, "value");
    readers.key_hash = bb_hash_key(&shelf.secret, bb_bytes_of_text("c"));
    for (size_t i = 0; i < FILES; i++) {
        readers.files[i] = shelf_put(&shelf, &array, 0, 1);
        atomic_store(&readers.files[i]->is_obsolete, i % 2 == 0);
    }
    for (size_t i = FILES; i < THREADS * FILES;
         i++) /* one for each thread and file; the first thread's are there */
        bb_table_file_ref(readers.files[i % FILES]);
    for (size_t i = 0; i < THREADS; i++)
        assert_ok(bb_thread_create(&threads[i], read_files, &readers));
    for (size_t i = 0; i < THREADS; i++)
        bb_thread_join(&threads[i]);
    assert_int_equal(readers.found, THREADS * FILES * ROUNDS);
    assert_int_equal(bb_file_memory_open_files(shelf.memory), 0);
    assert_int_equal(shelf.removed_count, 3);
    bb_entry_array_deinit(&array);
    shelf_deinit(&shelf);
}

/* A file system whose opening of one file does not end before it is told to. */
struct slow_system {
    struct bb_file_forward forward;
    _Atomic bool has_begun;
    _Atomic bool may_end;
    _Atomic int openings;
};

static enum bb_status open_slowly(struct bb_file_system *fs, const char *path,
                                  struct bb_file **ret_file)
{
    struct slow_system *slow = (struct slow_system *)fs;
    struct bb_file_system *inner = bb_file_forward_inner(fs);
    slow->openings++;
    if (strcmp(path, "/000001") == 0) {
        slow->has_begun = true;
        while (!slow->may_end)
            sched_yield();
    }
    return inner->ops->open(inner, path, ret_file);
}

static void open_file(void *argument)
{
    struct bb_table *table = NULL;
    assert_ok(bb_table_file_open(argument, &table));
}

/* One table after the other was opened, so a slow file delayed all others, and the statistics. */
static void table_file__slow_opening_delays_no_other(void **state)
{
    (void)state;
    struct shelf shelf;
    struct slow_system slow = {.openings = 0};
    struct bb_table *table = NULL;
    struct bb_thread threads[2];
    struct bb_entry_array array = {0};
    struct bb_table_file *first = one_table(&shelf);
    bb_entry_array_add_text(&array, "c", 2, "value");
    struct bb_table_file *second = shelf_put(&shelf, &array, 0, 1);
    bb_file_forward_init(&slow.forward, shelf.system);
    slow.forward.ops.open = open_slowly;
    shelf.env.options.file_system = &slow.forward.base;
    for (size_t i = 0; i < 2; i++)
        assert_ok(bb_thread_create(&threads[i], open_file, first));
    while (!slow.has_begun)
        sched_yield();
    assert_ok(bb_table_file_open(second, &table));
    assert_null(bb_table_file_companion(first));
    assert_int_equal(bb_table_file_memory(first), 0);
    slow.may_end = true;
    for (size_t i = 0; i < 2; i++)
        bb_thread_join(&threads[i]);
    assert_int_equal(slow.openings, 2); /* two threads share the opening of the first one */
    bb_table_file_unref(first);
    bb_table_file_unref(second);
    bb_entry_array_deinit(&array);
    shelf_deinit(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_file__opens_once),
        cmocka_unit_test(table_file__obsolete_file_goes_with_the_last_reference),
        cmocka_unit_test(table_file__covers_its_bounds),
        cmocka_unit_test(table_file__bounds_are_those_of_the_manifest),
        cmocka_unit_test(table_file__failed_opening_is_tried_again),
        cmocka_unit_test(table_file__threads_share_it),
        cmocka_unit_test(table_file__slow_opening_delays_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
