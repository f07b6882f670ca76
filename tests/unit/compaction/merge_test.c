/* Goal: a merge of streams is their sorted union, in either direction, and never ends silently
 * where a stream failed. Method: random sets of keys (hostile ones, with long common prefixes,
 * under comparators) dealt to random numbers of streams; random walks of seeks, steps and turns
 * compared with a plain sorted array; each stream fails at each of its moves. The streams free
 * every entry as soon as they move (tests/support/array_iter.h). */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "compaction/merge/merge.h"
#include "tests/support/array_iter.h"
#include "tests/support/entry_array.h"
#include "tests/support/rng.h"

#define STREAMS_MAX  20
#define KEY_SIZE_MAX 40

/* The streams' entries, each for itself and all together. */
struct deck {
    size_t count;
    struct bb_entry_array hands[STREAMS_MAX];
    struct bb_entry_array all;
};

static void deck_init(struct deck *deck, size_t count, const struct bb_comparator *comparator)
{
    *deck = (struct deck){.count = count, .all = {.comparator = comparator}};
    for (size_t i = 0; i < count; i++)
        deck->hands[i].comparator = comparator;
}

static void deck_add(struct deck *deck, size_t hand, const struct bb_entry *entry)
{
    bb_entry_array_add(&deck->hands[hand], entry);
    bb_entry_array_add(&deck->all, entry);
}

static void deck_sort(struct deck *deck)
{
    for (size_t i = 0; i < deck->count; i++)
        bb_entry_array_sort(&deck->hands[i]);
    bb_entry_array_sort(&deck->all);
}

static void deck_deinit(struct deck *deck)
{
    for (size_t i = 0; i < deck->count; i++)
        bb_entry_array_deinit(&deck->hands[i]);
    bb_entry_array_deinit(&deck->all);
}

/* *ret_streams (may be NULL): the streams, which the merge owns. */
static struct bb_iter *deck_merge(struct deck *deck, struct bb_iter **ret_streams)
{
    struct bb_merge_stream streams[STREAMS_MAX];
    struct bb_iter *merge = NULL;
    for (size_t i = 0; i < deck->count; i++) {
        streams[i].iter = bb_entry_array_iter(&deck->hands[i]);
        streams[i].approach = i % 3 == 2 ? NULL : bb_array_iter_approach;
        if (ret_streams != NULL)
            ret_streams[i] = streams[i].iter;
    }
    assert_ok(bb_merge_create_approached(streams, deck->count, deck->all.comparator, &merge));
    return merge;
}

/* Keys after a common prefix of 0 to 20 bytes; all sequences are different. */
static void deal(struct deck *deck, struct bb_rng *rng, size_t entry_count)
{
    uint8_t key[KEY_SIZE_MAX + 20];
    size_t shared = bb_rng_one_in(rng, 2) ? 0 : (size_t)bb_rng_below(rng, 21);
    bool one_stream_has_most = bb_rng_one_in(rng, 3);
    memset(key, 'p', sizeof(key));
    for (size_t i = 0; i < entry_count && deck->count > 0; i++) {
        size_t size = bb_rng_key(rng, key + shared, KEY_SIZE_MAX);
        struct bb_entry entry = {.key = bb_bytes_of(key, shared + size),
                                 .sequence = i * 7919 % 1000003,
                                 .kind = bb_rng_one_in(rng, 5) ? BB_ENTRY_DELETE : BB_ENTRY_PUT};
        if (entry.kind == BB_ENTRY_PUT)
            entry.value = bb_bytes_of(&i, sizeof(i));
        bool is_dealt = one_stream_has_most && !bb_rng_one_in(rng, 10);
        deck_add(deck, is_dealt ? 0 : (size_t)bb_rng_below(rng, deck->count), &entry);
    }
    deck_sort(deck);
}

static size_t lower_bound(const struct bb_entry_array *array, struct bb_bytes key,
                          uint64_t sequence)
{
    size_t i = 0;
    while (i < array->count) {
        const struct bb_entry *entry = &array->entries[i];
        int order = bb_key_compare(array->comparator, entry->key, key);
        if (order > 0 || (order == 0 && entry->sequence <= sequence))
            break;
        i++;
    }
    return i;
}

static void check_position(const struct bb_entry_array *all, const struct bb_iter *merge,
                           size_t position)
{
    assert_int_equal(merge->status, BB_OK);
    assert_int_equal(merge->is_valid, position < all->count);
    if (!merge->is_valid)
        return;
    const struct bb_entry *expected = &all->entries[position];
    assert_true(bb_bytes_equal(merge->entry.key, expected->key));
    assert_int_equal(merge->entry.sequence, expected->sequence);
    assert_int_equal(merge->entry.kind, expected->kind);
    assert_true(bb_bytes_equal(merge->entry.value, expected->value));
}

