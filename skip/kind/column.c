/* Building a column. See column.h. */
#include "skip/kind/column.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/member/canonical.h"
#include "skip/record/attribute.h"

#define RECORDS_MIN 256

void bb_column_builder_init(struct bb_column_builder *builder, enum bb_attribute_type type)
{
    *builder = (struct bb_column_builder){.type = type};
}

void bb_column_builder_deinit(struct bb_column_builder *builder)
{
    bb_free(builder->records);
    bb_free(builder->order);
    bb_buf_deinit(&builder->bytes);
    bb_buf_deinit(&builder->ends);
    bb_buf_deinit(&builder->data);
    bb_buf_deinit(&builder->chunks);
}

static enum bb_status grow(struct bb_column_builder *builder)
{
    size_t capacity = builder->record_capacity == 0 ? RECORDS_MIN : builder->record_capacity * 2;
    struct bb_column_record *records = bb_realloc(builder->records, capacity * sizeof(records[0]));
    if (records != NULL)
        builder->records = records;
    uint32_t *order = bb_realloc(builder->order, capacity * sizeof(order[0]));
    if (order != NULL)
        builder->order = order;
    if (records == NULL || order == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a column of %zu records", capacity);
    builder->record_capacity = capacity;
    return BB_OK;
}

/* Memory for the current records. */
static size_t granule_bytes(const struct bb_column_builder *builder)
{
    return builder->bytes.size + builder->record_count * BB_CANONICAL_NUMBER_SIZE;
}

static enum bb_status add_value(struct bb_column_builder *builder, struct bb_column_record *record,
                                const struct bb_attribute *attribute)
{
    uint8_t space[BB_CANONICAL_NUMBER_SIZE];
    struct bb_bytes bytes = bb_canonical_bytes(attribute, space);
    record->value = *attribute;
    record->offset = builder->bytes.size;
    if (attribute->type != BB_ATTRIBUTE_BYTES) {
        record->value = bb_canonical_number(attribute->type, bytes.data);
        return BB_OK;
    }
    record->value.as.bytes.data = NULL;
    return bb_buf_append(&builder->bytes, bytes.data, bytes.size);
}

void bb_column_builder_add(struct bb_column_builder *builder, const struct bb_attribute *attribute)
{
    bool is_bytes =
        attribute->state == BB_ATTRIBUTE_PRESENT && attribute->type == BB_ATTRIBUTE_BYTES;
    if (builder->is_too_large || builder->status != BB_OK)
        return;
    if (granule_bytes(builder) > BB_COLUMN_GRANULE_MAX ||
        (is_bytes && attribute->as.bytes.size > BB_COLUMN_GRANULE_MAX)) {
        builder->is_too_large = true;
        return;
    }
    if (builder->record_count == builder->record_capacity)
        builder->status = grow(builder);
    if (builder->status != BB_OK)
        return;
    struct bb_column_record *record = &builder->records[builder->record_count++];
    *record = (struct bb_column_record){.state = attribute->state};
    if (attribute->state == BB_ATTRIBUTE_PRESENT)
        builder->status = add_value(builder, record, attribute);
}

/* --- Distinct values --- */

static struct bb_attribute value_of(const struct bb_column_builder *builder, uint32_t number)
{
    struct bb_attribute value = builder->records[number].value;
    if (value.type == BB_ATTRIBUTE_BYTES && value.as.bytes.size > 0)
        value.as.bytes.data = builder->bytes.data + builder->records[number].offset;
    return value;
}

static int compare(const struct bb_column_builder *builder, uint32_t left, uint32_t right)
{
    struct bb_attribute a = value_of(builder, left);
    struct bb_attribute b = value_of(builder, right);
    bool a_is_nan = bb_attribute_is_nan(&a);
    bool b_is_nan = bb_attribute_is_nan(&b);
    return a_is_nan || b_is_nan ? (int)a_is_nan - (int)b_is_nan : bb_attribute_compare(&a, &b);
}

/* Bottom-up merge sort: qsort has no place for the builder. spare has space for as many. */
static void merge(const struct bb_column_builder *builder, const uint32_t *from, uint32_t *to,
                  size_t begin, size_t middle, size_t end)
{
    size_t left = begin;
    size_t right = middle;
    for (size_t at = begin; at < end; at++) {
        bool take_left =
            right >= end || (left < middle && compare(builder, from[left], from[right]) <= 0);
        to[at] = take_left ? from[left++] : from[right++];
    }
}

static void sort_order(struct bb_column_builder *builder, size_t count, uint32_t *spare)
{
    uint32_t *from = builder->order;
    uint32_t *to = spare;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = begin + width < count ? begin + width : count;
            size_t end = begin + 2 * width < count ? begin + 2 * width : count;
            merge(builder, from, to, begin, middle, end);
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != builder->order)
        memcpy(builder->order, from, count * sizeof(from[0]));
}

