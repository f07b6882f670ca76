/* Windows of ribbons that stand alone, found, and asked without vectors. */
#include "bloomblock/standalone/kind_ribbon_window.h"

#include "bloomblock/ribbon/ribbon_parity.h"
#include "bloomblock/standalone/kind_ribbon_avx2.h"
#include "bloomblock/standalone/kind_ribbon_avx512.h"

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

/* Field by field: what is put together first is stored twice. */
static inline void find(const struct bb_filter_view *view, uint64_t key_hash,
                        struct bb_kind_ribbon_window *ret_window)
{
    struct bb_kind_ribbon_window window = bb_kind_ribbon_find_window(view, key_hash);
    ret_window->end = window.end;
    ret_window->rank = window.rank;
    ret_window->coefficients = window.coefficients;
    ret_window->fingerprint = window.fingerprint;
    __builtin_prefetch(window.end - 64);
    __builtin_prefetch(window.end - 1);
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
    const uint8_t *bytes = window->end - BB_RIBBON_WINDOW_GROUPS * window->rank;
    uint32_t sums = bb_ribbon_sum_columns(bytes, window->rank, window->coefficients);
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

/* --- All forms --- */

#define FORM(name, one, agree)                                                                     \
    static uint64_t name##_each(const struct bb_filter_view *views, size_t count,                  \
                                uint64_t key_hash)                                                 \
    {                                                                                              \
        return ask_each(views, count, key_hash, agree);                                            \
    }                                                                                              \
    static uint64_t name##_many(const struct bb_filter_view *view, const uint64_t *hashes,         \
                                size_t count)                                                      \
    {                                                                                              \
        return ask_many(view, hashes, count, agree);                                               \
    }                                                                                              \
    static const struct bb_kind_probe name##_probe = {.may_contain = one,                          \
                                                      .use = bb_kind_ribbon_use,                   \
                                                      .may_contain_many = name##_many,             \
                                                      .may_contain_each = name##_each};

FORM(portable, portable, portable_agree)
#if BB_CPU_X86
FORM(avx2, bb_kind_ribbon_avx2, bb_kind_ribbon_avx2_agree)
FORM(avx512, bb_kind_ribbon_avx512, bb_kind_ribbon_avx512_agree)
#endif

const struct bb_kind_probe *bb_kind_ribbon_window_probe(enum bb_cpu cpu)
{
    switch (cpu) {
#if BB_CPU_X86
    case BB_CPU_AVX512:
        return &avx512_probe;
    case BB_CPU_AVX2:
        return &avx2_probe;
#endif
    default:
        return &portable_probe;
    }
}
