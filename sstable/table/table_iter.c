/* Iterates over all entries of a table in order, in both directions.
 *
 * The iterator holds one index page, one block, and an iterator over the block. It does not probe
 * filters, because a seek also needs the keys after the target.
 *
 * The block's iterator checks the order within a block. Between blocks the fences are used:
 * whenever a move enters or leaves a block, the entry next to the border is compared with the fence
 * there, or with the table's bounds at either end. A seek compares its result with the end of the
 * block. Any two consecutive entries are therefore in order, or the status is BB_CORRUPT, at the
 * cost of one comparison per block. One thread.
 */
#include "sstable/table/table_iter.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "sstable/block/stored_entry.h"
#include "sstable/entry.h"
#include "sstable/table/read_options.h"
#include "sstable/table/table.h"

static struct bb_table_iter *table_iter_of(struct bb_iter *base)
{
    return (struct bb_table_iter *)base;
}

static void stop(struct bb_table_iter *iter, enum bb_status status)
{
    iter->base.is_valid = false;
    iter->base.status = status;
}

static void leave_page(struct bb_table_iter *iter)
{
    bb_table_iter_block_leave(iter);
    if (iter->page != NULL)
        bb_table_page_release(iter->table, iter->page);
    iter->page = NULL;
}

static enum bb_status enter_page(struct bb_table_iter *iter, uint32_t page_index)
{
    iter->is_near = false;
    if (iter->page != NULL && iter->page_index == page_index)
        return BB_OK;
    leave_page(iter);
    iter->page_index = page_index;
    return bb_table_page_acquire(iter->table, page_index, iter->stats, &iter->page);
}

/* A place between two blocks: a fence of the current page or of the root. */
struct border {
    const struct bb_fence_index *fences; /* NULL: an end of the table */
    uint32_t fence;
};

static struct border border_before(const struct bb_table_iter *iter)
{
    if (iter->ordinal > 0)
        return (struct border){&iter->page->fences, iter->ordinal - 1};
    if (iter->page_index > 0)
        return (struct border){&iter->table->root.fences, iter->page_index - 1};
    return (struct border){0};
}

static struct border border_after(const struct bb_table_iter *iter)
{
    if (iter->ordinal + 1 < iter->page->block_count)
        return (struct border){&iter->page->fences, iter->ordinal};
    if (iter->page_index + 1 < iter->table->root.page_count)
        return (struct border){&iter->table->root.fences, iter->page_index};
    return (struct border){0};
}

/* < 0, 0, > 0: the border is before, at, after (key, sequence). REQUIRES: it is no end of the
 * table. */
static int compare_border(const struct bb_table_iter *iter, struct border border,
                          struct bb_bytes key, uint64_t sequence)
{
    BB_DEBUG_ASSERT(border.fences != NULL);
    return bb_fence_index_compare(border.fences, border.fence, iter->table->comparator, key,
                                  sequence);
}

static enum bb_status fail_border(const struct bb_table_iter *iter, const char *problem)
{
    char text[64];
    (void)bb_bytes_escape(iter->entries.entry.key, text, sizeof(text));
    if (iter->is_at_head)
        return bb_corrupt(iter->entries.place, 0, "the head of block %u with key %s %s",
                          iter->ordinal, text, problem);
    return bb_corrupt(iter->entries.place, iter->entries.offset,
                      "the entry of key %s at %u of the block %s", text, iter->entries.offset,
                      problem);
}

/* Compares the first entry of the current block, on entering or leaving it, with the border before
 * the block. */
static enum bb_status check_begin(const struct bb_table_iter *iter)
{
    const struct bb_entry *entry = &iter->entries.entry;
    struct border border = border_before(iter);
    if (border.fences != NULL)
        return compare_border(iter, border, entry->key, entry->sequence) <= 0
                   ? BB_OK
                   : fail_border(iter, "is before the fence of its block");
    return bb_key_compare(iter->table->comparator, iter->table->bounds.smallest, entry->key) <= 0
               ? BB_OK
               : fail_border(iter, "is below the smallest key of the table's properties");
}

/* Compares any entry of the current block, on entering or leaving it, with the border after the
 * block. */
static enum bb_status check_end(const struct bb_table_iter *iter)
{
    const struct bb_entry *entry = &iter->entries.entry;
    struct border border = border_after(iter);
    if (border.fences != NULL)
        return compare_border(iter, border, entry->key, entry->sequence) > 0
                   ? BB_OK
                   : fail_border(iter, "belongs after the fence of the next block");
    int order = bb_key_compare(iter->table->comparator, entry->key, iter->table->bounds.largest);
    return order < 0 || (order == 0 && !iter->table->bounds.largest_is_exclusive)
               ? BB_OK
               : fail_border(iter, "is above the largest key of the table's properties");
}

