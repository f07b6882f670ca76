/* Goal: running out of memory while a manifest is written, read or checked is reported, leaks
 * nothing, and never applies half of an edit. Method: linked with
 * tests/support/alloc/alloc_fault.c; every allocation of a store's life fails one by one, each once
 * separately and once with all later ones. */
#include "tests/unit/kv/sample_edit.h"

#include "base/alloc.h"
#include "kv/directory/directory.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_memory.h"

static struct bb_table_meta meta;

static enum bb_status append_tables(struct bb_manifest *manifest, uint64_t number, uint64_t removed)
{
    struct bb_edit edit = {0};
    edit.last_sequence = 1000;
    edit.next_file_number = 100;
    enum bb_status status = bb_edit_add_table(&edit, 1, 0, number, &meta);
    if (status == BB_OK)
        status = bb_edit_add_table(&edit, 2, 0, number + 1, &meta);
    if (status == BB_OK && removed != 0)
        status = bb_edit_remove_table(&edit, removed);
    size_t before = bb_manifest_state_of(manifest)->table_count;
    if (status == BB_OK)
        status = bb_manifest_append(manifest, &edit);
    size_t added = bb_manifest_state_of(manifest)->table_count - before;
    assert_int_equal(added, status != BB_OK ? 0 : removed == 0 ? 2 : 1); /* all or nothing */
    bb_edit_deinit(&edit);
    return status;
}

static enum bb_status begin(struct bb_file_system *fs, struct bb_manifest **ret_manifest)
{
    struct bb_manifest_state state = {0};
    struct bb_edit edit = {.has_identity = true, .next_file_number = 2};
    enum bb_status status = bb_manifest_identity_new(fs, NULL, NULL, &edit.identity);
    if (status == BB_OK)
        status = bb_manifest_state_apply(&state, &edit, (struct bb_place){0});
    if (status == BB_OK)
        status = bb_manifest_create(fs, "/db", 1, &state, ret_manifest);
    bb_manifest_state_deinit(&state);
    return status;
}

static enum bb_status write_store(struct bb_file_system *fs)
{
    struct bb_manifest *manifest = NULL;
    enum bb_status status = begin(fs, &manifest);
    if (status != BB_OK)
        return status;
    status = append_tables(manifest, 10, 0);
    if (status == BB_OK)
        status = append_tables(manifest, 20, 10);
    if (status == BB_OK)
        status = bb_manifest_rotate(manifest, 50);
    if (status == BB_OK)
        status = append_tables(manifest, 30, 0);
    enum bb_status closed = bb_manifest_close(manifest);
    return status == BB_OK ? closed : status;
}

static enum bb_status judge_store(struct bb_file_system *fs, const struct bb_manifest_state *state)
{
    struct bb_directory directory = {0};
    struct bb_directory_report report;
    uint64_t *numbers = NULL;
    size_t count = 0;
    enum bb_status status = bb_directory_scan(fs, "/db", &directory);
    if (status == BB_OK)
        status = bb_directory_logs(&directory, state, &numbers, &count);
    if (status == BB_OK && bb_directory_check_new(fs, "/db", &directory) == BB_NO_MEMORY)
        status = BB_NO_MEMORY;
    if (status == BB_OK)
        bb_directory_remove_orphans(fs, "/db", &directory, state, 50, &report);
    bb_free(numbers);
    bb_directory_deinit(&directory);
    return status;
}

static enum bb_status live(void *context)
{
    (void)context;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_manifest_state state = {0};
    enum bb_status status = fs->ops->make_directory(fs, "/db");
    bb_file_memory_put(memory, "/db/000060.wal", (struct bb_bytes){0});
    bb_file_memory_put(memory, "/db/000061.bbt", (struct bb_bytes){0});
    if (status == BB_OK)
        status = write_store(fs);
    if (status == BB_OK)
        status = bb_manifest_load(fs, "/db", &state, NULL);
    if (status == BB_OK)
        status = judge_store(fs, &state);
    bb_manifest_state_deinit(&state);
    bb_file_memory_destroy(memory);
    return status;
}

static void manifest_alloc__every_allocation_fails(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, 1);
    meta = sample_meta(&rng, 1000);
    /* Removing unneeded files is optional. */
    assert_true(bb_alloc_fault_sweep(live, NULL, true) > 50);
    bb_table_meta_deinit(&meta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifest_alloc__every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
