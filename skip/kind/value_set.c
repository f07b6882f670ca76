/* Building a set index. See value_set.h. */
#include "skip/kind/value_set.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/status.h"
#include "skip/member/canonical.h"
#include "skip/record/attribute.h"

#define NO_VALUE  SIZE_MAX
#define SLOTS_MIN 64

void bb_value_set_builder_init(struct bb_value_set_builder *builder, uint32_t values_max)
{
    *builder = (struct bb_value_set_builder){.values_max = values_max, .last = NO_VALUE};
}

void bb_value_set_builder_deinit(struct bb_value_set_builder *builder)
{
    bb_free(builder->values);
    bb_free(builder->slots);
    bb_buf_deinit(&builder->bytes);
    bb_buf_deinit(&builder->unit);
    *builder = (struct bb_value_set_builder){0};
}

/* With its bytes, where they are now. */
static struct bb_attribute value_at(const struct bb_value_set_builder *builder, size_t i)
{
    struct bb_attribute value = builder->values[i].value;
    if (value.type == BB_ATTRIBUTE_BYTES)
        value.as.bytes.data =
            value.as.bytes.size == 0 ? NULL : builder->bytes.data + builder->values[i].offset;
    return value;
}

static size_t slot_of(const struct bb_value_set_builder *builder, const struct bb_attribute *value)
{
    uint8_t space[BB_CANONICAL_NUMBER_SIZE];
    struct bb_bytes bytes = bb_canonical_bytes(value, space);
    size_t mask = builder->slot_count - 1;
    size_t slot = (size_t)bb_hash_bytes(bytes.data, bytes.size) & mask;
    for (; builder->slots[slot] != 0; slot = (slot + 1) & mask) {
        struct bb_attribute found = value_at(builder, builder->slots[slot] - 1);
        if (bb_canonical_is_same(&found, value))
            break;
    }
    return slot;
}

