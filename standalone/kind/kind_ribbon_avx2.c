/* Windows of stand-alone ribbons, probed in pairs of groups (ribbon_pairs_avx2.h). */
#include "standalone/kind/kind_ribbon_avx2.h"

#include "bloomblock/ribbon/ribbon_pairs_avx2.h"
#include "standalone/kind/kind_ribbon_window.h"

#if BB_CPU_X86
BB_CPU_TARGET_AVX2 static inline bool agrees(const struct bb_kind_ribbon_window *window)
{
    return bb_ribbon_pairs_agree(window->bytes, window->rank, window->coefficients,
                                 window->fingerprint);
}

BB_CPU_TARGET_AVX2 bool bb_kind_ribbon_avx2(const struct bb_filter_view *view, uint64_t key_hash)
{
    struct bb_kind_ribbon_window window = bb_kind_ribbon_find_window(view, key_hash);
    return agrees(&window);
}

BB_CPU_TARGET_AVX2 uint64_t bb_kind_ribbon_avx2_agree(const struct bb_kind_ribbon_window *windows,
                                                      size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits * 2 + agrees(&windows[i]);
    return bits;
}
#endif
