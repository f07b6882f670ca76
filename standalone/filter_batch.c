/* Probes in batches (bb/filter.h). A batch prefetches all bytes that its probes read, before it
 * computes the first result. So the cache misses overlap.
 */
#include "bb/filter.h"

#include "standalone/kind/kind.h"

/* --- Many hashes, one filter --- */

static uint64_t ask_one_by_one(const struct bb_filter_view *view, const uint64_t *hashes,
                               size_t count)
{
    const struct bb_kind_probe *probe = view->kind;
    uint64_t bits = 0;
    for (size_t i = 0; i < count && probe->prefetch != NULL; i++)
        probe->prefetch(view, hashes[i]);
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)probe->may_contain(view, hashes[i]) << i;
    return bits;
}

static uint64_t ask_batch(const struct bb_filter_view *view, const uint64_t *hashes, size_t count)
{
    const struct bb_kind_probe *probe = view->kind;
    if (probe == NULL)
        return UINT64_MAX >> (BB_KIND_BATCH - count);
    if (probe->may_contain_many != NULL)
        return probe->may_contain_many(view, hashes, count);
    return ask_one_by_one(view, hashes, count);
}

static size_t batch_size(size_t count, size_t first)
{
    return count - first < BB_KIND_BATCH ? count - first : BB_KIND_BATCH;
}

void bb_filter_may_contain_many(const struct bb_filter_view *view, const uint64_t *hashes,
                                size_t count, uint64_t *ret_bits)
{
    for (size_t i = 0; i < count; i += BB_KIND_BATCH)
        ret_bits[i / BB_KIND_BATCH] = ask_batch(view, hashes + i, batch_size(count, i));
}

/* --- One hash, many filters --- */

typedef uint64_t ask_each(const struct bb_filter_view *views, size_t count, uint64_t hash);

/* The function that probes several views of this kind together; NULL: the kind has none. */
static ask_each *together(const struct bb_filter_view *view)
{
    const struct bb_kind_probe *probe = view->kind;
    return probe == NULL ? NULL : probe->may_contain_each;
}

static void prefetch(const struct bb_filter_view *view, uint64_t hash)
{
    const struct bb_kind_probe *probe = view->kind;
    if (probe != NULL && probe->prefetch != NULL)
        probe->prefetch(view, hash);
}

static uint64_t ask_apart(const struct bb_filter_view *views, size_t count, uint64_t hash)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        prefetch(&views[i], hash);
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)bb_filter_may_contain(&views[i], hash) << i;
    return bits;
}

static inline bool are_alike(const struct bb_filter_view *views, size_t count)
{
    for (const struct bb_filter_view *view = views + count; --view > views;)
        if (view->kind != views->kind)
            return false;
    return true;
}

/* Divides the views into runs of one kind, and probes each run together if the kind can. */
static uint64_t ask_runs(const struct bb_filter_view *views, size_t count, uint64_t hash)
{
    uint64_t bits = 0;
    for (size_t first = 0, end; first < count; first = end) {
        ask_each *ask = together(&views[first]);
        for (end = first + 1; end < count && views[end].kind == views[first].kind;)
            end++;
        if (ask == NULL)
            ask = ask_apart;
        bits |= ask(views + first, end - first, hash) << first;
    }
    return bits;
}

static __attribute__((noinline)) void ask_batches(const struct bb_filter_view *views,
                                                  size_t view_count, uint64_t hash,
                                                  uint64_t *ret_bits)
{
    for (size_t i = 0; i < view_count; i += BB_KIND_BATCH)
        ret_bits[i / BB_KIND_BATCH] = ask_runs(views + i, batch_size(view_count, i), hash);
}

/* WHY the first branch: most calls have one run of views, in one batch. */
void bb_filter_may_contain_each(const struct bb_filter_view *views, size_t view_count,
                                uint64_t hash, uint64_t *ret_bits)
{
    ask_each *ask = view_count > 0 && view_count <= BB_KIND_BATCH ? together(views) : NULL;
    if (ask != NULL && are_alike(views, view_count))
        *ret_bits = ask(views, view_count, hash);
    else
        ask_batches(views, view_count, hash, ret_bits);
}
