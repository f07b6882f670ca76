/* Data blocks of an open table: from cache, map or file.
 *
 * Data from the file is used only after its checksum was verified. If the checksum is wrong, the
 * data is read a second time, because it may be damaged on the way from the disk; a second mismatch
 * is BB_CORRUPT. Unverified data never gets into the cache.
 * Threads: any.
 */
#include "sstable/table/table.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/counter.h"
#include "sstable/block/stored_block.h"

/* Blocks above this size are not copied from a map: a call for them takes little longer. */
#define COPY_SIZE_MAX ((uint32_t)16 * 1024)

static void count_read(struct bb_read_stats *stats, uint32_t size)
{
    bb_counter_add(&stats->block_reads, 1);
    bb_counter_add(&stats->block_read_bytes, size);
}

static void count_mapped(struct bb_read_stats *stats, uint32_t size)
{
    count_read(stats, size);
    bb_counter_add(&stats->blocks_mapped, 1);
}

static enum bb_status read_once(struct bb_table *table, uint8_t *stored, struct bb_place place,
                                uint32_t size, struct bb_read_stats *stats)
{
    count_read(stats, size);
    enum bb_status status = bb_file_read_exactly(table->file, place.offset, stored, size);
    if (status == BB_OK)
        status = bb_stored_block_check(stored, size, table->id, place);
    return status;
}

static enum bb_status read_stored(struct bb_table *table, uint8_t *stored, struct bb_place place,
                                  uint32_t size, struct bb_read_stats *stats)
{
    enum bb_status status = read_once(table, stored, place, size, stats);
    return status == BB_CORRUPT ? read_once(table, stored, place, size, stats) : status;
}

/* Has a block that the system has in memory, verified, without a call. False: reading it gives it,
 * or the reason. */
static bool copy_stored(struct bb_table *table, uint8_t *stored, uint64_t offset, uint32_t size,
                        struct bb_read_stats *stats)
{
    if (size > COPY_SIZE_MAX || !bb_page_map_copy(&table->copies, offset, stored, size))
        return false;
    count_mapped(stats, size);
    return bb_stored_block_is_whole(stored, size, table->id, offset);
}

static enum bb_status copy_or_read_stored(struct bb_table *table, uint8_t *stored,
                                          struct bb_place place, uint32_t size,
                                          struct bb_read_stats *stats)
{
    if (copy_stored(table, stored, place.offset, size, stats))
        return BB_OK;
    enum bb_status status = read_stored(table, stored, place, size, stats);
    if (status == BB_OK && size <= COPY_SIZE_MAX)
        bb_page_map_note(&table->copies, place.offset, size);
    return status;
}

/* may_copy: the bytes need not come from a call. */
static enum bb_status fetch(struct bb_table *table, uint64_t offset, uint32_t size, bool may_copy,
                            struct bb_read_stats *stats, struct bb_block **ret_stored)
{
    struct bb_place place = bb_table_place(table, offset);
    struct bb_block *stored = NULL;
    enum bb_status status = bb_block_create(bb_table_spares(table), size, &stored);
    if (status != BB_OK)
        return status;
    status = may_copy ? copy_or_read_stored(table, stored->payload, place, size, stats)
                      : read_stored(table, stored->payload, place, size, stats);
    if (status == BB_OK)
        *ret_stored = stored;
    else
        bb_block_unref(stored);
    return status;
}

enum bb_status bb_table_block_fetch(struct bb_table *table, uint64_t offset, uint32_t size,
                                    struct bb_read_stats *stats, struct bb_block **ret_stored)
{
    return fetch(table, offset, size, false, stats, ret_stored);
}

static enum bb_status load_alone(struct bb_table *table, uint64_t offset, uint32_t size,
                                 struct bb_read_stats *stats, struct bb_block **ret_block)
{
    struct bb_block *block = NULL;
    enum bb_status status = fetch(table, offset, size, true, stats, &block);
    if (status != BB_OK)
        return status;
    status = bb_stored_block_decode(&block, size, table->comparator, bb_table_place(table, offset));
    if (status == BB_OK)
        *ret_block = block;
    return status;
}

/* A block that is kept is read through the scratch only in tables with LZ4, where its stored form
 * may be different. */
