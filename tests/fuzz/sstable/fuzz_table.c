/* Arbitrary whole tables. The input is a file; magic, places and all checksums are repaired, within
 * its recorded sizes, so that the code after them is reached.
 *
 * A table that opens is used for lookups, scanned both ways, with and without values, and verified.
 * A verified table must read to its end, with the report's number of entries, and return each of
 * them in a lookup, with and without filters.
 */
#include <string.h>

#include "base/assert.h"
#include "sstable/table/table_iter.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/unit/sstable/table_repair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH "/table"

/* ---- use ---- */

static void look_up(struct bb_table *table, const struct bb_entry *entry, bool ignore_filters,
                    bool must_be_found)
{
    struct bb_read_options options = {.ignore_filters = ignore_filters};
    struct bb_buf value = {0};
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_COUNT;
    enum bb_status status = bb_table_get(table, &options, entry->key, 0, entry->sequence, NULL,
                                         &value, &sequence, &visit);
    BB_ASSERT(status == BB_OK || !must_be_found);
    if (must_be_found) {
        BB_ASSERT(visit == BB_VISIT_PRESENT || visit == BB_VISIT_TOMBSTONE);
        BB_ASSERT(sequence == entry->sequence);
        BB_ASSERT(visit == BB_VISIT_TOMBSTONE ||
                  bb_bytes_equal(bb_buf_bytes(&value), entry->value));
    }
    bb_buf_deinit(&value);
}

static void scan(struct bb_table *table, bool is_sound, uint64_t entries)
{
    struct bb_iter *iter = NULL;
    uint64_t count = 0;
    if (bb_table_iter_create(table, NULL, NULL, &iter) != BB_OK)
        return;
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter), count++) {
        struct bb_entry entry = iter->entry;
        look_up(table, &entry, false, is_sound);
        look_up(table, &entry, true, is_sound);
    }
    BB_ASSERT(!is_sound || (iter->status == BB_OK && count == entries));
    bool is_ordered = iter->status == BB_OK;
    uint64_t forward = count;
    count = 0;
    for (bb_iter_seek_last(iter); iter->is_valid; bb_iter_prev(iter))
        count++;
    BB_ASSERT(!is_sound || (iter->status == BB_OK && count == entries));
    BB_ASSERT(is_ordered == (iter->status == BB_OK) && (!is_ordered || count == forward));
    bb_iter_destroy(iter);
}

/* Keys only: the same as with values. */
static void scan_keys(struct bb_table *table, bool is_sound, uint64_t entries)
{
    struct bb_table_iter keys;
    struct bb_table_iter plain;
    uint64_t count = 0;
    bb_table_iter_init(&keys, table, NULL, NULL, NULL);
    bb_table_iter_init(&plain, table, NULL, NULL, NULL);
    bb_table_iter_skip_values(&keys.base);
    bb_iter_seek_first(&plain.base);
    for (bb_iter_seek_first(&keys.base); keys.base.is_valid; bb_iter_next(&keys.base), count++) {
        if (!plain.base.is_valid)
            continue;
        BB_ASSERT(bb_bytes_equal(keys.base.entry.key, plain.base.entry.key));
        BB_ASSERT(keys.base.entry.sequence == plain.base.entry.sequence);
        bb_iter_next(&plain.base);
    }
    BB_ASSERT(!is_sound || (keys.base.status == BB_OK && count == entries));
    count = 0;
    for (bb_iter_seek_last(&keys.base); keys.base.is_valid; bb_iter_prev(&keys.base))
        count++;
    BB_ASSERT(!is_sound || (keys.base.status == BB_OK && count == entries));
    bb_table_iter_deinit(&keys);
    bb_table_iter_deinit(&plain);
}

/* Like a dump: continues after every damage. */
static void walk(struct bb_table *table)
{
    struct bb_table_walk parts;
    bb_table_walk_init(&parts, table);
    for (bool has_block = true; has_block;) {
        if (bb_table_walk_next(&parts, &has_block) != BB_OK || !has_block)
            continue;
        for (uint32_t i = 0; i < parts.shard_count; i++) {
            struct bb_walk_filter filter;
            (void)!bb_table_walk_filter(&parts, i, &filter);
        }
        if (bb_table_walk_load(&parts) == BB_OK)
            while (parts.entries.is_valid)
                bb_block_iter_next(&parts.entries);
    }
    bb_table_walk_deinit(&parts);
}

/* For any list: fragments ascend, and each covers from its low end up to, but not including, its
 * high one. */
static void check_ranges(struct bb_table *table)
{
    const struct bb_range_tombstones *list = bb_table_range_tombstones(table);
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct bb_range_tombstone_fragment *fragment = &list->fragments[i];
        bool touches = i + 1 < list->count && bb_bytes_equal(fragment[1].low, fragment->high);
        uint64_t newest = fragment->sequences[0];
        BB_ASSERT(bb_range_tombstones_covering(list, fragment->low, BB_SEQUENCE_MAX) == newest);
        BB_ASSERT(touches || bb_range_tombstones_covering(list, fragment->high, newest) == 0);
        if (newest > 0)
            BB_ASSERT(bb_range_tombstones_covering(list, fragment->low, newest - 1) ==
                      (fragment->count > 1 ? fragment->sequences[1] : 0));
    }
}

static void use(struct bb_file_system *fs, const uint8_t *data, size_t size)
{
    struct bb_table_options options = {.file_system = fs};
    struct bb_table_verify_report report = {0};
    struct bb_table *table = NULL;
    bool is_sound = bb_table_verify(PATH, &options, &report) == BB_OK;
    if (bb_table_open(PATH, &options, &table) != BB_OK) {
        BB_ASSERT(!is_sound);
        return;
    }
    struct bb_entry any = {.key = bb_bytes_of(data, size < 30 ? size : 30), .sequence = size};
    look_up(table, &any, false, false);
    scan(table, is_sound, report.entries);
    scan_keys(table, is_sound, report.entries);
    check_ranges(table);
    walk(table);
    bb_table_close(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = bb_must_realloc(NULL, size);
    if (size > 0)
        memcpy(copy, data, size);
    table_repair_all(copy, size);
    struct bb_file_memory *memory = bb_file_memory_create(1);
    bb_file_memory_put(memory, PATH, bb_bytes_of(copy, size));
    use(bb_file_memory_system(memory), copy, size);
    bb_file_memory_destroy(memory);
    free(copy);
    return 0;
}
