/* Finding windows of stand-alone ribbons, and probing them without vectors. */
#include "standalone/kind/kind_ribbon_window.h"

#include "bloomblock/ribbon/ribbon_pairs_avx2.h"
#include "bloomblock/ribbon/ribbon_parity.h"
#include "standalone/kind/kind_ribbon_avx2.h"
#include "standalone/kind/kind_ribbon_avx512.h"

/* --- Finding them --- */

static bool has_window(struct bb_shard_entry entry)
{
    return !bb_ribbon_descriptor_is_bit_exact(entry.descriptor) &&
           bb_ribbon_has_window(entry.descriptor);
}

bool bb_kind_ribbon_has_windows(const struct bb_filter_view *view)
{
    if (view->parameters[BB_VIEW_PROBES] >= BB_KIND_RIBBON_WINDOW_RANK_MAX)
        return false;
    for (uint32_t i = 0; i < view->parameters[BB_VIEW_SIZE]; i++)
        if (!has_window(bb_shard_directory_entry(view->payload.data, i)))
            return false;
    return true;
}

/* Field by field: a struct that is composed first is stored twice. */
static inline void find(const struct bb_filter_view *view, uint64_t key_hash,
                        struct bb_kind_ribbon_window *ret_window)
{
    struct bb_kind_ribbon_window window = bb_kind_ribbon_find_window(view, key_hash);
    ret_window->bytes = window.bytes;
    ret_window->rank = window.rank;
    ret_window->coefficients = window.coefficients;
    ret_window->fingerprint = window.fingerprint;
    __builtin_prefetch(window.bytes);
    __builtin_prefetch(window.bytes + BB_RIBBON_WINDOW_GROUPS * window.rank - 1);
}

static inline uint64_t ask_each(const struct bb_filter_view *views, size_t count, uint64_t key_hash,
                                bb_kind_ribbon_agree *agree)
{
    struct bb_kind_ribbon_window windows[BB_KIND_BATCH], *window = windows;
    for (const struct bb_filter_view *view = views + count; view > views;)
        find(--view, key_hash, window++);
    return agree(windows, count);
}

static inline uint64_t ask_many(const struct bb_filter_view *view, const uint64_t *hashes,
                                size_t count, bb_kind_ribbon_agree *agree)
{
    struct bb_kind_ribbon_window windows[BB_KIND_BATCH], *window = windows;
    for (const uint64_t *hash = hashes + count; hash > hashes;)
        find(view, *--hash, window++);
    return agree(windows, count);
}

/* --- The portable form --- */

static inline bool agrees(const struct bb_kind_ribbon_window *window)
{
    uint32_t sums = bb_ribbon_sum_columns(window->bytes, window->rank, window->coefficients | 1);
    return ((sums ^ window->fingerprint) & bb_ribbon_rank_mask((uint32_t)window->rank)) == 0;
}

static bool portable(const struct bb_filter_view *view, uint64_t key_hash)
{
    struct bb_kind_ribbon_window window = bb_kind_ribbon_find_window(view, key_hash);
    return agrees(&window);
}

static uint64_t portable_agree(const struct bb_kind_ribbon_window *windows, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits * 2 + agrees(&windows[i]);
    return bits;
}

static uint64_t portable_each(const struct bb_filter_view *views, size_t count, uint64_t key_hash)
{
    return ask_each(views, count, key_hash, portable_agree);
}

static uint64_t portable_many(const struct bb_filter_view *view, const uint64_t *hashes,
                              size_t count)
{
    return ask_many(view, hashes, count, portable_agree);
}

/* --- For vectors --- */

#if BB_CPU_X86
static uint64_t avx2_each(const struct bb_filter_view *views, size_t count, uint64_t key_hash)
{
    return ask_each(views, count, key_hash, bb_kind_ribbon_avx2_agree);
}

static uint64_t avx2_many(const struct bb_filter_view *view, const uint64_t *hashes, size_t count)
{
    return ask_many(view, hashes, count, bb_kind_ribbon_avx2_agree);
}

static uint64_t avx512_each(const struct bb_filter_view *views, size_t count, uint64_t key_hash)
{
    if (count >= BB_KIND_RIBBON_AVX512_MIN)
        return bb_kind_ribbon_avx512_each(views, count, key_hash);
    return ask_each(views, count, key_hash, bb_kind_ribbon_avx512_agree);
}
#endif

/* --- All forms --- */

static const struct bb_kind_probe forms[BB_CPU_COUNT] = {
    [BB_CPU_PORTABLE] = {.may_contain = portable,
                         .use = bb_kind_ribbon_use,
                         .may_contain_many = portable_many,
                         .may_contain_each = portable_each},
#if BB_CPU_X86
    [BB_CPU_AVX2] = {.may_contain = bb_kind_ribbon_avx2,
                     .use = bb_kind_ribbon_use,
                     .may_contain_many = avx2_many,
                     .may_contain_each = avx2_each},
    [BB_CPU_AVX512] = {.may_contain = bb_kind_ribbon_avx512,
                       .use = bb_kind_ribbon_use,
                       .may_contain_many = bb_kind_ribbon_avx512_many,
                       .may_contain_each = avx512_each},
#endif
};

const struct bb_kind_probe *bb_kind_ribbon_window_probe(enum bb_cpu cpu, uint32_t rank)
{
    if (cpu == BB_CPU_AVX2 && rank < BB_RIBBON_PAIRS_RANK_MIN)
        cpu = BB_CPU_PORTABLE;
    return &forms[cpu];
}
