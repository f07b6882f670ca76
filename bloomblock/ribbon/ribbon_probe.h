/* Probe functions of ribbons (filter_probe.h): selects those for a processor and a number of
 * fingerprint bits.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_H

#include "bloomblock/cpu.h"
#include "bloomblock/filter_probe.h"

/* The functions for an instruction set that the processor has. fingerprint_bits: of the shorter
 * step, 1 ... BB_RIBBON_FINGERPRINT_BITS_MAX - 1. The result is constant. */
const struct bb_filter_probes *bb_ribbon_probe_of(enum bb_cpu cpu, uint32_t fingerprint_bits);

/* Selects the form that suits all shards: the short form if all of them have windows and up to
 * 8 fingerprint bits, as in all but small sets. The probes must live as long as the shards are
 * probed. */
void bb_ribbon_probe_shards(struct bb_filter_shards *shards, const struct bb_filter_probes *probes);

#endif
