/* Many questions at once: bb/filter.h. Everything that the answers of a batch will read is fetched
 * before the first of them is worked out, so that the misses of the cache are waited for together.
 */
#include "bb/filter.h"

#include "bloomblock/kind.h"
#include "bloomblock/ribbon_probe.h"

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

/* The questions to a number of views: those to ribbons, and others, which answer for themselves. */
struct batch {
    struct bb_ribbon_question questions[BB_KIND_BATCH];
    const struct bb_ribbon_probes *ribbons; /* of any of them: the answers are the same */
    uint64_t others;                        /* bit i: question i is no ribbon's */
};

static bool is_ribbon(const struct bb_filter_view *view)
{
    const struct bb_kind_probe *probe = view->kind;
    return probe != NULL && probe->ribbon_questions != NULL;
}

/* The ribbons from views[first] on, as far as no other kind is among them; gives where they end. */
static size_t prepare_ribbons(struct batch *batch, const struct bb_filter_view *views, size_t first,
                              size_t count, uint64_t hash)
{
    const struct bb_kind_probe *probe = views[first].kind;
    size_t end = first + 1;
    while (end < count && is_ribbon(&views[end]))
        end++;
    probe->ribbon_questions(views + first, end - first, hash, batch->questions + first);
    batch->ribbons = views[first].probe;
    return end;
}

static void prepare_other(struct batch *batch, const struct bb_filter_view *views, size_t i,
                          uint64_t hash)
{
    const struct bb_kind_probe *probe = views[i].kind;
    batch->questions[i] = bb_ribbon_no_question();
    batch->others |= UINT64_C(1) << i;
    if (probe != NULL && probe->prefetch != NULL)
        probe->prefetch(&views[i], hash);
}

static uint64_t ask_views(const struct bb_filter_view *views, size_t count, uint64_t hash)
{
    struct batch batch;
    batch.ribbons = NULL;
    batch.others = 0;
    for (size_t i = 0; i < count;) {
        if (is_ribbon(&views[i]))
            i = prepare_ribbons(&batch, views, i, count, hash);
        else
            prepare_other(&batch, views, i++, hash);
    }
    uint64_t bits = batch.ribbons != NULL ? batch.ribbons->many(batch.questions, count)
                                          : UINT64_MAX >> (BB_KIND_BATCH - count);
    for (uint64_t left = batch.others; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        bits ^= (uint64_t)!bb_filter_may_contain(&views[i], hash) << i;
    }
    return bits;
}

void bb_filter_may_contain_each(const struct bb_filter_view *views, size_t view_count,
                                uint64_t hash, uint64_t *ret_bits)
{
    for (size_t i = 0; i < view_count; i += BB_KIND_BATCH)
        ret_bits[i / BB_KIND_BATCH] = ask_views(views + i, batch_size(view_count, i), hash);
}
