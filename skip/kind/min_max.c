/* See min_max.h. */
#include "skip/kind/min_max.h"

#include "base/bytes.h"
#include "skip/member/canonical.h"
#include "skip/record/attribute.h"

/* --- Writing --- */

static struct bb_attribute cut(const struct bb_attribute *value)
{
    struct bb_attribute first = *value;
    if (first.type == BB_ATTRIBUTE_BYTES && first.as.bytes.size > BB_MIN_MAX_BYTES)
        first.as.bytes.size = BB_MIN_MAX_BYTES;
    return first;
}

static struct bb_attribute keep(struct bb_attribute value, uint8_t *space)
{
    if (value.type == BB_ATTRIBUTE_BYTES && value.as.bytes.size > 0) {
        memmove(space, value.as.bytes.data, value.as.bytes.size);
        value.as.bytes.data = space;
    }
    return value;
}

static void widen(struct bb_value_span *span, const struct bb_attribute *value, bool is_cut)
{
    if (!span->has_values || bb_attribute_compare(value, &span->low) < 0)
        span->low = keep(*value, span->low_bytes);
    int order = span->has_values ? bb_attribute_compare(value, &span->high) : 1;
    if (order > 0)
        span->high = keep(*value, span->high_bytes);
    if (order > 0 || (order == 0 && is_cut))
        span->high_is_cut = is_cut;
    span->has_values = true;
}

static inline bool is_integer(enum bb_attribute_type type)
{
    return type == BB_ATTRIBUTE_TIME || type == BB_ATTRIBUTE_I64 || type == BB_ATTRIBUTE_U64;
}

/* Changes the sign bit, so that the unsigned order of words is the order of the values. */
static inline uint64_t flip_of(enum bb_attribute_type type)
{
    return type == BB_ATTRIBUTE_U64 ? 0 : UINT64_C(1) << 63;
}

/* Widens a span of integers that has values. WHY apart: most numbers of logs are integers, and
 * hardly any of them changes a limit. */
static inline void widen_integers(struct bb_value_span *span, const struct bb_attribute *value)
{
    uint64_t flip = flip_of(value->type);
    uint64_t word = value->as.u64 ^ flip;
    if (word < (span->low.as.u64 ^ flip))
        span->low.as.u64 = value->as.u64;
    if (word > (span->high.as.u64 ^ flip))
        span->high.as.u64 = value->as.u64;
}

void bb_min_max_builder_add(struct bb_min_max_builder *builder,
                            const struct bb_attribute *attribute)
{
    if (is_integer(attribute->type) && builder->granule.has_values) {
        widen_integers(&builder->granule, attribute);
        return;
    }
    if (bb_attribute_is_nan(attribute)) {
        builder->granule.has_nan = true;
        return;
    }
    struct bb_attribute first = cut(attribute);
    bool is_cut =
        first.type == BB_ATTRIBUTE_BYTES && first.as.bytes.size < attribute->as.bytes.size;
    widen(&builder->granule, &first, is_cut);
}

/* The smallest bytes above all that begin with these; false: there are no such bytes. */
static bool round_up(uint8_t *bytes, size_t *size)
{
    while (*size > 0 && bytes[*size - 1] == 0xff)
        --*size;
    if (*size == 0)
        return false;
    bytes[*size - 1]++;
    return true;
}

static enum bb_status append_size_and_bytes(struct bb_bytes bytes, struct bb_buf *buf)
{
    enum bb_status status = bb_append_u8(buf, (uint8_t)bytes.size);
    return status == BB_OK ? bb_buf_append(buf, bytes.data, bytes.size) : status;
}

static enum bb_status append_high_bytes(const struct bb_value_span *span, struct bb_buf *buf)
{
    uint8_t bytes[BB_MIN_MAX_BYTES];
    size_t size = span->high.as.bytes.size;
    if (size > 0)
        memcpy(bytes, span->high.as.bytes.data, size);
    if (span->high_is_cut && !round_up(bytes, &size))
        return bb_append_u8(buf, BB_MIN_MAX_HIGH_OPEN);
    return append_size_and_bytes(bb_bytes_of(bytes, size), buf);
}

static enum bb_status append_span(const struct bb_value_span *span, struct bb_buf *buf)
{
    uint32_t flags =
        (span->has_values ? BB_MIN_MAX_HAS : 0) | (span->has_nan ? BB_MIN_MAX_HAS_NAN : 0);
    enum bb_status status = bb_append_u8(buf, (uint8_t)flags);
    if (status != BB_OK || !span->has_values)
        return status;
    if (span->low.type == BB_ATTRIBUTE_BYTES) {
        status = append_size_and_bytes(span->low.as.bytes, buf);
        return status == BB_OK ? append_high_bytes(span, buf) : status;
    }
    status = bb_append_u64(buf, bb_canonical_word(&span->low));
    return status == BB_OK ? bb_append_u64(buf, bb_canonical_word(&span->high)) : status;
}

