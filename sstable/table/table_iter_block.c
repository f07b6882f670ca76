/* The block of an iterator over a table: from the cache, the map, the bytes that are read ahead, or
 * the file. See table_iter.h. One thread. */
#include "sstable/table/table_iter.h"

#include "base/counter.h"
#include "sstable/table/table.h"

void bb_table_iter_block_leave(struct bb_table_iter *iter)
{
    bb_block_iter_reset(&iter->entries, NULL, (struct bb_place){0});
    bb_block_unref(iter->block);
    bb_block_unref(iter->stored);
    iter->block = NULL;
    iter->stored = NULL;
    iter->is_judged = false;
    iter->is_in_map = false;
    iter->is_at_head = false;
}

/* Acquires a block and its stored form. Drops the stored form of a block with several restarts,
 * because that block has several entries. */
static enum bb_status acquire_both(struct bb_table_iter *iter, uint32_t ordinal)
{
    enum bb_status status = bb_table_block_acquire_both(
        iter->table, &iter->options, iter->page, ordinal, iter->stats, &iter->stored, &iter->block);
    if (status == BB_OK && iter->block->restart_count > 1) {
        bb_block_unref(iter->stored);
        iter->stored = NULL;
    }
    return status;
}

static bool is_large(const struct bb_table_iter *iter, uint32_t ordinal)
{
    return bb_index_page_block_size(iter->page, ordinal) > BB_BLOCK_SCRATCH_SIZE;
}

uint32_t bb_table_iter_block_last(const struct bb_table_iter *iter)
{
    uint32_t ordinal = iter->page->block_count - 1;
    if (iter->range.high != NULL)
        ordinal = bb_index_page_find(iter->page, iter->table->comparator, *iter->range.high,
                                     BB_SEQUENCE_MAX);
    if (ordinal > 0 && bb_table_iter_is_high_before(iter, &iter->page->fences, ordinal - 1))
        ordinal--;
    return ordinal;
}

/* The last block of those after this one that the iterator may need without a gap. */
static uint32_t last_ahead(const struct bb_table_iter *iter, uint32_t ordinal)
{
    uint32_t last = bb_table_iter_block_last(iter);
    if (!iter->skips_values)
        return last;
    while (ordinal < last && !bb_table_iter_block_is_skipped(iter, ordinal + 1))
        ordinal++;
    return ordinal;
}

/* Blocks that are copied from a map, without a call, are read one by one until an iterator has
 * passed this number: most ranges end before. */
#define COPIED_MAX 8

/* WHY not for bypass_fill: reads that bypass the cache are of all blocks. */
static bool is_copied(const struct bb_table_iter *iter, uint32_t ordinal)
{
    return !iter->options.bypass_fill && iter->ahead.passed < COPIED_MAX &&
           bb_page_map_has(&iter->table->copies, bb_index_page_block_offset(iter->page, ordinal),
                           bb_index_page_block_size(iter->page, ordinal));
}

/* The block from bytes that are read ahead, if it is among them and not damaged. Otherwise
 * iter->block remains NULL, and the file is read again. */
static enum bb_status take_ahead(struct bb_table_iter *iter, uint32_t ordinal)
{
    struct bb_table_ahead *ahead = &iter->ahead;
    enum bb_status status = BB_OK;
    bool is_read = bb_table_ahead_wants(ahead, iter->page, ordinal) && !is_copied(iter, ordinal);
    if (is_read)
        status = bb_table_ahead_read(ahead, iter->table, iter->page, ordinal,
                                     last_ahead(iter, ordinal), iter->stats);
    const uint8_t *stored = bb_table_ahead_find(ahead, iter->page, ordinal);
    bb_counter_add(&iter->stats->blocks_ahead, stored != NULL && !is_read);
    if (stored != NULL)
        status = bb_table_block_of_stored(iter->table, iter->page, ordinal, stored, iter->is_wanted,
                                          iter->stats, &iter->block);
    return stored != NULL && status == BB_CORRUPT ? BB_OK : status;
}

/* The block from the cache, the bytes that are read ahead, or the file. */
static enum bb_status acquire_alone(struct bb_table_iter *iter, uint32_t ordinal)
{
    struct bb_block_scratch scratch;
    enum bb_status status = BB_OK;
    if (!iter->is_judged)
        iter->block = bb_table_block_find(iter->table, &iter->options, iter->page, ordinal,
                                          iter->stats, &iter->is_wanted);
    if (iter->block == NULL && iter->reads_ahead && !is_large(iter, ordinal))
        status = take_ahead(iter, ordinal);
    if (iter->block != NULL || status != BB_OK)
        return status;
    return bb_table_block_load(iter->table, &iter->options, iter->page, ordinal, &scratch, true,
                               iter->is_wanted, iter->stats, &iter->block);
}

bool bb_table_iter_block_may_be_in_map(const struct bb_table_iter *iter, uint32_t ordinal)
{
    return iter->uses_map && is_large(iter, ordinal);
}

