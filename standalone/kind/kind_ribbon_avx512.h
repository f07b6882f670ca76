/* Stand-alone ribbons with windows (kind_ribbon_window.h), probed with AVX-512. Results are equal
 * to the results of the portable form. Compiled for x86 only.
 *
 * Pure functions; any thread.
 */
#ifndef BB_STANDALONE_KIND_KIND_RIBBON_AVX512_H
#define BB_STANDALONE_KIND_KIND_RIBBON_AVX512_H

#include "standalone/kind/kind_ribbon_window.h"

/* With fewer views bb_kind_ribbon_agree is faster than groups of eight. */
#define BB_KIND_RIBBON_AVX512_MIN 5

/* bb_kind_ribbon_agree. */
uint64_t bb_kind_ribbon_avx512_agree(const struct bb_kind_ribbon_window *windows, size_t count);

/* See struct bb_kind_probe. */
bool bb_kind_ribbon_avx512(const struct bb_filter_view *view, uint64_t key_hash);
uint64_t bb_kind_ribbon_avx512_many(const struct bb_filter_view *view, const uint64_t *hashes,
                                    size_t count);
/* REQUIRES: count >= BB_KIND_RIBBON_AVX512_MIN. */
uint64_t bb_kind_ribbon_avx512_each(const struct bb_filter_view *views, size_t count,
                                    uint64_t key_hash);

#endif
