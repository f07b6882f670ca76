/* The properties of a table, driven by one list of fields. See the header. Any thread. */
#include "sstable/meta/properties.h"

#include <inttypes.h>

#include "base/assert.h"
#include "base/bytes.h"

#define FIELD(id, type, member, size)                                                              \
    {                                                                                              \
        id, BB_PROPERTY_##type, offsetof(struct bb_properties, member), size, #member, false       \
    }
#define OPTIONAL(id, type, member)                                                                 \
    {                                                                                              \
        id, BB_PROPERTY_##type, offsetof(struct bb_properties, member), 0, #member, true           \
    }

/* ON DISK: ids and types never change. */
static const struct bb_property_field fields[] = {
    FIELD(1, NUMBER, format_version, 0),
    FIELD(2, BYTES, table_id, BB_TABLE_ID_SIZE),
    FIELD(3, TEXT, comparator, 0),
    FIELD(4, TEXT, builder, 0),
    FIELD(16, NUMBER, entry_count, 0),
    FIELD(17, NUMBER, key_count, 0),
    FIELD(18, NUMBER, tombstone_count, 0),
    FIELD(19, NUMBER, block_count, 0),
    FIELD(20, NUMBER, page_count, 0),
    FIELD(21, NUMBER, key_bytes, 0),
    FIELD(22, NUMBER, value_bytes, 0),
    FIELD(23, NUMBER, data_size, 0),
    FIELD(24, NUMBER, index_size, 0),
    FIELD(25, NUMBER, filter_size, 0),
    FIELD(26, NUMBER, table_filter_size, 0),
    OPTIONAL(27, NUMBER, range_tombstone_count),
    FIELD(32, BYTES, smallest, 0),
    FIELD(33, BYTES, largest, 0),
    FIELD(34, NUMBER, sequence_min, 0),
    FIELD(35, NUMBER, sequence_max, 0),
    OPTIONAL(36, NUMBER, largest_is_exclusive),
    OPTIONAL(37, NUMBER, tombstone_sequence_min),
    FIELD(48, NUMBER, block_size_bytes, 0),
    FIELD(49, NUMBER, restart_interval, 0),
    FIELD(50, NUMBER, compression, 0),
    FIELD(51, NUMBER, index_page_size_bytes, 0),
    FIELD(64, NUMBER, filter_kind, 0),
    FIELD(65, REAL, filter_rate, 0),
    FIELD(66, NUMBER, filter_bits_per_probe, 0),
    FIELD(67, NUMBER, filter_salt, 0),
    FIELD(68, NUMBER, filter_granularity, 0),
    FIELD(69, REAL, table_filter_rate, 0),
    FIELD(70, NUMBER, table_filter_fingerprint_bits, 0),
    FIELD(71, REAL, filter_slack, 0),
    OPTIONAL(72, REAL, filter_excess),
    OPTIONAL(73, REAL, table_filter_excess),
    OPTIONAL(74, REAL, predicted_block_rate),
    OPTIONAL(75, REAL, predicted_table_filter_rate),
    FIELD(80, NUMBER, hash_id, 0),
    FIELD(81, SECRET, hash_secret, BB_HASH_SECRET_SIZE),
    OPTIONAL(BB_PROPERTY_MANDATORY | 28, NUMBER, head_count),
    OPTIONAL(BB_PROPERTY_MANDATORY | 29, NUMBER, page_group_bytes),
};

const struct bb_property_field *bb_property_fields(size_t *ret_count)
{
    *ret_count = BB_ARRAY_LENGTH(fields);
    return fields;
}

void bb_properties_deinit(struct bb_properties *properties)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(fields); i++)
        if (fields[i].type >= BB_PROPERTY_TEXT)
            bb_buf_deinit((struct bb_buf *)(void *)((char *)properties + fields[i].offset));
    *properties = (struct bb_properties){0};
}

bool bb_property_is_left_out(const struct bb_properties *properties,
                             const struct bb_property_field *field)
{
    uint64_t number = 0;
    if (!field->is_optional)
        return false;
    memcpy(&number, (const char *)properties + field->offset, sizeof(number));
    return number == 0;
}

static enum bb_status encode_value(const struct bb_property_field *field, const void *member,
                                   struct bb_buf *buf)
{
    uint8_t bytes[BB_VARINT64_SIZE_MAX];
    uint64_t number = 0;
    if (field->type >= BB_PROPERTY_TEXT) {
        const struct bb_buf *value = member;
        BB_ASSERT(field->size == 0 || value->size == field->size);
        return bb_append_bytes(buf, bb_buf_bytes(value));
    }
    memcpy(&number, member, sizeof(number));
    if (field->type == BB_PROPERTY_REAL) {
        bb_store64(bytes, number);
        return bb_append_bytes(buf, bb_bytes_of(bytes, sizeof(number)));
    }
    return bb_append_bytes(buf,
                           bb_bytes_of(bytes, (size_t)(bb_store_varint(bytes, number) - bytes)));
}

