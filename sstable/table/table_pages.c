/* Index pages of an open table: from a slot, the cache or the file.
 *
 * A page is used only after its checksums were verified. If one is wrong, the page is read a second
 * time, because it may be damaged on the way from the disk; a second mismatch is BB_CORRUPT, or a
 * page without usable filters.
 *
 * Lookups at random places need all pages of a group, one after the other. So after one page of a
 * group is in its slot, the next load reads the whole group with one call. A table with one lookup
 * reads one page.
 * Threads: any.
 */
#include "sstable/table/table.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/counter.h"
#include "sstable/format.h"

/* Larger groups are read page by page: no table that this version writes has one, unless a page
 * alone exceeds BB_PAGE_GROUP_SIZE. */
#define GROUP_READ_MAX (2 * BB_PAGE_GROUP_SIZE)

/* ---- one page ---- */

/* Checks that the page is where the root expects it, and has the expected contents. */
static enum bb_status check_page(const struct bb_index_page *page,
                                 const struct bb_root_page *expected, struct bb_place place)
{
    uint64_t end = page->base_offset + page->block_ends[page->block_count - 1];
    uint64_t expected_end = expected->data_offset + expected->data_size;
    if (page->block_count != expected->block_count)
        return bb_corrupt(place, 16, "an index page of %u blocks, the root has %u",
                          page->block_count, expected->block_count);
    if (page->base_offset != expected->data_offset || end != expected_end)
        return bb_corrupt(place, 8,
                          "the blocks of an index page are at %" PRIu64 " ... %" PRIu64
                          ", the root says %" PRIu64 " ... %" PRIu64,
                          page->base_offset, end, expected->data_offset, expected_end);
    return BB_OK;
}

/* stored: page_size bytes. memory: for the page; NULL: the allocator. */
static enum bb_status decode_page(const struct bb_table *table, const struct bb_root_page *where,
                                  const uint8_t *stored, struct bb_large_pages *memory,
                                  struct bb_index_page **ret_page)
{
    struct bb_index_page_reading reading = {
        .comparator = table->comparator,
        .filter_format = table->has_filters ? &table->filter_format : NULL,
        .granularity = (uint32_t)table->properties.filter_granularity,
        .table = table->id,
        .place = bb_table_place(table, where->page_offset),
        .memory = memory,
    };
    struct bb_index_page *page = NULL;
    enum bb_status status =
        bb_index_page_decode(&reading, bb_bytes_of(stored, where->page_size), &page);
    if (status == BB_OK)
        status = check_page(page, where, reading.place);
    if (status != BB_OK) {
        bb_index_page_unref(page);
        return status;
    }
    page->first_block = where->first_block;
    *ret_page = page;
    return BB_OK;
}

/* Reads a page, or several that are contiguous. */
static enum bb_status read_pages(const struct bb_table *table, uint64_t offset, size_t size,
                                 uint8_t *buffer, struct bb_read_stats *stats)
{
    bb_counter_add(&stats->page_reads, 1);
    bb_counter_add(&stats->page_read_bytes, size);
    return bb_file_read_exactly(table->file, offset, buffer, size);
}

static enum bb_status read_page(const struct bb_table *table, const struct bb_root_page *where,
                                struct bb_large_pages *memory, uint8_t *buffer,
                                struct bb_read_stats *stats, struct bb_index_page **ret_page)
{
    enum bb_status status = read_pages(table, where->page_offset, where->page_size, buffer, stats);
    return status == BB_OK ? decode_page(table, where, buffer, memory, ret_page) : status;
}

