/* A decoded dictionary block equals its input; any bytes are decoded or refused. */
#include "skip/kind/token_block.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "skip/member/member_scan.h"
#include "skip/kind/token_pair.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"

#define TOKENS_MAX 400

struct sample {
    uint32_t granule_count;
    bool has_counts;
    uint32_t token_count;
    uint8_t tokens[TOKENS_MAX][BB_TOKEN_SIZE_MAX];
    size_t sizes[TOKENS_MAX];
    uint32_t pair_counts[TOKENS_MAX];
    uint64_t pairs[TOKENS_MAX][BB_SEGMENT_GRANULES_MAX];
    struct bb_buf unit;
};

static struct sample sample;

static struct bb_bytes token_of(uint32_t number)
{
    return bb_bytes_of(sample.tokens[number], sample.sizes[number]);
}

/* Above the token before, with a part of it. */
static bool draw_token(struct bb_rng *rng, uint32_t number)
{
    size_t size = 1 + bb_rng_skewed(rng, BB_TOKEN_SIZE_MAX - 1);
    for (size_t i = 0; i < size; i++)
        sample.tokens[number][i] = (uint8_t)('0' + bb_rng_below(rng, 10));
    if (number > 0) {
        size_t shared = bb_rng_below(rng, sample.sizes[number - 1] + 1);
        shared = shared < size ? shared : size;
        memcpy(sample.tokens[number], sample.tokens[number - 1], shared);
    }
    sample.sizes[number] = size;
    return number == 0 || bb_bytes_compare(token_of(number - 1), token_of(number)) < 0;
}

static uint32_t draw_records(struct bb_rng *rng, bool is_one)
{
    if (is_one)
        return 1;
    return bb_rng_one_in(rng, 200) ? UINT32_MAX - (uint32_t)bb_rng_below(rng, 2)
                                   : 1 + (uint32_t)bb_rng_skewed(rng, 300);
}

static void draw_pairs(struct bb_rng *rng, uint32_t number)
{
    uint64_t wanted = 1 + bb_rng_skewed(rng, sample.granule_count);
    bool is_one = bb_rng_one_in(rng, 2);
    uint32_t count = 0;
    for (uint32_t granule = 0; granule < sample.granule_count; granule++)
        if (bb_rng_below(rng, sample.granule_count) < wanted ||
            (count == 0 && granule + 1 == sample.granule_count))
            sample.pairs[number][count++] =
                bb_token_pair(number, granule, draw_records(rng, is_one));
    sample.pair_counts[number] = count;
}

static void write_sample(struct bb_rng *rng)
{
    struct bb_token_block_builder builder = {0};
    bb_token_block_builder_reset(&builder, sample.granule_count, sample.has_counts);
    sample.token_count = 0;
    bb_buf_reset(&sample.unit);
    while (sample.token_count < TOKENS_MAX && !bb_token_block_builder_is_full(&builder)) {
        uint32_t number = sample.token_count;
        if (!draw_token(rng, number)) {
            if (number > 0 && bb_rng_one_in(rng, 400))
                break;
            continue;
        }
        draw_pairs(rng, number);
        assert_ok(bb_token_block_builder_add(&builder, token_of(number), sample.pairs[number],
                                             sample.pair_counts[number]));
        sample.token_count++;
    }
    assert_ok(bb_token_block_builder_finish(&builder, &sample.unit));
    assert_true(sample.unit.size <= BB_TOKEN_BLOCK_SIZE_MAX);
    bb_token_block_builder_deinit(&builder);
}

/* The bytes with a readable pad, in an allocation of exactly this size. */
static uint8_t *copy_of(struct bb_bytes unit)
{
    uint8_t *copy = malloc(unit.size + BB_BIT_READER_PAD);
    memcpy(copy, unit.data, unit.size);
    memset(copy + unit.size, 0xa5, BB_BIT_READER_PAD);
    return copy;
}

static void check_list(struct bb_token_lists *lists, uint32_t number)
{
    static uint32_t counts[BB_SEGMENT_GRANULES_MAX];
    uint16_t granules[BB_SEGMENT_GRANULES_MAX];
    struct bb_granule_bits bits = {{0}};
    memset(counts, 0, sizeof(counts));
    assert_true(bb_token_block_lists_read(lists, number, &bits, sample.has_counts ? counts : NULL));
    assert_int_equal(bb_granule_bits_list(&bits, granules), sample.pair_counts[number]);
    for (uint32_t i = 0; i < sample.pair_counts[number]; i++) {
        assert_int_equal(granules[i], bb_token_pair_granule(sample.pairs[number][i]));
        if (sample.has_counts)
            assert_int_equal(counts[granules[i]], bb_token_pair_records(sample.pairs[number][i]));
    }
}