enum bb_status bb_properties_encode(const struct bb_properties *properties, struct bb_buf *buf)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(fields) && status == BB_OK; i++) {
        if (bb_property_is_left_out(properties, &fields[i]))
            continue;
        status = bb_append_u16(buf, fields[i].id);
        if (status == BB_OK)
            status = encode_value(&fields[i], (const char *)properties + fields[i].offset, buf);
    }
    return status;
}

static enum bb_status decode_number(const struct bb_property_field *field, struct bb_bytes value,
                                    void *member, struct bb_place place)
{
    struct bb_cursor cursor = bb_cursor_of(value);
    uint64_t number = 0;
    bool is_number = field->type == BB_PROPERTY_REAL ? bb_decode_u64(&cursor, &number)
                                                     : bb_decode_varint64(&cursor, &number);
    if (!is_number || bb_cursor_left(&cursor) > 0)
        return bb_corrupt(place, 0, "property %s is no number in its %zu bytes", field->name,
                          value.size);
    if (field->is_optional && number == 0)
        return bb_corrupt(place, 0, "property %s is 0, expected it to be omitted", field->name);
    memcpy(member, &number, sizeof(number));
    return BB_OK;
}

static enum bb_status decode_value(const struct bb_property_field *field, struct bb_bytes value,
                                   void *member, struct bb_place place)
{
    if (field->type < BB_PROPERTY_TEXT)
        return decode_number(field, value, member, place);
    if (field->size != 0 && value.size != field->size)
        return bb_corrupt(place, 0, "property %s has %zu bytes, expected %zu", field->name,
                          value.size, field->size);
    return bb_buf_assign(member, value);
}

static enum bb_status unknown_property(uint16_t id, struct bb_place place)
{
    if ((id & BB_PROPERTY_MANDATORY) == 0)
        return BB_OK;
    return bb_fail(BB_UNSUPPORTED,
                   "%s: property %u must be understood, and this version does not know it",
                   place.file == NULL ? "table" : place.file, id);
}

/* The first field from `next` on that has this id or is required. */
static size_t pass_optional(size_t next, uint32_t id)
{
    while (next < BB_ARRAY_LENGTH(fields) && fields[next].is_optional && fields[next].id < id)
        next++;
    return next;
}

/* Ids ascend both in the section and in the list, so both are walked in parallel. */
static enum bb_status decode_fields(struct bb_cursor *cursor, struct bb_place place,
                                    struct bb_properties *properties)
{
    size_t next = 0;
    int64_t last_id = -1;
    while (bb_cursor_left(cursor) > 0) {
        uint16_t id = 0;
        struct bb_bytes value = {0};
        if (!bb_decode_u16(cursor, &id) || !bb_decode_bytes(cursor, &value))
            return bb_corrupt(place, 0, "the property after id %" PRId64 " cannot be read",
                              last_id);
        if (id <= last_id)
            return bb_corrupt(place, 0, "property %u after %" PRId64 ": ids must ascend", id,
                              last_id);
        last_id = id;
        next = pass_optional(next, id);
        if (next < BB_ARRAY_LENGTH(fields) && id > fields[next].id)
            break;
        enum bb_status status = BB_OK;
        if (next < BB_ARRAY_LENGTH(fields) && id == fields[next].id) {
            status =
                decode_value(&fields[next], value, (char *)properties + fields[next].offset, place);
            next++;
        } else {
            status = unknown_property(id, place);
        }
        if (status != BB_OK)
            return status;
    }
    next = pass_optional(next, UINT32_MAX);
    if (next < BB_ARRAY_LENGTH(fields))
        return bb_corrupt(place, 0, "property %s (%u) is missing", fields[next].name,
                          fields[next].id);
    return BB_OK;
}

/* The numbers that a property may have. */
struct limits {
    const char *name;
    uint64_t value;
    uint64_t low;
    uint64_t high;
};

static enum bb_status check_limits(const struct limits *limits, size_t count, struct bb_place place)
{
    for (size_t i = 0; i < count; i++)
        if (limits[i].value < limits[i].low || limits[i].value > limits[i].high)
            return bb_corrupt(place, 0,
                              "property %s is %" PRIu64 ", expected %" PRIu64 " ... %" PRIu64,
                              limits[i].name, limits[i].value, limits[i].low, limits[i].high);
    return BB_OK;
}

