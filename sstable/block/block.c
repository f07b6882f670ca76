/* A data block in memory: loading, and the search over its restarts. See the header. Threads:
 * constant after load. */
#include "sstable/block/block.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "sstable/block/block_record.h"
#include "sstable/prefix_search.h"

/* The number of restarts is known only from the payload, which is read into its final place. The
 * inline space therefore fits entries of at least 100 bytes at the default interval. */
#define RESTART_SIZE      (sizeof(uint64_t) + sizeof(uint32_t))
#define RESTART_SPACE_MIN 48u
#define RESTART_SPACE_MAX 4096u

static uint32_t restart_space(uint32_t capacity)
{
    uint32_t space = RESTART_SPACE_MIN + capacity / 128;
    return (space < RESTART_SPACE_MAX ? space : RESTART_SPACE_MAX) & ~7u;
}

static void destroy_block(struct bb_cache_item *item)
{
    struct bb_block *block = (struct bb_block *)item;
    bb_free(block->restart_overflow);
    if (block->spares != NULL)
        bb_block_spares_put(block->spares, block, block->memory_size);
    else
        bb_free(block);
}

/* The caller owns the memory. */
static void forget_block(struct bb_cache_item *item)
{
    bb_free(((struct bb_block *)item)->restart_overflow);
}

struct bb_block *bb_block_in_scratch(struct bb_block_scratch *scratch, uint32_t capacity,
                                     const uint8_t *payload)
{
    struct bb_block *block = (struct bb_block *)(void *)scratch->block;
    uint32_t space = restart_space(capacity);
    size_t size = sizeof(struct bb_block) + space + (payload != NULL ? 0 : capacity);
    if (size > sizeof(scratch->block))
        return NULL;
    *block = (struct bb_block){
        .capacity = capacity,
        .restart_space = space,
        .payload =
            payload != NULL ? (uint8_t *)(uintptr_t)payload : (uint8_t *)block->space + space,
    };
    bb_block_cache_item_init(&block->item, forget_block, 0);
    return block;
}