static size_t seek_somewhere(const struct bb_entry_array *all, struct bb_iter *merge,
                             struct bb_rng *rng)
{
    uint8_t key[KEY_SIZE_MAX];
    if (all->count == 0 || bb_rng_one_in(rng, 8)) {
        bb_iter_seek_first(merge);
        return 0;
    }
    if (bb_rng_one_in(rng, 8)) {
        bb_iter_seek_last(merge);
        return all->count - 1;
    }
    struct bb_entry target = all->entries[bb_rng_below(rng, all->count)];
    if (bb_rng_one_in(rng, 3))
        target.key = bb_bytes_of(key, bb_rng_key(rng, key, sizeof(key)));
    if (bb_rng_one_in(rng, 2))
        target.sequence =
            bb_rng_one_in(rng, 2) ? BB_SEQUENCE_MAX : target.sequence - (target.sequence > 0);
    bb_iter_seek(merge, target.key, target.sequence);
    return lower_bound(all, target.key, target.sequence);
}

/* Seeks, and then goes some way, turning often. Gives the number of turns. */
static size_t walk(const struct bb_entry_array *all, struct bb_iter *merge, struct bb_rng *rng,
                   size_t steps)
{
    size_t turns = 0;
    bool is_backward = false;
    size_t position = seek_somewhere(all, merge, rng);
    check_position(all, merge, position);
    for (size_t i = 0; i < steps && merge->is_valid; i++) {
        bool was_backward = is_backward;
        is_backward = bb_rng_one_in(rng, 4) ? !is_backward : is_backward;
        turns += was_backward != is_backward;
        if (is_backward) {
            bb_iter_prev(merge);
            position = position == 0 ? all->count : position - 1;
        } else {
            bb_iter_next(merge);
            position++;
        }
        check_position(all, merge, position);
    }
    return turns;
}

static void check_both_ways(const struct bb_entry_array *all, struct bb_iter *merge)
{
    size_t position = 0;
    for (bb_iter_seek_first(merge); merge->is_valid; bb_iter_next(merge))
        check_position(all, merge, position++);
    assert_int_equal(position, all->count);
    for (bb_iter_seek_last(merge); merge->is_valid; bb_iter_prev(merge))
        check_position(all, merge, --position);
    assert_int_equal(position, 0);
}