static enum bb_status check_counts(const struct bb_properties *p, struct bb_place place)
{
    bool has_ranges = p->range_tombstone_count > 0;
    bool has_any = p->tombstone_count > 0 || has_ranges;
    /* 0 means "none, or unknown". */
    bool is_age_known = p->tombstone_sequence_min != 0;
    const struct limits limits[] = {
        /* A table with range tombstones need not have entries. */
        {"entry_count", p->entry_count, !has_ranges, UINT64_MAX},
        {"key_count", p->key_count, p->entry_count > 0, p->entry_count},
        {"largest_is_exclusive", p->largest_is_exclusive, 0, has_ranges},
        {"tombstone_count", p->tombstone_count, 0, p->entry_count},
        {"sequence_max", p->sequence_max, 0, BB_SEQUENCE_MAX},
        {"sequence_min", p->sequence_min, 0, p->sequence_max},
        {"tombstone_sequence_min", p->tombstone_sequence_min,
         is_age_known && has_any ? p->sequence_min : 0, has_any ? p->sequence_max : 0},
        {"size of smallest", p->smallest.size, 0, BB_KEY_SIZE_MAX},
        {"size of largest", p->largest.size, 0, BB_KEY_SIZE_MAX},
    };
    return check_limits(limits, BB_ARRAY_LENGTH(limits), place);
}

/* 1 means "no filter". */
static bool is_rate(double rate)
{
    return rate == 1 || (rate >= BB_FILTER_RATE_MIN && rate <= BB_FILTER_RATE_MAX);
}

/* A limit that no sum over some million filters reaches, each with a weight of at most 2^16. */
#define EXCESS_MIN (-0x1p48)

static enum bb_status check_excess(const char *name, double excess, struct bb_place place)
{
    if (excess <= 0 && excess >= EXCESS_MIN)
        return BB_OK;
    return bb_corrupt(place, 0, "property %s is %g, expected %g ... 0", name, excess, EXCESS_MIN);
}

static enum bb_status check_predictions(const struct bb_properties *p, struct bb_place place)
{
    if (bb_properties_can_predict(p->predicted_block_rate, p->predicted_table_filter_rate))
        return BB_OK;
    return bb_corrupt(
        place, 0,
        "predicted rates %g of the block filters and %g of the table filter, expected "
        "both above 0 and at most 1, or none",
        p->predicted_block_rate, p->predicted_table_filter_rate);
}

static enum bb_status check_filters(const struct bb_properties *p, struct bb_place place)
{
    const struct limits limits[] = {
        {"filter_granularity", p->filter_granularity, 1, UINT32_MAX},
        {"filter_bits_per_probe", p->filter_bits_per_probe, 0, UINT32_MAX},
        {"filter_kind", p->filter_kind, BB_FILTER_NONE, UINT32_MAX},
    };
    enum bb_status status = check_limits(limits, BB_ARRAY_LENGTH(limits), place);
    if (status != BB_OK)
        return status;
    if (!is_rate(p->table_filter_rate) || !is_rate(p->filter_rate))
        return bb_corrupt(place, 0, "filters of rate %g, a table filter of rate %g", p->filter_rate,
                          p->table_filter_rate);
    double block_rate = bb_properties_block_rate(p);
    if (p->filter_kind == BB_FILTER_NONE ? block_rate != 1
                                         : block_rate == 1 || !is_rate(block_rate))
        return bb_corrupt(place, 0, "filters of kind %" PRIu64 ", of rate %g", p->filter_kind,
                          block_rate);
    status = check_excess("filter_excess", p->filter_excess, place);
    if (status == BB_OK)
        status = check_excess("table_filter_excess", p->table_filter_excess, place);
    return status == BB_OK ? check_predictions(p, place) : status;
}

static enum bb_status check_properties(const struct bb_properties *p, struct bb_place place)
{
    if (p->format_version > BB_FORMAT_VERSION)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: properties of format version %" PRIu64 ", this version reads up to %u",
                       place.file == NULL ? "table" : place.file, p->format_version,
                       BB_FORMAT_VERSION);
    if (p->hash_id != BB_HASH_ID_XXH3)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: filters take hash %" PRIu64 ", this version reads only %d",
                       place.file == NULL ? "table" : place.file, p->hash_id, BB_HASH_ID_XXH3);
    enum bb_status status = check_counts(p, place);
    if (status == BB_OK)
        status = check_filters(p, place);
    return status;
}

enum bb_status bb_properties_decode(struct bb_bytes section, struct bb_place place,
                                    struct bb_properties *ret_properties)
{
    struct bb_properties properties = {0};
    struct bb_cursor cursor = bb_cursor_of(section);
    enum bb_status status = decode_fields(&cursor, place, &properties);
    if (status == BB_OK)
        status = check_properties(&properties, place);
    if (status == BB_OK)
        *ret_properties = properties;
    else
        bb_properties_deinit(&properties);
    return status;
}
