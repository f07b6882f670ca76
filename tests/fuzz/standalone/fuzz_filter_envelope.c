/* Arbitrary filter envelopes. The first byte of the input selects the use of the rest:
 *
 *     0 ... 239    the rest is an envelope. It is read unchanged; then magic, version, sizes and
 *                  checksum are repaired, so that the later fields are reached, and it is read
 *                  again. A view that opens is probed; one that does not returns maybe for
 *                  everything. Changeable ones are loaded, changed, and stored again.
 *     240 ... 255  kind and target rate, then hashes of 8 bytes: an envelope is built, and must
 *                  open, describe itself, and return maybe for every hash.
 *
 * Every envelope is in memory of exactly its size.
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
#define QUESTIONS     64
#define BUILD_FROM    240

static void ask(const uint8_t *data, size_t size)
{
    struct bb_bytes bytes = {data, size};
    struct bb_filter_view view;
    struct bb_filter_info info;
    enum bb_status status = bb_filter_view_init(&view, bytes);
    BB_ASSERT(bb_filter_info(bytes, &info) == status);
    for (uint64_t i = 0; i < QUESTIONS; i++)
        BB_ASSERT(bb_filter_may_contain(&view, bb_hash_mix(i)) || status == BB_OK);
    if (status != BB_OK)
        return;
    BB_ASSERT(info.size_bytes == size);
    BB_ASSERT(info.predicted_rate >= 0 && info.predicted_rate <= 1);
    BB_ASSERT(info.fill >= 0 && info.fill <= 1);
    BB_ASSERT(isfinite(info.bits_per_key));
}

static void must(enum bb_status status)
{
    BB_ASSERT(status == BB_OK);
}

/* An encoded envelope opens. */
static void assert_opens(const struct bb_buf *envelope)
{
    struct bb_filter_view view;
    must(bb_filter_view_init(&view, (struct bb_bytes){envelope->data, envelope->size}));
}

static void change_counting(struct bb_bytes bytes, bool whole)
{
    struct bb_counting_filter *filter = NULL;
    struct bb_buf again = {0};
    enum bb_status status = bb_counting_filter_decode(bytes, &filter);
    BB_ASSERT(status == BB_OK || !whole);
    if (status != BB_OK)
        return;
    must(bb_counting_filter_encode(filter, &again));
    BB_ASSERT(again.size == bytes.size && memcmp(again.data, bytes.data, again.size) == 0);
    uint64_t added = 0;
    for (; added < QUESTIONS; added++)
        if (bb_counting_filter_add(filter, bb_hash_mix(added)) != BB_OK)
            break;
    for (uint64_t i = 0; i < added; i++)
        BB_ASSERT(bb_counting_filter_may_contain(filter, bb_hash_mix(i)));
    for (uint64_t i = 0; i < added; i++)
        must(bb_counting_filter_remove(filter, bb_hash_mix(i)));
    bb_buf_deinit(&again);
    must(bb_counting_filter_encode(filter, &again));
    assert_opens(&again);
    bb_buf_deinit(&again);
    must(bb_counting_filter_encode_bloom(filter, &again));
    assert_opens(&again);
    bb_buf_deinit(&again);
    bb_counting_filter_destroy(filter);
}

static void change_scalable(struct bb_bytes bytes, bool whole)
{
    struct bb_scalable_filter *filter = NULL;
    struct bb_buf again = {0};
    enum bb_status status = bb_scalable_filter_decode(bytes, &filter);
    BB_ASSERT(status == BB_OK || !whole);
    if (status != BB_OK)
        return;
    must(bb_scalable_filter_encode(filter, &again));
    BB_ASSERT(again.size == bytes.size && memcmp(again.data, bytes.data, again.size) == 0);
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        bool added = false;
        if (bb_scalable_filter_add(filter, bb_hash_mix(i), &added) == BB_OK)
            BB_ASSERT(bb_scalable_filter_may_contain(filter, bb_hash_mix(i)));
    }
    bb_buf_deinit(&again);
    must(bb_scalable_filter_encode(filter, &again));
    assert_opens(&again);
    bb_buf_deinit(&again);
    bb_scalable_filter_destroy(filter);
}