/* The failure of the entry: its bytes in the map were lost, or the check of its place fails. check:
 * NULL: it is between two that were checked. */
static enum bb_status check_entry(const struct bb_table_iter *iter,
                                  enum bb_status (*check)(const struct bb_table_iter *))
{
    if (iter->is_in_map && !bb_table_map_is_sound(&iter->table->map))
        return bb_table_map_fail(iter->entries.place);
    return check != NULL && iter->entries.is_valid ? check(iter) : BB_OK;
}

/* Publishes the result of a move into a block, or within one. Leaves a lost block, so that the next
 * seek reads the file. */
static inline void publish(struct bb_table_iter *iter,
                           enum bb_status (*check)(const struct bb_table_iter *))
{
    enum bb_status status = check_entry(iter, check);
    iter->base.is_valid = status == BB_OK && iter->entries.is_valid;
    iter->base.status = status != BB_OK ? status : iter->entries.status;
    bb_entry_copy(&iter->base.entry, &iter->entries.entry);
    if (status != BB_OK && iter->is_in_map)
        bb_table_iter_block_leave(iter);
}

/* True when everything before the current block is below the range. */
static bool is_whole_before_low(const struct bb_table_iter *iter)
{
    struct border border = border_before(iter);
    return iter->range.low != NULL &&
           (border.fences == NULL ||
            compare_border(iter, border, *iter->range.low, BB_SEQUENCE_MAX) <= 0);
}

/* True when everything after the current block is outside the range, or the block is the last. */
static bool is_last_block(const struct bb_table_iter *iter)
{
    if (iter->ordinal + 1 < iter->page->block_count)
        return bb_table_iter_is_high_before(iter, &iter->page->fences, iter->ordinal);
    return iter->page_index + 1 >= iter->table->root.page_count ||
           bb_table_iter_is_high_before(iter, &iter->table->root.fences, iter->page_index);
}

/* Moves to the next block, from the last entry of the current one. False at the end, and after a
 * failure. */
static bool next_block(struct bb_table_iter *iter)
{
    enum bb_status status = check_end(iter);
    if (status != BB_OK || is_last_block(iter)) {
        stop(iter, status);
        return false;
    }
    if (iter->ordinal + 1 < iter->page->block_count) {
        status = bb_table_iter_block_pass(iter, iter->ordinal + 1);
    } else {
        status = enter_page(iter, iter->page_index + 1);
        if (status == BB_OK)
            status = bb_table_iter_block_pass(iter, 0);
    }
    if (status == BB_OK)
        bb_table_iter_block_seek_first(iter);
    else
        stop(iter, status);
    return status == BB_OK;
}

/* At the end of a block, moves to the first entry of the next. Blocks are never empty. */
static void go_forward(struct bb_table_iter *iter)
{
    if (next_block(iter))
        publish(iter, check_begin);
}

/* Moves to the previous block, from the first entry of the current one. */
static bool previous_block(struct bb_table_iter *iter)
{
    enum bb_status status = check_begin(iter);
    if (status != BB_OK || (iter->ordinal == 0 && iter->page_index == 0) ||
        is_whole_before_low(iter)) {
        stop(iter, status);
        return false;
    }
    if (iter->ordinal > 0) {
        status = bb_table_iter_block_enter(iter, iter->ordinal - 1);
    } else {
        status = enter_page(iter, iter->page_index - 1);
        if (status == BB_OK)
            status = bb_table_iter_block_enter(iter, iter->page->block_count - 1);
    }
    if (status == BB_OK)
        bb_table_iter_block_seek_last(iter);
    else
        stop(iter, status);
    return status == BB_OK;
}

/* False for a table with only range tombstones. */
static bool has_entries(struct bb_table_iter *iter)
{
    if (iter->table->root.page_count > 0)
        return true;
    stop(iter, BB_OK);
    return false;
}

/* Moves to the block for (key, sequence). */
static enum bb_status enter_block_of(struct bb_table_iter *iter, struct bb_bytes key,
                                     uint64_t sequence)
{
    const struct bb_comparator *comparator = iter->table->comparator;
    if (iter->is_near)
        return bb_table_iter_block_enter(iter, iter->ordinal);
    enum bb_status status =
        enter_page(iter, bb_root_find(&iter->table->root, comparator, key, sequence));
    return status == BB_OK ? bb_table_iter_block_enter(
                                 iter, bb_index_page_find(iter->page, comparator, key, sequence))
                           : status;
}

/* Moves to the first entry of the table, regardless of the range. */
static void seek_begin(struct bb_table_iter *iter)
{
    if (!has_entries(iter))
        return;
    enum bb_status status = enter_page(iter, 0);
    if (status == BB_OK)
        status = bb_table_iter_block_enter(iter, 0);
    if (status != BB_OK) {
        stop(iter, status);
        return;
    }
    bb_table_iter_block_seek_first(iter);
    publish(iter, check_begin);
}