enum bb_status bb_min_max_builder_end_granule(struct bb_min_max_builder *builder)
{
    struct bb_value_span *granule = &builder->granule;
    enum bb_status status = append_span(granule, &builder->unit);
    if (granule->has_values) {
        widen(&builder->segment, &granule->low, false);
        widen(&builder->segment, &granule->high, granule->high_is_cut);
    }
    builder->segment.has_nan |= granule->has_nan;
    builder->granule = (struct bb_value_span){0};
    builder->granule_count++;
    return status;
}

enum bb_status bb_min_max_builder_end_segment(struct bb_min_max_builder *builder,
                                              struct bb_segment_sink *sink)
{
    enum bb_status status =
        bb_segment_sink_begin(sink, builder->granule_count, BB_SKIP_FORM_BOUNDS);
    if (status == BB_OK)
        status = append_span(&builder->segment, &sink->head);
    if (status == BB_OK)
        status = bb_segment_sink_add_unit(sink, bb_buf_bytes(&builder->unit));
    sink->pair_count += builder->granule_count;
    bb_buf_reset(&builder->unit);
    builder->segment = (struct bb_value_span){0};
    builder->granule_count = 0;
    return status;
}

/* --- Reading --- */

static bool decode_bytes(struct bb_cursor *cursor, struct bb_attribute *ret_value, bool *ret_open)
{
    uint8_t size = 0;
    *ret_value = (struct bb_attribute){.type = BB_ATTRIBUTE_BYTES};
    if (!bb_decode_u8(cursor, &size))
        return false;
    *ret_open = size == BB_MIN_MAX_HIGH_OPEN;
    return *ret_open ||
           (size <= BB_MIN_MAX_BYTES && bb_decode_raw(cursor, size, &ret_value->as.bytes));
}

static bool decode_number(struct bb_cursor *cursor, enum bb_attribute_type type,
                          struct bb_attribute *ret_value)
{
    struct bb_bytes bytes = {0};
    if (!bb_decode_raw(cursor, BB_CANONICAL_NUMBER_SIZE, &bytes))
        return false;
    *ret_value = bb_canonical_number(type, bytes.data);
    return !bb_attribute_is_nan(ret_value);
}

bool bb_min_max_bounds_decode(struct bb_cursor *cursor, enum bb_attribute_type type,
                              struct bb_read_bounds *ret_bounds)
{
    uint8_t flags = 0;
    *ret_bounds = (struct bb_read_bounds){0};
    struct bb_value_bounds *values = &ret_bounds->values;
    if (!bb_decode_u8(cursor, &flags) || flags > (BB_MIN_MAX_HAS | BB_MIN_MAX_HAS_NAN))
        return false;
    ret_bounds->has_values = (flags & BB_MIN_MAX_HAS) != 0;
    ret_bounds->has_nan = (flags & BB_MIN_MAX_HAS_NAN) != 0;
    if (!ret_bounds->has_values)
        return true;
    if (type != BB_ATTRIBUTE_BYTES)
        return decode_number(cursor, type, &values->low) &&
               decode_number(cursor, type, &values->high);
    bool low_is_open = false;
    return decode_bytes(cursor, &values->low, &low_is_open) && !low_is_open &&
           decode_bytes(cursor, &values->high, &values->high_is_open);
}

/* May bytes between the bounds begin with these? */
static bool may_begin(const struct bb_value_bounds *values, struct bb_bytes prefix)
{
    struct bb_bytes low = values->low.as.bytes;
    if (low.size > prefix.size)
        low.size = prefix.size;
    return bb_bytes_compare(low, prefix) <= 0 &&
           (values->high_is_open || bb_bytes_compare(values->high.as.bytes, prefix) >= 0);
}

static bool is_prefix(const struct bb_piece *piece)
{
    return piece->is_at_start && !piece->ignores_case;
}

static bool group_is_known(const struct bb_piece_group *group)
{
    for (size_t i = 0; i < group->piece_count; i++)
        if (!is_prefix(&group->pieces[i]))
            return false;
    return true;
}

bool bb_min_max_knows(const struct bb_leaf *leaf)
{
    if (leaf->kind == BB_LEAF_INTERVALS)
        return true;
    for (size_t i = 0; leaf->kind == BB_LEAF_TEXT && i < leaf->group_count; i++)
        if (group_is_known(&leaf->groups[i]))
            return true;
    return false;
}

