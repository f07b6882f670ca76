/* Filters inside a table: many small filters of one kind, without envelopes.
 *
 * Their shared parameters are in the table's properties (struct bb_block_filter_format). Each
 * filter has a descriptor of 16 bits that determines the length of its payload, so that offsets are
 * sums of lengths:
 *
 *     ribbon           15     14   13   8 7    0
 *                    | layout | step | seed | size |
 *                      layout 0: byte-grouped, size = groups of 8 rows (8 ... 255)
 *                      layout 1: bit-exact, size = slots (1 ... 255)
 *                      step: number of additional fingerprint bits, 0 or 1
 *     blocked Bloom  | lines, 1 ... 65535 |
 *     Bloom          | payload bytes, 1 ... 65535 |
 *
 *     0 in every kind: no filter was stored here (may contain).
 *
 * A group of keys that is larger than BB_FILTER_GROUP_KEYS_MAX is split by hash over several
 * filters ("shards"). Block filters and the table filter have different hash domains: both derive
 * their fingerprints from the same key hash, but with different constants and the table's salt, so
 * that their rates multiply.
 *
 * Threads: a format is constant after init; probes are pure. */
#ifndef BB_BLOOMBLOCK_TABLE_BLOCK_FILTER_H
#define BB_BLOOMBLOCK_TABLE_BLOCK_FILTER_H

#include "bb/filter.h"
#include "base/buf.h"
#include "bloomblock/cpu.h"
#include "bloomblock/domain.h"
#include "bloomblock/filter_probe.h"

#define BB_FILTER_GROUP_KEYS_MAX   2000
#define BB_FILTER_GROUP_SHARDS_MAX 65535
/* Keys per shard of a set that is too large for one filter. With 500 to 1,500 keys a filter has the
 * smallest share of slots beyond its keys. */
#define BB_SHARD_KEYS 1000

/* The shared parameters of the filters of a table. */
struct bb_block_filter_format {
    enum bb_filter_kind kind; /* NONE, RIBBON, BLOCKED_BLOOM or BLOOM */
    double target_rate;       /* mean over absent keys, each filter weighted by its keys */
    uint64_t salt;            /* of the table */
    /* Ribbon: fingerprint bits r of the shorter step, 1 ... 24. Bloom kinds: probes k, 1 ... 30. */
    uint32_t bits_per_probe;
    /* For builders, not stored with the filters: share of extra slots in ribbons, 0 ...
     * BB_FILTER_SLACK_MAX. 0 after init: the smallest filter. */
    double slack;
    /* Derived, not stored. */
    uint64_t domain; /* of this purpose and salt */
    struct bb_filter_probes probes;
};

/* Chooses parameters for target_rate. BB_INVALID outside the allowed rates; NONE needs no
 * rate. */
BB_MUST_CHECK enum bb_status bb_block_filter_format_init(struct bb_block_filter_format *format,
                                                         enum bb_filter_kind kind,
                                                         double target_rate, uint64_t salt);
/* The same from stored fields. Returns false if bits_per_probe or kind is out of range; the
 * caller then reports BB_CORRUPT. */
BB_MUST_CHECK bool bb_block_filter_format_restore(struct bb_block_filter_format *format,
                                                  enum bb_filter_kind kind, double target_rate,
                                                  uint64_t salt, uint32_t bits_per_probe);

/* Selects another probe function than the processor's best; for tests and measurements. The
 * processor must support it. */
void bb_block_filter_format_use(struct bb_block_filter_format *format, enum bb_cpu cpu);

/* Builds the filters of one table, group after group: init (add* finish)* deinit.
 * Keeps the dithering error from filter to filter, so that the mean rate over the table is the
 * target. Memory: 8 bytes per key of the group, and the solver's bands. */
struct bb_block_filter_builder;
BB_MUST_CHECK enum bb_status
bb_block_filter_builder_create(const struct bb_block_filter_format *format,
                               struct bb_block_filter_builder **ret_builder);
void bb_block_filter_builder_destroy(struct bb_block_filter_builder *builder);
/* Equal hashes count once. */
BB_MUST_CHECK enum bb_status bb_block_filter_builder_add(struct bb_block_filter_builder *builder,
                                                         uint64_t hash);
