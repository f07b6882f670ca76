/* Goal: the tables of a run are one stream, in both directions, and an unreadable table ends it
 * with its status. Method: runs of real tables in memory compared with the array they were cut
 * from: random walks; tables that are missing, swapped or damaged. */
#include "tests/unit/compaction/shelf.h"

#include "compaction/merge/run_iter.h"

#define TABLES_MAX 40

static const struct bb_read_options plain;

static void fill(struct bb_entry_array *array, struct bb_rng *rng, size_t count)
{
    uint8_t key[24];
    for (size_t i = 0; i < count; i++) {
        struct bb_entry entry = {.sequence = i + 1, .kind = BB_ENTRY_PUT};
        entry.key = bb_bytes_of(key, bb_rng_key(rng, key, sizeof(key)));
        entry.value = bb_bytes_of(&i, sizeof(i));
        bb_entry_array_add(array, &entry);
    }
    bb_entry_array_sort(array);
}

static struct bb_iter *iter_over(struct shelf *shelf, struct bb_table_file **files, size_t count)
{
    struct bb_iter *iter = NULL;
    assert_ok(
        bb_run_iter_create(files, count, shelf->env.options.comparator, NULL, &plain, NULL, &iter));
    return iter;
}

static void check_at(const struct bb_entry_array *array, const struct bb_iter *iter,
                     size_t position)
{
    assert_int_equal(iter->status, BB_OK);
    assert_int_equal(iter->is_valid, position < array->count);
    if (!iter->is_valid)
        return;
    assert_true(bb_bytes_equal(iter->entry.key, array->entries[position].key));
    assert_int_equal(iter->entry.sequence, array->entries[position].sequence);
    assert_true(bb_bytes_equal(iter->entry.value, array->entries[position].value));
}

static size_t lower_bound(const struct bb_entry_array *array, struct bb_bytes key,
                          uint64_t sequence)
{
    size_t i = 0;
    while (i < array->count) {
        int order = bb_key_compare(array->comparator, array->entries[i].key, key);
        if (order > 0 || (order == 0 && array->entries[i].sequence <= sequence))
            break;
        i++;
    }
    return i;
}

static size_t seek_somewhere(const struct bb_entry_array *array, struct bb_iter *iter,
                             struct bb_rng *rng)
{
    uint8_t key[24];
    struct bb_bytes wanted = bb_bytes_of(key, bb_rng_key(rng, key, sizeof(key)));
    uint64_t sequence = BB_SEQUENCE_MAX;
    if (array->count > 0 && bb_rng_one_in(rng, 2)) {
        const struct bb_entry *entry = &array->entries[bb_rng_below(rng, array->count)];
        wanted = entry->key;
        sequence = entry->sequence - bb_rng_below(rng, 2);
    }
    unsigned steps = (unsigned)bb_rng_below(rng, 8);
    for (unsigned step = 0; step < steps && bb_run_iter_approach(iter, wanted, sequence, step);
         step++)
        assert_false(iter->is_valid);
    bb_iter_seek(iter, wanted, sequence);
    return lower_bound(array, wanted, sequence);
}

static void walk(const struct bb_entry_array *array, struct bb_iter *iter, struct bb_rng *rng)
{
    size_t position = seek_somewhere(array, iter, rng);
    check_at(array, iter, position);
    for (size_t i = 0; i < 30 && iter->is_valid; i++) {
        if (bb_rng_one_in(rng, 2)) {
            bb_iter_prev(iter);
            position = position == 0 ? array->count : position - 1;
        } else {
            bb_iter_next(iter);
            position++;
        }
        check_at(array, iter, position);
    }
}

static void both_ways(const struct bb_entry_array *array, struct bb_iter *iter)
{
    size_t position = 0;
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
        check_at(array, iter, position++);
    check_at(array, iter, array->count);
    assert_int_equal(position, array->count);
    for (bb_iter_seek_last(iter); iter->is_valid; bb_iter_prev(iter))
        check_at(array, iter, --position);
    assert_int_equal(position, 0);
}

