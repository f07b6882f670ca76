/* Two filters, counted, compared and united. The first byte of the input selects them:
 *
 *     0 ... 127    two arbitrary envelopes: the length of the first in two bytes, then both. Magic,
 *                  version, sizes and checksum are repaired, so that the later fields are reached.
 *     128 ... 255  two built ones: kind, units, probes and a multiple of the units for each, in
 *                  a byte each, then hashes of 8 bytes, alternately for each filter. Sizes of
 *                  which one is a multiple of the other must unite, others must not; the union
 *                  returns maybe for every hash.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bb/filter.h"

#include "base/assert.h"
#include "base/coding.h"
#include "base/hash.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER_SIZE   64
#define CHECKSUM_SIZE 8
#define BUILD_FROM    128

static void must(enum bb_status status)
{
    BB_ASSERT(status == BB_OK);
}

static void assert_within(struct bb_filter_estimate estimate, double low, double high)
{
    BB_ASSERT(estimate.value >= low && estimate.value <= high);
    BB_ASSERT(estimate.standard_error >= 0);
}

static void assert_possible(const struct bb_filter_comparison *found)
{
    double first = found->first.value, second = found->second.value;
    assert_within(found->first, 0, (double)INFINITY);
    assert_within(found->second, 0, (double)INFINITY);
    assert_within(found->either, fmax(first, second), first + second);
    assert_within(found->both, 0, fmin(first, second));
    assert_within(found->first_only, 0, first);
    assert_within(found->second_only, 0, second);
    assert_within(found->jaccard, 0, 1);
}

/* Whether they go together; both calls agree on it. *united is theirs then. */
static bool unite(struct bb_bytes first, struct bb_bytes second, struct bb_buf *united)
{
    struct bb_filter_comparison found;
    struct bb_filter_info info;
    struct bb_filter_estimate keys;
    enum bb_status status = bb_filter_compare(first, second, &found);
    BB_ASSERT(bb_filter_union(first, second, united) == status);
    BB_ASSERT(status == BB_OK || united->size == 0);
    if (status != BB_OK)
        return false;
    assert_possible(&found);
    must(bb_filter_info((struct bb_bytes){united->data, united->size}, &info));
    must(bb_filter_estimate_keys((struct bb_bytes){united->data, united->size}, &keys));
    BB_ASSERT(info.predicted_rate >= 0 && info.predicted_rate <= 1);
    return true;
}

/* --- From anywhere --- */

static uint8_t *repaired_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = bb_must_realloc(NULL, size);
    if (size > 0)
        memcpy(copy, data, size);
    if (size < HEADER_SIZE + CHECKSUM_SIZE)
        return copy;
    memcpy(copy, "BBFILTER", 8);
    bb_store32(copy + 8, 1);
    bb_store16(copy + 14, HEADER_SIZE);
    bb_store64(copy + 16, size);
    bb_store64(copy + size - CHECKSUM_SIZE, bb_hash_bytes(copy, size - CHECKSUM_SIZE));
    return copy;
}

static void unite_any(const uint8_t *data, size_t size)
{
    if (size < 2)
        return;
    size_t rest = size - 2, first_size = bb_load16(data);
    if (first_size > rest)
        first_size = rest;
    uint8_t *first = repaired_copy(data + 2, first_size);
    uint8_t *second = repaired_copy(data + 2 + first_size, rest - first_size);
    struct bb_bytes bytes[2] = {{first, first_size}, {second, rest - first_size}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            struct bb_buf united = {0};
            (void)unite(bytes[i], bytes[j], &united);
            bb_buf_deinit(&united);
        }
    free(first);
    free(second);
}

/* --- Built --- */

struct shape {
    enum bb_filter_kind kind;
    uint64_t units;
    uint64_t probes;
};

static struct shape shape_of(const uint8_t *data)
{
    static const enum bb_filter_kind kinds[] = {BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM,
                                                BB_FILTER_SPLIT_BLOCK, BB_FILTER_COUNTING,
                                                BB_FILTER_PARTITIONED};
    struct shape shape = {.kind = kinds[data[0] % BB_ARRAY_LENGTH(kinds)],
                          .units = (uint64_t)data[1] + 1,
                          .probes = data[2] % 30 + 1};
    if (shape.kind == BB_FILTER_SPLIT_BLOCK)
        shape.probes = 8;
    return shape;
}

/* Every second hash, from hashes[0] on. */
static struct bb_buf build(struct shape shape, uint64_t factor, const uint8_t *hashes, size_t count)
{
    uint64_t slices = shape.kind == BB_FILTER_PARTITIONED ? shape.probes : 1;
    struct bb_filter_options options = {
        .kind = shape.kind, .parameters = {shape.units * factor * slices, shape.probes}};
    struct bb_filter_builder *builder = NULL;
    struct bb_buf envelope = {0};
    must(bb_filter_builder_create(&options, &builder));
    for (size_t i = 0; i < count; i += 2)
        must(bb_filter_builder_add(builder, bb_load64(hashes + i * 8)));
    must(bb_filter_builder_finish(builder, &envelope));
    bb_filter_builder_destroy(builder);
    return envelope;
}

static void unite_built(const uint8_t *data, size_t size)
{
    if (size < 5 + 16)
        return;
    struct shape shape = shape_of(data);
    uint64_t factors[2] = {data[3] % 8 + 1, data[4] % 8 + 1};
    const uint8_t *hashes = data + 5;
    size_t count = (size - 5) / 8;
    struct bb_buf first = build(shape, factors[0], hashes, count);
    struct bb_buf second = build(shape, factors[1], hashes + 8, count - 1);
    struct bb_buf united = {0};
    bool fit = factors[0] % factors[1] == 0 || factors[1] % factors[0] == 0;
    BB_ASSERT(unite((struct bb_bytes){first.data, first.size},
                    (struct bb_bytes){second.data, second.size}, &united) == fit);
    struct bb_filter_view view;
    if (fit)
        must(bb_filter_view_init(&view, (struct bb_bytes){united.data, united.size}));
    for (size_t i = 0; i < count && fit; i++)
        BB_ASSERT(bb_filter_may_contain(&view, bb_load64(hashes + i * 8)));
    bb_buf_deinit(&first);
    bb_buf_deinit(&second);
    bb_buf_deinit(&united);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] < BUILD_FROM)
        unite_any(data + 1, size - 1);
    else
        unite_built(data + 1, size - 1);
    return 0;
}
