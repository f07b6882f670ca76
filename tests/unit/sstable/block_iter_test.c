/* Goal: bb_block_iter_next shows the entries and the errors that a plain decoder shows,
 * bb_block_find finds these entries, and bb_block_iter_skip_to ends at the entry that has the byte,
 * as moves from entry to entry do, with the same errors for damaged blocks. Method: random blocks,
 * sound and with changed bits; the ways are compared, for random offsets.
 *
 * BB_TEST_SEED sets the seed.
 */
#include "tests/unit/sstable/table_fixture.h"

#include "base/coding.h"
#include "sstable/block/block_builder.h"
#include "sstable/block/block_iter.h"
#include "sstable/block/block_record.h"
#include "tests/support/step.h"

#define SKIPS 40

static const struct bb_place place = {.file = "/file", .offset = 1000};
static uint64_t entries_compared;
static uint64_t unreadable_compared;

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

/* ---- the plain decoder: one entry after the other, all checks, byte order only ---- */

struct plain {
    const struct bb_block *block;
    uint32_t offset; /* of the next entry */
    uint32_t restart;
    bool is_first;
    bool is_unreadable; /* the next entry */
    uint8_t key[BB_KEY_SIZE_MAX];
    struct bb_entry entry;
};

enum plain_result { PLAIN_ENTRY, PLAIN_END, PLAIN_CORRUPT };

static bool plain_is_after(const struct plain *plain, const struct bb_block_record *record,
                           bool is_at_restart)
{
    struct bb_bytes rest = bb_bytes_after(plain->entry.key, record->shared);
    struct bb_bytes suffix = bb_block_record_suffix(record);
    if (rest.size > 0 && suffix.size > 0 && !is_at_restart)
        return rest.data[0] < suffix.data[0];
    return bb_entry_compare(NULL, rest, plain->entry.sequence, suffix, record->sequence) < 0;
}

static void plain_take(struct plain *plain, const struct bb_block_record *record)
{
    memcpy(plain->key + record->shared, record->suffix, record->unshared);
    plain->entry = (struct bb_entry){
        .key = bb_bytes_of(plain->key, (size_t)record->shared + record->unshared),
        .sequence = record->sequence,
        .kind = record->kind,
        .value = bb_block_record_value(record),
    };
}

