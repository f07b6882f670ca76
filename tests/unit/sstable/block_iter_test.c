/* Goal: bb_block_iter_skip_to ends at the entry that has the byte, as moves from entry to entry do,
 * with the same errors for damaged blocks. Method: random blocks, sound and with changed bits; both
 * ways compared for random offsets.
 *
 * BB_TEST_SEED sets the seed.
 */
#include "tests/unit/sstable/table_fixture.h"

#include "base/coding.h"
#include "sstable/block/block_builder.h"
#include "sstable/block/block_iter.h"
#include "tests/support/step.h"

#define SKIPS 40

static const struct bb_place place = {.file = "/file", .offset = 1000};

/* Ascending keys with a common prefix, as logs have, and values of any size. */
static void add_log(struct entry_list *list, struct bb_rng *rng)
{
    uint8_t value[600];
    uint8_t key[8];
    size_t count = (size_t)bb_rng_between(rng, 1, 80);
    size_t size_max = bb_rng_one_in(rng, 2) ? 20 : sizeof(value);
    uint64_t number = bb_rng_below(rng, 1000);
    for (size_t i = 0; i < count; i++) {
        size_t size = (size_t)bb_rng_below(rng, size_max);
        number += 1 + bb_rng_skewed(rng, 100000);
        for (size_t j = 0; j < sizeof(key); j++)
            key[j] = (uint8_t)(number >> (56 - 8 * j));
        bb_rng_bytes(rng, value, size);
        entry_list_add(list, bb_bytes_of(key, sizeof(key)), bb_rng_skewed(rng, UINT64_C(1) << 50),
                       BB_ENTRY_PUT, bb_bytes_of(value, size));
    }
}

static struct bb_bytes build(struct bb_block_builder *builder, const struct entry_list *list,
                             uint32_t interval)
{
    struct bb_bytes payload = {0};
    bb_block_builder_init(builder, interval);
    for (size_t i = 0; i < list->count; i++)
        assert_ok(bb_block_builder_add(builder, &list->entries[i]));
    assert_ok(bb_block_builder_finish(builder, &payload));
    return payload;
}

static void init_at_first(struct bb_block_iter *iter, const struct bb_block *block,
                          const struct bb_comparator *comparator)
{
    bb_block_iter_init(iter, comparator);
    bb_block_iter_reset(iter, block, place);
    bb_block_iter_seek_first(iter);
}

/* Both ways from the first entry to an offset, and on to a larger one. */
static void compare_skips(struct bb_rng *rng, const struct bb_block *block,
                          const struct bb_comparator *comparator)
{
    struct bb_block_iter walk;
    struct bb_block_iter skip;
    uint32_t at = 0;
    init_at_first(&walk, block, comparator);
    init_at_first(&skip, block, comparator);
    for (int i = 0; i < 3 && walk.is_valid; i++) {
        at = (uint32_t)bb_rng_between(rng, at, block->entries_size - 1);
        if (at < walk.offset)
            at = walk.offset;
        while (walk.is_valid && walk.next_offset <= at)
            bb_block_iter_next(&walk);
        bb_block_iter_skip_to(&skip, at);
        assert_int_equal(skip.status, walk.status);
        assert_int_equal(skip.is_valid, walk.is_valid);
        if (!walk.is_valid)
            continue;
        assert_same_entry(&skip.entry, &walk.entry);
        assert_int_equal(skip.offset, walk.offset);
        assert_int_equal(skip.next_offset, walk.next_offset);
        assert_int_equal(skip.restart, walk.restart);
    }
    bb_block_iter_deinit(&walk);
    bb_block_iter_deinit(&skip);
}

static bool compare_payload(struct bb_rng *rng, struct bb_bytes payload,
                            const struct bb_comparator *comparator)
{
    struct bb_block *block = NULL;
    assert_ok(bb_block_create((uint32_t)payload.size, &block));
    memcpy(block->payload, payload.data, payload.size);
    bool is_loaded = bb_block_index(block, (uint32_t)payload.size, comparator, place) == BB_OK;
    for (int i = 0; i < SKIPS && is_loaded && block->entries_size > 0; i++)
        compare_skips(rng, block, comparator);
    bb_block_unref(block);
    return is_loaded;
}

/* Compares the block, and the block with changed bits. Gives how many of these were loaded. */
static uint64_t compare_damaged(struct bb_rng *rng, struct bb_bytes payload,
                                const struct bb_comparator *comparator)
{
    uint8_t *bytes = bb_must_realloc(NULL, payload.size);
    uint64_t loaded = 0;
    assert_true(compare_payload(rng, payload, comparator));
    for (int i = 0; i < 10; i++) {
        memcpy(bytes, payload.data, payload.size);
        for (uint64_t flips = bb_rng_between(rng, 1, 6); flips > 0; flips--)
            bytes[bb_rng_below(rng, payload.size)] ^= (uint8_t)(1u << bb_rng_below(rng, 8));
        loaded += compare_payload(rng, bb_bytes_of(bytes, payload.size), comparator);
    }
    free(bytes);
    return loaded;
}

static void block_iter__skips_as_it_walks(void **state)
{
    (void)state;
    static const uint32_t intervals[] = {1, 2, 16, 1000};
    uint64_t loaded = 0;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("block_iter", 23));
    for (size_t round = 0; round < 600; round += bb_test_step()) {
        const struct bb_comparator *comparator = round % 8 == 0 ? &backwards : NULL;
        struct bb_block_builder builder;
        struct entry_list list = {0};
        if (round % 3 == 0)
            entry_list_add_random(&list, &rng, (size_t)bb_rng_between(&rng, 1, 40), 200);
        else
            add_log(&list, &rng);
        entry_list_sort(&list, comparator);
        struct bb_bytes payload = build(&builder, &list, intervals[bb_rng_below(&rng, 4)]);
        loaded += compare_damaged(&rng, payload, comparator);
        bb_block_builder_deinit(&builder);
        entry_list_deinit(&list);
    }
    assert_true(loaded > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_iter__skips_as_it_walks),
    };
    return cmocka_run_group_tests_name("block_iter", tests, NULL, NULL);
}
