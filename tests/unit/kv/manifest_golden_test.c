/* Goal: the bytes of edits and manifests change only on purpose (docs/format-manifest.md).
 * Method: an edit with every field and a manifest with every kind of change are written and
 * compared with tests/golden; then the golden itself is read and printed, and the text compared. */
#include "tests/unit/kv/sample_edit.h"

#include "base/alloc.h"
#include "kv/manifest/current.h"
#include "kv/manifest/manifest.h"
#include "kv/wal/wal_writer.h"
#include "tests/unit/kv/edit_print.h"
#include "tests/support/file_memory.h"
#include "tests/support/golden.h"

static struct bb_table_meta make_meta(uint8_t id, const char *smallest, const char *largest)
{
    struct bb_table_meta meta = {.file_size = 123456,
                                 .entry_count = 3000,
                                 .key_count = 2900,
                                 .tombstone_count = 17,
                                 .block_count = 88,
                                 .raw_bytes = 345678,
                                 .filter_bytes = 2800,
                                 .table_filter_bytes = 1500,
                                 .sequence_min = 100U * id,
                                 .sequence_max = 100U * id + 99,
                                 .filter_rate = 0.0078125,
                                 .table_filter_rate = 0.0625,
                                 .predicted_block_rate = 0.1015625,
                                 .predicted_table_filter_rate = 0.0625};
    memset(meta.table_id, id, sizeof(meta.table_id));
    assert_ok(bb_buf_assign(&meta.smallest, bb_bytes_of_text(smallest)));
    assert_ok(bb_buf_assign(&meta.largest, bb_bytes_of_text(largest)));
    return meta;
}

static void add_to_run(struct bb_edit *edit, int level, uint64_t run, uint64_t number, uint8_t id,
                       const char *smallest, const char *largest)
{
    struct bb_table_meta meta = make_meta(id, smallest, largest);
    assert_ok(bb_edit_add_table(edit, level, run, number, &meta));
    bb_table_meta_deinit(&meta);
}

static void add(struct bb_edit *edit, int level, uint64_t number, uint8_t id, const char *smallest,
                const char *largest)
{
    add_to_run(edit, level, 0, number, id, smallest, largest);
}

/* Range tombstones with entries, or without. */
static void add_ranges(struct bb_edit *edit, uint64_t number, uint64_t count, bool has_entries)
{
    struct bb_table_meta meta = make_meta(2, "b", "q");
    meta.range_tombstone_count = count;
    meta.tombstone_sequence_min = meta.sequence_min + 5;
    if (!has_entries) {
        meta.entry_count = meta.key_count = meta.tombstone_count = meta.block_count = 0;
        meta.raw_bytes = meta.filter_bytes = meta.table_filter_bytes = 0;
        meta.filter_rate = meta.table_filter_rate = 1;
        meta.predicted_block_rate = meta.predicted_table_filter_rate = 0; /* an older table */
        meta.largest_is_exclusive = true;
    }
    assert_ok(bb_edit_add_table(edit, 0, 0, number, &meta));
    bb_table_meta_deinit(&meta);
}

static struct bb_store_identity make_identity(void)
{
    struct bb_store_identity identity = {.format_version = BB_STORE_FORMAT_VERSION,
                                         .comparator = "bytewise"};
    for (uint8_t i = 0; i < BB_STORE_ID_SIZE; i++)
        identity.store_id[i] = (uint8_t)(0xa0 + i);
    for (size_t i = 0; i < BB_HASH_SECRET_SIZE; i++)
        identity.secret.bytes[i] = (uint8_t)i;
    return identity;
}

static struct bb_stored_options make_options(void)
{
    const struct bb_db_options options = {.filter_amount = {BB_FILTER_BITS_PER_KEY, 10},
                                          .block_size_bytes = 8192,
                                          .compaction_style = BB_COMPACTION_TIERED,
                                          .tombstone_age_max = UINT64_C(1) << 40};
    return bb_stored_options_of(&options);
}

static void manifest_golden__edit(void **state)
{
    (void)state;
    struct bb_edit edit = {
        .has_identity = true, .identity = make_identity(), .next_file_number = 300};
    struct bb_buf bytes = {0};
    edit.last_sequence = 70000;
    edit.log_number = 299;
    edit.log_is_absent = true;
    assert_ok(bb_edit_remove_table(&edit, 5));
    assert_ok(bb_edit_remove_table(&edit, 200));
    add(&edit, 0, 201, 1, "", "");
    add_to_run(&edit, 6, 1000, 202, 2, "apple", "pear\xff");
    bb_edit_set_index(&edit, 203);
    assert_ok(bb_edit_set_catalog(&edit, bb_bytes_of_text("a catalog")));
    edit.options = make_options();
    assert_ok(bb_edit_encode(&edit, &bytes));
    assert_golden("edit.bin", bb_buf_bytes(&bytes));
    bb_buf_deinit(&bytes);
    bb_edit_deinit(&edit);
}

static void append(struct bb_manifest *manifest, struct bb_edit *edit)
{
    assert_ok(bb_manifest_append(manifest, edit));
    bb_edit_deinit(edit);
}

