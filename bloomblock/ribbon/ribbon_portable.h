/* Probing ribbons without vectors. filter_probe.h specifies the arguments and the bytes read.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PORTABLE_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PORTABLE_H

#include "bloomblock/ribbon/ribbon_question.h"

/* Byte-grouped, any rank. */
bool bb_ribbon_portable_groups(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                               uint64_t hash);
/* Bit-exact, any rank. */
bool bb_ribbon_portable_bits(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                             uint64_t hash);
/* Of shards that all have windows, of ranks up to 8. */
bool bb_ribbon_portable_shards(const struct bb_filter_shards *shards, uint64_t key_hash);
/* Batches. */
uint64_t bb_ribbon_portable_batch(const struct bb_filter_batch *batch, size_t count);
/* The sums of the columns for the question; bits from its rank on have no meaning. */
uint32_t bb_ribbon_portable_sums(const struct bb_ribbon_question *question);

#endif
