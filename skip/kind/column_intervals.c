/* See column_intervals.h. */
#include "skip/kind/column_intervals.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "bb/condition.h"
#include "skip/member/canonical.h"

static_assert(BB_TRUTH_FALSE == 0 && BB_TRUTH_TRUE == 1, "a comparison gives a truth");

#define SIGN            (UINT64_C(1) << 63)
#define DOUBLE_INFINITY UINT64_C(0x7ff0000000000000)

/* --- The order of words --- */

/* -0, which no builder writes, is 0. */
static uint64_t order_double(uint64_t word)
{
    if (word == SIGN)
        word = 0;
    return (word & SIGN) != 0 ? ~word : word | SIGN;
}

static uint64_t order(enum bb_attribute_type type, uint64_t word)
{
    if (type == BB_ATTRIBUTE_F64)
        return order_double(word);
    return type == BB_ATTRIBUTE_U64 ? word : word ^ SIGN;
}

static uint64_t lowest(enum bb_attribute_type type)
{
    return type == BB_ATTRIBUTE_F64 ? order_double(DOUBLE_INFINITY | SIGN) : 0;
}

static uint64_t highest(enum bb_attribute_type type)
{
    return type == BB_ATTRIBUTE_F64 ? order_double(DOUBLE_INFINITY) : UINT64_MAX;
}

/* --- Intervals --- */

/* Bounds of integers exclude no number (leaf.h), so that the next word is a number too. */
static uint64_t find_low(const struct bb_bound *bound, enum bb_attribute_type type)
{
    if (bound->is_open)
        return lowest(type);
    return order(type, bb_canonical_word(&bound->value)) + bound->is_exclusive;
}

static uint64_t find_high(const struct bb_bound *bound, enum bb_attribute_type type)
{
    if (bound->is_open)
        return highest(type);
    return order(type, bb_canonical_word(&bound->value)) - bound->is_exclusive;
}

enum bb_status bb_column_intervals_init(struct bb_column_intervals *intervals,
                                        const struct bb_leaf *leaf)
{
    BB_DEBUG_ASSERT(leaf->kind == BB_LEAF_INTERVALS && leaf->type != BB_ATTRIBUTE_BYTES);
    *intervals = (struct bb_column_intervals){.type = leaf->type};
    intervals->intervals = bb_alloc((leaf->interval_count + 1) * sizeof(intervals->intervals[0]));
    if (intervals->intervals == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu intervals", leaf->interval_count);
    for (size_t i = 0; i < leaf->interval_count; i++) {
        struct bb_column_interval *interval = &intervals->intervals[intervals->count];
        interval->low = find_low(&leaf->intervals[i].low, leaf->type);
        interval->high = find_high(&leaf->intervals[i].high, leaf->type);
        intervals->count += interval->low <= interval->high;
    }
    return BB_OK;
}

void bb_column_intervals_deinit(struct bb_column_intervals *intervals)
{
    bb_free(intervals->intervals);
    *intervals = (struct bb_column_intervals){0};
}

/* The last interval that begins at the word or before has it, if any has. WHY without a branch: the
 * outcomes are as good as random. */
static inline uint8_t has(const struct bb_column_intervals *intervals, uint64_t word)
{
    const struct bb_column_interval *at = intervals->intervals;
    for (size_t count = intervals->count; count > 1;) {
        size_t half = count / 2;
        at = at[half].low <= word ? at + half : at;
        count -= half;
    }
    return intervals->count > 0 && word - at->low <= at->high - at->low;
}

/* --- Values --- */

/* The first integer is stored as it is, the others as differences. */
static bool test_integers(const struct bb_column_intervals *intervals, struct bb_cursor *cursor,
                          size_t count, uint8_t *truths)
{
    uint64_t word = 0;
    uint64_t sign = intervals->type == BB_ATTRIBUTE_U64 ? 0 : SIGN;
    for (size_t i = 0; i < count; i++) {
        uint64_t step = 0;
        if (!bb_decode_varint64_short(cursor, &step))
            return false;
        if (i == 0 && sign != 0)
            step = step >> 1 ^ (0 - (step & 1));
        word += step;
        truths[i] = has(intervals, word ^ sign);
    }
    return true;
}

static bool test_doubles(const struct bb_column_intervals *intervals, struct bb_cursor *cursor,
                         size_t count, uint8_t *truths)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        if (!bb_decode_u64(cursor, &word))
            return false;
        truths[i] = has(intervals, order_double(word));
    }
    return true;
}

bool bb_column_intervals_test(const struct bb_column_intervals *intervals,
                              const struct bb_column_granule *granule, uint8_t *truths)
{
    struct bb_cursor cursor = bb_cursor_of(granule->encoded);
    bool is_whole = intervals->type == BB_ATTRIBUTE_F64
                        ? test_doubles(intervals, &cursor, granule->value_count, truths)
                        : test_integers(intervals, &cursor, granule->value_count, truths);
    return is_whole && bb_cursor_left(&cursor) == 0;
}