static enum bb_status load_block(struct bb_table *table, struct bb_block_scratch *scratch,
                                 bool is_kept, uint64_t offset, uint32_t size,
                                 struct bb_read_stats *stats, struct bb_block **ret_block)
{
    bool is_small = size <= sizeof(scratch->stored);
    if (!is_small || (is_kept && table->properties.compression != BB_COMPRESSION_LZ4))
        return load_alone(table, offset, size, stats, ret_block);
    struct bb_place place = bb_table_place(table, offset);
    enum bb_status status = copy_or_read_stored(table, scratch->stored, place, size, stats);
    return status == BB_OK ? bb_stored_block_decode_scratch(scratch, scratch->stored, size, is_kept,
                                                            bb_table_spares(table),
                                                            table->comparator, place, ret_block)
                           : status;
}

/* Returns the block, after inserting it into the cache if is_wanted. */
static struct bb_block *keep(struct bb_table *table, bool is_wanted, uint64_t offset,
                             struct bb_block *block)
{
    if (!is_wanted || !bb_block_cache_takes(table->cache, block->item.charge))
        return block;
    return (struct bb_block *)bb_block_cache_insert(table->cache, table->cache_owner, offset,
                                                    &block->item);
}

static enum bb_status read_block(struct bb_table *table, struct bb_block_scratch *scratch,
                                 bool is_kept, bool is_wanted, uint64_t offset, uint32_t size,
                                 struct bb_read_stats *stats, struct bb_block **ret_block)
{
    struct bb_block *block = NULL;
    enum bb_status status =
        load_block(table, scratch, is_kept || is_wanted, offset, size, stats, &block);
    if (status == BB_OK)
        *ret_block = keep(table, is_wanted, offset, block);
    return status;
}

enum bb_status bb_table_block_take_mapped(struct bb_table *table, const struct bb_index_page *page,
                                          uint32_t ordinal, struct bb_block_scratch *scratch,
                                          bool is_kept, struct bb_read_stats *stats,
                                          struct bb_block **ret_block)
{
    struct bb_place place = bb_table_place(table, bb_index_page_block_offset(page, ordinal));
    uint32_t size = bb_index_page_block_size(page, ordinal);
    struct bb_block *block = NULL;
    const uint8_t *stored = bb_table_map_stored(&table->map, table->id, place.offset, size,
                                                page->first_block + ordinal);
    if (stored == NULL)
        return BB_OK;
    enum bb_status status = bb_stored_block_decode_scratch(
        scratch, stored, size, is_kept, bb_table_spares(table), table->comparator, place, &block);
    if (!bb_table_map_is_sound(&table->map)) {
        bb_block_unref(block);
        return BB_OK;
    }
    count_mapped(stats, size);
    *ret_block = block;
    return status;
}

enum bb_status bb_table_block_show(struct bb_table *table, const struct bb_index_page *page,
                                   uint32_t ordinal, struct bb_read_stats *stats,
                                   struct bb_block **ret_block)
{
    struct bb_place place = bb_table_place(table, bb_index_page_block_offset(page, ordinal));
    uint32_t size = bb_index_page_block_size(page, ordinal);
    struct bb_block *block = NULL;
    enum bb_status status = BB_OK;
    const uint8_t *stored = bb_table_map_stored(&table->map, table->id, place.offset, size,
                                                page->first_block + ordinal);
    if (stored != NULL)
        status = bb_stored_block_show(stored, size, table->comparator, place, &block);
    if (stored != NULL && !bb_table_map_is_sound(&table->map)) {
        bb_block_unref(block);
        block = NULL;
        status = BB_OK;
    }
    if (block != NULL) {
        bb_counter_add(&stats->block_requests, 1);
        count_mapped(stats, size);
    }
    *ret_block = block;
    return status;
}

enum bb_status bb_table_block_check_head(const struct bb_table *table,
                                         const struct bb_index_page *page, uint32_t page_index,
                                         uint32_t ordinal, const struct bb_block *block)
{
    struct bb_block_head head = {0};
    if (!bb_index_page_has_head(page, ordinal))
        return BB_OK;
    enum bb_status status = bb_index_page_head(
        page, ordinal, bb_table_place(table, table->root.pages[page_index].page_offset), &head);
    return status == BB_OK
               ? bb_block_head_check(
                     &head, block, bb_table_place(table, bb_index_page_block_offset(page, ordinal)))
               : status;
}

