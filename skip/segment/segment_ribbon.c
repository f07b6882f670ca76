/* See segment_ribbon.h. */
#include "skip/segment/segment_ribbon.h"

#include "bloomblock/ribbon/ribbon_values.h"

/* Places of a stripe that share a number: begin ... end - 1. */
struct places {
    uint64_t begin;
    uint64_t end;
};

static struct places places_of(uint64_t number, uint64_t places, uint32_t fingerprint_bits)
{
    uint64_t round = (UINT64_C(1) << fingerprint_bits) - 1;
    if (round + 1 >= places)
        return (struct places){.begin = number, .end = number < places ? number + 1 : number};
    return (struct places){.begin = (number * places + round) >> fingerprint_bits,
                           .end = ((number + 1) * places + round) >> fingerprint_bits};
}

void bb_segment_ribbon_ask(const struct bb_segment_ribbon *ribbon, uint64_t hash40,
                           struct bb_granule_bits *bits)
{
    struct bb_segment_ribbon_deal deal = ribbon->deal;
    uint32_t fingerprint_bits =
        ribbon->fingerprint_bits + bb_descriptor_decode(ribbon->descriptor).step;
    uint32_t stripes = UINT32_C(1) << deal.stripe_bits;
    uint64_t place_count = bb_segment_ribbon_places(deal);
    for (uint32_t stripe = 0; stripe < stripes && stripe < deal.granule_count; stripe++) {
        uint32_t number =
            bb_ribbon_values_get(ribbon->payload, ribbon->descriptor, ribbon->fingerprint_bits,
                                 bb_segment_ribbon_key(hash40, stripe));
        struct places places = places_of(number, place_count, fingerprint_bits);
        for (uint64_t place = places.begin; place < places.end; place++) {
            uint64_t granule = place << deal.stripe_bits | stripe;
            if (granule < deal.granule_count)
                bb_granule_bits_set(bits, (uint32_t)granule);
        }
    }
}
