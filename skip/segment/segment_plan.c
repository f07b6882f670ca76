/* See segment_plan.h. */
#include "skip/segment/segment_plan.h"

#include <math.h>

#include "bloomblock/sizing/rate.h"

/* A query reads a whole chunk, which is 2 KiB: 16 buckets of this size. On average it decodes half
 * of a bucket. */
#define BUCKET_BITS_TARGET 1024.0

/* The largest mean number of keys of a ribbon. The number of chunks is a power of two, so the mean
 * is at least half of this. With fewer keys, the chunk's head costs more bits for each key; with
 * more keys, the spare rows do. Also, a ribbon above the mean must not exceed 2,000 keys. */
#define RIBBON_KEYS_TARGET 1500.0

/* With these values, at targets up to 1 %, 99.9 % of absent members seem to be in fewer than 6 % of
 * a segment's granules. Rates below RATE_BOUND have no long tail in any segment
 * (docs/decisions/0030-cheaper-selections.md). */
#define RATE_GRANULES_FULL 192 /* from this number on a segment has the target */
#define RATE_GRANULES_MIN  64
#define RATE_BOUND         0.01

/* --- Forms --- */

double bb_segment_plan_rate(uint32_t granule_count, double target)
{
    double granules = granule_count < RATE_GRANULES_MIN ? RATE_GRANULES_MIN : granule_count;
    return fmin(target, fmax(target, RATE_BOUND) * granules / RATE_GRANULES_FULL);
}

/* Estimates the bits of a posting. */
static double posting_bits(double granules, double count)
{
    double bits = count * (log2(granules / count) + 1.5);
    return 2 + (bits < granules ? bits : granules);
}

struct bb_segment_form bb_segment_plan_inverted_form(uint32_t granule_count)
{
    uint32_t limit = granule_count / BB_SEGMENT_FREQUENT_SHARE;
    return (struct bb_segment_form){
        .frequent_limit = limit < BB_SEGMENT_FREQUENT_MIN ? BB_SEGMENT_FREQUENT_MIN : limit};
}

struct bb_segment_form bb_segment_plan_ribbon_form(uint32_t granule_count, uint32_t limit,
                                                   uint32_t stripe_bits)
{
    struct bb_segment_form form = bb_segment_plan_inverted_form(granule_count);
    form.ribbon_limit = limit;
    form.stripe_bits = stripe_bits;
    if (form.frequent_limit < limit)
        form.frequent_limit = limit;
    return form;
}

uint32_t bb_segment_plan_ribbon_limit(uint32_t granule_count, double rate)
{
    double key_bits = bb_rate_limit(rate);
    /* Of a frequent member; the bucket and the ribbon determine the other bits. */
    double hash_bits = BB_MEMBER_HASH_BITS - 2 * key_bits;
    uint32_t limit = 1;
    while (limit < granule_count &&
           (limit + 1) * key_bits <
               hash_bits + log2(granule_count) + posting_bits(granule_count, limit + 1))
        limit++;
    return limit;
}

/* --- Counts --- */

static uint32_t count_extras(uint32_t stripe_bits, const uint64_t *first, const uint64_t *end)
{
    struct bb_segment_stripes stripes = {{0}};
    uint32_t extras = 0;
    uint32_t mask = (UINT32_C(1) << stripe_bits) - 1;
    for (const uint64_t *pair = first; pair < end; pair++)
        extras += !bb_segment_stripes_take(&stripes, bb_member_pair_granule(*pair) & mask);
    return extras;
}

/* Estimates for postings of few granules, which most members have. WHY a table: it computes one
 * logarithm for each number of granules, instead of one for each member. */
struct estimates {
    uint32_t granule_count;
    double bits[BB_SEGMENT_GRANULES_MAX / BB_SEGMENT_FREQUENT_SHARE + 1];
};

static void list_estimates(uint32_t granule_count, struct estimates *estimates)
{
    estimates->granule_count = granule_count;
    for (uint32_t count = 1; count < sizeof(estimates->bits) / sizeof(estimates->bits[0]); count++)
        estimates->bits[count] = posting_bits(granule_count, count);
}

static double estimate(const struct estimates *estimates, uint64_t count)
{
    return count < sizeof(estimates->bits) / sizeof(estimates->bits[0])
               ? estimates->bits[count]
               : posting_bits(estimates->granule_count, (double)count);
}

/* Counts a rare member. */
static void count_rare(struct bb_segment_counts *counts, const struct estimates *estimates,
                       struct bb_segment_form form, const uint64_t *first, const uint64_t *end)
{
    uint32_t count = (uint32_t)(end - first);
    uint32_t as_address = count;
    if (count == 1 && form.ribbon_limit > 0)
        as_address = 0;
    else if (count <= form.ribbon_limit)
        as_address = count_extras(form.stripe_bits, first, end);
    counts->ribbon_pairs += count - as_address;
    counts->rare_pairs += as_address;
    counts->rare_members += as_address > 0;
    if (as_address > 0)
        counts->bucket_bits += estimate(estimates, as_address);
}

