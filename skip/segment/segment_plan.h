/* Computes the sizes of a segment (segment.h) from counts of its pairs, before it is built.
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

/* The end of the first member's pairs. There must be a pair. */
static inline const uint64_t *bb_member_pairs_next(struct bb_member_pairs pairs)
{
    uint64_t hash = bb_member_pair_hash(*pairs.first);
    const uint64_t *end = pairs.first + 1;
    while (end < pairs.end && bb_member_pair_hash(*end) == hash)
        end++;
    return end;
}

/* The number of a member's granules decides how it is stored: up to ribbon_limit in a ribbon, above
 * frequent_limit with a posting, otherwise as an address. */
struct bb_segment_form {
    uint32_t ribbon_limit;   /* 0: there are no ribbons */
    uint32_t frequent_limit; /* at least ribbon_limit */
    uint32_t stripe_bits;
};

struct bb_segment_form bb_segment_plan_inverted_form(uint32_t granule_count);

/* Ribbons for members of up to `limit` granules. */
struct bb_segment_form bb_segment_plan_ribbon_form(uint32_t granule_count, uint32_t limit,
                                                   uint32_t stripe_bits);

/* The rate of a segment for a target: lower in segments of few granules. WHY: an absent member that
 * has the address of others seems to be in all of their granules. In a segment of few granules,
 * these are a large share. */
double bb_segment_plan_rate(uint32_t granule_count, double target);

/* The largest number of granules for which a member takes fewer bits in a ribbon than with a
 * posting. */
uint32_t bb_segment_plan_ribbon_limit(uint32_t granule_count, double rate);

/* The stripes that a member has used. A ribbon holds the first granule of each stripe, and granules
 * ascend, so later granules of a used stripe are stored elsewhere. */
struct bb_segment_stripes {
    uint64_t taken[BB_SEGMENT_WORDS];
};

/* Uses a stripe. False: it was used before. */
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
    double rare_pairs;   /* stored as addresses */
    double rare_members; /* members with such pairs */
    double ribbon_pairs; /* stored in ribbons */
};

struct bb_segment_counts bb_segment_plan_count(uint32_t granule_count, struct bb_segment_form form,
                                               struct bb_member_pairs pairs);

/* The sizes of a segment with `factor` times these counts. */
struct bb_segment bb_segment_plan(uint32_t granule_count, struct bb_segment_form form,
                                  struct bb_segment_counts counts, double factor, double rate);

/* Whether the ribbon of a chunk is long: has one fingerprint bit more. Long ribbons are spread
 * evenly over the chunks. */
static inline bool bb_segment_is_long(const struct bb_segment *segment, uint64_t chunk)
{
    uint64_t chunks = bb_segment_chunk_count(segment);
    return (chunk + 1) * segment->long_ribbons / chunks > chunk * segment->long_ribbons / chunks;
}

#endif
