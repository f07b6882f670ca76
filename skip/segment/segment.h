/* The inverted segment: which of up to 1,024 granules hold a member, for all members together.
 *
 * A segment knows 40 bits of a member's hash, permuted (member_pair.h). The high q bits select a
 * bucket. The other bits are scaled to an address in the bucket: 0 ... A - 1. The segment stores
 * pairs of an address and a granule, as the numbers address * granules + granule. A follows from
 * the target rate: an absent member seems to be in a granule with probability
 *
 *     pairs / (2^q * A * granules)
 *
 * A member that shares its address with another seems to be in all granules of the other. So
 * *frequent* members, in more than a 48th of the granules and in more than two, have no address
 * (ribbons raise this limit: segment_plan.h). They are stored with all 40 bits, and only a member
 * with the same 40 bits matches them. The others are *rare*.
 *
 *     segment := chunk*                    read one at a time; the index head has their ends
 *     chunk   := u16 descriptor of the ribbon, where there are ribbons
 *                | u16 end of each bucket, in bytes of the buckets | buckets | ribbon
 *                | u64 checksum
 *     bucket  := members whose hash begins with the same q bits, as bits:
 *                  gamma(frequent + 1)
 *                  frequent times   the 40 - q other bits of the hash, bounded(granules - 1)
 *                  Rice(pairs), the pairs (number_set.h)
 *                  frequent times   posting
 *
 * If most members are in few granules, the chunks of a segment have ribbons (segment_ribbon.h). A
 * ribbon holds a pair of such a member in log2(1 / rate) bits; a set of numbers takes 1.5 bits
 * more. Pairs that a ribbon cannot hold are in the buckets. A granule may hold a member if the
 * ribbon or the bucket returns it, and the sum of both rates is the target.
 *
 * All pairs of a bucket are one set of numbers. WHY: a separate count and posting for each address
 * took 0.9 bits a pair more for values that hardly repeat. Postings of frequent members are last,
 * so a query for another member never reads them.
 *
 * A chunk is not trusted: for any bytes, a query terminates and reads only the chunk.
 * Threads: any; a segment does not change.
 */
#ifndef BB_SKIP_SEGMENT_SEGMENT_H
#define BB_SKIP_SEGMENT_SEGMENT_H

#include "skip/member/member_pair.h"
#include "skip/bits/number_set.h"
#include "skip/segment/segment_ribbon.h"

/* ON DISK. */
#define BB_SEGMENT_CHUNK_BUCKET_BITS 4 /* up to 16 buckets to a chunk; as many without ribbons */
#define BB_SEGMENT_CHUNK_SIZE_MAX    (128 * 1024)

#define BB_SEGMENT_CHUNK_CHECKSUM_SIZE 8
#define BB_SEGMENT_NUMBER_SHIFT_MAX    50
#define BB_SEGMENT_BUCKET_BITS_MAX     24
/* A member of more than one granule in 48 is frequent. WHY: with one in 32, two members with the
 * same address too often seemed to be in more than 6 % of the granules (docs/decisions/0030). */
#define BB_SEGMENT_FREQUENT_SHARE       48
#define BB_SEGMENT_FREQUENT_MIN         2
#define BB_SEGMENT_STRIPE_BITS_MAX      10
#define BB_SEGMENT_FINGERPRINT_BITS_MAX 24

struct bb_segment {
    uint32_t granule_count;   /* 1 ... BB_SEGMENT_GRANULES_MAX */
    uint64_t factor;          /* of the permutation: odd, less than 2^40 */
    uint64_t address_count;   /* A, of a bucket: 1 ... 2^(40 - q) */
    uint32_t bucket_bits;     /* q: 0 ... BB_SEGMENT_BUCKET_BITS_MAX */
    uint32_t chunk_bits;      /* the lowest of the q bits: they select a bucket in its chunk */
    uint32_t count_shift;     /* of the Rice code of pairs */
    uint32_t number_shift;    /* number_set.h */
    uint64_t pair_count;      /* of a member and a granule, in all forms */
    uint64_t frequent_count;  /* frequent members */
    uint64_t rare_pair_count; /* distinct pairs of an address and a granule */
    /* Ribbons, one to a chunk. */
    uint32_t ribbon_fingerprint_bits; /* of a short ribbon; 0: no ribbons */
    uint32_t stripe_bits;             /* segment_ribbon.h */
    uint64_t long_ribbons;            /* ribbons with one fingerprint bit more */
    const uint8_t *ends; /* borrowed: u32 end of each chunk, from the segment's first byte on */
};