/* WHY the stored form of small blocks is not kept: compressing them again is cheap. */
static enum bb_status acquire(struct bb_table_iter *iter, uint32_t ordinal)
{
    enum bb_status status = BB_OK;
    if (bb_table_iter_block_may_be_in_map(iter, ordinal))
        status = bb_table_block_show(iter->table, iter->page, ordinal, iter->stats, &iter->block);
    iter->is_in_map = iter->block != NULL;
    if (status != BB_OK || iter->block != NULL)
        return status;
    return iter->keeps_stored && is_large(iter, ordinal) ? acquire_both(iter, ordinal)
                                                         : acquire_alone(iter, ordinal);
}

void bb_table_iter_block_show(struct bb_table_iter *iter)
{
    struct bb_place place =
        bb_table_place(iter->table, bb_index_page_block_offset(iter->page, iter->ordinal));
    bb_block_iter_reset(&iter->entries, iter->block, place);
}

static struct bb_place place_of_page(const struct bb_table_iter *iter)
{
    return bb_table_place(iter->table, iter->table->root.pages[iter->page_index].page_offset);
}

/* Compares a block with its head, if it has one. If the map is unsound, reports that instead of a
 * difference. */
static enum bb_status check_head(const struct bb_table_iter *iter, uint32_t ordinal)
{
    if (!bb_index_page_has_head(iter->page, ordinal))
        return BB_OK;
    enum bb_status status =
        bb_table_block_check_head(iter->table, iter->page, iter->page_index, ordinal, iter->block);
    if (iter->is_in_map && !bb_table_map_is_sound(&iter->table->map))
        return bb_table_map_fail(
            bb_table_place(iter->table, bb_index_page_block_offset(iter->page, ordinal)));
    return status;
}

static enum bb_status enter_block(struct bb_table_iter *iter, uint32_t ordinal)
{
    enum bb_status status = acquire(iter, ordinal);
    iter->is_judged = false;
    if (status == BB_OK)
        status = check_head(iter, ordinal);
    if (status == BB_OK)
        bb_table_iter_block_show(iter);
    else
        bb_table_iter_block_leave(iter);
    return status;
}

/* Moves to a block's head. Then iter->entries is over a block without entries, so that each move
 * ends at the head. */
static enum bb_status enter_head(struct bb_table_iter *iter, uint32_t ordinal)
{
    static const struct bb_block empty = {.restart_count = 1};
    struct bb_place place = place_of_page(iter);
    enum bb_status status = bb_index_page_head(iter->page, ordinal, place, &iter->head);
    if (status != BB_OK)
        return status;
    place.offset += bb_index_page_head_offset(iter->page, ordinal);
    bb_block_iter_reset(&iter->entries, &empty, place);
    iter->is_at_head = true;
    return BB_OK;
}

static enum bb_status enter_other(struct bb_table_iter *iter, uint32_t ordinal)
{
    if (!iter->is_judged || iter->ordinal != ordinal)
        bb_table_iter_block_leave(iter);
    iter->ordinal = ordinal;
    return bb_table_iter_block_is_skipped(iter, ordinal) ? enter_head(iter, ordinal)
                                                         : enter_block(iter, ordinal);
}

static void show_head(struct bb_table_iter *iter)
{
    const struct bb_block_head *head = &iter->head;
    iter->entries.entry =
        (struct bb_entry){.key = head->key, .sequence = head->sequence, .kind = head->kind};
    iter->entries.is_valid = true;
}

void bb_table_iter_block_seek_first(struct bb_table_iter *iter)
{
    if (iter->is_at_head)
        show_head(iter);
    else
        bb_block_iter_seek_first(&iter->entries);
}

void bb_table_iter_block_seek_last(struct bb_table_iter *iter)
{
    if (iter->is_at_head)
        show_head(iter);
    else
        bb_block_iter_seek_last(&iter->entries);
}

void bb_table_iter_block_seek(struct bb_table_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    if (!iter->is_at_head) {
        bb_block_iter_seek(&iter->entries, key, sequence);
        return;
    }
    show_head(iter);
    const struct bb_entry *entry = &iter->entries.entry;
    iter->entries.is_valid =
        bb_entry_compare(iter->table->comparator, entry->key, entry->sequence, key, sequence) >= 0;
}

enum bb_status bb_table_iter_block_enter(struct bb_table_iter *iter, uint32_t ordinal)
{
    iter->is_near = false;
    if (iter->block != NULL && iter->ordinal == ordinal)
        return BB_OK;
    iter->ahead.passed = 0;
    return enter_other(iter, ordinal);
}

enum bb_status bb_table_iter_block_pass(struct bb_table_iter *iter, uint32_t ordinal)
{
    iter->is_near = false;
    iter->ahead.passed++;
    return enter_other(iter, ordinal);
}
