/* All entries of a table in order, in both directions.
 *
 * The iterator holds one index page and one block, and in the block an iterator of its own. Filters
 * are not asked: a seek wants what follows the key too.
 *
 * Every block entered is held against its fence: an entry before it would be out of order over the
 * border, which the block's own iterator cannot see. One thread.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "sstable/block_iter.h"
#include "sstable/table.h"

struct table_iter {
    struct bb_iter base; /* first */
    struct bb_table *table;
    struct bb_read_options options;
    struct bb_read_stats *stats; /* never NULL */
    struct bb_read_stats own_stats;
    uint32_t page_index;
    uint32_t ordinal;
    struct bb_index_page *page; /* acquired; NULL: none */
    struct bb_block *block;     /* one reference; NULL: none */
    struct bb_block_iter entries;
};

static struct table_iter *table_iter_of(struct bb_iter *base)
{
    return (struct table_iter *)base;
}

static void stop(struct table_iter *iter, enum bb_status status)
{
    iter->base.is_valid = false;
    iter->base.status = status;
}

static void leave_block(struct table_iter *iter)
{
    bb_block_iter_reset(&iter->entries, NULL, (struct bb_place){0});
    bb_block_unref(iter->block);
    iter->block = NULL;
}

static void leave_page(struct table_iter *iter)
{
    leave_block(iter);
    if (iter->page != NULL)
        bb_table_page_release(iter->table, iter->page);
    iter->page = NULL;
}

static enum bb_status enter_page(struct table_iter *iter, uint32_t page_index)
{
    if (iter->page != NULL && iter->page_index == page_index)
        return BB_OK;
    leave_page(iter);
    iter->page_index = page_index;
    return bb_table_page_acquire(iter->table, page_index, iter->stats, &iter->page);
}

static enum bb_status enter_block(struct table_iter *iter, uint32_t ordinal)
{
    if (iter->block != NULL && iter->ordinal == ordinal)
        return BB_OK;
    leave_block(iter);
    iter->ordinal = ordinal;
    enum bb_status status = bb_table_block_acquire(iter->table, &iter->options, iter->page, ordinal,
                                                   iter->stats, &iter->block);
    if (status != BB_OK)
        return status;
    struct bb_place place =
        bb_table_place(iter->table, bb_index_page_block_offset(iter->page, ordinal));
    bb_block_iter_reset(&iter->entries, iter->block, place);
    return BB_OK;
}

/* The entry comes from the block iterator, or the reason why there is none. */
static void publish(struct table_iter *iter)
{
    iter->base.is_valid = iter->entries.is_valid;
    iter->base.status = iter->entries.status;
    iter->base.entry = iter->entries.entry;
}

/* How the current entry stands to the fence in front of the block at hand; 1 for the first block,
 * which has none. */
static int compare_with_fence(const struct table_iter *iter)
{
    const struct bb_fence_index *fences = &iter->page->fences;
    uint32_t fence = iter->ordinal;
    if (fence == 0) {
        fences = &iter->table->root.fences;
        fence = iter->page_index;
    }
    if (fence == 0)
        return 1;
    const struct bb_entry *entry = &iter->entries.entry;
    return -bb_fence_index_compare(fences, fence - 1, iter->table->comparator, entry->key,
                                   entry->sequence);
}

/* To the block behind the one at hand. False at the end, and after a failure. */
static bool next_block(struct table_iter *iter)
{
    enum bb_status status = BB_OK;
    if (iter->ordinal + 1 < iter->page->block_count) {
        status = enter_block(iter, iter->ordinal + 1);
    } else if (iter->page_index + 1 < iter->table->root.page_count) {
        status = enter_page(iter, iter->page_index + 1);
        if (status == BB_OK)
            status = enter_block(iter, 0);
    } else {
        stop(iter, BB_OK);
        return false;
    }
    if (status == BB_OK)
        bb_block_iter_seek_first(&iter->entries);
    else
        stop(iter, status);
    return status == BB_OK;
}

/* Having left a block at its end, to the first entry of the next. Blocks are never empty. */
static void go_forward(struct table_iter *iter)
{
    if (!next_block(iter))
        return;
    if (iter->entries.is_valid && compare_with_fence(iter) < 0)
        stop(iter, bb_corrupt(iter->entries.place, 0, "the block starts in front of its fence"));
    else
        publish(iter);
}

