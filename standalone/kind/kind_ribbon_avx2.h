/* Windows of stand-alone ribbons, probed with AVX2: the second step of kind_ribbon_window.h.
 * Results are equal to the results of the portable form. Compiled for x86 only.
 *
 * Pure functions; any thread.
 */
#ifndef BB_STANDALONE_KIND_KIND_RIBBON_AVX2_H
#define BB_STANDALONE_KIND_KIND_RIBBON_AVX2_H

#include "standalone/kind/kind_ribbon_window.h"

/* Both steps. */
bool bb_kind_ribbon_avx2(const struct bb_filter_view *view, uint64_t key_hash);
/* bb_kind_ribbon_agree. */
uint64_t bb_kind_ribbon_avx2_agree(const struct bb_kind_ribbon_window *windows, size_t count);

#endif