bool bb_table_shows(const struct bb_table *table, struct bb_bytes value)
{
    return bb_table_map_has(&table->map, value.data);
}

enum bb_status bb_table_check_shown(const struct bb_table *table, struct bb_bytes value)
{
    BB_DEBUG_ASSERT(bb_table_shows(table, value));
    return bb_table_map_is_sound(&table->map)
               ? BB_OK
               : bb_table_map_fail(
                     bb_table_place(table, bb_table_map_offset(&table->map, value.data)));
}

struct bb_block *bb_table_block_find(struct bb_table *table, const struct bb_read_options *options,
                                     const struct bb_index_page *page, uint32_t ordinal,
                                     struct bb_read_stats *stats, bool *ret_is_wanted)
{
    bool is_wanted = false;
    struct bb_cache_item *item = NULL;
    uint64_t size = (uint64_t)(bb_index_page_block_size(page, ordinal) * table->raw_share);
    bb_counter_add(&stats->block_requests, 1);
    if (table->cache != NULL)
        item = bb_block_cache_find_or_judge(table->cache, table->cache_owner,
                                            bb_index_page_block_offset(page, ordinal), size,
                                            &is_wanted);
    *ret_is_wanted = is_wanted && !options->bypass_fill;
    if (item != NULL)
        bb_block_prefetch((struct bb_block *)item);
    return (struct bb_block *)item;
}

void bb_table_block_prefetch(struct bb_table *table, const struct bb_index_page *page,
                             uint32_t ordinal)
{
    if (table->cache != NULL)
        bb_block_cache_prefetch(table->cache, table->cache_owner,
                                bb_index_page_block_offset(page, ordinal));
}

/* Whether lookups may use the block in the map. Small LZ4 blocks are copied before they are
 * decompressed: that takes less time than decompressing out of the map. */
static bool is_used_in_map(const struct bb_table *table, uint32_t size)
{
    bool is_copied = table->copies.file != NULL && size <= COPY_SIZE_MAX;
    return table->map.file != NULL && !is_copied;
}

enum bb_status bb_table_block_load(struct bb_table *table, const struct bb_read_options *options,
                                   const struct bb_index_page *page, uint32_t ordinal,
                                   struct bb_block_scratch *scratch, bool is_kept, bool is_wanted,
                                   struct bb_read_stats *stats, struct bb_block **ret_block)
{
    uint64_t offset = bb_index_page_block_offset(page, ordinal);
    uint32_t size = bb_index_page_block_size(page, ordinal);
    struct bb_block *block = NULL;
    enum bb_status status = BB_OK;
    if (!options->bypass_fill && is_used_in_map(table, size)) {
        status = bb_table_block_take_mapped(table, page, ordinal, scratch, is_kept || is_wanted,
                                            stats, &block);
        if (status == BB_OK && block != NULL)
            block = keep(table, is_wanted, offset, block);
    }
    if (status == BB_OK && block == NULL)
        return read_block(table, scratch, is_kept, is_wanted, offset, size, stats, ret_block);
    if (status == BB_OK)
        *ret_block = block;
    return status;
}

enum bb_status bb_table_block_of_stored(struct bb_table *table, const struct bb_index_page *page,
                                        uint32_t ordinal, const uint8_t *stored, bool is_wanted,
                                        struct bb_read_stats *stats, struct bb_block **ret_block)
{
    uint64_t offset = bb_index_page_block_offset(page, ordinal);
    uint32_t size = bb_index_page_block_size(page, ordinal);
    struct bb_place place = bb_table_place(table, offset);
    struct bb_block *block = NULL;
    bb_counter_add(&stats->block_reads, 1);
    enum bb_status status = bb_stored_block_check(stored, size, table->id, place);
    if (status == BB_OK)
        status = bb_stored_block_copy(stored, size, bb_table_spares(table), table->comparator,
                                      place, &block);
    if (status == BB_OK)
        *ret_block = keep(table, is_wanted, offset, block);
    return status;
}

enum bb_status bb_table_block_acquire(struct bb_table *table, const struct bb_read_options *options,
                                      const struct bb_index_page *page, uint32_t ordinal,
                                      struct bb_block_scratch *scratch, bool is_kept,
                                      struct bb_read_stats *stats, struct bb_block **ret_block)
{
    bool is_wanted = false;
    struct bb_block *block = NULL;
    if (table->uses_blocks_in_place && !is_kept && !options->bypass_fill)
        bb_counter_add(&stats->block_requests, 1);
    else
        block = bb_table_block_find(table, options, page, ordinal, stats, &is_wanted);
    if (block == NULL)
        return bb_table_block_load(table, options, page, ordinal, scratch, is_kept, is_wanted,
                                   stats, ret_block);
    *ret_block = block;
    return BB_OK;
}