/* A store's life: begun, flushed, flushed, compacted, one table moved to another level, one to a
 * separate run, two with range tombstones, opened without a log; an edit of more than a block; a
 * catalog, stored options, and a table that gets an index file; closed. */
static void write_manifest(struct bb_file_system *fs)
{
    struct bb_manifest_state state = {0};
    struct bb_manifest *manifest = NULL;
    struct bb_edit edit = {
        .has_identity = true, .identity = make_identity(), .next_file_number = 8};
    edit.log_number = 7;
    assert_ok(bb_manifest_state_apply(&state, &edit, (struct bb_place){0}));
    assert_ok(bb_manifest_create(fs, "/", 8, &state, &manifest));
    edit = (struct bb_edit){.next_file_number = 20, .last_sequence = 199, .log_number = 9};
    add(&edit, 0, 10, 1, "a", "m");
    append(manifest, &edit);
    edit = (struct bb_edit){.last_sequence = 299, .log_number = 11};
    add(&edit, 0, 12, 2, "n", "z");
    append(manifest, &edit);
    edit = (struct bb_edit){.next_file_number = 30};
    assert_ok(bb_edit_remove_table(&edit, 10));
    assert_ok(bb_edit_remove_table(&edit, 12));
    add(&edit, 1, 20, 1, "a", "k");
    add(&edit, 1, 21, 2, "l", "z");
    append(manifest, &edit);
    edit = (struct bb_edit){0};
    assert_ok(bb_edit_remove_table(&edit, 20));
    add(&edit, 2, 20, 1, "a", "k");
    append(manifest, &edit);
    edit = (struct bb_edit){0};
    assert_ok(bb_edit_remove_table(&edit, 21));
    add_to_run(&edit, 1, 3, 21, 2, "l", "z");
    add_ranges(&edit, 25, 300, true);
    add_ranges(&edit, 26, 2, false);
    append(manifest, &edit);
    edit = (struct bb_edit){.log_number = 29, .log_is_absent = true};
    append(manifest, &edit);
    edit = (struct bb_edit){.next_file_number = 500, .last_sequence = 399};
    char key[3000] = "";
    memset(key, 'k', sizeof(key) - 1);
    for (uint64_t number = 40; number < 46; number++)
        add(&edit, 0, number, 3, key + 1, key);
    append(manifest, &edit);
    edit = (struct bb_edit){0};
    assert_ok(bb_edit_set_catalog(&edit, bb_bytes_of_text("a catalog")));
    edit.options = make_options();
    assert_ok(bb_edit_remove_table(&edit, 20));
    add(&edit, 2, 20, 1, "a", "k");
    bb_edit_set_index(&edit, 47);
    append(manifest, &edit);
    const struct bb_wal_end ends[2] = {
        {.log_number = 46, .offset = 48, .check = 0x1122334455667788},
        {.log_number = 47, .offset = 70000, .check = 1}};
    assert_ok(bb_manifest_note_close(manifest, ends, 2));
    assert_ok(bb_manifest_close(manifest));
}

static void manifest_golden__manifest(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    size_t size = 0;
    write_manifest(bb_file_memory_system(memory));
    const uint8_t *data = bb_file_memory_bytes(memory, "/MANIFEST-000008", &size);
    assert_golden("manifest.bin", bb_bytes_of(data, size));
    data = bb_file_memory_bytes(memory, "/CURRENT", &size);
    assert_golden("current.bin", bb_bytes_of(data, size));
    bb_file_memory_destroy(memory);
}

static enum bb_status print_edit(void *context, const struct bb_edit *edit, uint64_t offset)
{
    struct bb_buf *text = context;
    assert_ok(bb_buf_print(text, "edit at offset %llu\n", (unsigned long long)offset));
    return edit_print(edit, text);
}

static void manifest_golden__reads_back(void **state)
{
    (void)state;
    struct bb_file_system *files = NULL;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_buf bytes = {0};
    struct bb_buf text = {0};
    struct bb_manifest_state found = {0};
    assert_ok(bb_file_system_posix_create(&files));
    assert_ok(
        bb_file_read_whole(files, BB_SOURCE_DIR "/tests/golden/manifest.bin", 1 << 20, &bytes));
    bb_file_memory_put(memory, "/MANIFEST-000008", bb_buf_bytes(&bytes));
    assert_ok(bb_manifest_read(bb_file_memory_system(memory), "/MANIFEST-000008", 8, print_edit,
                               &text, &found, NULL));
    assert_golden("manifest.txt", bb_buf_bytes(&text));
    assert_int_equal(found.table_count, 10);
    assert_int_equal(bb_manifest_state_find(&found, 20)->level, 2);
    assert_int_equal(bb_manifest_state_find(&found, 21)->run, 3);
    assert_true(bb_manifest_state_has_index(&found, 47));
    assert_false(bb_manifest_state_has_index(&found, 48));
    assert_true(bb_bytes_equal(bb_buf_bytes(&found.catalog), bb_bytes_of_text("a catalog")));
    bb_manifest_state_deinit(&found);
    bb_buf_deinit(&text);
    bb_buf_deinit(&bytes);
    bb_file_memory_destroy(memory);
    bb_file_system_posix_destroy(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifest_golden__edit),
        cmocka_unit_test(manifest_golden__manifest),
        cmocka_unit_test(manifest_golden__reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
