/* Computes with sets, from the bits of their Bloom filters: the number of keys, and the union and
 * the intersection of two sets (bb/filter.h). docs/filters.md derives the formulas.
 *
 * A key leaves a bit unset with probability e^-decay. So n keys leave the share e^(-n decay) of the
 * bits unset, and n follows from this share. The estimate of n has two random errors: the number of
 * probes that hit bits already set, and the number of keys in each line. The estimates for two sets
 * have the covariance noise(number of keys in both). The errors of differences, intersections and
 * ratios follow from it.
 */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/status.h"
#include "bb/filter.h"
#include "bloomblock/bloom/bloom.h"
#include "standalone/bloom/cells.h"

/* --- From bits to keys --- */

struct counter {
    double bits;
    double lines;
    double rivals; /* probes of a key that can fall on the same bit */
    double hit;    /* probability that a key sets a given bit of its line */
    double decay;  /* -log of the share of bits that a key leaves unset */
};

/* For an empty set, which has no payload: bits that no key sets. */
static const struct bb_cells unset_cells = {
    .unit_count = 8, .unit_bits = 1, .slices = 1, .words = 1, .probes = 1};

static struct counter counter_of(const struct bb_cells *cells)
{
    struct counter counter = {.bits = (double)bb_cells_count(cells),
                              .lines = (double)bb_cells_lines(cells),
                              .rivals = bb_cells_rivals(cells),
                              .hit = bb_cells_hit(cells)};
    counter.decay = -log1p(-counter.hit / counter.lines);
    return counter;
}

/* Estimates the number of keys from the set bits; infinite if all bits are set. */
static double keys_of(const struct counter *counter, uint64_t set_bits)
{
    double share = (double)set_bits / counter->bits;
    return share < 1 ? -log1p(-share) / counter->decay : (double)INFINITY;
}

/* e^x - 1 - x, for x >= 0. */
static double bend(double x)
{
    return x < 1e-5 ? x * x / 2 : expm1(x) - x;
}

/* The relative variance of the share of unset bits. Without lines, it is the variance of the share
 * of cells that balls leave empty. With lines, it is the mean of that over the number of keys of a
 * line, plus the variance from the number of keys per line. The fixed number of all keys reduces
 * the latter. */
static double relative_variance(const struct counter *counter, double keys)
{
    if (counter->lines == 1)
        return bend(keys * counter->decay) / counter->bits;
    double hit = counter->hit, per_line = keys / counter->lines;
    double pairs = per_line * hit * hit; /* of keys that set the same bit */
    double kept = -log1p(-hit) * (1 - hit) * (1 - hit);
    double of_probes = expm1(per_line * hit) - expm1(pairs) - exp(pairs) * per_line * kept -
                       pairs / (2 * counter->rivals);
    double of_lines = bend(pairs);
    return fmax(of_probes, 0) / counter->bits + of_lines / counter->lines;
}

/* The variance of the estimate of a number of keys. For the number of keys in two sets, it is the
 * covariance of their estimates. */
static double noise(const struct counter *counter, double keys)
{
    return relative_variance(counter, keys) / (counter->decay * counter->decay);
}

/* Clamps a value to the possible range. If the bits determine no value (NaN), it is the lower
 * bound. */
static struct bb_filter_estimate estimate_of(double value, double low, double high, double variance)
{
    struct bb_filter_estimate estimate = {.value = low, .standard_error = (double)INFINITY};
    if (value > low)
        estimate.value = value < high ? value : high;
    if (isfinite(variance))
        estimate.standard_error = variance > 0 ? sqrt(variance) : 0;
    return estimate;
}

enum bb_status bb_filter_estimate_keys(struct bb_bytes bytes,
                                       struct bb_filter_estimate *ret_key_count)
{
    struct bb_envelope envelope;
    struct bb_cells cells;
    enum bb_status status = bb_envelope_decode(bytes, &envelope);
    if (status == BB_OK)
        status = bb_cells_of(&envelope, &cells);
    if (status != BB_OK)
        return status;
    if (envelope.payload.size == 0)
        cells = unset_cells;
    struct counter counter = counter_of(&cells);
    double keys = keys_of(&counter, bb_cells_set_count(&envelope));
    *ret_key_count = estimate_of(keys, 0, (double)INFINITY, noise(&counter, keys));
    return BB_OK;
}

/* --- Two filters, folded to the same size --- */

struct overlay {
    struct bb_envelope envelopes[2];
    uint64_t factors[2];   /* by which each is folded; 0 for an empty set, which has no bits */
    struct bb_cells cells; /* of both after folding */
};