/* Moves to the last block that is not entirely above the range. */
static enum bb_status enter_last_block(struct bb_table_iter *iter)
{
    const struct bb_root *root = &iter->table->root;
    const struct bb_bytes *high = iter->range.high;
    uint32_t index = root->page_count - 1;
    if (high != NULL)
        index = bb_root_find(root, iter->table->comparator, *high, BB_SEQUENCE_MAX);
    if (index > 0 && bb_table_iter_is_high_before(iter, &root->fences, index - 1))
        index--;
    enum bb_status status = enter_page(iter, index);
    return status == BB_OK ? bb_table_iter_block_enter(iter, bb_table_iter_block_last(iter))
                           : status;
}

/* Moves to the last entry of the current block below the range's end; not valid if none exists. */
static void seek_last_in_block(struct bb_table_iter *iter)
{
    struct bb_block_iter *entries = &iter->entries;
    if (iter->range.high == NULL) {
        bb_table_iter_block_seek_last(iter);
        return;
    }
    bb_table_iter_block_seek(iter, *iter->range.high, BB_SEQUENCE_MAX);
    if (entries->is_valid)
        bb_block_iter_prev(entries);
    else if (entries->status == BB_OK)
        bb_table_iter_block_seek_last(iter);
}

static void seek_last(struct bb_iter *base)
{
    struct bb_table_iter *iter = table_iter_of(base);
    if (!has_entries(iter))
        return;
    enum bb_status status = enter_last_block(iter);
    if (status != BB_OK) {
        stop(iter, status);
        return;
    }
    seek_last_in_block(iter);
    publish(iter, check_end);
    if (!base->is_valid && base->status == BB_OK && previous_block(iter))
        publish(iter, check_end);
}

static bool is_above_range(const struct bb_table_iter *iter, struct bb_bytes key)
{
    return iter->range.high != NULL &&
           bb_key_compare(iter->table->comparator, key, *iter->range.high) >= 0;
}

static void seek(struct bb_iter *base, struct bb_bytes key, uint64_t sequence)
{
    struct bb_table_iter *iter = table_iter_of(base);
    if (!has_entries(iter))
        return;
    if (is_above_range(iter, key)) {
        stop(iter, BB_OK);
        return;
    }
    enum bb_status status = enter_block_of(iter, key, sequence);
    if (status != BB_OK) {
        stop(iter, status);
        return;
    }
    bb_table_iter_block_seek(iter, key, sequence);
    publish(iter, check_end);
    /* All entries of the block may be before the key: then the result is the first entry of the
     * next block. */
    if (!iter->base.is_valid && iter->base.status == BB_OK)
        go_forward(iter);
}

/* ---- the steps before a seek ----
 *
 * A seek into data that no processor cache has waits for one line of memory after the other: the
 * page's arrays, the cache's bucket for the block, the block's restarts, its entries. Each step
 * below uses the lines that the step before it has begun to load, and ends where the seek would
 * have to wait. Steps read no file, and report nothing: the seek does. */

/* The page, if no lock and no read is needed for it. */
static bool approach_page(struct bb_table_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    struct bb_table *table = iter->table;
    if (table->root.page_count == 0 || table->index_residency == BB_INDEX_CACHED ||
        is_above_range(iter, key))
        return false;
    uint32_t index = bb_root_find(&table->root, table->comparator, key, sequence);
    return bb_table_page_peek(table, index) != NULL && enter_page(iter, index) == BB_OK;
}

/* The block's place in the page, and begins to load the cache's bucket for the block. */
static bool approach_place(struct bb_table_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    uint32_t ordinal = bb_index_page_find(iter->page, iter->table->comparator, key, sequence);
    iter->is_near = true;
    if (iter->block != NULL && iter->ordinal == ordinal)
        return true;
    bb_table_iter_block_leave(iter);
    iter->ordinal = ordinal;
    bb_table_block_prefetch(iter->table, iter->page, ordinal);
    return true;
}

/* The block, if the cache has it. Otherwise the seek takes the cache's judgement. */
static bool approach_block(struct bb_table_iter *iter)
{
    if (iter->block == NULL && (bb_table_iter_block_is_skipped(iter, iter->ordinal) ||
                                bb_table_iter_block_may_be_in_map(iter, iter->ordinal)))
        return false;
    if (iter->block == NULL) {
        iter->block = bb_table_block_find(iter->table, &iter->options, iter->page, iter->ordinal,
                                          iter->stats, &iter->is_wanted);
        iter->is_judged = iter->block == NULL;
    }
    if (iter->block == NULL)
        return false;
    bb_table_iter_block_show(iter);
    bb_block_prefetch(iter->block);
    return true;
}