static enum plain_result plain_next(struct plain *plain)
{
    const struct bb_block *block = plain->block;
    struct bb_cursor cursor = {.position = block->payload + plain->offset,
                               .end = block->payload + block->entries_size};
    struct bb_block_record record = {0};
    uint32_t next = plain->restart + 1;
    if (next < block->restart_count && plain->offset > block->restarts[next])
        return PLAIN_CORRUPT;
    if (plain->offset >= block->entries_size)
        return PLAIN_END;
    bool is_at_restart = next < block->restart_count && plain->offset == block->restarts[next];
    plain->is_unreadable = !bb_block_record_decode(&cursor, &record);
    if (plain->is_unreadable || record.shared > plain->entry.key.size ||
        (!plain->is_first && !plain_is_after(plain, &record, is_at_restart)))
        return PLAIN_CORRUPT;
    plain_take(plain, &record);
    plain->restart += is_at_restart;
    plain->is_first = false;
    plain->offset = (uint32_t)(cursor.position - block->payload);
    return PLAIN_ENTRY;
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

/* A lookup finds the entry that the plain decoder shows, and no key just before it. */
static void check_found(const struct bb_block *block, const struct bb_entry *entry)
{
    struct bb_block_match match = {0};
    assert_ok(bb_block_find(block, NULL, place, entry->key, entry->sequence, &match));
    assert_true(match.is_found && match.sequence == entry->sequence);
    assert_true(match.value.data == entry->value.data && match.value.size == entry->value.size);
    assert_ok(bb_block_find(block, NULL, place, bb_bytes_of(entry->key.data, entry->key.size - 1),
                            BB_SEQUENCE_MAX, &match));
    assert_true(!match.is_found || match.value.data < entry->value.data);
}

/* Regression: after a seek to the end, the entry had the bytes of one key and the size of another.
 * An iterator over a table compares the last entry with the border after the block. */
static void check_last(struct bb_block_iter *iter)
{
    struct bb_entry last = iter->entry;
    struct bb_buf key = {0};
    assert_ok(bb_buf_assign(&key, last.key));
    bb_block_iter_seek_last(iter);
    assert_true(bb_bytes_equal(bb_buf_bytes(&key), iter->entry.key));
    assert_true(last.sequence == iter->entry.sequence && last.value.data == iter->entry.value.data);
    bb_buf_deinit(&key);
}

/* A seek ends at the first entry that is not before the target. */
static void check_seek(const struct bb_block *block, struct bb_bytes key, uint64_t sequence)
{
    struct bb_block_iter iter;
    bb_block_iter_init(&iter, NULL);
    bb_block_iter_reset(&iter, block, place);
    bb_block_iter_seek(&iter, key, sequence);
    assert_ok(iter.status);
    if (iter.is_valid)
        assert_true(bb_entry_compare(NULL, iter.entry.key, iter.entry.sequence, key, sequence) >=
                    0);
    if (iter.is_valid)
        bb_block_iter_prev(&iter);
    else
        check_last(&iter);
    assert_ok(iter.status);
    if (iter.is_valid)
        assert_true(bb_entry_compare(NULL, iter.entry.key, iter.entry.sequence, key, sequence) < 0);
    bb_block_iter_deinit(&iter);
}

static void check_seeks(const struct bb_block *block, const struct bb_entry *entry)
{
    uint8_t *neighbour = bb_must_realloc(NULL, entry->key.size);
    check_seek(block, entry->key, entry->sequence);
    check_seek(block, entry->key, BB_SEQUENCE_MAX);
    check_seek(block, entry->key, 0);
    check_seek(block, bb_bytes_of(entry->key.data, entry->key.size - 1), BB_SEQUENCE_MAX);
    memcpy(neighbour, entry->key.data, entry->key.size);
    neighbour[entry->key.size - 1]++;
    check_seek(block, bb_bytes_of(neighbour, entry->key.size), BB_SEQUENCE_MAX);
    neighbour[entry->key.size / 2] ^= 0x40;
    check_seek(block, bb_bytes_of(neighbour, entry->key.size), BB_SEQUENCE_MAX);
    free(neighbour);
}

/* Lookups and seeks in a block that may be damaged end, and read nothing after its end. */
static void find_in_damaged(const struct bb_block *block, const struct bb_entry *entry)
{
    struct bb_block_match match = {0};
    struct bb_block_iter iter;
    enum bb_status status = bb_block_find(block, NULL, place, entry->key, entry->sequence, &match);
    assert_true(status == BB_OK || status == BB_CORRUPT);
    bb_block_iter_init(&iter, NULL);
    bb_block_iter_reset(&iter, block, place);
    bb_block_iter_seek(&iter, entry->key, entry->sequence);
    assert_true(iter.status == BB_OK || iter.status == BB_CORRUPT);
    bb_block_iter_deinit(&iter);
}

/* A lookup of a key above all others reads the last interval to its end, or to the damage. */
static void check_unreadable(const struct plain *plain)
{
    static const uint8_t highest[] = {0xff, 0xff};
    const struct bb_block *block = plain->block;
    struct bb_block_match match = {0};
    if (!plain->is_unreadable || plain->restart + 1 != block->restart_count ||
        plain->entry.key.size == 0 || plain->entry.key.data[0] == 0xff)
        return;
    assert_status(bb_block_find(block, NULL, place, bb_bytes_of(highest, sizeof(highest)),
                                BB_SEQUENCE_MAX, &match),
                  BB_CORRUPT);
    unreadable_compared++;
}

/* The whole block. Gives the number of entries. */
static uint64_t compare_walk(const struct bb_block *block, bool is_sound)
{
    static struct plain plain;
    struct bb_block_iter walk;
    uint64_t count = 0;
    plain = (struct plain){.block = block, .is_first = true};
    enum plain_result result = plain_next(&plain);
    init_at_first(&walk, block, NULL);
    while (result == PLAIN_ENTRY && walk.is_valid) {
        assert_same_entry(&walk.entry, &plain.entry);
        assert_int_equal(walk.next_offset, plain.offset);
        assert_int_equal(walk.restart, plain.restart);
        count++;
        if (is_sound && plain.entry.key.size > 0) {
            check_found(block, &plain.entry);
            check_seeks(block, &plain.entry);
        }
        find_in_damaged(block, &plain.entry);
        bb_block_iter_next(&walk);
        result = plain_next(&plain);
    }
    assert_false(walk.is_valid);
    assert_true(result != PLAIN_ENTRY);
    assert_status(walk.status, result == PLAIN_END ? BB_OK : BB_CORRUPT);
    check_unreadable(&plain);
    bb_block_iter_deinit(&walk);
    return count;
}

static bool compare_payload(struct bb_rng *rng, struct bb_bytes payload, bool is_sound,
                            const struct bb_comparator *comparator)
{
    struct bb_block *block = NULL;
    uint8_t *exact = bb_must_realloc(NULL, payload.size); /* so that a sanitizer sees its end */
    memcpy(exact, payload.data, payload.size);
    assert_ok(bb_block_create_over(exact, (uint32_t)payload.size, &block));
    bool is_loaded = bb_block_index(block, (uint32_t)payload.size, comparator, place) == BB_OK;
    if (is_loaded && comparator == NULL)
        entries_compared += compare_walk(block, is_sound);
    for (int i = 0; i < SKIPS && is_loaded && block->entries_size > 0; i++)
        compare_skips(rng, block, comparator);
    bb_block_unref(block);
    free(exact);
    return is_loaded;
}

/* Compares the block, and the block with changed bits. Gives how many of these were loaded. */
static uint64_t compare_damaged(struct bb_rng *rng, struct bb_bytes payload,
                                const struct bb_comparator *comparator)
{
    uint8_t *bytes = bb_must_realloc(NULL, payload.size);
    uint64_t loaded = 0;
    assert_true(compare_payload(rng, payload, true, comparator));
    for (int i = 0; i < 10; i++) {
        memcpy(bytes, payload.data, payload.size);
        for (uint64_t flips = bb_rng_between(rng, 1, 6); flips > 0; flips--)
            bytes[bb_rng_below(rng, payload.size)] ^= (uint8_t)(1u << bb_rng_below(rng, 8));
        loaded += compare_payload(rng, bb_bytes_of(bytes, payload.size), false, comparator);
    }
    free(bytes);
    return loaded;
}

static void block_iter__walks_and_skips_as_plain_decoding(void **state)
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
    assert_true(entries_compared > 1000);
    assert_true(unreadable_compared > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_iter__walks_and_skips_as_plain_decoding),
    };
    return cmocka_run_group_tests_name("block_iter", tests, NULL, NULL);
}