struct bb_segment_counts bb_segment_plan_count(uint32_t granule_count, struct bb_segment_form form,
                                               struct bb_member_pairs pairs)
{
    struct bb_segment_counts counts = {.pairs = (double)(pairs.end - pairs.first)};
    struct estimates estimates;
    list_estimates(granule_count, &estimates);
    while (pairs.first < pairs.end) {
        const uint64_t *end = bb_member_pairs_next(pairs);
        uint64_t count = (uint64_t)(end - pairs.first);
        if (count > form.frequent_limit)
            counts.bucket_bits += BB_MEMBER_HASH_BITS + estimate(&estimates, count);
        else
            count_rare(&counts, &estimates, form, pairs.first, end);
        pairs.first = end;
    }
    return counts;
}

/* --- Sizes --- */

/* The fewest bits that distinguish this number of values, at most `most`. */
static uint32_t bits_for(double values, uint32_t most)
{
    double bits = values <= 1 ? 0 : ceil(log2(values));
    return bits < most ? (uint32_t)bits : most;
}

/* The best shift of a Rice code for numbers of this mean. */
static uint32_t shift_for(double mean)
{
    return mean * 0.7 < 2 ? 0 : (uint32_t)log2(mean * 0.7);
}

static void plan_addresses(struct bb_segment *segment, double rare_pairs, double rate)
{
    double buckets = ldexp(1, (int)segment->bucket_bits);
    double most = ldexp(1, (int)(BB_MEMBER_HASH_BITS - segment->bucket_bits));
    double addresses = 1;
    if (rare_pairs > 0)
        addresses = ceil(rare_pairs / (rate * segment->granule_count) / buckets);
    segment->address_count = (uint64_t)(addresses < most ? addresses : most);
    segment->count_shift = shift_for(rare_pairs / buckets);
    double numbers = (double)segment->address_count * buckets * segment->granule_count;
    segment->number_shift = shift_for(numbers / (rare_pairs + 1));
}

static void plan_buckets(struct bb_segment *segment, double bucket_bits, double ribbon_pairs)
{
    uint32_t chunk_bits = BB_SEGMENT_CHUNK_BUCKET_BITS;
    segment->bucket_bits = bits_for(bucket_bits / BUCKET_BITS_TARGET, BB_SEGMENT_BUCKET_BITS_MAX);
    if (ribbon_pairs > 0) {
        uint32_t ribbon_bits =
            bits_for(ribbon_pairs / RIBBON_KEYS_TARGET, BB_SEGMENT_BUCKET_BITS_MAX);
        if (segment->bucket_bits < ribbon_bits)
            segment->bucket_bits = ribbon_bits;
        if (chunk_bits > segment->bucket_bits - ribbon_bits)
            chunk_bits = segment->bucket_bits - ribbon_bits;
    }
    segment->chunk_bits = chunk_bits < segment->bucket_bits ? chunk_bits : segment->bucket_bits;
}

/* Makes as few ribbons long as keep the mean rate at or below the target. */
static void plan_ribbons(struct bb_segment *segment, double rate)
{
    uint32_t fingerprint_bits = bb_rate_ribbon_fingerprint_bits(rate);
    segment->ribbon_fingerprint_bits = fingerprint_bits < BB_SEGMENT_FINGERPRINT_BITS_MAX
                                           ? fingerprint_bits
                                           : BB_SEGMENT_FINGERPRINT_BITS_MAX;
    double shorter = bb_rate_ribbon(segment->ribbon_fingerprint_bits);
    double chunks = bb_segment_chunk_count(segment);
    double longer = ceil((shorter - rate) / (shorter / 2) * chunks);
    segment->long_ribbons = (uint64_t)(longer < 0 ? 0 : longer < chunks ? longer : chunks);
}

/* Divides the rate between ribbons and addresses in proportion to the pairs in ribbons and the
 * members with addresses. WHY: each of them costs log2(1 / rate) bits, by the rate of its part, so
 * the sum of the bits is smallest in this proportion. Ribbons have whole bits, so in few chunks
 * they cannot use all of their part. The addresses get the unused rate and become smaller, and the
 * rate of the segment is still the target. */
struct bb_segment bb_segment_plan(uint32_t granule_count, struct bb_segment_form form,
                                  struct bb_segment_counts counts, double factor, double rate)
{
    struct bb_segment segment = {.granule_count = granule_count,
                                 .factor = 1,
                                 .pair_count = (uint64_t)(counts.pairs * factor),
                                 .stripe_bits = form.stripe_bits};
    double members = counts.rare_members + counts.ribbon_pairs;
    double ribbon_share = counts.ribbon_pairs > 0 ? counts.ribbon_pairs / members : 0;
    plan_buckets(&segment, counts.bucket_bits * factor, counts.ribbon_pairs * factor);
    double address_rate = rate * (1 - ribbon_share);
    if (ribbon_share > 0) {
        plan_ribbons(&segment, rate * ribbon_share);
        address_rate = fmax(address_rate, rate - bb_segment_ribbon_rate(&segment));
    }
    plan_addresses(&segment, counts.rare_pairs * factor, address_rate);
    return segment;
}