static inline uint32_t bb_segment_chunk_count(const struct bb_segment *segment)
{
    return UINT32_C(1) << (segment->bucket_bits - segment->chunk_bits);
}

/* Buckets of a chunk. */
static inline uint32_t bb_segment_chunk_buckets(const struct bb_segment *segment)
{
    return UINT32_C(1) << segment->chunk_bits;
}

static inline bool bb_segment_has_ribbons(const struct bb_segment *segment)
{
    return segment->ribbon_fingerprint_bits > 0;
}

static inline struct bb_segment_ribbon_deal bb_segment_deal(const struct bb_segment *segment)
{
    return (struct bb_segment_ribbon_deal){segment->granule_count, segment->stripe_bits};
}

/* Bytes of a chunk before its first bucket. */
static inline size_t bb_segment_chunk_head(const struct bb_segment *segment)
{
    return sizeof(uint16_t) * (bb_segment_chunk_buckets(segment) + bb_segment_has_ribbons(segment));
}

/* The address of a hash of 40 bits in its bucket. Ascends with the hash. */
static inline uint64_t bb_segment_address(const struct bb_segment *segment, uint64_t hash40)
{
    uint32_t bits = BB_MEMBER_HASH_BITS - segment->bucket_bits;
    uint64_t rest = hash40 & ((UINT64_C(1) << bits) - 1);
    __extension__ typedef unsigned __int128 product;
    return (uint64_t)((product)rest * segment->address_count >> bits);
}

/* The ribbons' part of bb_segment_rate. REQUIRES: there are ribbons. */
double bb_segment_ribbon_rate(const struct bb_segment *segment);

/* The mean share of granules that an absent member seems to be in. */
double bb_segment_rate(const struct bb_segment *segment);

/* The hash of member_hash.h as the segment knows it: permuted, its low bits 0. */
static inline uint64_t bb_segment_hash(const struct bb_segment *segment, uint64_t hash)
{
    const int shift = 64 - BB_MEMBER_HASH_BITS;
    return bb_member_permute(hash >> shift, segment->factor) << shift;
}

/* Appends all fields except the number of granules, the factor and the ends. */
BB_MUST_CHECK enum bb_status bb_segment_append(const struct bb_segment *segment,
                                               struct bb_buf *buf);
/* Reads these fields and the ends. The ends stay in the bytes; the factor becomes 1. False: the
 * bytes are no segment. granule_count: 1 ... BB_SEGMENT_GRANULES_MAX. */
BB_MUST_CHECK bool bb_segment_decode(struct bb_cursor *cursor, uint32_t granule_count,
                                     bool has_ribbons, struct bb_segment *ret_segment);

/* Bytes of the segment, all chunks. */
uint64_t bb_segment_size(const struct bb_segment *segment);

/* The place of the chunk that may hold a member, checksum included. *ret_offset counts from the
 * segment's first byte. hash: of bb_segment_hash. */
void bb_segment_chunk(const struct bb_segment *segment, uint64_t hash, uint64_t *ret_offset,
                      uint32_t *ret_size);

/* Adds the granules that may hold the member to *bits. chunk: the bytes at the place of
 * bb_segment_chunk. hash: of bb_segment_hash. False: the chunk is damaged, and *bits may have
 * anything. */
BB_MUST_CHECK bool bb_segment_ask(const struct bb_segment *segment, struct bb_bytes chunk,
                                  uint64_t hash, struct bb_granule_bits *bits);

#endif