static void check_sample(struct bb_rng *rng, struct bb_token_block *block)
{
    uint8_t *copy = copy_of(bb_buf_bytes(&sample.unit));
    struct bb_token_lists lists;
    assert_ok(bb_token_block_decode(block, bb_bytes_of(copy, sample.unit.size),
                                    sample.granule_count, sample.has_counts));
    assert_int_equal(block->token_count, sample.token_count);
    for (uint32_t i = 0; i < sample.token_count; i++) {
        assert_true(bb_bytes_equal(bb_token_block_token(block, i), token_of(i)));
        assert_int_equal(bb_token_block_find(block, token_of(i)), i);
    }
    bb_token_block_lists_begin(&lists, block);
    for (uint32_t i = 0; i < sample.token_count; i++)
        check_list(&lists, i);
    assert_true(bb_token_block_lists_end(&lists));
    bb_token_block_lists_begin(&lists, block);
    for (uint32_t i = 0; i < sample.token_count; i += 1 + (uint32_t)bb_rng_below(rng, 9))
        check_list(&lists, i);
    free(copy);
}

static void blocks__give_back_what_was_written(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct bb_token_block block = {0};
    bb_rng_init(&rng, bb_rng_seed("token_block_test", 60));
    for (uint32_t turn = 0; turn < 200; turn++) {
        sample.granule_count = 1 + (uint32_t)bb_rng_skewed(&rng, BB_SEGMENT_GRANULES_MAX);
        sample.granule_count = sample.granule_count < BB_SEGMENT_GRANULES_MAX
                                   ? sample.granule_count
                                   : BB_SEGMENT_GRANULES_MAX;
        sample.has_counts = turn % 2 == 0;
        write_sample(&rng);
        check_sample(&rng, &block);
    }
    bb_token_block_deinit(&block);
    bb_buf_deinit(&sample.unit);
}

/* The block that docs/format-skip.md draws. */
static void block__is_as_it_is_drawn(void **state)
{
    (void)state;
    static const uint8_t drawn[] = {2, 0, 7, 0, 1, 0, 0x30, 'p', 'a', 'g', 'e', 0x04, 'r', 0x6a};
    struct bb_token_block_builder builder = {0};
    struct bb_buf unit = {0};
    const uint64_t page[] = {bb_token_pair(0, 0, 1), bb_token_pair(0, 2, 1)};
    const uint64_t pager[] = {bb_token_pair(1, 1, 1)};
    bb_token_block_builder_reset(&builder, 3, false);
    assert_ok(bb_token_block_builder_add(&builder, bb_bytes_of_text("page"), page, 2));
    assert_ok(bb_token_block_builder_add(&builder, bb_bytes_of_text("pager"), pager, 1));
    assert_ok(bb_token_block_builder_finish(&builder, &unit));
    assert_int_equal(unit.size, sizeof(drawn));
    assert_memory_equal(unit.data, drawn, sizeof(drawn));
    bb_token_block_builder_deinit(&builder);
    bb_buf_deinit(&unit);
}

/* Every read returns. */
static void read_all(struct bb_token_block *block, struct bb_bytes unit)
{
    static uint32_t counts[BB_SEGMENT_GRANULES_MAX];
    struct bb_token_lists lists;
    struct bb_granule_bits bits = {{0}};
    if (bb_token_block_decode(block, unit, sample.granule_count, sample.has_counts) != BB_OK)
        return;
    (void)bb_token_block_find(block, bb_bytes_of("5", 1));
    bb_token_block_lists_begin(&lists, block);
    for (uint32_t i = 0; i < block->token_count; i++)
        if (!bb_token_block_lists_read(&lists, i, &bits, sample.has_counts ? counts : NULL))
            return;
    (void)bb_token_block_lists_end(&lists);
}

static void blocks__survive_any_bytes(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct bb_token_block block = {0};
    bb_rng_init(&rng, bb_rng_seed("token_block_test", 61));
    for (uint32_t turn = 0; turn < 3000; turn++) {
        if (turn % 100 == 0) {
            sample.granule_count = 1 + (uint32_t)bb_rng_below(&rng, BB_SEGMENT_GRANULES_MAX);
            sample.has_counts = bb_rng_one_in(&rng, 2);
            write_sample(&rng);
        }
        size_t size = bb_rng_one_in(&rng, 4) ? (size_t)bb_rng_below(&rng, sample.unit.size + 1)
                                             : sample.unit.size;
        uint8_t *copy = copy_of(bb_bytes_of(sample.unit.data, size));
        for (uint64_t left = bb_rng_below(&rng, 8); left > 0 && size > 0; left--)
            copy[bb_rng_below(&rng, bb_rng_one_in(&rng, 3) && size > 6 ? 6 : size)] =
                (uint8_t)bb_rng_next(&rng);
        read_all(&block, bb_bytes_of(copy, size));
        free(copy);
    }
    bb_token_block_deinit(&block);
    bb_buf_deinit(&sample.unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks__give_back_what_was_written),
        cmocka_unit_test(block__is_as_it_is_drawn),
        cmocka_unit_test(blocks__survive_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
