/* The shards of one set in memory, probed in one call: from the key's hash to its shard, its window
 * and the result, without a call or a branch between.
 *
 *     hash --> shard --> places: | offset 63 ... 16 | descriptor 15 ... 0 |    8 bytes of each
 *                                                                              shard
 *                                      |
 *     payloads  | shard 0 | shard 1 ...v|......| window |...|
 *
 * A random probe of a set larger than the processor's caches waits for one or two lines. The fewer
 * instructions a probe takes, the more probes wait at the same time.
 *
 * Threads: constant after init. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_SHARDS_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_SHARDS_H

#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon/ribbon_question.h"
#include "bloomblock/shard_hash.h"

/* Readable bytes after the last payload; more if the probes need it (ribbon_probe.h). */
#define BB_RIBBON_SHARDS_PAD_BYTES 24

struct bb_ribbon_shards;
/* May the set contain a key of this hash? */
typedef bool bb_ribbon_shards_probe(const struct bb_ribbon_shards *shards, uint64_t key_hash);

struct bb_ribbon_shards {
    const uint64_t *places; /* borrowed; where there is no payload the descriptor is
                               BB_DESCRIPTOR_NONE, and the answer yes */
    const uint8_t *payloads;
    bb_ribbon_shards_probe *probe; /* bb_ribbon_probe_shards sets it, and probes */
    uint64_t domain;               /* added to the hash by exclusive or (domain.h) */
    uint64_t count;
    uint64_t rank; /* of the shorter step */
    const struct bb_ribbon_probes *probes;
};

static inline uint64_t bb_ribbon_shards_place(const struct bb_ribbon_shards *shards, uint64_t hash)
{
    return shards->places[bb_shard_of(hash, shards->count)];
}

/* REQUIRES: all shards have windows. */
static inline struct bb_ribbon_window bb_ribbon_shards_window(const struct bb_ribbon_shards *shards,
                                                              uint64_t key_hash)
{
    uint64_t hash = key_hash ^ shards->domain;
    uint64_t place = bb_ribbon_shards_place(shards, hash);
    return bb_ribbon_window(shards->payloads + (place >> 16), (uint16_t)place, shards->rank, hash);
}

/* The portable form for them. */
bool bb_ribbon_shards_portable(const struct bb_ribbon_shards *shards, uint64_t key_hash);

#endif
