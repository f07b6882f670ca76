/* Goal: an iterator never returns a wrong order without an error, for any table with valid
 * checksums. Entries out of order are BB_CORRUPT forward, backward and after a seek. Method: each
 * byte of small tables is changed in several ways, and all checksums are repaired. If the table
 * still opens, its iterators must agree with each other: entries ascend forward and descend
 * backward; both directions reach the end with the same entries, or both report damage; a seek gets
 * to a place at or after its key, and continues in order to both sides; if the whole is in order,
 * seeks find the scan's entries. */
#include "tests/unit/sstable/table_fixture.h"

#include "sstable/salvage/table_salvage.h"
#include "tests/unit/sstable/table_repair.h"
#include "tests/support/step.h"

#define KEY_COUNT 40

struct hostile {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct entry_list list;
    uint8_t *bytes; /* of the sound file */
    size_t size;
    /* Counts of the cases found. */
    uint64_t opened;
    uint64_t sound_scans;
    uint64_t in_block;
    uint64_t at_fence;
    uint64_t at_bound;
    uint64_t restarts;
};

static void hostile_init(struct hostile *hostile, const struct bb_comparator *comparator)
{
    char key[32];
    *hostile = (struct hostile){.memory = bb_file_memory_create(5)};
    hostile->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(hostile->memory),
        .comparator = comparator,
        .block_size_bytes = 128,
        .restart_interval = 2,
        .compression = BB_COMPRESSION_NONE,
        .filter_kind = BB_FILTER_NONE,
        .index_page_size_bytes = 256,
    };
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        snprintf(key, sizeof(key), "key%c%u", 'a' + (int)(i / 10), i % 10);
        entry_list_add_text(&hostile->list, key, 100 + i, i % 7 == 3 ? NULL : "v");
        if (i % 5 == 0)
            entry_list_add_text(&hostile->list, key, 50, "old");
    }
    entry_list_sort(&hostile->list, comparator);
    build_table(FIXTURE_PATH, &hostile->options, &hostile->list, NULL);
    const uint8_t *bytes = bb_file_memory_bytes(hostile->memory, FIXTURE_PATH, &hostile->size);
    hostile->bytes = memcpy(bb_must_realloc(NULL, hostile->size), bytes, hostile->size);
}

static void hostile_deinit(struct hostile *hostile)
{
    free(hostile->bytes);
    entry_list_deinit(&hostile->list);
    bb_file_memory_destroy(hostile->memory);
}

static void note_error(struct hostile *hostile, enum bb_status status)
{
    const char *message = bb_error_last()->message;
    assert_status(status, BB_CORRUPT);
    assert_non_null(strstr(message, FIXTURE_PATH));
    hostile->in_block += strstr(message, "is not after the previous one") != NULL;
    hostile->at_fence += strstr(message, "fence of") != NULL;
    hostile->at_bound += strstr(message, "key of the table's properties") != NULL;
    hostile->restarts += strstr(message, "the restarts of") != NULL;
}

/* Moves to the end, and copies the entries; each must be on the right side of the previous one. */
static enum bb_status walk(struct hostile *hostile, struct bb_iter *iter, bool forward,
                           struct entry_list *shown)
{
    const struct bb_comparator *comparator = hostile->options.comparator;
    while (iter->is_valid) {
        if (shown->count > 0) {
            int order =
                compare_entries(&shown->entries[shown->count - 1], &iter->entry, comparator);
            assert_true(forward ? order < 0 : order > 0);
        }
        entry_list_add(shown, iter->entry.key, iter->entry.sequence, iter->entry.kind,
                       iter->entry.value);
        forward ? bb_iter_next(iter) : bb_iter_prev(iter);
    }
    if (iter->status != BB_OK)
        note_error(hostile, iter->status);
    return iter->status;
}

/* From any key to both sides; all: the entries of the whole scan, or NULL. */
static void check_seek(struct hostile *hostile, struct bb_iter *iter, const struct bb_entry *to,
                       const struct entry_list *all)
{
    const struct bb_comparator *comparator = hostile->options.comparator;
    for (int forward = 0; forward < 2; forward++) {
        struct entry_list shown = {0};
        bb_iter_seek(iter, to->key, to->sequence);
        if (iter->is_valid)
            assert_true(compare_entries(to, &iter->entry, comparator) <= 0);
        size_t at = all == NULL ? 0 : entry_list_find(all, to->key, to->sequence, comparator);
        if (all != NULL)
            assert_true(iter->is_valid == (at < all->count) && iter->status == BB_OK);
        if (all != NULL && iter->is_valid)
            assert_same_entry(&iter->entry, &all->entries[at]);
        enum bb_status status = walk(hostile, iter, forward, &shown);
        if (all != NULL)
            assert_ok(status);
        entry_list_deinit(&shown);
    }
}

