/* Goal: damage in the middle of a manifest costs no readable data: neither the tables named by
 * later edits, nor unreported deletions. Method: a store after flushes, a compaction and ingests;
 * bytes of its manifest are changed, one at a time, and the store is repaired. */
#include "tests/unit/kv/repair_fixture.h"

#include "base/assert.h"
#include "tests/support/step.h"

#define FILES_MAX 32

static const char *const parts[] = {"MANIFEST", "CURRENT", ".bbt", ".wal"};

/* The contents of a store's directory; the manifest first. */
struct image {
    char paths[FILES_MAX][128];
    struct bb_buf bytes[FILES_MAX];
    size_t count;
};

static void take_image(struct store *store, struct image *image)
{
    *image = (struct image){0};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(parts); i++) {
        char paths[16][128];
        size_t count = find_files(store, parts[i], paths);
        for (size_t j = 0; j < count; j++, image->count++) {
            assert_true(image->count < FILES_MAX);
            memcpy(image->paths[image->count], paths[j], sizeof(paths[j]));
            assert_ok(bb_file_read_whole(store->options.file_system, paths[j], SIZE_MAX,
                                         &image->bytes[image->count]));
        }
    }
    assert_non_null(strstr(image->paths[0], "MANIFEST"));
}

static void put_image(const struct image *image, struct store *store)
{
    store_init(store);
    store_open(store);
    store_close(store);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(parts); i++) {
        char paths[16][128];
        for (size_t count = find_files(store, parts[i], paths); count > 0; count--)
            remove_file(store, paths[count - 1]);
    }
    for (size_t i = 0; i < image->count; i++)
        bb_file_memory_put(store->memory, image->paths[i], bb_buf_bytes(&image->bytes[i]));
}

static void image_deinit(struct image *image)
{
    for (size_t i = 0; i < image->count; i++)
        bb_buf_deinit(&image->bytes[i]);
}

static void make(struct store *store)
{
    store_init(store);
    store_open(store);
    store_put(store, "a", "1");
    store_put(store, "gone", "1");
    assert_ok(bb_db_flush(store->db));
    store_put(store, "a", "2");
    store_delete(store, "gone");
    assert_ok(bb_db_compact(store->db));
    store_put(store, "b", "1");
    store_put(store, "late", "1");
    assert_ok(bb_db_flush(store->db));
    ingest(store, "c", "1");
    store_delete(store, "late");
    assert_ok(bb_db_flush(store->db));
    ingest(store, "d", "1");
    ingest(store, "e", "1");
}

static bool has(struct store *store, const char *key)
{
    struct bb_buf value = {0};
    enum bb_status status = bb_db_get(store->db, NULL, bb_bytes_of_text(key), &value);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    bb_buf_deinit(&value);
    return status == BB_OK;
}

/* For any damage, all puts are present; deleted keys reappear only with a report. */
static void check_damaged_at(struct image *image, size_t at, size_t *outdated)
{
    static const char *const kept[][2] = {
        {"a", "2"}, {"b", "1"}, {"c", "1"}, {"d", "1"}, {"e", "1"}};
    struct store store;
    image->bytes[0].data[at] ^= 1;
    put_image(image, &store);
    struct bb_db_repair_report report = repair(&store, NULL);
    store_open(&store);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kept); i++)
        assert_get(&store, kept[i][0], kept[i][1]);
    assert_true(report.deletions_may_return || !(has(&store, "gone") || has(&store, "late")));
    *outdated += report.has_manifest && report.deletions_may_return;
    store_deinit(&store);
    image->bytes[0].data[at] ^= 1;
}

/* An ingest adds a table and removes none: after damage no missing file revealed it, and its table
 * was ignored. */
static void repair_manifest__damaged_anywhere(void **state)
{
    (void)state;
    struct store store;
    struct image image;
    size_t outdated = 0;
    make(&store);
    store_close(&store);
    take_image(&store, &image);
    store_deinit(&store);
    for (size_t at = 0; at < image.bytes[0].size; at += bb_test_step())
        check_damaged_at(&image, at, &outdated);
    assert_true(outdated > 0 && outdated < image.bytes[0].size);
    image_deinit(&image);
}

/* A table more than the manifest names, as a crash in the middle of a compaction leaves it. */
static void add_stray_table(struct store *store)
{
    struct bb_buf bytes = {0};
    char tables[16][128];
    assert_true(find_files(store, ".bbt", tables) > 0);
    assert_ok(bb_file_read_whole(store->options.file_system, tables[0], SIZE_MAX, &bytes));
    bb_file_memory_put(store->memory, STORE_PATH "/000900.bbt", bb_buf_bytes(&bytes));
    bb_buf_deinit(&bytes);
}

/* This many bytes of the manifest's end are missing, and CURRENT; the last ingest is in the torn
 * record. Returns whether it is present. */
static bool repair_torn(const struct image *image, size_t missing)
{
    struct store store;
    put_image(image, &store);
    cut_end(&store, image->paths[0], missing);
    add_stray_table(&store);
    remove_file(&store, STORE_PATH "/CURRENT");
    struct bb_db_repair_report report = repair(&store, NULL);
    assert_true(report.has_manifest && report.tables_unnamed > 0);
    assert_false(report.deletions_may_return);
    store_open(&store);
    assert_get(&store, "a", "2");
    assert_get(&store, "d", "1");
    assert_false(has(&store, "gone") || has(&store, "late"));
    bool is_there = has(&store, "e");
    store_deinit(&store);
    return is_there;
}

/* Without CURRENT, a torn record at the end of the manifest counted as damage, and all tables were
 * included: tables replaced by a compaction reappeared. A table that is the only one with newer
 * data than all named ones is included: the record may have been acknowledged before it was
 * damaged. */
static void repair_manifest__torn_at_the_end(void **state)
{
    (void)state;
    struct store store;
    struct image image;
    make(&store);
    store_close(&store);
    take_image(&store, &image);
    store_deinit(&store);
    for (size_t missing = 1; missing <= 64; missing++)
        assert_true(repair_torn(&image, missing));
    image_deinit(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repair_manifest__damaged_anywhere),
        cmocka_unit_test(repair_manifest__torn_at_the_end),
    };
    return cmocka_run_group_tests_name("repair_manifest", tests, NULL, NULL);
}
