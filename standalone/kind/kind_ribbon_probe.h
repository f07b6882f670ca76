/* The ways to probe views of standalone ribbons, over the probes of bloomblock/ribbon/. The usual
 * filters have up to 8 fingerprint bits, with the step, and windows in all their shards. They have
 * separate forms, in which a probe checks no layout.
 *
 * Pure functions except for their outputs; any thread. */
#ifndef BB_STANDALONE_KIND_KIND_RIBBON_PROBE_H
#define BB_STANDALONE_KIND_KIND_RIBBON_PROBE_H

#include "standalone/kind/kind.h"

/* Sets the form for an instruction set; see struct bb_kind_probe. */
void bb_kind_ribbon_probe_use(struct bb_filter_view *view, enum bb_cpu cpu);

/* Batches of views that all have windows, with AVX-512; see struct bb_kind_probe. Compiled for x86
 * only. */
uint64_t bb_kind_ribbon_probe_avx512_many(const struct bb_filter_view *view, const uint64_t *hashes,
                                          size_t count);
/* With fewer views single probes are faster than groups of eight. */
#define BB_KIND_RIBBON_PROBE_AVX512_MIN 5
/* REQUIRES: count >= BB_KIND_RIBBON_PROBE_AVX512_MIN. */
uint64_t bb_kind_ribbon_probe_avx512_each(const struct bb_filter_view *views, size_t count,
                                          uint64_t key_hash);

#endif