/* Numbers the distinct values, and leaves the first record with each in order. */
static size_t number_values(struct bb_column_builder *builder, size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t record = builder->order[i];
        if (distinct == 0 || compare(builder, builder->order[distinct - 1], record) != 0)
            builder->order[distinct++] = record;
        builder->records[record].number = (uint32_t)distinct - 1;
    }
    return distinct;
}

static enum bb_status find_distinct(struct bb_column_builder *builder, size_t *ret_count)
{
    size_t count = 0;
    for (size_t i = 0; i < builder->record_count; i++)
        if (builder->records[i].state == BB_ATTRIBUTE_PRESENT)
            builder->order[count++] = (uint32_t)i;
    uint32_t *spare = bb_alloc((count + 1) * sizeof(spare[0]));
    if (spare == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for sorting %zu values", count);
    sort_order(builder, count, spare);
    bb_free(spare);
    *ret_count = number_values(builder, count);
    return BB_OK;
}

/* --- Writing --- */

static enum bb_status write_states(struct bb_column_builder *builder)
{
    bool has_states = false;
    for (size_t i = 0; i < builder->record_count; i++)
        has_states |= builder->records[i].state != BB_ATTRIBUTE_PRESENT;
    enum bb_status status = bb_append_u8(&builder->data, has_states);
    if (status != BB_OK || !has_states)
        return status;
    struct bb_bit_writer writer;
    bb_bit_writer_init(&writer, &builder->data);
    for (size_t i = 0; i < builder->record_count; i++)
        bb_bit_writer_put(&writer, (uint64_t)builder->records[i].state, 2);
    return bb_bit_writer_align(&writer);
}

static enum bb_status write_bytes(struct bb_column_builder *builder, struct bb_bytes before,
                                  struct bb_bytes value)
{
    size_t shared = bb_bytes_shared_prefix(before, value);
    enum bb_status status = bb_append_varint(&builder->data, shared);
    struct bb_bytes rest = {.data = shared == 0 ? value.data : value.data + shared,
                            .size = value.size - shared};
    return status == BB_OK ? bb_append_bytes(&builder->data, rest) : status;
}

static enum bb_status write_number(struct bb_column_builder *builder, bool is_first,
                                   const struct bb_attribute *before,
                                   const struct bb_attribute *value)
{
    uint64_t word = bb_canonical_word(value);
    if (value->type == BB_ATTRIBUTE_F64)
        return bb_append_u64(&builder->data, word);
    if (!is_first)
        return bb_append_varint(&builder->data, word - bb_canonical_word(before));
    if (value->type != BB_ATTRIBUTE_U64)
        word = word << 1 ^ (value->as.i64 < 0 ? UINT64_MAX : 0);
    return bb_append_varint(&builder->data, word);
}

static enum bb_status write_values(struct bb_column_builder *builder, size_t count)
{
    enum bb_status status = bb_append_varint(&builder->data, count);
    struct bb_attribute before = {0};
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        struct bb_attribute value = value_of(builder, builder->order[i]);
        status = value.type == BB_ATTRIBUTE_BYTES
                     ? write_bytes(builder, before.as.bytes, value.as.bytes)
                     : write_number(builder, i == 0, &before, &value);
        before = value;
    }
    return status;
}

