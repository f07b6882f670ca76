/* Batches of probes of standalone ribbons that all have windows, with AVX-512. Results are equal to
 * the results of the portable form. Compiled for x86 only.
 *
 * Pure functions; any thread.
 */
#ifndef BB_STANDALONE_KIND_KIND_RIBBON_PROBE_AVX512_H
#define BB_STANDALONE_KIND_KIND_RIBBON_PROBE_AVX512_H

#include "standalone/kind/kind_ribbon_view.h"

/* With fewer views single probes are faster than groups of eight. */
#define BB_KIND_RIBBON_PROBE_AVX512_MIN 5

/* See struct bb_kind_probe. */
uint64_t bb_kind_ribbon_probe_avx512_many(const struct bb_filter_view *view, const uint64_t *hashes,
                                          size_t count);
/* REQUIRES: count >= BB_KIND_RIBBON_PROBE_AVX512_MIN. */
uint64_t bb_kind_ribbon_probe_avx512_each(const struct bb_filter_view *views, size_t count,
                                          uint64_t key_hash);

#endif
