/* How the filters of a table are probed in memory: the functions, and the bytes around a payload
 * that they may read. bloomblock/ribbon/ and block_filter.c implement them for the kinds. Users of
 * this header know no kind.
 *
 * Threads: constant after init. */
#ifndef BB_BLOOMBLOCK_FILTER_PROBE_H
#define BB_BLOOMBLOCK_FILTER_PROBE_H

#include "bloomblock/descriptor.h"
#include "bloomblock/shard_hash.h"

/* Readable bytes before the first and after the last payload, of any content: they never change a
 * result. Probes load whole vectors, of which only the last bytes matter. */
#define BB_FILTER_LEAD_BYTES 56
#define BB_FILTER_PAD_BYTES  8

/* Whether the filter may contain the hash, which is in the filter's domain. The descriptor's
 * highest bit selects the function. True for descriptors that do not exist. bits_per_probe: of a
 * ribbon, the fingerprint bits of the shorter step; of Bloom kinds, probes. All arguments are
 * 64-bit words, because probes compute with such words. */
typedef bool bb_filter_probe(const uint8_t *payload, uint64_t descriptor, uint64_t bits_per_probe,
                             uint64_t hash);

#define BB_FILTER_BATCH 64 /* probes in one word of results */

/* Where a shard is in memory: offset from the first payload << 16 | descriptor. */
typedef uint64_t bb_filter_place;

/* The arguments of probes of ribbons of any fingerprint bits and layouts. They are words, so that
 * vectors can be loaded. */
struct bb_filter_batch {
    uint64_t hashes[BB_FILTER_BATCH];
    const uint8_t *payloads[BB_FILTER_BATCH];   /* the first of the filter's set */
    bb_filter_place places[BB_FILTER_BATCH];    /* without a filter: any offset */
    uint64_t fingerprint_bits[BB_FILTER_BATCH]; /* of the shorter step */
};
/* Probes the first count filters of a batch; bit i is the result of probe i. */
typedef uint64_t bb_filter_probe_batch(const struct bb_filter_batch *batch, size_t count);

struct bb_filter_shards;
/* Whether the set may contain a key with this hash. */
typedef bool bb_filter_probe_shards(const struct bb_filter_shards *shards, uint64_t key_hash);
/* Prefetches the memory that such a probe reads. */
typedef void bb_filter_prefetch_shards(const struct bb_filter_shards *shards, uint64_t key_hash);

/* The functions for the filters of one format, for one instruction set. */
struct bb_filter_probes {
    bb_filter_probe *layouts[2]; /* in the order of the descriptor's highest bit */
    bb_filter_probe_batch *batch;
    /* For sets of shards that all have windows. NULL: there is no such form. */
    bb_filter_probe_shards *shards;
};

/* One jump instead of two where both layouts occur. */
static inline bool bb_filter_probe_one(const struct bb_filter_probes *probes,
                                       const uint8_t *payload, uint16_t descriptor,
                                       uint64_t bits_per_probe, uint64_t hash)
{
    uint64_t word = descriptor;
    return probes->layouts[word >> 15](payload, word, bits_per_probe, hash);
}

/* The shards of one set in memory, probed in one call: from the key's hash to its shard and the
 * result, without a call or a branch between.
 *
 *     hash --> shard --> places: | offset 63 ... 16 | descriptor 15 ... 0 |    8 bytes per shard
 *                                      |
 *     payloads  | shard 0 | shard 1 ...v|......| bytes that are read |...|
 *
 * A random probe of a set larger than the processor's caches waits for one or two lines. The fewer
 * instructions a probe takes, the more probes wait at the same time. bb_sharded_filter_ready fills
 * this struct. */
struct bb_filter_shards {
    /* Borrowed. Without a payload the descriptor is BB_DESCRIPTOR_NONE, and the result maybe. */
    const bb_filter_place *places;
    const uint8_t *payloads;
    bb_filter_probe_shards *probe;
    bb_filter_prefetch_shards *prefetch;
    uint64_t domain; /* combined with the hash by exclusive or: domain.h */
    uint64_t count;
    uint64_t fingerprint_bits; /* of the shorter step */
    const struct bb_filter_probes *probes;
};

static inline const bb_filter_place *bb_filter_probe_place(const struct bb_filter_shards *shards,
                                                           uint64_t key_hash)
{
    return &shards->places[bb_shard_hash_shard(key_hash ^ shards->domain, shards->count)];
}

#endif