enum bb_status bb_table_block_acquire_both(struct bb_table *table,
                                           const struct bb_read_options *options,
                                           const struct bb_index_page *page, uint32_t ordinal,
                                           struct bb_read_stats *stats,
                                           struct bb_block **ret_stored,
                                           struct bb_block **ret_block)
{
    uint64_t offset = bb_index_page_block_offset(page, ordinal);
    uint32_t size = bb_index_page_block_size(page, ordinal);
    bool is_wanted = false;
    struct bb_block *block = bb_table_block_find(table, options, page, ordinal, stats, &is_wanted);
    struct bb_block *stored = NULL;
    enum bb_status status = BB_OK;
    if (block == NULL) {
        status = bb_table_block_fetch(table, offset, size, stats, &block);
        if (status != BB_OK)
            return status;
        stored = bb_block_ref(block);
        status =
            bb_stored_block_decode(&block, size, table->comparator, bb_table_place(table, offset));
    }
    if (status != BB_OK) {
        bb_block_unref(stored);
        return status;
    }
    *ret_stored = stored;
    *ret_block = block;
    return BB_OK;
}

/* ---- data blocks, in batches ---- */

/* Limit of the read-ahead for one block. */
#define NEED_SIZE_MAX ((uint32_t)128 * 1024)

/* Reads a small block into scratch->stored, if the system has it in memory and its checksum is
 * right. False: the caller reads it again later, and then waits for the disk. WHY may_copy: a copy
 * has to wait if the system has dropped the page. */
static bool read_stored_now(struct bb_table *table, struct bb_block_scratch *scratch,
                            uint64_t offset, uint32_t size, bool may_copy,
                            struct bb_read_stats *stats)
{
    if (size > sizeof(scratch->stored))
        return false;
    if (may_copy && copy_stored(table, scratch->stored, offset, size, stats))
        return true;
    if (!bb_file_read_now(table->file, offset, scratch->stored, size)) {
        bb_page_map_drop(&table->copies, offset, size);
        return false;
    }
    count_read(stats, size);
    if (!bb_stored_block_is_whole(scratch->stored, size, table->id, offset))
        return false;
    bb_page_map_note(&table->copies, offset, size);
    return true;
}

enum bb_status bb_table_block_try(struct bb_table *table, const struct bb_read_options *options,
                                  const struct bb_index_page *page, uint32_t ordinal,
                                  struct bb_block_scratch *scratch, bool may_copy,
                                  struct bb_read_stats *stats, bool *ret_is_wanted,
                                  struct bb_block **ret_block)
{
    uint64_t offset = bb_index_page_block_offset(page, ordinal);
    uint32_t size = bb_index_page_block_size(page, ordinal);
    struct bb_place place = bb_table_place(table, offset);
    struct bb_block *block =
        bb_table_block_find(table, options, page, ordinal, stats, ret_is_wanted);
    enum bb_status status = BB_OK;
    if (block == NULL && read_stored_now(table, scratch, offset, size, may_copy, stats)) {
        status = bb_stored_block_decode_scratch(scratch, scratch->stored, size, *ret_is_wanted,
                                                bb_table_spares(table), table->comparator, place,
                                                &block);
        if (status == BB_OK)
            block = keep(table, *ret_is_wanted, offset, block);
    } else if (block == NULL) {
        bb_file_will_need(table->file, offset, size < NEED_SIZE_MAX ? size : NEED_SIZE_MAX);
    }
    if (status == BB_OK)
        *ret_block = block;
    return status;
}

enum bb_status bb_table_block_await(struct bb_table *table, const struct bb_index_page *page,
                                    uint32_t ordinal, struct bb_block_scratch *scratch,
                                    bool is_wanted, struct bb_read_stats *stats,
                                    struct bb_block **ret_block)
{
    return read_block(table, scratch, false, is_wanted, bb_index_page_block_offset(page, ordinal),
                      bb_index_page_block_size(page, ordinal), stats, ret_block);
}