/* The counters above 0 of a counting filter are the set bits of a classic filter of its keys. */
static enum bb_filter_kind kind_of_bits(const struct bb_envelope *envelope)
{
    return envelope->kind == BB_FILTER_COUNTING ? BB_FILTER_BLOOM : envelope->kind;
}

static enum bb_status check_agreement(const struct bb_envelope *first,
                                      const struct bb_envelope *second)
{
    if (kind_of_bits(first) != kind_of_bits(second))
        return bb_fail(BB_INVALID, "the filters are of the kinds %s and %s",
                       bb_filter_kind_name(first->kind), bb_filter_kind_name(second->kind));
    if (first->salt != second->salt)
        return bb_fail(BB_INVALID,
                       "the filters have the salts %016llx and %016llx: a key sets unrelated bits",
                       (unsigned long long)first->salt, (unsigned long long)second->salt);
    return BB_OK;
}

/* Sets the factors and the cells. The larger filter must have a whole number of units for each unit
 * of the smaller. */
static enum bb_status fit(struct overlay *overlay, struct bb_cells cells[2])
{
    int small = cells[1].unit_count < cells[0].unit_count;
    uint64_t factor = cells[!small].unit_count / cells[small].unit_count;
    if (cells[0].probes != cells[1].probes)
        return bb_fail(BB_INVALID, "a key sets %u bits of one filter and %u of the other",
                       cells[0].probes, cells[1].probes);
    if (cells[small].unit_count * factor != cells[!small].unit_count)
        return bb_fail(BB_INVALID,
                       "the filters have %llu and %llu units of %u bits; one number has to be a "
                       "multiple of the other",
                       (unsigned long long)cells[0].unit_count,
                       (unsigned long long)cells[1].unit_count, cells[0].unit_bits);
    overlay->factors[small] = 1;
    overlay->factors[!small] = factor;
    overlay->cells = cells[small];
    return BB_OK;
}

static enum bb_status overlay_init(struct overlay *overlay, struct bb_bytes first,
                                   struct bb_bytes second)
{
    struct bb_cells cells[2] = {{0}};
    *overlay = (struct overlay){.cells = unset_cells};
    enum bb_status status = bb_envelope_decode(first, &overlay->envelopes[0]);
    if (status == BB_OK)
        status = bb_envelope_decode(second, &overlay->envelopes[1]);
    if (status == BB_OK)
        status = check_agreement(&overlay->envelopes[0], &overlay->envelopes[1]);
    for (int i = 0; i < 2 && status == BB_OK; i++) {
        overlay->factors[i] = overlay->envelopes[i].payload.size > 0;
        status = bb_cells_of(&overlay->envelopes[i], &cells[i]);
    }
    if (status != BB_OK)
        return status;
    if (overlay->factors[0] == 1 && overlay->factors[1] == 1)
        return fit(overlay, cells);
    if (overlay->factors[0] == 1 || overlay->factors[1] == 1)
        overlay->cells = cells[overlay->factors[1]];
    return BB_OK;
}

/* Sets the bits of one of the filters, after folding, in `into`. */
static void overlay_fold(const struct overlay *overlay, int which, uint8_t *into)
{
    if (overlay->factors[which] > 0)
        bb_cells_fold(&overlay->cells, overlay->factors[which], &overlay->envelopes[which], into);
}

static size_t overlay_size(const struct overlay *overlay)
{
    return bb_bloom_size(bb_cells_count(&overlay->cells));
}

/* --- Union --- */

/* The smallest number of distinct keys that the filter can have. A counting filter also counts
 * repetitions. */
static uint64_t least_key_count(const struct bb_envelope *envelope)
{
    return envelope->kind == BB_FILTER_COUNTING ? envelope->key_count > 0 : envelope->key_count;
}

/* Estimates the distinct keys of the union from its bits: at least as many as either set has, and
 * at most as many as both together. */
static uint64_t key_count_of(const struct overlay *overlay, const uint8_t *payload)
{
    const struct bb_envelope *first = &overlay->envelopes[0], *second = &overlay->envelopes[1];
    uint64_t counts[2] = {least_key_count(first), least_key_count(second)};
    uint64_t least = counts[0] > counts[1] ? counts[0] : counts[1];
    uint64_t most = first->key_count + second->key_count;
    if (least == most)
        return most;
    if (most > BB_FILTER_KEY_COUNT_MAX)
        most = BB_FILTER_KEY_COUNT_MAX;
    struct counter counter = counter_of(&overlay->cells);
    double keys = keys_of(&counter, bb_bloom_set_count(payload, overlay_size(overlay)));
    if (!(keys < (double)most))
        return most;
    return keys > (double)least ? (uint64_t)llround(keys) : least;
}