static int compare_backward(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static const struct bb_comparator backward = {.name = "backward", .compare = compare_backward};

static void run_iter__is_one_stream(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("run_iter__is_one_stream", 12));
    for (size_t round = 0; round < 40; round++) {
        struct shelf shelf;
        struct bb_entry_array array = {.comparator = round % 4 == 3 ? &backward : NULL};
        struct bb_table_file *files[TABLES_MAX];
        shelf_init(&shelf, array.comparator);
        fill(&array, &rng, round * 7);
        size_t count = shelf_put_run(&shelf, &array, 1 + round * 7 / (1 + round % 30), files);
        struct bb_iter *iter = iter_over(&shelf, files, count);
        assert_false(iter->is_valid);
        both_ways(&array, iter);
        for (size_t i = 0; i < 30; i++)
            walk(&array, iter, &rng);
        bb_iter_destroy(iter);
        for (size_t i = 0; i < count; i++)
            bb_table_file_unref(files[i]);
        bb_entry_array_deinit(&array);
        shelf_deinit(&shelf);
    }
}

/* Three tables: a b | c d | e f. */
static void shelve_six(struct shelf *shelf, struct bb_entry_array *array,
                       struct bb_table_file **files)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f"};
    shelf_init(shelf, NULL);
    for (size_t i = 0; i < 6; i++)
        bb_entry_array_add_text(array, keys[i], i + 1, "value");
    assert_int_equal(shelf_put_run(shelf, array, 2, files), 3);
}

static void release_six(struct shelf *shelf, struct bb_entry_array *array,
                        struct bb_table_file **files)
{
    for (size_t i = 0; i < 3; i++)
        bb_table_file_unref(files[i]);
    bb_entry_array_deinit(array);
    shelf_deinit(shelf);
}

static void run_iter__a_missing_table_is_no_end(void **state)
{
    (void)state;
    struct shelf shelf;
    struct bb_entry_array array = {0};
    struct bb_table_file *files[3];
    shelve_six(&shelf, &array, files);
    assert_ok(shelf.system->ops->remove(shelf.system, "/000002"));
    struct bb_iter *iter = iter_over(&shelf, files, 3);
    size_t seen = 0;
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
        seen++;
    assert_int_equal(seen, 2);
    assert_int_equal(iter->status, BB_CORRUPT);
    for (bb_iter_seek_last(iter); iter->is_valid; bb_iter_prev(iter))
        seen++;
    assert_int_equal(seen, 4);
    assert_int_equal(iter->status, BB_CORRUPT);
    bb_iter_seek(iter, bb_bytes_of_text("c"), BB_SEQUENCE_MAX);
    assert_false(iter->is_valid);
    assert_int_equal(iter->status, BB_CORRUPT);
    bb_iter_seek(iter, bb_bytes_of_text("e"), BB_SEQUENCE_MAX);
    assert_true(iter->is_valid);
    assert_int_equal(iter->status, BB_OK);
    bb_iter_destroy(iter);
    release_six(&shelf, &array, files);
}

/* The right name with another table in it: its blocks are sound, and yet it must not be read. */
static void run_iter__corrupt_another_table(void **state)
{
    (void)state;
    struct shelf shelf;
    struct bb_entry_array array = {0};
    struct bb_table_file *files[3];
    shelve_six(&shelf, &array, files);
    assert_ok(shelf.system->ops->rename(shelf.system, "/000003", "/000001"));
    struct bb_iter *iter = iter_over(&shelf, files, 3);
    bb_iter_seek_first(iter);
    assert_false(iter->is_valid);
    assert_int_equal(iter->status, BB_CORRUPT);
    assert_message("/000001");
    bb_iter_destroy(iter);
    release_six(&shelf, &array, files);
}

static void run_iter__corrupt_block(void **state)
{
    (void)state;
    struct shelf shelf;
    struct bb_entry_array array = {0};
    struct bb_table_file *files[3];
    size_t size = 0;
    shelve_six(&shelf, &array, files);
    bb_file_memory_bytes(shelf.memory, "/000002", &size)[3] ^= 1; /* in its only data block */
    struct bb_iter *iter = iter_over(&shelf, files, 3);
    size_t seen = 0;
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
        seen++;
    assert_int_equal(seen, 2);
    assert_int_equal(iter->status, BB_CORRUPT);
    bb_iter_seek_last(iter);
    assert_true(iter->is_valid);
    bb_iter_destroy(iter);
    release_six(&shelf, &array, files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_iter__is_one_stream),
        cmocka_unit_test(run_iter__a_missing_table_is_no_end),
        cmocka_unit_test(run_iter__corrupt_another_table),
        cmocka_unit_test(run_iter__corrupt_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