static bool previous_block(struct table_iter *iter)
{
    enum bb_status status = BB_OK;
    if (iter->ordinal > 0) {
        status = enter_block(iter, iter->ordinal - 1);
    } else if (iter->page_index > 0) {
        status = enter_page(iter, iter->page_index - 1);
        if (status == BB_OK)
            status = enter_block(iter, iter->page->block_count - 1);
    } else {
        stop(iter, BB_OK);
        return false;
    }
    if (status == BB_OK)
        bb_block_iter_seek_last(&iter->entries);
    else
        stop(iter, status);
    return status == BB_OK;
}

static enum bb_status enter(struct table_iter *iter, uint32_t page_index, uint32_t ordinal)
{
    enum bb_status status = enter_page(iter, page_index);
    if (status == BB_OK)
        status = enter_block(iter, ordinal);
    if (status != BB_OK)
        stop(iter, status);
    return status;
}

static void seek_first(struct bb_iter *base)
{
    struct table_iter *iter = table_iter_of(base);
    if (enter(iter, 0, 0) != BB_OK)
        return;
    bb_block_iter_seek_first(&iter->entries);
    publish(iter);
}

static void seek_last(struct bb_iter *base)
{
    struct table_iter *iter = table_iter_of(base);
    uint32_t last = iter->table->root.page_count - 1;
    enum bb_status status = enter_page(iter, last);
    if (status == BB_OK)
        status = enter_block(iter, iter->page->block_count - 1);
    if (status != BB_OK) {
        stop(iter, status);
        return;
    }
    bb_block_iter_seek_last(&iter->entries);
    publish(iter);
}

static void seek(struct bb_iter *base, struct bb_bytes key, uint64_t sequence)
{
    struct table_iter *iter = table_iter_of(base);
    const struct bb_comparator *comparator = iter->table->comparator;
    enum bb_status status =
        enter_page(iter, bb_root_find(&iter->table->root, comparator, key, sequence));
    if (status == BB_OK)
        status = enter_block(iter, bb_index_page_find(iter->page, comparator, key, sequence));
    if (status != BB_OK) {
        stop(iter, status);
        return;
    }
    bb_block_iter_seek(&iter->entries, key, sequence);
    publish(iter);
    /* Everything in the block may be before the key: then the first entry behind the block is the
     * one. */
    if (!iter->base.is_valid && iter->base.status == BB_OK)
        go_forward(iter);
}

static void next(struct bb_iter *base)
{
    struct table_iter *iter = table_iter_of(base);
    BB_DEBUG_ASSERT(base->is_valid);
    bb_block_iter_next(&iter->entries);
    publish(iter);
    if (!base->is_valid && base->status == BB_OK)
        go_forward(iter);
}

static void prev(struct bb_iter *base)
{
    struct table_iter *iter = table_iter_of(base);
    BB_DEBUG_ASSERT(base->is_valid);
    bb_block_iter_prev(&iter->entries);
    publish(iter);
    if (!base->is_valid && base->status == BB_OK && previous_block(iter))
        publish(iter);
}

static void destroy(struct bb_iter *base)
{
    struct table_iter *iter = table_iter_of(base);
    leave_page(iter);
    bb_block_iter_deinit(&iter->entries);
    bb_free(iter);
}

static const struct bb_iter_ops table_iter_ops = {
    .destroy = destroy,
    .seek_first = seek_first,
    .seek_last = seek_last,
    .seek = seek,
    .next = next,
    .prev = prev,
};

enum bb_status bb_table_iter_create(struct bb_table *table, const struct bb_read_options *options,
                                    struct bb_read_stats *stats, struct bb_iter **ret_iter)
{
    struct table_iter *iter = bb_alloc_zeroed(1, sizeof(*iter));
    if (iter == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an iterator");
    iter->base.ops = &table_iter_ops;
    iter->table = table;
    if (options != NULL)
        iter->options = *options;
    iter->stats = stats == NULL ? &iter->own_stats : stats;
    bb_block_iter_init(&iter->entries, table->comparator);
    *ret_iter = &iter->base;
    return BB_OK;
}
