/* Goal: a stream becomes a table or nothing; hooks see every entry that the table gets and no
 * dropped one, and their failures fail the table. Method: streams and hooks that fail; hooks that
 * count a stream with invisible versions. */
#include "compaction/merge/compaction.h"

#include "sstable/build/table_builder.h"
#include "tests/support/entry_array.h"
#include "tests/unit/compaction/shelf.h"

struct witness {
    size_t begun;
    size_t finished;
    size_t entries;
    uint64_t last_block;
    size_t fails_at; /* entry that is refused, counted from 1; 0: none */
    bool fails_to_finish;
};

static enum bb_status see_entry(void *context, const struct bb_entry *entry, uint64_t block_number)
{
    struct witness *witness = context;
    (void)entry;
    assert_true(block_number >= witness->last_block);
    witness->last_block = block_number;
    if (++witness->entries == witness->fails_at)
        return bb_fail(BB_NO_SPACE, "refused");
    return BB_OK;
}

static enum bb_status see_table(void *context, struct bb_table_builder *builder)
{
    struct witness *witness = context;
    struct bb_table_observer observer = {.add = see_entry, .context = witness};
    witness->begun++;
    bb_table_builder_observe(builder, &observer);
    return BB_OK;
}

static enum bb_status see_end(void *context)
{
    struct witness *witness = context;
    witness->finished++;
    return witness->fails_to_finish ? bb_fail(BB_NO_SPACE, "refused") : BB_OK;
}

/* 300 keys of two versions each, the older of which is invisible. */
static enum bb_status write_table(struct shelf *shelf, struct witness *witness,
                                  struct bb_table_meta *ret_meta)
{
    struct bb_entry_array array = {0};
    struct bb_output_hooks hooks = {.begin = see_table, .finish = see_end, .context = witness};
    for (int i = 0; i < 300; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i);
        bb_entry_array_add_text(&array, key, (uint64_t)i + 1, "old");
        bb_entry_array_add_text(&array, key, (uint64_t)i + 1000, "new");
    }
    bb_entry_array_sort(&array);
    struct bb_iter *iter = bb_entry_array_iter(&array);
    enum bb_status status = bb_compaction_to_table(iter, NULL, "/000001", &shelf->env.options, NULL,
                                                   0, &hooks, ret_meta);
    bb_iter_destroy(iter);
    bb_entry_array_deinit(&array);
    return status;
}

static void compaction_to_table__hooks_see_what_is_kept(void **state)
{
    (void)state;
    struct shelf shelf;
    struct witness witness = {0};
    struct bb_table_meta meta = {0};
    shelf_init(&shelf, NULL);
    assert_ok(write_table(&shelf, &witness, &meta));
    assert_int_equal(witness.begun, 1);
    assert_int_equal(witness.finished, 1);
    assert_int_equal(witness.entries, 300);
    assert_int_equal(meta.entry_count, 300);
    assert_int_equal(witness.last_block, meta.block_count - 1);
    bb_table_meta_deinit(&meta);
    shelf_deinit(&shelf);
}

static void compaction_to_table__failing_hooks_leave_no_file(void **state)
{
    (void)state;
    static const struct witness failing[] = {
        {.fails_at = 1}, {.fails_at = 150}, {.fails_at = 300}, {.fails_to_finish = true}};
    for (size_t i = 0; i < sizeof(failing) / sizeof(failing[0]); i++) {
        struct shelf shelf;
        struct witness witness = failing[i];
        struct bb_table_meta meta = {0};
        shelf_init(&shelf, NULL);
        assert_status(write_table(&shelf, &witness, &meta), BB_NO_SPACE);
        assert_false(shelf_has(&shelf, 1));
        shelf_deinit(&shelf);
    }
}

static void compaction_to_table__failure_leaves_no_file(void **state)
{
    (void)state;
    for (uint64_t move = 1; move <= 5; move++) {
        struct shelf shelf;
        struct bb_entry_array array = {0};
        struct bb_table_meta meta = {0};
        shelf_init(&shelf, NULL);
        for (uint64_t i = 0; i < 4; i++)
            bb_entry_array_add_text(&array, "key", 9 - i, "value");
        struct bb_iter *iter = bb_entry_array_iter(&array);
        bb_array_iter_fail(iter, move, BB_IO);
        assert_status(
            bb_compaction_to_table(iter, NULL, "/000001", &shelf.env.options, NULL, 0, NULL, &meta),
            BB_IO);
        assert_false(shelf_has(&shelf, 1));
        assert_ok(bb_compaction_to_table(iter, NULL, "/000001", &shelf.env.options, NULL, 0, NULL,
                                         &meta));
        assert_int_equal(meta.entry_count, 1);
        bb_iter_destroy(iter);
        bb_table_meta_deinit(&meta);
        bb_entry_array_deinit(&array);
        shelf_deinit(&shelf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compaction_to_table__hooks_see_what_is_kept),
        cmocka_unit_test(compaction_to_table__failing_hooks_leave_no_file),
        cmocka_unit_test(compaction_to_table__failure_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