static enum bb_status grow_slots(struct bb_value_set_builder *builder)
{
    size_t count = builder->slot_count == 0 ? SLOTS_MIN : builder->slot_count * 2;
    uint32_t *slots = bb_alloc_zeroed(count, sizeof(slots[0]));
    if (slots == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu values of an index", count);
    bb_free(builder->slots);
    builder->slots = slots;
    builder->slot_count = count;
    for (size_t i = 0; i < builder->value_count; i++) {
        struct bb_attribute value = value_at(builder, i);
        slots[slot_of(builder, &value)] = (uint32_t)i + 1;
    }
    return BB_OK;
}

static enum bb_status append_value(struct bb_value_set_builder *builder,
                                   const struct bb_attribute *value)
{
    enum bb_status status =
        bb_array_reserve(&builder->values, builder->value_count, &builder->value_capacity,
                         sizeof(builder->values[0]), "values of an index");
    struct bb_set_value entry = {.value = *value, .offset = builder->bytes.size};
    if (status == BB_OK && value->type == BB_ATTRIBUTE_BYTES) {
        status = bb_buf_append(&builder->bytes, value->as.bytes.data, value->as.bytes.size);
        entry.value.as.bytes.data = NULL;
    }
    if (status == BB_OK)
        builder->values[builder->value_count++] = entry;
    return status;
}

static bool has_space(const struct bb_value_set_builder *builder, const struct bb_attribute *value)
{
    size_t size = value->type == BB_ATTRIBUTE_BYTES ? value->as.bytes.size : 0;
    return builder->value_count < builder->values_max &&
           size <= BB_VALUE_SET_BYTES_MAX - builder->bytes.size;
}

/* The value's number; NO_VALUE: there is no space for it. */
static size_t find_or_append(struct bb_value_set_builder *builder, const struct bb_attribute *value)
{
    if (builder->value_count * 2 >= builder->slot_count)
        builder->status = grow_slots(builder);
    if (builder->status != BB_OK)
        return NO_VALUE;
    size_t slot = slot_of(builder, value);
    if (builder->slots[slot] == 0) {
        builder->is_full = !has_space(builder, value);
        if (builder->is_full)
            return NO_VALUE;
        builder->status = append_value(builder, value);
        if (builder->status != BB_OK)
            return NO_VALUE;
        builder->slots[slot] = (uint32_t)builder->value_count;
    }
    return builder->slots[slot] - 1;
}

void bb_value_set_builder_add(struct bb_value_set_builder *builder,
                              const struct bb_attribute *attribute)
{
    if (builder->is_full || builder->status != BB_OK)
        return;
    size_t number = builder->last;
    struct bb_attribute last = {0};
    if (number != NO_VALUE)
        last = value_at(builder, number);
    if (number == NO_VALUE || !bb_canonical_is_same(&last, attribute))
        number = find_or_append(builder, attribute);
    builder->last = number;
    if (number != NO_VALUE)
        bb_granule_bits_set(&builder->values[number].granules, builder->granule_count);
}

enum bb_status bb_value_set_builder_end_granule(struct bb_value_set_builder *builder)
{
    builder->granule_count++;
    return builder->status;
}

struct bb_set_value *bb_value_set_builder_find(struct bb_value_set_builder *builder,
                                               const struct bb_attribute *value)
{
    if (builder->slot_count == 0)
        return NULL;
    uint32_t number = builder->slots[slot_of(builder, value)];
    return number == 0 ? NULL : &builder->values[number - 1];
}

/* --- Writing --- */

struct sorted_value {
    struct bb_attribute value;
    const struct bb_granule_bits *granules;
};

static int compare_values(const void *left, const void *right)
{
    const struct sorted_value *a = left;
    const struct sorted_value *b = right;
    bool a_is_nan = bb_attribute_is_nan(&a->value);
    bool b_is_nan = bb_attribute_is_nan(&b->value);
    if (a_is_nan || b_is_nan)
        return (int)a_is_nan - (int)b_is_nan;
    return bb_attribute_compare(&a->value, &b->value);
}

static enum bb_status write_value(struct bb_buf *unit, const struct bb_attribute *value)
{
    return value->type == BB_ATTRIBUTE_BYTES ? bb_append_bytes(unit, value->as.bytes)
                                             : bb_append_u64(unit, bb_canonical_word(value));
}

static void write_granules(struct bb_bit_writer *writer, const struct bb_granule_bits *bits,
                           uint32_t granule_count)
{
    uint16_t granules[BB_SEGMENT_GRANULES_MAX];
    uint32_t count = bb_granule_bits_list(bits, granules);
    bb_bit_writer_put_gamma(writer, count);
    bb_posting_write(writer, granules, count, granule_count);
}

static enum bb_status write_unit(struct bb_value_set_builder *builder, struct sorted_value *values)
{
    struct bb_buf *unit = &builder->unit;
    bb_buf_reset(unit);
    enum bb_status status = bb_append_varint(unit, builder->value_count);
    for (size_t i = 0; i < builder->value_count && status == BB_OK; i++)
        status = write_value(unit, &values[i].value);
    struct bb_bit_writer writer;
    bb_bit_writer_init(&writer, unit);
    for (size_t i = 0; i < builder->value_count; i++)
        write_granules(&writer, values[i].granules, builder->granule_count);
    return status == BB_OK ? bb_bit_writer_align(&writer) : status;
}

static enum bb_status write_sorted(struct bb_value_set_builder *builder)
{
    struct sorted_value *values = bb_alloc_zeroed(builder->value_count + 1, sizeof(values[0]));
    if (values == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for sorting %zu values", builder->value_count);
    for (size_t i = 0; i < builder->value_count; i++)
        values[i] = (struct sorted_value){.value = value_at(builder, i),
                                          .granules = &builder->values[i].granules};
    qsort(values, builder->value_count, sizeof(values[0]), compare_values);
    enum bb_status status = write_unit(builder, values);
    bb_free(values);
    return status;
}

void bb_value_set_builder_reset(struct bb_value_set_builder *builder)
{
    if (builder->slots != NULL)
        memset(builder->slots, 0, builder->slot_count * sizeof(builder->slots[0]));
    bb_buf_reset(&builder->bytes);
    builder->value_count = 0;
    builder->granule_count = 0;
    builder->is_full = false;
    builder->last = NO_VALUE;
}

enum bb_status bb_value_set_builder_end_segment(struct bb_value_set_builder *builder,
                                                struct bb_segment_sink *sink)
{
    enum bb_status status = BB_OK;
    if (builder->is_full) {
        status = bb_segment_sink_add_none(sink, builder->granule_count);
    } else {
        status = write_sorted(builder);
        if (status == BB_OK)
            status = bb_segment_sink_begin(sink, builder->granule_count, BB_SKIP_FORM_VALUES);
        if (status == BB_OK)
            status = bb_segment_sink_add_unit(sink, bb_buf_bytes(&builder->unit));
        sink->pair_count += builder->value_count;
    }
    bb_value_set_builder_reset(builder);
    return status;
}
