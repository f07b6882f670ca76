/* Searchable fences. See the header. Threads: constant after init. */
#include "sstable/index/fence_index.h"

#include "base/assert.h"
#include "sstable/prefix_search.h"

size_t bb_fence_index_memory(size_t count)
{
    return (count * (sizeof(uint64_t) + sizeof(uint32_t)) + 7) & ~(size_t)7;
}

struct bb_fence bb_fence_index_get(const struct bb_fence_index *index, uint32_t i)
{
    BB_DEBUG_ASSERT(i < index->count);
    struct bb_cursor cursor = {.position = index->text + index->offsets[i], .end = index->text_end};
    struct bb_fence fence = {0};
    bool is_fence = bb_fence_decode(&cursor, &fence);
    BB_DEBUG_ASSERT(is_fence); /* init has decoded it before */
    (void)is_fence;
    return fence;
}

enum bb_status bb_fence_index_key(const struct bb_fence_index *index, uint32_t i,
                                  struct bb_buf *ret_key)
{
    struct bb_fence fence = bb_fence_index_get(index, i);
    enum bb_status status =
        bb_buf_assign(ret_key, bb_bytes_of(index->common.bytes, index->common.size));
    return status == BB_OK ? bb_buf_append(ret_key, fence.key.data, fence.key.size) : status;
}

/* Compares a fence with (suffix, sequence), where suffix is the key after the common prefix. */
static int compare_suffix(const struct bb_fence_index *index, uint32_t i,
                          const struct bb_comparator *comparator, struct bb_bytes suffix,
                          uint64_t sequence)
{
    struct bb_fence fence = bb_fence_index_get(index, i);
    return bb_entry_compare(comparator, fence.key, fence.sequence, suffix, sequence);
}

int bb_fence_index_compare(const struct bb_fence_index *index, uint32_t i,
                           const struct bb_comparator *comparator, struct bb_bytes key,
                           uint64_t sequence)
{
    int order = bb_prefix_compare(&index->common, key);
    if (order != 0)
        return order;
    struct bb_bytes suffix = bb_bytes_after(key, index->common.size);
    uint64_t number = index->prefixes == NULL ? 0 : bb_bytes_prefix64(suffix);
    if (index->prefixes != NULL && index->prefixes[i] != number)
        return index->prefixes[i] < number ? -1 : 1;
    return compare_suffix(index, i, comparator, suffix, sequence);
}

/* The number of fences at or before (suffix, sequence), by whole comparisons. REQUIRES: the fences
 * below `from` are. */
static uint32_t find_by_comparison(const struct bb_fence_index *index,
                                   const struct bb_comparator *comparator, struct bb_bytes suffix,
                                   uint64_t sequence, uint32_t from, uint32_t to)
{
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (compare_suffix(index, middle, comparator, suffix, sequence) <= 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

uint32_t bb_fence_index_find(const struct bb_fence_index *index,
                             const struct bb_comparator *comparator, struct bb_bytes key,
                             uint64_t sequence)
{
    if (index->prefixes == NULL)
        return find_by_comparison(index, comparator, key, sequence, 0, index->count);

    int order = bb_prefix_compare(&index->common, key);
    if (order != 0)
        return order < 0 ? index->count : 0;
    struct bb_bytes suffix = bb_bytes_after(key, index->common.size);
    uint64_t number = bb_bytes_prefix64(suffix);
    uint32_t below = bb_prefix_search(index->prefixes, index->count, number);
    if (below == index->count || index->prefixes[below] != number)
        return below;
    uint32_t ties = bb_prefix_ties(index->prefixes + below, index->count - below, number);
    return find_by_comparison(index, NULL, suffix, sequence, below, below + ties);
}

/* Adds one fence to the arrays; true when it sorts after the previous one. */
static bool add_fence(struct bb_fence_index *index, const struct bb_comparator *comparator,
                      uint64_t *prefixes, const struct bb_fence *previous,
                      const struct bb_fence *fence, uint32_t i)
{
    if (prefixes != NULL)
        prefixes[i] = bb_bytes_prefix64(fence->key);
    if (index->common.size + fence->key.size > BB_KEY_SIZE_MAX)
        return false;
    return i == 0 || bb_entry_compare(comparator, previous->key, previous->sequence, fence->key,
                                      fence->sequence) < 0;
}

static bool read_fences(struct bb_fence_index *index, const struct bb_comparator *comparator,
                        struct bb_cursor *cursor, uint64_t *prefixes, uint32_t *offsets,
                        const char **ret_problem)
{
    struct bb_fence previous = {0};
    for (uint32_t i = 0; i < index->count; i++) {
        struct bb_cursor start = *cursor;
        struct bb_fence fence = {0};
        if (!bb_fence_decode(cursor, &fence)) {
            *ret_problem = "a fence that cannot be read";
            return false;
        }
        offsets[i] = (uint32_t)(start.position - index->text);
        if (!add_fence(index, comparator, prefixes, &previous, &fence, i)) {
            *cursor = start;
            *ret_problem = "a fence that is too long, or not after the previous one";
            return false;
        }
        previous = fence;
    }
    return true;
}

bool bb_fence_index_init(struct bb_fence_index *index, const struct bb_comparator *comparator,
                         struct bb_cursor *cursor, uint32_t count, void *memory,
                         const char **ret_problem)
{
    struct bb_bytes common = {0};
    if (!bb_decode_bytes(cursor, &common) || common.size > BB_KEY_SIZE_MAX ||
        bb_cursor_left(cursor) > UINT32_MAX) {
        *ret_problem = "a common prefix that cannot be read";
        return false;
    }
    if (common.size > 0 && (comparator != NULL || count == 0)) {
        *ret_problem = "a common prefix where there must be none";
        return false;
    }
    uint64_t *prefixes = memory;
    uint32_t *offsets = (uint32_t *)(prefixes + count);
    *index = (struct bb_fence_index){
        .count = count,
        .common = bb_prefix_of(common),
        .text = cursor->position,
        .text_end = cursor->end,
        .prefixes = comparator == NULL ? prefixes : NULL,
        .offsets = offsets,
    };
    return read_fences(index, comparator, cursor, comparator == NULL ? prefixes : NULL, offsets,
                       ret_problem);
}