static bool group_may_match(const struct bb_piece_group *group,
                            const struct bb_value_bounds *values)
{
    if (!group_is_known(group))
        return true;
    for (size_t i = 0; i < group->piece_count; i++)
        if (may_begin(values, group->pieces[i].bytes))
            return true;
    return false;
}

static bool text_may_match(const struct bb_leaf *leaf, const struct bb_value_bounds *values)
{
    for (size_t i = 0; i < leaf->group_count; i++)
        if (!group_may_match(&leaf->groups[i], values))
            return false;
    return true;
}

void bb_min_max_bounds_judge(const struct bb_read_bounds *bounds, const struct bb_leaf *leaf,
                             bool *ret_may_be_true, bool *ret_may_be_false)
{
    *ret_may_be_true = false;
    *ret_may_be_false = bounds->has_nan;
    if (!bounds->has_values)
        return;
    if (leaf->kind == BB_LEAF_INTERVALS) {
        *ret_may_be_true = bb_interval_set_meets(leaf, &bounds->values);
        *ret_may_be_false |= !bb_interval_set_covers(leaf, &bounds->values);
    } else {
        *ret_may_be_true = text_may_match(leaf, &bounds->values);
        *ret_may_be_false = true;
    }
}

/* --- All granules of a unit --- */

static bool judge_granules(struct bb_bytes unit, enum bb_attribute_type type,
                           uint32_t granule_count, const struct bb_leaf *leaf,
                           struct bb_granule_bits *may_be_true,
                           struct bb_granule_bits *may_be_false)
{
    struct bb_cursor cursor = bb_cursor_of(unit);
    for (uint32_t granule = 0; granule < granule_count; granule++) {
        struct bb_read_bounds bounds;
        bool is_true = false;
        bool is_false = false;
        if (!bb_min_max_bounds_decode(&cursor, type, &bounds))
            return false;
        bb_min_max_bounds_judge(&bounds, leaf, &is_true, &is_false);
        if (is_true)
            bb_granule_bits_set(may_be_true, granule);
        if (is_false)
            bb_granule_bits_set(may_be_false, granule);
    }
    return true;
}

/* One interval of integers or times, as words whose unsigned order is the order of the values. */
struct word_interval {
    uint64_t low;
    uint64_t high;
    uint64_t flip; /* of the sign: a stored word becomes one of that order */
};

/* False: the leaf is something else. Bounds of integers are inclusive or open. */
static bool take_word_interval(const struct bb_leaf *leaf, enum bb_attribute_type type,
                               struct word_interval *ret_interval)
{
    if (leaf->kind != BB_LEAF_INTERVALS || leaf->interval_count != 1 || !is_integer(type))
        return false;
    const struct bb_interval *interval = &leaf->intervals[0];
    uint64_t flip = flip_of(type);
    *ret_interval = (struct word_interval){
        .low = interval->low.is_open ? 0 : bb_canonical_word(&interval->low.value) ^ flip,
        .high =
            interval->high.is_open ? UINT64_MAX : bb_canonical_word(&interval->high.value) ^ flip,
        .flip = flip};
    return true;
}

/* WHY a separate form: a range over time or size is checked for every granule of every table. */
static bool judge_words(struct bb_bytes unit, uint32_t granule_count,
                        const struct word_interval *interval, struct bb_granule_bits *may_be_true,
                        struct bb_granule_bits *may_be_false)
{
    struct bb_cursor cursor = bb_cursor_of(unit);
    for (uint32_t granule = 0; granule < granule_count; granule++) {
        uint8_t flags = 0;
        struct bb_bytes words = {0};
        if (!bb_decode_u8(&cursor, &flags) || flags > BB_MIN_MAX_HAS)
            return false;
        if (flags == 0)
            continue;
        if (!bb_decode_raw(&cursor, 2 * BB_CANONICAL_NUMBER_SIZE, &words))
            return false;
        uint64_t low = bb_load64(words.data) ^ interval->flip;
        uint64_t high = bb_load64(words.data + BB_CANONICAL_NUMBER_SIZE) ^ interval->flip;
        if (high >= interval->low && low <= interval->high)
            bb_granule_bits_set(may_be_true, granule);
        if (low < interval->low || high > interval->high)
            bb_granule_bits_set(may_be_false, granule);
    }
    return true;
}

bool bb_min_max_judge(struct bb_bytes unit, enum bb_attribute_type type, uint32_t granule_count,
                      const struct bb_leaf *leaf, struct bb_granule_bits *may_be_true,
                      struct bb_granule_bits *may_be_false)
{
    struct word_interval interval;
    if (take_word_interval(leaf, type, &interval))
        return judge_words(unit, granule_count, &interval, may_be_true, may_be_false);
    return judge_granules(unit, type, granule_count, leaf, may_be_true, may_be_false);
}
