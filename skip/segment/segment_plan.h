/* The sizes of a segment (segment.h), from counts of its pairs, before it is built.
 *
 * Pure functions; any thread.
 */
#ifndef BB_SKIP_SEGMENT_SEGMENT_PLAN_H
#define BB_SKIP_SEGMENT_SEGMENT_PLAN_H

#include "skip/segment/segment.h"

/* Sorted pairs, each once. */
struct bb_member_pairs {
    const uint64_t *first;
    const uint64_t *end;
};

/* Where the pairs of the first member end. */
static inline const uint64_t *bb_member_pairs_next(struct bb_member_pairs pairs)
{
    uint64_t hash = bb_member_pair_hash(*pairs.first);
    const uint64_t *end = pairs.first + 1;
    while (end < pairs.end && bb_member_pair_hash(*end) == hash)
        end++;
    return end;
}

/* How members are stored, by the number of their granules: up to ribbon_limit in ribbons, above
 * frequent_limit separately, the others as addresses. */
struct bb_segment_form {
    uint32_t ribbon_limit;   /* 0: there are no ribbons */
    uint32_t frequent_limit; /* at least ribbon_limit */
    uint32_t stripe_bits;
};

struct bb_segment_form bb_segment_plan_inverted_form(uint32_t granule_count);

/* Ribbons for members of up to `limit` granules. */
struct bb_segment_form bb_segment_plan_ribbon_form(uint32_t granule_count, uint32_t limit,
                                                   uint32_t stripe_bits);

/* The rate of a segment's filter for a target: lower in segments of few granules. WHY: a wrong
 * address is wrong in all granules of its members, so that the false granules of a few non-member
 * tokens are a large share of these segments. */
double bb_segment_plan_rate(uint32_t granule_count, double target);

/* The largest number of granules for which a member takes fewer bits in a ribbon than
 * separately. */
uint32_t bb_segment_plan_ribbon_limit(uint32_t granule_count, double rate);

/* Which granules of a member a ribbon holds: the first of each stripe. Granules ascend. */
struct bb_segment_stripes {
    uint64_t taken[BB_SEGMENT_WORDS];
};

static inline bool bb_segment_stripes_take(struct bb_segment_stripes *stripes, uint32_t stripe)
{
    uint64_t bit = UINT64_C(1) << stripe % 64;
    bool is_free = (stripes->taken[stripe / 64] & bit) == 0;
    stripes->taken[stripe / 64] |= bit;
    return is_free;
}

/* Counts of pairs, from which sizes follow. */
struct bb_segment_counts {
    double pairs;
    double bucket_bits;  /* estimate of the bits of all buckets */
    double rare_pairs;   /* as addresses */
    double rare_members; /* with such pairs */
    double ribbon_pairs;
};

struct bb_segment_counts bb_segment_plan_count(uint32_t granule_count, struct bb_segment_form form,
                                               struct bb_member_pairs pairs);

/* Sizes of a segment with `factor` times these counts. */
struct bb_segment bb_segment_plan(uint32_t granule_count, struct bb_segment_form form,
                                  struct bb_segment_counts counts, double factor, double rate);

/* Whether the ribbon of a chunk has one fingerprint bit more. Such ribbons are spread evenly. */
static inline bool bb_segment_is_long(const struct bb_segment *segment, uint64_t chunk)
{
    uint64_t chunks = bb_segment_chunk_count(segment);
    return (chunk + 1) * segment->long_ribbons / chunks > chunk * segment->long_ribbons / chunks;
}

#endif
