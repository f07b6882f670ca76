/* See run.h. */
#include "compaction/levels/run.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "sstable/table/table_lookup.h"

static enum bb_status check_order(const struct bb_run *run, const struct bb_comparator *comparator,
                                  int level)
{
    for (size_t i = 1; i < run->count; i++) {
        const struct bb_table_file *a = run->files[i - 1];
        const struct bb_table_file *b = run->files[i];
        if (!bb_table_file_ends_before(a, comparator, bb_table_file_smallest(b)))
            return bb_fail(BB_CORRUPT, "tables %" PRIu64 " and %" PRIu64 " of level %d overlap",
                           a->number, b->number, level);
    }
    return BB_OK;
}

static void add_up(struct bb_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct bb_table_file *file = run->files[i];
        run->keys_before[i] = run->key_count;
        run->key_count += file->meta.key_count;
        run->file_bytes += file->meta.file_size;
        run->range_tombstone_count += file->meta.range_tombstone_count;
        run->rate_keys += file->filter_rate * (double)file->meta.key_count;
        run->predicted_rate_keys += file->predicted_rate * (double)file->meta.key_count;
    }
}

/* The shared prefix of the first and last bound is shared by all bounds between them. */
static void take_shared(struct bb_run *run)
{
    struct bb_bytes first = bb_table_file_smallest(run->files[0]);
    size_t shared =
        bb_bytes_shared_prefix(first, bb_table_file_largest(run->files[run->count - 1]));
    run->shared = bb_prefix_of(bb_bytes_of(first.data, shared));
    size_t size = shared < sizeof(uint64_t) ? shared : sizeof(uint64_t);
    run->shared_head = __builtin_bswap64(run->shared.number);
    run->shared_mask = size == 0 ? 0 : UINT64_MAX >> (8 * (sizeof(uint64_t) - size));
}