static enum bb_status append_union(const struct overlay *overlay, struct bb_buf *bits,
                                   struct bb_buf *envelope)
{
    const struct bb_envelope *first = &overlay->envelopes[0];
    const struct bb_envelope *second = &overlay->envelopes[1];
    struct bb_envelope fields = overlay->factors[1] == 1 ? *second : *first;
    fields.kind = kind_of_bits(first);
    fields.key_count = key_count_of(overlay, bits->data);
    fields.payload = bb_buf_bytes(bits);
    if (fields.key_count == 0) {
        fields.payload.size = 0;
        memset(fields.parameters, 0, sizeof(fields.parameters));
    }
    fields.target_rate =
        first->target_rate > second->target_rate ? first->target_rate : second->target_rate;
    return bb_envelope_append(&fields, envelope);
}

enum bb_status bb_filter_union(struct bb_bytes first, struct bb_bytes second,
                               struct bb_buf *envelope)
{
    struct overlay overlay;
    struct bb_buf bits = {0};
    uint8_t *space = NULL;
    enum bb_status status = overlay_init(&overlay, first, second);
    if (status == BB_OK)
        status = bb_buf_extend(&bits, overlay_size(&overlay), &space);
    if (status == BB_OK) {
        overlay_fold(&overlay, 0, space);
        overlay_fold(&overlay, 1, space);
        status = append_union(&overlay, &bits, envelope);
    }
    bb_buf_deinit(&bits);
    return status;
}

/* --- Comparison --- */

static struct bb_filter_estimate jaccard_of(const struct counter *counter, double first,
                                            double second, double both, double either)
{
    if (either == 0) /* two empty sets are the same */
        return (struct bb_filter_estimate){.value = 1};
    double ratio = isfinite(either) ? both / either : 0;
    double variance = (1 + ratio) * (1 + ratio) * noise(counter, either) -
                      (1 + 2 * ratio) * (noise(counter, first) + noise(counter, second)) +
                      2 * noise(counter, both);
    return estimate_of(ratio, 0, 1, variance / (either * either));
}

/* Uses the numbers of keys estimated from the bits of the two filters and of their union. */
static struct bb_filter_comparison comparison_of(const struct counter *counter, double first,
                                                 double second, double either)
{
    const double none = 0, infinite = (double)INFINITY;
    double of_first = noise(counter, first), of_second = noise(counter, second);
    double of_either = noise(counter, either);
    struct bb_filter_comparison comparison = {
        .first = estimate_of(first, none, infinite, of_first),
        .second = estimate_of(second, none, infinite, of_second),
        .either = estimate_of(either, fmax(first, second), first + second, of_either),
        .first_only = estimate_of(either - second, none, first, of_either - of_second),
        .second_only = estimate_of(either - first, none, second, of_either - of_first)};
    comparison.both = estimate_of(first + second - either, none, fmin(first, second), 0);
    double both = comparison.both.value;
    comparison.both = estimate_of(both, none, fmin(first, second),
                                  of_either - of_first - of_second + 2 * noise(counter, both));
    comparison.jaccard = jaccard_of(counter, first, second, both, either);
    return comparison;
}

enum bb_status bb_filter_compare(struct bb_bytes first, struct bb_bytes second,
                                 struct bb_filter_comparison *ret_comparison)
{
    struct overlay overlay;
    struct bb_buf bits = {0};
    uint8_t *space = NULL;
    enum bb_status status = overlay_init(&overlay, first, second);
    size_t size = status == BB_OK ? overlay_size(&overlay) : 0;
    if (status == BB_OK)
        status = bb_buf_extend(&bits, size * 2, &space);
    if (status == BB_OK) {
        struct counter counter = counter_of(&overlay.cells);
        overlay_fold(&overlay, 0, space);
        overlay_fold(&overlay, 1, space + size);
        double keys[2] = {keys_of(&counter, bb_bloom_set_count(space, size)),
                          keys_of(&counter, bb_bloom_set_count(space + size, size))};
        overlay_fold(&overlay, 1, space);
        *ret_comparison = comparison_of(&counter, keys[0], keys[1],
                                        keys_of(&counter, bb_bloom_set_count(space, size)));
    }
    bb_buf_deinit(&bits);
    return status;
}