static int compare_backward(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static const struct bb_comparator backward = {.name = "backward", .compare = compare_backward};

static void merge__is_the_sorted_union(void **state)
{
    (void)state;
    struct bb_rng rng;
    size_t turns = 0;
    bb_rng_init(&rng, bb_rng_seed("merge__is_the_sorted_union", 2024));
    for (size_t round = 0; round < 400; round++) {
        struct deck deck;
        deck_init(&deck, round % (STREAMS_MAX + 1), bb_rng_one_in(&rng, 4) ? &backward : NULL);
        deal(&deck, &rng, (size_t)bb_rng_skewed(&rng, 300));
        struct bb_iter *merge = deck_merge(&deck, NULL);
        check_both_ways(&deck.all, merge);
        for (size_t i = 0; i < 20; i++)
            turns += walk(&deck.all, merge, &rng, 30);
        bb_iter_destroy(merge);
        deck_deinit(&deck);
    }
    assert_true(turns > 10000);
}

static void merge__of_nothing_is_empty(void **state)
{
    (void)state;
    struct deck deck;
    for (size_t streams = 0; streams < 4; streams++) {
        deck_init(&deck, streams, NULL);
        struct bb_iter *merge = deck_merge(&deck, NULL);
        assert_false(merge->is_valid);
        bb_iter_seek_first(merge);
        check_position(&deck.all, merge, 0);
        bb_iter_seek_last(merge);
        check_position(&deck.all, merge, 0);
        bb_iter_seek(merge, bb_bytes_of_text("a"), 1);
        check_position(&deck.all, merge, 0);
        bb_iter_destroy(merge);
        deck_deinit(&deck);
    }
}

/* Keys that no prefix of eight bytes tells apart. */
static void merge__equal_prefixes_need_the_whole_key(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        size_t size;
    } keys[] = {{"", 0},
                {"\0", 1},
                {"\0\0", 2},
                {"a", 1},
                {"a\0", 2},
                {"a\0\0\0\0", 5},
                {"abcdefgh", 8},
                {"abcdefgh\0", 9},
                {"abcdefghi", 9},
                {"abcdefghj", 9},
                {"\xff", 1},
                {"\xff\xff", 2},
                {"\xff\xff\xff\xff\xff\xff\xff\xff", 8},
                {"\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9}};
    for (size_t streams = 1; streams <= 6; streams++) {
        struct deck deck;
        deck_init(&deck, streams, NULL);
        for (size_t i = 0; i < BB_ARRAY_LENGTH(keys); i++) {
            for (uint64_t version = 0; version < 3; version++) {
                struct bb_entry entry = {.key = bb_bytes_of(keys[i].key, keys[i].size),
                                         .sequence = version * 50 + i,
                                         .kind = BB_ENTRY_DELETE};
                deck_add(&deck, (i * 5 + version) % streams, &entry);
            }
        }
        deck_sort(&deck);
        struct bb_iter *merge = deck_merge(&deck, NULL);
        check_both_ways(&deck.all, merge);
        bb_iter_destroy(merge);
        deck_deinit(&deck);
    }
}

/* No store has two entries with the same key and sequence; should it happen, both are there, the
 * newer stream's first, and walking back gives the same order. */
static void merge__equal_entries_order_by_stream(void **state)
{
    (void)state;
    for (size_t streams = 2; streams <= 9; streams++) {
        struct deck deck;
        deck_init(&deck, streams, NULL);
        for (size_t i = 0; i < streams; i++) {
            struct bb_entry entry = {.key = bb_bytes_of_text("k"),
                                     .sequence = 7,
                                     .kind = BB_ENTRY_PUT,
                                     .value = bb_bytes_of(&i, sizeof(i))};
            deck_add(&deck, i, &entry);
        }
        deck_sort(&deck);
        struct bb_iter *merge = deck_merge(&deck, NULL);
        check_both_ways(&deck.all, merge);
        bb_iter_destroy(merge);
        deck_deinit(&deck);
    }
}

/* ---- failures ---- */

/* Forward or backward to the end; the merge may show only right entries before the failure, and
 * must tell of it. */
static void check_failure(const struct deck *deck, struct bb_iter *merge, bool is_backward)
{
    size_t position = is_backward ? deck->all.count : 0;
    if (is_backward)
        bb_iter_seek_last(merge);
    else
        bb_iter_seek_first(merge);
    while (merge->is_valid) {
        size_t index = is_backward ? --position : position++;
        assert_true(bb_bytes_equal(merge->entry.key, deck->all.entries[index].key));
        if (is_backward)
            bb_iter_prev(merge);
        else
            bb_iter_next(merge);
    }
    assert_int_equal(merge->status, BB_IO);
}

static void check_failures_of_a_stream(struct deck *deck, size_t failing)
{
    struct bb_iter *streams[STREAMS_MAX];
    /* In one walk a stream is moved once for each entry, and once to the first or the last. */
    for (uint64_t move = 1; move <= deck->hands[failing].count + 1; move++) {
        struct bb_iter *merge = deck_merge(deck, streams);
        bb_array_iter_fail(streams[failing], move, BB_IO);
        check_failure(deck, merge, false);
        bb_array_iter_fail(streams[failing], move, BB_IO);
        check_failure(deck, merge, true);
        check_both_ways(&deck->all, merge);
        bb_iter_destroy(merge);
    }
}

static void merge__failure_of_a_stream_is_no_end(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("merge__failure_of_a_stream_is_no_end", 5));
    for (size_t streams = 1; streams <= 5; streams++) {
        struct deck deck;
        deck_init(&deck, streams, NULL);
        deal(&deck, &rng, 60);
        for (size_t failing = 0; failing < streams; failing++)
            check_failures_of_a_stream(&deck, failing);
        deck_deinit(&deck);
    }
}

/* A turn moves all streams: a stream that fails then must also be noticed. */
static void merge__failure_while_turning(void **state)
{
    (void)state;
    static const char *const first[] = {"a", "c", "e", "g"};
    static const char *const second[] = {"b", "d", "f", "h"};
    struct bb_iter *streams[STREAMS_MAX];
    struct deck deck;
    deck_init(&deck, 2, NULL);
    for (size_t i = 0; i < 4; i++) {
        struct bb_entry entry = {
            .key = bb_bytes_of_text(first[i]), .sequence = i, .kind = BB_ENTRY_DELETE};
        deck_add(&deck, 0, &entry);
        entry.key = bb_bytes_of_text(second[i]);
        deck_add(&deck, 1, &entry);
    }
    deck_sort(&deck);
    for (size_t failing = 0; failing < 2; failing++) {
        struct bb_iter *merge = deck_merge(&deck, streams);
        bb_iter_seek(merge, bb_bytes_of_text("c"), BB_SEQUENCE_MAX);
        assert_true(merge->is_valid);
        bb_array_iter_fail(streams[failing], 1, BB_IO);
        bb_iter_prev(merge);
        assert_false(merge->is_valid);
        assert_int_equal(merge->status, BB_IO);
        check_both_ways(&deck.all, merge);
        bb_iter_destroy(merge);
    }
    deck_deinit(&deck);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge__is_the_sorted_union),
        cmocka_unit_test(merge__of_nothing_is_empty),
        cmocka_unit_test(merge__equal_prefixes_need_the_whole_key),
        cmocka_unit_test(merge__equal_entries_order_by_stream),
        cmocka_unit_test(merge__failure_of_a_stream_is_no_end),
        cmocka_unit_test(merge__failure_while_turning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