/* Bytewise only: under another order, keys between two keys need not share their prefix. */
static enum bb_status take_prefixes(struct bb_run *run)
{
    run->largest_prefixes =
        bb_alloc_zeroed(run->count + BB_PREFIX_GUIDE_STEPS, sizeof(*run->largest_prefixes));
    run->places = bb_alloc_zeroed(run->count + 1, sizeof(*run->places));
    if (run->largest_prefixes == NULL || run->places == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the fences of %zu tables", run->count);
    take_shared(run);
    for (size_t i = 0; i < run->count; i++) {
        struct bb_bytes low =
            bb_bytes_after(bb_table_file_smallest(run->files[i]), run->shared.size);
        struct bb_bytes high =
            bb_bytes_after(bb_table_file_largest(run->files[i]), run->shared.size);
        run->largest_prefixes[i] = bb_bytes_prefix64(high);
        run->places[i].smallest_prefix = bb_bytes_prefix64(low);
        atomic_init(&run->places[i].table_filter, NULL);
    }
    /* After the last table no table is found. */
    for (size_t i = 0; i < BB_PREFIX_GUIDE_STEPS; i++)
        run->largest_prefixes[run->count + i] = UINT64_MAX;
    run->places[run->count].smallest_prefix = UINT64_MAX;
    return bb_prefix_guide_init(&run->guide, run->largest_prefixes, run->count,
                                run->places[0].smallest_prefix);
}

enum bb_status bb_run_index(struct bb_run *run, const struct bb_comparator *comparator, int level)
{
    enum bb_status status = check_order(run, comparator, level);
    if (status != BB_OK)
        return status;
    run->keys_before = bb_alloc_zeroed(run->count, sizeof(*run->keys_before));
    if (run->keys_before == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the key counts of %zu tables", run->count);
    add_up(run);
    if (comparator == NULL)
        status = take_prefixes(run);
    if (status != BB_OK)
        bb_run_deinit(run);
    return status;
}

void bb_run_deinit(struct bb_run *run)
{
    bb_free(run->keys_before);
    bb_free(run->largest_prefixes);
    bb_free(run->places);
    bb_prefix_guide_deinit(&run->guide);
    run->keys_before = NULL;
    run->largest_prefixes = NULL;
    run->places = NULL;
}

bool bb_run_find_by_prefix(const struct bb_run *run, uint64_t prefix, size_t *ret_index)
{
    uint32_t index = bb_prefix_search(run->largest_prefixes, (uint32_t)run->count, prefix);
    if (index == run->count) {
        *ret_index = run->count;
        return true;
    }
    uint64_t smallest_prefix = run->places[index].smallest_prefix;
    if (prefix == smallest_prefix || prefix == run->largest_prefixes[index])
        return false;
    *ret_index = smallest_prefix < prefix ? index : run->count;
    return true;
}

bool bb_run_find_short(const struct bb_run *run, struct bb_bytes key, size_t *ret_index)
{
    return bb_prefix_compare(&run->shared, key) == 0 &&
           bb_run_find_by_guide(run, bb_bytes_prefix64(bb_bytes_after(key, run->shared.size)),
                                ret_index);
}

/* Two threads may store the same value. A thread that reads it sees the complete table filter, as
 * its table published it. The run has a reference to the file, so the table stays open. */
const struct bb_table_filter *bb_run_take_table_filter(const struct bb_run *run, size_t index)
{
    const struct bb_table *table =
        atomic_load_explicit(&run->files[index]->table, memory_order_acquire);
    const struct bb_table_filter *table_filter =
        table == NULL ? NULL : bb_table_lookup_ready_filter(table);
    if (table_filter == NULL)
        return NULL;
    /* Sequentially consistent, like bb_run_forget_table_filter: a concurrent distrust of the table
     * either clears this value or is seen here. */
    atomic_store(&run->places[index].table_filter, table_filter);
    if (bb_table_lookup_ready_filter(table) != NULL)
        return table_filter;
    atomic_store(&run->places[index].table_filter, NULL);
    return NULL;
}

void bb_run_forget_table_filter(const struct bb_run *run, const struct bb_table_file *file)
{
    for (size_t i = 0; i < run->count && run->places != NULL; i++) {
        if (run->files[i] == file)
            atomic_store(&run->places[i].table_filter, NULL);
    }
}

size_t bb_run_search(struct bb_table_file *const *files, const struct bb_comparator *comparator,
                     size_t low, size_t high, struct bb_bytes key)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bb_table_file_ends_before(files[middle], comparator, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t bb_run_find_index(const struct bb_run *run, const struct bb_comparator *comparator,
                         struct bb_bytes key)
{
    if (run->largest_prefixes == NULL)
        return bb_run_search(run->files, comparator, 0, run->count, key);
    int order = bb_prefix_compare(&run->shared, key);
    if (order != 0)
        return order < 0 ? run->count : 0;
    uint64_t prefix = bb_bytes_prefix64(bb_bytes_after(key, run->shared.size));
    uint32_t count = (uint32_t)run->count;
    uint32_t below = bb_prefix_search(run->largest_prefixes, count, prefix);
    uint32_t ties = bb_prefix_ties(run->largest_prefixes + below, count - below, prefix);
    return bb_run_search(run->files, comparator, below, (size_t)below + ties, key);
}

struct bb_table_file *bb_run_find(const struct bb_run *run, const struct bb_comparator *comparator,
                                  struct bb_bytes key)
{
    size_t index = 0;
    if (bb_run_find_at_once(run, key, &index))
        return index == run->count ? NULL : run->files[index];
    index = bb_run_find_index(run, comparator, key);
    if (index == run->count)
        return NULL;
    struct bb_table_file *file = run->files[index];
    return bb_key_compare(comparator, bb_table_file_smallest(file), key) <= 0 ? file : NULL;
}

void bb_run_find_overlap(const struct bb_run *run, const struct bb_comparator *comparator,
                         struct bb_bytes low, struct bb_bytes high, size_t *ret_first,
                         size_t *ret_end)
{
    size_t first = bb_run_find_index(run, comparator, low);
    size_t end = bb_run_find_index(run, comparator, high);
    /* The first table that does not end before high overlaps the range unless it begins after
     * high. */
    if (end < run->count &&
        bb_key_compare(comparator, bb_table_file_smallest(run->files[end]), high) <= 0)
        end++;
    *ret_first = first;
    *ret_end = end;
}

bool bb_run_overlaps(const struct bb_run *run, const struct bb_comparator *comparator,
                     struct bb_bytes low, struct bb_bytes high)
{
    size_t first = 0;
    size_t end = 0;
    bb_run_find_overlap(run, comparator, low, high, &first, &end);
    return first < end;
}

void bb_run_find_range(const struct bb_run *run, const struct bb_comparator *comparator,
                       const struct bb_key_range *range, size_t *ret_first, size_t *ret_end)
{
    size_t first = 0;
    size_t end = run->count;
    if (range->low != NULL)
        first = bb_run_find_index(run, comparator, *range->low);
    if (range->high != NULL && first < end) {
        end = bb_run_find_index(run, comparator, *range->high);
        end +=
            end < run->count &&
            bb_key_compare(comparator, bb_table_file_smallest(run->files[end]), *range->high) < 0;
    }
    *ret_first = first;
    *ret_end = end < first ? first : end;
}

uint64_t bb_run_bytes(const struct bb_run *run, size_t first, size_t end)
{
    BB_DEBUG_ASSERT(end <= run->count);
    uint64_t bytes = 0;
    for (size_t i = first; i < end; i++)
        bytes += run->files[i]->meta.file_size;
    return bytes;
}
