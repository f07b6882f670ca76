/* Probing ribbons without vectors. filter_probe.h specifies the arguments and the bytes read.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PORTABLE_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PORTABLE_H

#include "bloomblock/ribbon/ribbon_question.h"

/* Byte-grouped, any fingerprint bits. */
bb_filter_probe bb_ribbon_portable_groups;
/* Bit-exact, any fingerprint bits. */
bb_filter_probe bb_ribbon_portable_bits;
/* Of shards that all have windows, with up to 8 fingerprint bits. */
bb_filter_probe_shards bb_ribbon_portable_shards;
/* Batches. */
bb_filter_probe_batch bb_ribbon_portable_batch;
/* The sums of the columns for the question; bits from its fingerprint_bits on have no meaning. */
uint32_t bb_ribbon_portable_sums(const struct bb_ribbon_question *question);

#endif
