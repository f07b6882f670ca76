/* See table_granules.h. */
#include "kv/select/table_granules.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

enum bb_status bb_table_granules_init(struct bb_table_granules *granules, size_t count,
                                      uint64_t block_count)
{
    *granules = (struct bb_table_granules){.count = count, .block_count = block_count};
    granules->ends = bb_alloc_zeroed(count + 1, sizeof(*granules->ends));
    granules->wants = bb_alloc_zeroed(block_count / 64 + 1, sizeof(*granules->wants));
    if (granules->ends != NULL && granules->wants != NULL)
        return BB_OK;
    bb_table_granules_deinit(granules);
    return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu granules", count);
}

enum bb_status bb_table_granules_init_all(struct bb_table_granules *granules, uint64_t block_count)
{
    enum bb_status status = bb_table_granules_init(granules, block_count > 0 ? 1 : 0, block_count);
    if (status != BB_OK || block_count == 0)
        return status;
    granules->ends[0] = block_count;
    bb_table_granules_want(granules, 0, block_count);
    return BB_OK;
}

void bb_table_granules_deinit(struct bb_table_granules *granules)
{
    bb_free(granules->ends);
    bb_free(granules->wants);
    *granules = (struct bb_table_granules){0};
}

void bb_table_granules_want(struct bb_table_granules *granules, uint64_t begin, uint64_t end)
{
    while (begin < end) {
        uint64_t left = 64 - begin % 64;
        uint64_t count = end - begin < left ? end - begin : left;
        granules->wants[begin / 64] |= UINT64_MAX >> (64 - count) << begin % 64;
        begin += count;
    }
}

size_t bb_table_granules_find(const struct bb_table_granules *granules, uint64_t block)
{
    BB_DEBUG_ASSERT(granules->count > 0 && block < granules->ends[granules->count - 1]);
    size_t low = 0;
    size_t high = granules->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (granules->ends[middle] <= block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first block from this one on, needed or not as given; block_count if none. */
static uint64_t find_from(const struct bb_table_granules *granules, uint64_t block, bool is_wanted)
{
    while (block < granules->block_count) {
        uint64_t word = granules->wants[block / 64] ^ (is_wanted ? 0 : UINT64_MAX);
        uint64_t left = word >> block % 64;
        if (left != 0) {
            uint64_t found = block + (uint64_t)__builtin_ctzll(left);
            return found < granules->block_count ? found : granules->block_count;
        }
        block = (block / 64 + 1) * 64;
    }
    return granules->block_count;
}

/* The last block up to this one, needed or not as given; block_count if none. */
static uint64_t find_back(const struct bb_table_granules *granules, uint64_t block, bool is_wanted)
{
    for (uint64_t end = block + 1; end > 0; end = (end - 1) / 64 * 64) {
        uint64_t last = end - 1;
        uint64_t word = granules->wants[last / 64] ^ (is_wanted ? 0 : UINT64_MAX);
        uint64_t left = word << (63 - last % 64);
        if (left != 0)
            return last - (uint64_t)__builtin_clzll(left);
    }
    return granules->block_count;
}

uint64_t bb_table_granules_next(const struct bb_table_granules *granules, uint64_t block)
{
    return find_from(granules, block, true);
}

uint64_t bb_table_granules_previous(const struct bb_table_granules *granules, uint64_t block)
{
    return find_back(granules, block, true);
}

uint64_t bb_table_granules_span_end(const struct bb_table_granules *granules, uint64_t block)
{
    return find_from(granules, block, false);
}

uint64_t bb_table_granules_span_begin(const struct bb_table_granules *granules, uint64_t block)
{
    uint64_t gap = find_back(granules, block, false);
    return gap == granules->block_count ? 0 : gap + 1;
}
