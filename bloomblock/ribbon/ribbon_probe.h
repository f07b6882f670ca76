/* Probe functions of ribbons: selects the function for this processor and a rank.
 *
 * In all forms, both layouts read the payload and at most BB_RIBBON_PAD_BYTES after it, of any
 * content. After a standalone filter these bytes are its checksum. Forms for payloads with a longer
 * pad state it: BB_RIBBON_WIDE_PAD_BYTES, BB_RIBBON_SHARDS_PAD_BYTES.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_H

#include "bloomblock/cpu.h"
#include "bloomblock/ribbon/ribbon_shards.h"

#define BB_RIBBON_PAD_BYTES      8
#define BB_RIBBON_WIDE_PAD_BYTES 64 /* for quicker forms */

/* May the ribbon contain the hash? The descriptor's layout is the function's; true for sizes that
 * do not exist. rank is the table's, of the shorter step. */
typedef bool bb_ribbon_probe(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                             uint64_t hash);

struct bb_ribbon_probes {
    /* Byte-grouped and bit-exact, in the order of the descriptor's bit. */
    bb_ribbon_probe *layouts[2];
    /* Answers the first count questions of a batch, bit i to question i. */
    uint64_t (*many)(const struct bb_ribbon_batch *batch, size_t count);
    /* Of shards that all have windows. NULL: the rank is too large. */
    bb_ribbon_shards_probe *shards;
};

/* For a processor that has the instruction set. rank: 1 ... BB_RIBBON_RANK_MAX - 1. Constant. */
const struct bb_ribbon_probes *bb_ribbon_probes_of(enum bb_cpu cpu, uint32_t rank);

/* The same if BB_RIBBON_WIDE_PAD_BYTES after the payload are readable. */
const struct bb_ribbon_probes *bb_ribbon_padded_probes_of(enum bb_cpu cpu, uint32_t rank);

/* One jump instead of two where both layouts occur. */
static inline bool bb_ribbon_ask(const struct bb_ribbon_probes *probes, const uint8_t *payload,
                                 uint16_t descriptor, uint64_t rank, uint64_t hash)
{
    uint64_t word = descriptor;
    return probes->layouts[word >> 15](payload, word, rank, hash);
}

/* Selects the form that suits all shards: the short form if all of them have windows and ranks up
 * to 8, as in all but small sets. The probes must live as long as the shards are probed. */
void bb_ribbon_probe_shards(struct bb_ribbon_shards *shards, const struct bb_ribbon_probes *probes);

#endif