static enum bb_status load_page(const struct bb_table *table, uint32_t index,
                                struct bb_large_pages *memory, struct bb_read_stats *stats,
                                struct bb_index_page **ret_page)
{
    BB_DEBUG_ASSERT(index < table->root.page_count);
    const struct bb_root_page *where = &table->root.pages[index];
    struct bb_index_page *page = NULL;
    uint8_t *buffer = bb_alloc(where->page_size);
    if (buffer == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an index page of %u bytes", where->page_size);
    enum bb_status status = read_page(table, where, memory, buffer, stats, &page);
    if (status == BB_CORRUPT || (status == BB_OK && page->has_damaged_filters)) {
        bb_index_page_unref(page);
        page = NULL;
        status = read_page(table, where, memory, buffer, stats, &page);
    }
    bb_free(buffer);
    if (status == BB_OK)
        *ret_page = page;
    return status;
}

enum bb_status bb_table_page_load(struct bb_table *table, uint32_t index,
                                  struct bb_read_stats *stats, struct bb_index_page **ret_page)
{
    return load_page(table, index, NULL, stats, ret_page);
}

/* ---- slots ---- */

/* Takes the reference to the page. Two threads may load the same page; the slower one uses the
 * other's. */
static struct bb_index_page *put_into_slot(struct bb_table *table, uint32_t index,
                                           struct bb_index_page *page)
{
    struct bb_index_page *winner = NULL;
    if (atomic_compare_exchange_strong_explicit(&table->pages[index], &winner, page,
                                                memory_order_acq_rel, memory_order_acquire)) {
        atomic_fetch_add_explicit(&table->pinned_bytes, page->item.charge, memory_order_relaxed);
        return page;
    }
    bb_index_page_unref(page);
    return winner;
}

/* Only sound pages: others are read twice by the lookup that needs them, which reports damage.
 * False: the page is not sound. */
static bool put_sound_page(struct bb_table *table, uint32_t index, const uint8_t *stored)
{
    struct bb_index_page *page = NULL;
    const struct bb_root_page *where = &table->root.pages[index];
    if (atomic_load_explicit(&table->pages[index], memory_order_relaxed) != NULL)
        return true;
    if (decode_page(table, where, stored, table->large_pages, &page) != BB_OK)
        return false;
    if (page->has_damaged_filters) {
        bb_index_page_unref(page);
        return false;
    }
    (void)put_into_slot(table, index, page);
    return true;
}

/* Reads the pages begin ... end - 1 with one call. A failure leaves slots empty: then each page is
 * loaded alone. No lookup fails by it, so it does not remain the thread's latest error. */
static void load_group(struct bb_table *table, uint32_t begin, uint32_t end,
                       struct bb_read_stats *stats)
{
    const struct bb_root_page *pages = table->root.pages;
    uint64_t offset = pages[begin].page_offset;
    uint64_t size = pages[end - 1].page_offset + pages[end - 1].page_size - offset;
    if (size > GROUP_READ_MAX)
        return;
    struct bb_error before = *bb_error_last();
    uint8_t *buffer = bb_alloc(size);
    bool is_read = buffer != NULL && read_pages(table, offset, size, buffer, stats) == BB_OK;
    bool is_sound = is_read;
    for (uint32_t i = begin; i < end && is_read; i++)
        is_sound &= put_sound_page(table, i, buffer + (pages[i].page_offset - offset));
    bb_free(buffer);
    if (!is_sound)
        (void)bb_error_restore(&before);
}

/* Steps of a group: no page is in a slot, one was loaded, the whole group was read. Each is taken
 * once. */
static bool takes_step(struct bb_table *table, uint32_t begin, uint32_t from)
{
    return atomic_compare_exchange_strong_explicit(&table->group_steps[begin], &from, from + 1,
                                                   memory_order_relaxed, memory_order_relaxed);
}

static enum bb_status load_into_slot(struct bb_table *table, uint32_t index,
                                     struct bb_read_stats *stats, struct bb_index_page **ret_page)
{
    struct bb_index_page *page = NULL;
    uint32_t begin = table->root.pages[index].group_begin;
    if (takes_step(table, begin, 1)) {
        load_group(table, begin, bb_root_group_end(&table->root, index), stats);
        page = atomic_load_explicit(&table->pages[index], memory_order_acquire);
    }
    if (page == NULL) {
        enum bb_status status = load_page(table, index, table->large_pages, stats, &page);
        if (status != BB_OK)
            return status;
        page = put_into_slot(table, index, page);
        (void)takes_step(table, begin, 0);
    }
    *ret_page = page;
    return BB_OK;
}

/* ---- requests ---- */

static enum bb_status acquire_from_cache(struct bb_table *table, uint32_t index,
                                         struct bb_read_stats *stats,
                                         struct bb_index_page **ret_page)
{
    uint64_t offset = table->root.pages[index].page_offset;
    struct bb_index_page *page = NULL;
    struct bb_cache_item *item = bb_block_cache_find(table->cache, table->cache_owner, offset);
    if (item == NULL) {
        enum bb_status status = bb_table_page_load(table, index, stats, &page);
        if (status != BB_OK)
            return status;
        item = bb_block_cache_insert(table->cache, table->cache_owner, offset, &page->item);
    }
    *ret_page = (struct bb_index_page *)item;
    return BB_OK;
}

enum bb_status bb_table_page_acquire(struct bb_table *table, uint32_t index,
                                     struct bb_read_stats *stats, struct bb_index_page **ret_page)
{
    bb_counter_add(&stats->page_requests, 1);
    if (table->index_residency == BB_INDEX_CACHED)
        return acquire_from_cache(table, index, stats, ret_page);
    struct bb_index_page *page = atomic_load_explicit(&table->pages[index], memory_order_acquire);
    if (__builtin_expect(page == NULL, 0))
        return load_into_slot(table, index, stats, ret_page);
    bb_index_page_prefetch(page);
    *ret_page = page;
    return BB_OK;
}

struct bb_index_page *bb_table_page_peek(struct bb_table *table, uint32_t index)
{
    if (table->index_residency != BB_INDEX_CACHED)
        return atomic_load_explicit(&table->pages[index], memory_order_acquire);
    return (struct bb_index_page *)bb_block_cache_peek(table->cache, table->cache_owner,
                                                       table->root.pages[index].page_offset);
}
