/* Asking a set index. See value_set.h. */
#include <string.h>

#include "skip/member/canonical.h"
#include "skip/member/tokenizer.h"
#include "skip/kind/value_set.h"

static bool equal_at(const uint8_t *data, struct bb_bytes piece, bool ignores_case)
{
    for (size_t i = 0; i < piece.size; i++) {
        uint8_t byte = ignores_case ? bb_token_lower(data[i]) : data[i];
        if (byte != piece.data[i])
            return false;
    }
    return true;
}

/* Does the value have the piece where it must be? */
static bool has_piece(struct bb_bytes value, const struct bb_piece *piece)
{
    size_t size = piece->bytes.size;
    if (size > value.size)
        return false;
    if (size == 0)
        return true;
    size_t first = 0;
    size_t last = value.size - size;
    if (piece->is_at_start)
        last = 0;
    if (piece->is_at_end)
        first = value.size - size;
    for (size_t at = first; at <= last; at++)
        if (equal_at(value.data + at, piece->bytes, piece->ignores_case))
            return true;
    return false;
}

static bool has_group(struct bb_bytes value, const struct bb_piece_group *group)
{
    for (size_t i = 0; i < group->piece_count; i++)
        if (has_piece(value, &group->pieces[i]))
            return true;
    return false;
}

static bool may_match(const struct bb_leaf *leaf, const struct bb_attribute *value)
{
    if (leaf->kind == BB_LEAF_INTERVALS)
        return bb_interval_set_has(leaf, value);
    for (size_t i = 0; i < leaf->group_count; i++)
        if (value->type != BB_ATTRIBUTE_BYTES || !has_group(value->as.bytes, &leaf->groups[i]))
            return false;
    return true;
}

static bool take_value(struct bb_cursor *cursor, enum bb_attribute_type type,
                       struct bb_attribute *ret_value)
{
    struct bb_bytes bytes = {0};
    if (type == BB_ATTRIBUTE_BYTES) {
        *ret_value = (struct bb_attribute){.state = BB_ATTRIBUTE_PRESENT, .type = type};
        return bb_decode_bytes(cursor, &ret_value->as.bytes);
    }
    if (!bb_decode_raw(cursor, BB_CANONICAL_NUMBER_SIZE, &bytes))
        return false;
    *ret_value = bb_canonical_number(type, bytes.data);
    return true;
}

/* Where the postings begin. */
static bool pass_values(struct bb_cursor *cursor, enum bb_attribute_type type, uint64_t count)
{
    struct bb_attribute value;
    for (uint64_t i = 0; i < count; i++)
        if (!take_value(cursor, type, &value))
            return false;
    return true;
}

static bool take_granules(struct bb_bit_reader *reader, uint32_t granule_count,
                          struct bb_granule_bits *bits)
{
    uint64_t count = bb_bit_reader_take_gamma(reader);
    if (count < 1 || count > granule_count)
        return false;
    bb_posting_read(reader, (uint32_t)count, granule_count, bits);
    return !reader->is_past_end;
}

bool bb_value_set_visit(struct bb_bytes unit, enum bb_attribute_type type, uint32_t granule_count,
                        void (*visit)(void *context, const struct bb_attribute *value,
                                      const struct bb_granule_bits *granules),
                        void *context)
{
    uint64_t count = 0;
    struct bb_cursor values = bb_cursor_of(unit);
    if (!bb_decode_varint64(&values, &count) || count > BB_SKIP_SET_VALUES_MAX)
        return false;
    struct bb_cursor postings = values;
    if (!pass_values(&postings, type, count))
        return false;
    struct bb_bit_reader reader = bb_bit_reader_of(
        (struct bb_bytes){.data = postings.position, .size = bb_cursor_left(&postings)});
    for (uint64_t i = 0; i < count; i++) {
        struct bb_attribute value;
        struct bb_granule_bits granules = {{0}};
        if (!take_value(&values, type, &value) || !take_granules(&reader, granule_count, &granules))
            return false;
        visit(context, &value, &granules);
    }
    return true;
}