/* The number of hashes added since the last finish. A hash equal to the previous one is not
 * counted. */
size_t bb_block_filter_builder_key_count(const struct bb_block_filter_builder *builder);
/* The mean predicted rate of the finished filters, each weighted by its keys; 1 before the first.
 * */
double bb_block_filter_builder_rate(const struct bb_block_filter_builder *builder);
/* The excess of a shard builder (shard.h), to be continued by the builder of the next table. */
double bb_block_filter_builder_excess(const struct bb_block_filter_builder *builder);
void bb_block_filter_builder_set_excess(struct bb_block_filter_builder *builder, double excess);
/* An upper bound of the payload bytes that finish would append now. */
size_t bb_block_filter_builder_size_estimate(const struct bb_block_filter_builder *builder);
/* Ends a group: appends its shards' descriptors (16 bits little-endian each) and payloads, and
 * tells how many. A group without keys gives one shard with descriptor 0. */
BB_MUST_CHECK enum bb_status bb_block_filter_builder_finish(struct bb_block_filter_builder *builder,
                                                            struct bb_buf *descriptors,
                                                            struct bb_buf *payload,
                                                            uint32_t *ret_shard_count);

/* Length of a payload from its descriptor; false for a descriptor that the format does not allow.
 */
BB_MUST_CHECK bool bb_block_filter_size(const struct bb_block_filter_format *format,
                                        uint16_t descriptor, size_t *ret_size);

/* Whether the bits of the last byte that belong to no slot are zero, as the builder leaves them.
 * For a descriptor that the format allows, and its payload. */
BB_MUST_CHECK bool bb_block_filter_rest_is_zero(const struct bb_block_filter_format *format,
                                                uint16_t descriptor, const uint8_t *payload);

/* The predicted rate of a filter, from its stored bytes: of a ribbon from its fingerprint bits, of
 * the Bloom kinds from their set bits; 1 for BB_DESCRIPTOR_NONE. For a descriptor that the format
 * allows, and its payload. */
double bb_block_filter_rate(const struct bb_block_filter_format *format, uint16_t descriptor,
                            const uint8_t *payload);

/* A key's part of a probe that is the same for all filters of a table: derive once per table and
 * lookup. */
struct bb_block_filter_key {
    uint64_t hash;
};
static inline struct bb_block_filter_key
bb_block_filter_key(const struct bb_block_filter_format *format, uint64_t key_hash)
{
    bool ribbon = format->kind == BB_FILTER_RIBBON;
    return (struct bb_block_filter_key){.hash =
                                            ribbon ? bb_domain_ribbon_hash(format->domain, key_hash)
                                                   : bb_domain_hash(format->domain, key_hash)};
}

/* Which of a group's shards holds the key: 0 ... shard_count - 1. */
static inline uint32_t bb_block_filter_shard(struct bb_block_filter_key key, uint32_t shard_count)
{
    return bb_shard_hash_shard(key.hash, shard_count);
}

/* Probes the filter for the key. payload must have the size given by the descriptor, between
 * BB_FILTER_LEAD_BYTES and BB_FILTER_PAD_BYTES readable bytes (filter_probe.h). */
static inline bool bb_block_filter_may_contain(const struct bb_block_filter_format *format,
                                               uint16_t descriptor, const uint8_t *payload,
                                               struct bb_block_filter_key key)
{
    return bb_filter_probe_one(&format->probes, payload, descriptor, format->bits_per_probe,
                               key.hash);
}

/* For tools: the description of a filter. */
struct bb_block_filter_info {
    const char *layout; /* "byte-grouped", "bit-exact", "lines", "bits", "none" */
    uint32_t size_bytes;
    uint32_t slots; /* ribbon: rows; Bloom kinds: bits */
    uint32_t seed;
    uint32_t bits_per_probe;
    double fill;
    double predicted_rate;
};
BB_MUST_CHECK bool bb_block_filter_info(const struct bb_block_filter_format *format,
                                        uint16_t descriptor, struct bb_bytes payload,
                                        struct bb_block_filter_info *ret_info);

#endif