enum bb_status bb_block_create(struct bb_block_spares *spares, uint32_t capacity,
                               struct bb_block **ret_block)
{
    uint32_t space = restart_space(capacity);
    size_t size = sizeof(struct bb_block) + space + capacity;
    struct bb_block *block =
        spares == NULL ? bb_alloc(size) : bb_block_spares_take(spares, size, &size);
    if (block == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a block of %u bytes", capacity);
    *block = (struct bb_block){
        .capacity = capacity,
        .restart_space = space,
        .memory_size = (uint32_t)size,
        .spares = spares,
        .payload = (uint8_t *)block->space + space,
    };
    bb_block_cache_item_init(&block->item, destroy_block, size);
    *ret_block = block;
    return BB_OK;
}

enum bb_status bb_block_create_over(const uint8_t *payload, uint32_t size,
                                    struct bb_block **ret_block)
{
    struct bb_block *block = NULL;
    enum bb_status status = bb_block_create(NULL, 0, &block);
    if (status != BB_OK)
        return status;
    block->payload = (uint8_t *)(uintptr_t)payload;
    block->capacity = size;
    *ret_block = block;
    return BB_OK;
}

/* Determines the end of the entries and the number of restarts. */
static enum bb_status read_tail(struct bb_block *block, struct bb_place place, bool *ret_is_wide)
{
    uint32_t size = block->raw_size;
    if (size < BB_BLOCK_TAIL_SIZE)
        return bb_corrupt(place, 0, "a block of %u raw bytes is too short for its restart count",
                          size);
    uint32_t tail = bb_load32(block->payload + size - BB_BLOCK_TAIL_SIZE);
    bool is_wide = (tail & BB_RESTARTS_WIDE) != 0;
    uint32_t count = tail & ~BB_RESTARTS_WIDE;
    uint32_t width = is_wide ? 4 : 2;
    uint32_t space = size - BB_BLOCK_TAIL_SIZE;
    if (count == 0 || count > space / width)
        return bb_corrupt(place, size - BB_BLOCK_TAIL_SIZE,
                          "a block of %u raw bytes claims %u restarts", size, count);
    block->restart_count = count;
    block->entries_size = space - count * width;
    if (is_wide != (block->entries_size > BB_NARROW_OFFSETS_MAX))
        return bb_corrupt(place, size - BB_BLOCK_TAIL_SIZE,
                          "restart offsets of %u bytes for %u bytes of entries", width,
                          block->entries_size);
    *ret_is_wide = is_wide;
    return BB_OK;
}

static enum bb_status place_restarts(struct bb_block *block)
{
    size_t size = block->restart_count * RESTART_SIZE;
    block->prefixes = block->space;
    if (size > block->restart_space) {
        block->restart_overflow = bb_alloc(size);
        if (block->restart_overflow == NULL)
            return bb_fail(BB_NO_MEMORY, "no memory for %u restarts of a block",
                           block->restart_count);
        block->prefixes = block->restart_overflow;
        block->item.charge += size;
    }
    block->restarts = (uint32_t *)(block->prefixes + block->restart_count);
    return BB_OK;
}

/* Offsets start at 0 and ascend. */
static enum bb_status read_offsets(struct bb_block *block, struct bb_place place, bool is_wide)
{
    const uint8_t *stored = block->payload + block->entries_size;
    for (uint32_t i = 0; i < block->restart_count; i++) {
        uint32_t offset =
            is_wide ? bb_load32(stored + 4 * (size_t)i) : bb_load16(stored + 2 * (size_t)i);
        bool is_ascending = i == 0 ? offset == 0 : offset > block->restarts[i - 1];
        if (!is_ascending || offset >= block->entries_size)
            return bb_corrupt(place, block->entries_size,
                              "restart %u of %u at %u, in %u bytes of entries", i,
                              block->restart_count, offset, block->entries_size);
        block->restarts[i] = offset;
    }
    return BB_OK;
}

/* False when the restart has no entry with its whole key. */
static inline bool decode_restart(const struct bb_block *block, uint32_t i,
                                  struct bb_block_record *ret_record)
{
    struct bb_cursor cursor = {
        .position = block->payload + block->restarts[i],
        .end = block->payload + block->entries_size,
    };
    struct bb_block_record record = {0};
    bool is_whole = bb_block_record_decode(&cursor, &record) && record.shared == 0;
    *ret_record = record;
    return is_whole;
}

static enum bb_status fail_restart(const struct bb_block *block, uint32_t i, struct bb_place place)
{
    return bb_corrupt(place, block->restarts[i],
                      "restart %u of %u is not an entry with a whole key", i, block->restart_count);
}

/* REQUIRES: the restart has been checked. */
static struct bb_block_record record_of_restart(const struct bb_block *block, uint32_t i)
{
    struct bb_block_record record;
    bool is_whole = decode_restart(block, i, &record);
    BB_DEBUG_ASSERT(is_whole);
    (void)is_whole;
    return record;
}

/* The prefix that the keys of the first and the last restart share. */
static enum bb_status find_common(struct bb_block *block, struct bb_place place)
{
    struct bb_block_record first;
    struct bb_block_record last;
    uint32_t last_index = block->restart_count - 1;
    if (!decode_restart(block, 0, &first))
        return fail_restart(block, 0, place);
    if (!decode_restart(block, last_index, &last))
        return fail_restart(block, last_index, place);
    size_t common =
        bb_bytes_shared_prefix(bb_block_record_suffix(&first), bb_block_record_suffix(&last));
    block->common = bb_prefix_of(bb_bytes_of(first.suffix, common));
    return BB_OK;
}

/* Keys between two keys with a shared prefix share it too. A key out of order may be shorter. */
static uint64_t prefix_after_common(const struct bb_block *block,
                                    const struct bb_block_record *record)
{
    return bb_bytes_prefix64(bb_bytes_after(
        bb_block_record_suffix(record),
        record->unshared < block->common.size ? record->unshared : block->common.size));
}

/* Checks the entries, and computes the prefixes: only the byte order uses them. */
static enum bb_status read_restarts(struct bb_block *block, struct bb_place place,
                                    bool has_prefixes)
{
    enum bb_status status = has_prefixes ? find_common(block, place) : BB_OK;
    for (uint32_t i = 0; i < block->restart_count && status == BB_OK; i++) {
        struct bb_block_record record;
        if (!decode_restart(block, i, &record))
            status = fail_restart(block, i, place);
        else if (has_prefixes)
            block->prefixes[i] = prefix_after_common(block, &record);
    }
    return status;
}

enum bb_status bb_block_index(struct bb_block *block, uint32_t raw_size,
                              const struct bb_comparator *comparator, struct bb_place place)
{
    BB_ASSERT(raw_size <= block->capacity && block->prefixes == NULL);
    bool is_wide = false;
    block->raw_size = raw_size;
    enum bb_status status = read_tail(block, place, &is_wide);
    if (status == BB_OK)
        status = place_restarts(block);
    if (status == BB_OK)
        status = read_offsets(block, place, is_wide);
    return status == BB_OK ? read_restarts(block, place, comparator == NULL) : status;
}

/* The number of restarts before (key, sequence) among from ... to, by whole comparisons. */
static uint32_t find_by_comparison(const struct bb_block *block,
                                   const struct bb_comparator *comparator, struct bb_bytes key,
                                   uint64_t sequence, uint32_t from, uint32_t to)
{
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        struct bb_block_record record = record_of_restart(block, middle);
        if (bb_entry_compare(comparator, bb_block_record_suffix(&record), record.sequence, key,
                             sequence) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

uint32_t bb_block_find_restart(const struct bb_block *block, const struct bb_comparator *comparator,
                               struct bb_bytes key, uint64_t sequence)
{
    uint32_t count = block->restart_count;
    if (comparator != NULL)
        return find_by_comparison(block, comparator, key, sequence, 0, count);
    int order = bb_prefix_compare(&block->common, key);
    if (order != 0)
        return order < 0 ? count : 0;

    uint64_t number = bb_bytes_prefix64(bb_bytes_after(key, block->common.size));
    uint32_t below = bb_prefix_search(block->prefixes, count, number);
    if (below == count || block->prefixes[below] != number)
        return below;
    uint32_t ties = bb_prefix_ties(block->prefixes + below, count - below, number);
    return find_by_comparison(block, NULL, key, sequence, below, below + ties);
}

void bb_block_prefetch_entries(const struct bb_block *block, struct bb_bytes key, uint64_t sequence)
{
    uint32_t below = bb_block_find_restart(block, NULL, key, sequence);
    uint32_t first = block->restarts[below == 0 ? 0 : below - 1];
    uint32_t end = below < block->restart_count ? block->restarts[below] : block->entries_size;
    bb_block_prefetch_interval(block, first, end);
}

uint32_t bb_block_restart_of(const struct bb_block *block, uint32_t offset)
{
    uint32_t low = 0;
    uint32_t high = block->restart_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (block->restarts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}
