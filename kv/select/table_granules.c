/* See table_granules.h. */
#include "kv/select/table_granules.h"

#include "base/alloc.h"
#include "base/status.h"

enum bb_status bb_table_granules_init(struct bb_table_granules *granules, size_t count)
{
    *granules = (struct bb_table_granules){.count = count};
    granules->ends = bb_alloc_zeroed(count + 1, sizeof(*granules->ends));
    granules->wants = bb_alloc_zeroed(count / 64 + 1, sizeof(*granules->wants));
    if (granules->ends != NULL && granules->wants != NULL)
        return BB_OK;
    bb_table_granules_deinit(granules);
    return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu granules", count);
}

enum bb_status bb_table_granules_init_all(struct bb_table_granules *granules, uint64_t block_count)
{
    enum bb_status status = bb_table_granules_init(granules, block_count > 0 ? 1 : 0);
    if (status != BB_OK || block_count == 0)
        return status;
    granules->ends[0] = block_count;
    bb_table_granules_want(granules, 0);
    return BB_OK;
}

void bb_table_granules_deinit(struct bb_table_granules *granules)
{
    bb_free(granules->ends);
    bb_free(granules->wants);
    *granules = (struct bb_table_granules){0};
}

size_t bb_table_granules_find(const struct bb_table_granules *granules, uint64_t block)
{
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

size_t bb_table_granules_next(const struct bb_table_granules *granules, size_t granule)
{
    while (granule < granules->count) {
        uint64_t left = granules->wants[granule / 64] >> (granule % 64);
        if (left != 0) {
            size_t found = granule + (size_t)__builtin_ctzll(left);
            return found < granules->count ? found : granules->count;
        }
        granule = (granule / 64 + 1) * 64;
    }
    return granules->count;
}

size_t bb_table_granules_previous(const struct bb_table_granules *granules, size_t granule)
{
    for (size_t end = granule + 1; end > 0; end--) {
        if (bb_table_granules_wants(granules, end - 1))
            return end - 1;
    }
    return granules->count;
}

uint64_t bb_table_granules_run_begin(const struct bb_table_granules *granules, size_t granule)
{
    while (granule > 0 && bb_table_granules_wants(granules, granule - 1))
        granule--;
    return bb_table_granules_begin(granules, granule);
}

uint64_t bb_table_granules_run_end(const struct bb_table_granules *granules, size_t granule)
{
    while (granule + 1 < granules->count && bb_table_granules_wants(granules, granule + 1))
        granule++;
    return granules->ends[granule];
}