static void change_sketch(struct bb_bytes bytes, bool whole)
{
    struct bb_count_sketch *sketch = NULL;
    struct bb_buf again = {0};
    enum bb_status status = bb_count_sketch_decode(bytes, &sketch);
    BB_ASSERT(status == BB_OK || !whole);
    if (status != BB_OK)
        return;
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        uint64_t hash = bb_hash_mix(i), before = bb_count_sketch_count(sketch, hash);
        if (bb_count_sketch_add(sketch, hash, (struct bb_bytes){(const uint8_t *)"key", 3}, i) ==
            BB_OK)
            BB_ASSERT(bb_count_sketch_count(sketch, hash) >= before);
    }
    must(bb_count_sketch_encode(sketch, &again));
    assert_opens(&again);
    bb_buf_deinit(&again);
    bb_count_sketch_destroy(sketch);
}

static void fold_split_block(struct bb_bytes bytes, bool whole)
{
    struct bb_bytes bitset;
    struct bb_buf folded = {0};
    enum bb_status status = bb_split_block_decode(bytes, &bitset);
    BB_ASSERT(status == BB_OK || !whole);
    if (status != BB_OK)
        return;
    must(bb_split_block_fold(bytes, 1, &folded));
    assert_opens(&folded);
    folded.size = 0;
    if (bb_split_block_fold_to_rate(bytes, 0.5, &folded) == BB_OK)
        assert_opens(&folded);
    bb_buf_deinit(&folded);
}

/* Loaded as its kind, and as every other one. */
static void change(const uint8_t *data, size_t size)
{
    struct bb_bytes bytes = {data, size};
    struct bb_filter_info info;
    bool whole = bb_filter_info(bytes, &info) == BB_OK;
    change_counting(bytes, whole && info.kind == BB_FILTER_COUNTING);
    change_scalable(bytes, whole && info.kind == BB_FILTER_SCALABLE);
    change_sketch(bytes, whole && info.kind == BB_FILTER_COUNT_MIN);
    fold_split_block(bytes, whole && info.kind == BB_FILTER_SPLIT_BLOCK);
}

static void repair(uint8_t *data, size_t size)
{
    if (size < HEADER_SIZE + CHECKSUM_SIZE)
        return;
    memcpy(data, "BBFILTER", 8);
    bb_store32(data + 8, 1);
    bb_store16(data + 14, HEADER_SIZE);
    bb_store64(data + 16, size);
    bb_store64(data + size - CHECKSUM_SIZE, bb_hash_bytes(data, size - CHECKSUM_SIZE));
}

static void read_envelope(const uint8_t *data, size_t size)
{
    uint8_t *copy = bb_must_realloc(NULL, size);
    if (size > 0)
        memcpy(copy, data, size);
    ask(copy, size);
    repair(copy, size);
    ask(copy, size);
    change(copy, size);
    free(copy);
}

static void assert_members(const struct bb_buf *envelope, const uint8_t *hashes, size_t count)
{
    struct bb_filter_view view;
    uint8_t *copy = bb_must_realloc(NULL, envelope->size);
    memcpy(copy, envelope->data, envelope->size);
    ask(copy, envelope->size);
    must(bb_filter_view_init(&view, (struct bb_bytes){copy, envelope->size}));
    for (size_t i = 0; i < count; i++)
        BB_ASSERT(bb_filter_may_contain(&view, bb_load64(hashes + i * 8)));
    free(copy);
}

static void build_envelope(const uint8_t *data, size_t size)
{
    if (size < 2)
        return;
    struct bb_filter_options options = {.kind =
                                            (enum bb_filter_kind)(data[0] % BB_FILTER_COUNT_MIN),
                                        .target_rate = exp2(-1 - data[1] % 93 / 4.0),
                                        .salt = data[0]};
    if (options.kind == BB_FILTER_SPLIT_BLOCK)
        options.salt = 0;
    struct bb_filter_builder *builder = NULL;
    struct bb_buf envelope = {0};
    size_t count = (size - 2) / 8;
    must(bb_filter_builder_create(&options, &builder));
    for (size_t i = 0; i < count; i++)
        must(bb_filter_builder_add(builder, bb_load64(data + 2 + i * 8)));
    must(bb_filter_builder_finish(builder, &envelope));
    assert_members(&envelope, data + 2, count);
    bb_filter_builder_destroy(builder);
    bb_buf_deinit(&envelope);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] < BUILD_FROM)
        read_envelope(data + 1, size - 1);
    else
        build_envelope(data + 1, size - 1);
    return 0;
}