static bool approach_entries(const struct bb_table_iter *iter, struct bb_bytes key,
                             uint64_t sequence)
{
    if (iter->table->comparator == NULL)
        bb_block_prefetch_entries(iter->block, key, sequence);
    return false;
}

bool bb_table_iter_approach(struct bb_iter *base, struct bb_bytes key, uint64_t sequence,
                            unsigned step)
{
    BB_DEBUG_ASSERT(base->ops->seek == seek);
    struct bb_table_iter *iter = table_iter_of(base);
    base->is_valid = false;
    if (step == 0)
        return !iter->keeps_stored && approach_page(iter, key, sequence);
    if (step == 1)
        return approach_place(iter, key, sequence);
    return step == 2 ? approach_block(iter) : approach_entries(iter, key, sequence);
}

static void seek_first(struct bb_iter *base)
{
    struct bb_table_iter *iter = table_iter_of(base);
    if (iter->range.low != NULL)
        seek(base, *iter->range.low, BB_SEQUENCE_MAX);
    else
        seek_begin(iter);
}

static void next(struct bb_iter *base)
{
    struct bb_table_iter *iter = table_iter_of(base);
    BB_DEBUG_ASSERT(base->is_valid);
    bb_block_iter_next(&iter->entries);
    publish(iter, NULL);
    if (!base->is_valid && base->status == BB_OK)
        go_forward(iter);
}

static void prev(struct bb_iter *base)
{
    struct bb_table_iter *iter = table_iter_of(base);
    BB_DEBUG_ASSERT(base->is_valid);
    bb_block_iter_prev(&iter->entries);
    publish(iter, NULL);
    if (!base->is_valid && base->status == BB_OK && previous_block(iter))
        publish(iter, check_end);
}

static bool stored(struct bb_iter *base, struct bb_stored_entry *ret_stored)
{
    const struct bb_table_iter *iter = table_iter_of(base);
    bool is_alone = iter->entries.offset == 0 && iter->block != NULL &&
                    iter->entries.next_offset == iter->block->entries_size;
    BB_DEBUG_ASSERT(base->is_valid);
    if (iter->stored == NULL || !is_alone)
        return false;
    *ret_stored = (struct bb_stored_entry){
        .block =
            bb_bytes_of(iter->stored->payload, bb_index_page_block_size(iter->page, iter->ordinal)),
        .attempted = (enum bb_compression)iter->table->properties.compression};
    return true;
}

void bb_table_iter_deinit(struct bb_table_iter *iter)
{
    leave_page(iter);
    bb_table_ahead_deinit(&iter->ahead);
    bb_block_iter_deinit(&iter->entries);
}

static void destroy(struct bb_iter *base)
{
    struct bb_table_iter *iter = table_iter_of(base);
    bb_table_iter_deinit(iter);
    bb_free(iter);
}

static const struct bb_iter_ops table_iter_ops = {
    .destroy = destroy,
    .seek_first = seek_first,
    .seek_last = seek_last,
    .seek = seek,
    .next = next,
    .prev = prev,
    .stored = stored,
};

void bb_table_iter_keep_stored(struct bb_iter *iter)
{
    BB_ASSERT(iter->ops == &table_iter_ops);
    table_iter_of(iter)->keeps_stored = true;
    table_iter_of(iter)->uses_map = false;
}

void bb_table_iter_skip_values(struct bb_iter *iter)
{
    BB_ASSERT(iter->ops == &table_iter_ops);
    table_iter_of(iter)->skips_values = true;
}

void bb_table_iter_init(struct bb_table_iter *iter, struct bb_table *table,
                        const struct bb_read_options *options, const struct bb_key_range *range,
                        struct bb_read_stats *stats)
{
    memset(iter, 0, offsetof(struct bb_table_iter, entries));
    iter->base.ops = &table_iter_ops;
    iter->table = table;
    iter->options = bb_read_options_of(options);
    if (range != NULL)
        iter->range = *range;
    iter->stats = stats;
    if (stats == NULL) {
        iter->own_stats = (struct bb_read_stats){0};
        iter->stats = &iter->own_stats;
    }
    iter->uses_map = table->map.file != NULL && !iter->options.bypass_fill;
    iter->reads_ahead = !iter->uses_map;
    bb_block_iter_init(&iter->entries, table->comparator);
}

enum bb_status bb_table_iter_create(struct bb_table *table, const struct bb_read_options *options,
                                    struct bb_read_stats *stats, struct bb_iter **ret_iter)
{
    struct bb_table_iter *iter = bb_alloc(sizeof(*iter));
    if (iter == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an iterator");
    bb_table_iter_init(iter, table, options, NULL, stats);
    iter->uses_map = false;
    *ret_iter = &iter->base;
    return BB_OK;
}