static enum bb_status write_parts(struct bb_column_builder *builder, struct bb_bytes parts)
{
    size_t count = parts.size / sizeof(uint32_t);
    enum bb_status status = bb_append_varint(&builder->data, count);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = bb_append_varint(&builder->data, bb_load32(parts.data + i * sizeof(uint32_t)));
    return status;
}

static enum bb_status write_granule(struct bb_column_builder *builder, struct bb_bytes parts)
{
    size_t value_count = 0;
    enum bb_status status = find_distinct(builder, &value_count);
    if (status == BB_OK)
        status = bb_append_varint(&builder->data, builder->record_count);
    if (status == BB_OK)
        status = write_parts(builder, parts);
    if (status == BB_OK)
        status = write_states(builder);
    if (status == BB_OK)
        status = write_values(builder, value_count);
    if (status != BB_OK)
        return status;
    struct bb_bit_writer writer;
    uint32_t width = bb_bit_width(value_count);
    bb_bit_writer_init(&writer, &builder->data);
    for (size_t i = 0; i < builder->record_count; i++)
        bb_bit_writer_put(&writer, builder->records[i].number, width);
    return bb_bit_writer_align(&writer);
}

/* The unit is the ends, then the data. */
static enum bb_status end_chunk(struct bb_column_builder *builder, struct bb_segment_sink *sink)
{
    uint64_t offset = 0;
    uint64_t granules = builder->ends.size / sizeof(uint32_t);
    if (granules == 0)
        return BB_OK;
    enum bb_status status = bb_buf_append(&builder->ends, builder->data.data, builder->data.size);
    if (status == BB_OK)
        status = bb_unit_writer_append(sink->writer, BB_SKIP_UNIT_DATA,
                                       bb_buf_bytes(&builder->ends), &offset);
    uint64_t size = builder->ends.size + BB_SKIP_CHECKSUM_SIZE;
    if (status == BB_OK)
        status = bb_append_varint(&builder->chunks, granules);
    if (status == BB_OK)
        status = bb_append_varint(&builder->chunks, offset);
    if (status == BB_OK)
        status = bb_append_varint(&builder->chunks, size);
    sink->data_bytes += size;
    builder->chunk_count++;
    bb_buf_reset(&builder->ends);
    bb_buf_reset(&builder->data);
    return status;
}

enum bb_status bb_column_builder_end_granule(struct bb_column_builder *builder,
                                             struct bb_bytes parts, struct bb_segment_sink *sink)
{
    enum bb_status status = builder->status;
    if (status == BB_OK && !builder->is_too_large)
        status = write_granule(builder, parts);
    sink->unindexed_granules += builder->is_too_large;
    sink->pair_count += builder->is_too_large ? 0 : builder->record_count;
    if (status == BB_OK)
        status = bb_append_u32(&builder->ends, (uint32_t)builder->data.size);
    if (status == BB_OK && builder->data.size >= BB_COLUMN_CHUNK_SIZE)
        status = end_chunk(builder, sink);
    builder->granule_count++;
    builder->record_count = 0;
    builder->is_too_large = false;
    bb_buf_reset(&builder->bytes);
    builder->status = status;
    return status;
}

enum bb_status bb_column_builder_end_segment(struct bb_column_builder *builder,
                                             struct bb_segment_sink *sink)
{
    enum bb_status status = end_chunk(builder, sink);
    if (status == BB_OK)
        status = bb_segment_sink_begin(sink, builder->granule_count, BB_SKIP_FORM_COLUMN);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, builder->chunk_count);
    if (status == BB_OK)
        status = bb_buf_append(&sink->head, builder->chunks.data, builder->chunks.size);
    bb_buf_reset(&builder->chunks);
    builder->chunk_count = 0;
    builder->granule_count = 0;
    return status;
}
