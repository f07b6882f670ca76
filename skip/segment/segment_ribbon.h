/* The ribbon of a chunk: pairs of a member and a granule, for members of few granules. It is a
 * ribbon that returns a number for a key (bloomblock/ribbon/ribbon_values.h).
 *
 * Granules are dealt out to 2^t stripes: granule g is at place g >> t of stripe g mod 2^t. A key is
 * a member and a stripe. Its number identifies the granule within the stripe:
 *
 *     hash of a key := mix(stripe << 40 | hash of the member, 40 bits)
 *     places        := ceil(granules / 2^t), of a stripe
 *     r             := fingerprint bits of the ribbon
 *     number        := place                                  if 2^r >= places
 *                    | (place << r) / places, rounded down    else: neighbours share a number
 *
 * So a query is one probe for each stripe. One stripe is enough for members of one granule. If a
 * member has two granules in one stripe, the second is not stored here. This is rare for
 * consecutive granules, because they are in different stripes. For an absent member, the ribbon
 * returns each number of r bits with the same probability. So each granule seems to hold the
 * member with probability 2^-r, for any t.
 *
 * Pure functions; any thread.
 */
#ifndef BB_SKIP_SEGMENT_SEGMENT_RIBBON_H
#define BB_SKIP_SEGMENT_SEGMENT_RIBBON_H

#include "base/hash.h"
#include "skip/member/member_pair.h"
#include "skip/bits/posting.h"

/* How the granules of a segment are distributed over stripes. */
struct bb_segment_ribbon_deal {
    uint32_t granule_count;
    uint32_t stripe_bits; /* t */
};

struct bb_segment_ribbon {
    struct bb_segment_ribbon_deal deal;
    uint32_t fingerprint_bits; /* without the step */
    uint16_t descriptor;       /* BB_DESCRIPTOR_NONE: there are no keys */
    const uint8_t *payload;
};

static inline uint32_t bb_segment_ribbon_stripe(struct bb_segment_ribbon_deal deal,
                                                uint32_t granule)
{
    return granule & ((UINT32_C(1) << deal.stripe_bits) - 1);
}

/* Places of a stripe. */
static inline uint32_t bb_segment_ribbon_places(struct bb_segment_ribbon_deal deal)
{
    return (deal.granule_count + (UINT32_C(1) << deal.stripe_bits) - 1) >> deal.stripe_bits;
}

static inline uint64_t bb_segment_ribbon_key(uint64_t hash40, uint32_t stripe)
{
    return bb_hash_mix((uint64_t)stripe << BB_MEMBER_HASH_BITS | hash40);
}

/* The number of a granule in its stripe. fingerprint_bits: of the ribbon, step included. */
static inline uint32_t bb_segment_ribbon_number(struct bb_segment_ribbon_deal deal,
                                                uint32_t granule, uint32_t fingerprint_bits)
{
    uint32_t places = bb_segment_ribbon_places(deal);
    uint32_t place = granule >> deal.stripe_bits;
    return UINT64_C(1) << fingerprint_bits >= places
               ? place
               : (uint32_t)(((uint64_t)place << fingerprint_bits) / places);
}

/* Adds the granules that may hold the member to *bits. The ribbon must have keys, and its payload
 * the size that the descriptor implies. */
void bb_segment_ribbon_ask(const struct bb_segment_ribbon *ribbon, uint64_t hash40,
                           struct bb_granule_bits *bits);

#endif