static void check_table(struct hostile *hostile, struct bb_table *table)
{
    struct bb_iter *iter = NULL;
    struct entry_list up = {0};
    struct entry_list down = {0};
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    bb_iter_seek_first(iter);
    enum bb_status forward = walk(hostile, iter, true, &up);
    bb_iter_seek_last(iter);
    enum bb_status backward = walk(hostile, iter, false, &down);
    assert_int_equal(forward, backward);
    if (forward == BB_OK) {
        hostile->sound_scans++;
        assert_int_equal(up.count, down.count);
        for (size_t i = 0; i < up.count; i++)
            assert_same_entry(&up.entries[i], &down.entries[up.count - 1 - i]);
    }
    for (size_t i = 0; i < hostile->list.count; i++)
        check_seek(hostile, iter, &hostile->list.entries[i], forward == BB_OK ? &up : NULL);
    bb_iter_destroy(iter);
    entry_list_deinit(&up);
    entry_list_deinit(&down);
}

static enum bb_status take_salvaged(void *context, const struct bb_entry *entry)
{
    struct entry_list *shown = context;
    entry_list_add(shown, entry->key, entry->sequence, entry->kind, entry->value);
    return BB_OK;
}

/* A salvage gives the entries in order: a block that is out of order ends before its defect. */
static void check_salvage(struct hostile *hostile)
{
    struct entry_list shown = {0};
    struct bb_salvage_report report = {0};
    const struct bb_salvage_visitor visitor = {.entry = take_salvaged, .context = &shown};
    const struct bb_comparator *comparator = hostile->options.comparator;
    if (bb_table_salvage(hostile->options.file_system, FIXTURE_PATH, comparator, NULL, &visitor,
                         &report) == BB_OK)
        assert_int_equal(report.entries, shown.count);
    for (size_t i = 1; i < shown.count; i++)
        assert_true(compare_entries(&shown.entries[i - 1], &shown.entries[i], comparator) < 0);
    entry_list_deinit(&shown);
}

static void check_bytes(struct hostile *hostile, uint8_t *bytes)
{
    struct bb_table *table = NULL;
    table_repair_all(bytes, hostile->size);
    bb_file_memory_put(hostile->memory, FIXTURE_PATH, bb_bytes_of(bytes, hostile->size));
    check_salvage(hostile);
    if (bb_table_open(FIXTURE_PATH, &hostile->options, &table) != BB_OK)
        return;
    hostile->opened++;
    check_table(hostile, table);
    bb_table_close(table);
}

static void change_each_byte(const struct bb_comparator *comparator)
{
    static const uint8_t changes[] = {0x01, 0x02, 0x05, 0x40};
    struct hostile hostile;
    hostile_init(&hostile, comparator);
    uint8_t *copy = bb_must_realloc(NULL, hostile.size);
    for (size_t i = 0; i < hostile.size * sizeof(changes); i += bb_test_step()) {
        memcpy(copy, hostile.bytes, hostile.size);
        copy[i / sizeof(changes)] ^= changes[i % sizeof(changes)];
        check_bytes(&hostile, copy);
    }
    print_message("%zu bytes: opened %llu times, %llu whole; out of order in a block %llu, at a "
                  "fence %llu, at a bound %llu, restarts %llu\n",
                  hostile.size, (unsigned long long)hostile.opened,
                  (unsigned long long)hostile.sound_scans, (unsigned long long)hostile.in_block,
                  (unsigned long long)hostile.at_fence, (unsigned long long)hostile.at_bound,
                  (unsigned long long)hostile.restarts);
    assert_true(hostile.sound_scans > 0 && hostile.sound_scans < hostile.opened);
    assert_true(hostile.in_block > 0 && hostile.at_fence > 0 && hostile.at_bound > 0);
    /* Whole comparisons have found the restarts on both sides of their end. */
    assert_true(comparator != NULL || hostile.restarts > 0);
    free(copy);
    hostile_deinit(&hostile);
}

static void table_order__each_byte_under_valid_checksums(void **state)
{
    (void)state;
    change_each_byte(NULL);
}

static void table_order__each_byte_under_a_comparator(void **state)
{
    (void)state;
    change_each_byte(&backwards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_order__each_byte_under_valid_checksums),
        cmocka_unit_test(table_order__each_byte_under_a_comparator),
    };
    return cmocka_run_group_tests_name("table_order", tests, NULL, NULL);
}