/* --- Judging --- */

struct judgement {
    const struct bb_leaf *leaf;
    enum bb_attribute_type type;
    uint32_t granule_count;
    uint64_t count;       /* of values */
    uint64_t match_count; /* of values that may match */
    uint64_t decoded;     /* postings up to the last one of these */
    struct bb_granule_bits *may_be_true;
    struct bb_granule_bits *may_be_false;
};

/* A text that has all pieces may match or not. */
static bool may_fail(const struct judgement *judgement, bool matches)
{
    return !matches || judgement->leaf->kind == BB_LEAF_TEXT;
}

/* Moves the cursor to the postings. */
static bool count_matches(struct judgement *judgement, struct bb_cursor *cursor)
{
    for (uint64_t i = 0; i < judgement->count; i++) {
        struct bb_attribute value;
        if (!take_value(cursor, judgement->type, &value))
            return false;
        if (!may_match(judgement->leaf, &value))
            continue;
        judgement->match_count++;
        judgement->decoded = i + 1;
    }
    return true;
}

/* Where all values have the same verdict, the postings need not be read. */
static bool values_decide(const struct judgement *judgement)
{
    if (judgement->match_count == 0)
        bb_granule_bits_set_all(judgement->may_be_false);
    else if (judgement->match_count == judgement->count && !may_fail(judgement, true))
        bb_granule_bits_set_all(judgement->may_be_true);
    else
        return false;
    return true;
}

/* Reads postings until the others cannot change the verdict. A value that every granule has takes
 * no bits, and is often among the first: then only matches are needed. */
static bool judge_postings(const struct judgement *judgement, struct bb_cursor values,
                           struct bb_bit_reader reader)
{
    bool all_may_fail = false;
    for (uint64_t i = 0; i < judgement->count; i++) {
        struct bb_attribute value;
        uint64_t count = bb_bit_reader_take_gamma(&reader);
        if (count < 1 || count > judgement->granule_count ||
            !take_value(&values, judgement->type, &value))
            return false;
        bool matches = may_match(judgement->leaf, &value);
        struct bb_granule_bits granules = {{0}};
        if (matches || !all_may_fail)
            bb_posting_read(&reader, (uint32_t)count, judgement->granule_count, &granules);
        else
            bb_posting_skip(&reader, (uint32_t)count, judgement->granule_count);
        if (reader.is_past_end)
            return false;
        if (matches)
            bb_granule_bits_add(judgement->may_be_true, &granules);
        if (may_fail(judgement, matches))
            bb_granule_bits_add(judgement->may_be_false, &granules);
        all_may_fail |= may_fail(judgement, matches) && count == judgement->granule_count;
        if (all_may_fail && i + 1 >= judgement->decoded)
            return true;
    }
    return true;
}

bool bb_value_set_judge(struct bb_bytes unit, enum bb_attribute_type type, uint32_t granule_count,
                        const struct bb_leaf *leaf, struct bb_granule_bits *may_be_true,
                        struct bb_granule_bits *may_be_false)
{
    struct judgement judgement = {.leaf = leaf,
                                  .type = type,
                                  .granule_count = granule_count,
                                  .may_be_true = may_be_true,
                                  .may_be_false = may_be_false};
    struct bb_cursor values = bb_cursor_of(unit);
    if (!bb_decode_varint64(&values, &judgement.count) || judgement.count > BB_SKIP_SET_VALUES_MAX)
        return false;
    struct bb_cursor postings = values;
    if (!count_matches(&judgement, &postings))
        return false;
    if (values_decide(&judgement))
        return true;
    return judge_postings(&judgement, values,
                          bb_bit_reader_of((struct bb_bytes){.data = postings.position,
                                                             .size = bb_cursor_left(&postings)}));
}
