/* The facts of an attribute in a sample. See advice_sample.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/status.h"
#include "tools/records/advice_sample.h"

/* At most this many values are searched in every granule. */
#define ASKED_MAX 400

struct pick_list {
    const struct sample_pick *list;
    size_t count;
    size_t stride; /* every n-th is searched */
};

static struct pick_list picks_of(const struct attribute_sample *sample)
{
    struct pick_list picks = {.list = (const void *)sample->picks.data,
                              .count = sample->picks.size / sizeof(struct sample_pick)};
    picks.stride = picks.count / ASKED_MAX + 1;
    return picks;
}

static uint64_t end_of(const struct sample_members *members, size_t granule)
{
    return ((const uint64_t *)(const void *)members->ends.data)[granule];
}

static bool holds(const struct sample_members *members, size_t granule, uint64_t hash)
{
    const uint64_t *hashes = (const void *)members->hashes.data;
    uint64_t low = granule == 0 ? 0 : end_of(members, granule - 1);
    uint64_t end = end_of(members, granule);
    uint64_t high = end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (hashes[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && hashes[low] == hash;
}

static uint64_t count_without(const struct sample_members *members, size_t granules, uint64_t hash)
{
    uint64_t without = 0;
    for (size_t g = 0; g < granules; g++)
        without += !holds(members, g, hash);
    return without;
}

static uint64_t count_outside(const struct attribute_sample *sample, size_t granules, double number)
{
    const double *bounds = (const void *)sample->bounds.data;
    uint64_t outside = 0;
    for (size_t g = 0; g < granules; g++)
        outside += !(bounds[2 * g] <= number && number <= bounds[2 * g + 1]);
    return outside;
}

static void compute_skips(const struct advice_sample *whole, const struct attribute_sample *sample,
                          struct attribute_facts *facts)
{
    struct pick_list picks = picks_of(sample);
    uint64_t asked = 0;
    uint64_t words_asked = 0;
    double granules = (double)whole->granules;
    for (size_t i = 0; i < picks.count; i += picks.stride) {
        const struct sample_pick *pick = &picks.list[i];
        facts->value_skip +=
            (double)count_without(&sample->values, whole->granules, pick->value_hash) / granules;
        facts->bounds_skip +=
            (double)count_outside(sample, whole->granules, pick->number) / granules;
        asked++;
        if (!pick->has_word)
            continue;
        facts->word_skip +=
            (double)count_without(&sample->words, whole->granules, pick->word_hash) / granules;
        words_asked++;
    }
    facts->value_skip /= asked > 0 ? (double)asked : 1;
    facts->bounds_skip /= asked > 0 ? (double)asked : 1;
    facts->word_skip /= words_asked > 0 ? (double)words_asked : 1;
}

/* ---- distinct values ---- */

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static enum bb_status count_distinct(const struct sample_members *members, uint64_t *ret_count)
{
    struct bb_buf sorted = {0};
    size_t count = members->hashes.size / sizeof(uint64_t);
    uint64_t distinct = 0;
    enum bb_status status = bb_buf_assign(&sorted, bb_buf_bytes(&members->hashes));
    uint64_t *hashes = (void *)sorted.data;
    if (status == BB_OK && count > 0)
        qsort(hashes, count, sizeof(*hashes), compare_hashes);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        distinct += i == 0 || hashes[i] != hashes[i - 1];
    bb_buf_deinit(&sorted);
    *ret_count = distinct;
    return status;
}

static enum bb_status compute_words(const struct attribute_sample *sample, double granules,
                                    struct attribute_facts *facts)
{
    double pairs = (double)(sample->words.hashes.size / sizeof(uint64_t));
    enum bb_status status = count_distinct(&sample->words, &facts->distinct_words);
    if (facts->distinct_words == 0)
        return status;
    double distinct = (double)facts->distinct_words;
    facts->distinct_word_skip = 1 - pairs / granules / distinct;
    facts->word_repeats = (double)sample->word_sum / distinct;
    return status;
}

/* ---- order ---- */

struct ranked {
    double number;
    size_t position;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Spearman's correlation of positions and values; equal values share their mean rank. */
static double correlate(struct ranked *list, size_t count)
{
    double product = 0;
    double square = 0;
    double square_position = 0;
    double middle = ((double)count - 1) / 2;
    qsort(list, count, sizeof(*list), compare_ranked);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && compare_ranked(&list[i], &list[end]) == 0)
            end++;
        double rank = ((double)i + (double)end - 1) / 2 - middle;
        for (; i < end; i++) {
            double position = (double)list[i].position - middle;
            product += rank * position;
            square += rank * rank;
            square_position += position * position;
        }
    }
    double scale = sqrt(square) * sqrt(square_position);
    return scale > 0 ? product / scale : 0;
}

static enum bb_status compute_order(const struct attribute_sample *sample, double *ret_order)
{
    struct pick_list picks = picks_of(sample);
    struct ranked *list = bb_alloc_zeroed(picks.count + 1, sizeof(*list));
    size_t count = 0;
    if (list == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu ranks", picks.count);
    for (size_t i = 0; i < picks.count; i++) {
        /* NaN has no rank. */
        if (isnan(picks.list[i].number))
            continue;
        list[count] = (struct ranked){.number = picks.list[i].number, .position = count};
        count++;
    }
    *ret_order = correlate(list, count);
    bb_free(list);
    return BB_OK;
}

enum bb_status attribute_facts_compute(const struct advice_sample *whole, size_t attribute,
                                       struct attribute_facts *ret_facts)
{
    const struct attribute_sample *sample = &whole->attributes[attribute];
    struct attribute_facts facts = {0};
    double present = (double)sample->states[BB_ATTRIBUTE_PRESENT];
    double members = (double)(sample->values.hashes.size / sizeof(uint64_t));
    double granules = whole->granules > 0 ? (double)whole->granules : 1;
    if (whole->records > 0)
        facts.null_share = 1 - present / (double)whole->records;
    if (present > 0) {
        facts.length = (double)sample->length_sum / present;
        facts.words = (double)sample->word_sum / present;
    }
    facts.distinct_per_granule = members / granules;
    enum bb_status status = count_distinct(&sample->values, &facts.distinct);
    if (facts.distinct > 0)
        facts.distinct_skip = 1 - facts.distinct_per_granule / (double)facts.distinct;
    if (status == BB_OK)
        status = compute_words(sample, granules, &facts);
    if (status == BB_OK)
        status = compute_order(sample, &facts.order);
    compute_skips(whole, sample, &facts);
    *ret_facts = facts;
    return status;
}
