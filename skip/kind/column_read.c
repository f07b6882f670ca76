/* Reading a granule of a column. See column.h. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/member/canonical.h"
#include "skip/kind/column.h"

void bb_column_granule_deinit(struct bb_column_granule *granule)
{
    bb_free(granule->values);
    bb_free(granule->part_records);
    bb_buf_deinit(&granule->bytes);
    *granule = (struct bb_column_granule){0};
}

/* The bytes of a granule. */
static bool find_granule(struct bb_bytes unit, uint32_t granules, uint32_t at,
                         struct bb_bytes *ret_bytes)
{
    size_t ends_size = (size_t)granules * sizeof(uint32_t);
    if (at >= granules || unit.size < ends_size)
        return false;
    uint32_t begin = at == 0 ? 0 : bb_load32(unit.data + (at - 1) * sizeof(uint32_t));
    uint32_t end = bb_load32(unit.data + at * sizeof(uint32_t));
    if (begin > end || end > unit.size - ends_size)
        return false;
    *ret_bytes = bb_bytes_of(unit.data + ends_size + begin, end - begin);
    return true;
}

static enum bb_status make_space_for_parts(struct bb_column_granule *granule, size_t count)
{
    if (count <= granule->part_capacity)
        return BB_OK;
    uint32_t *records = bb_realloc(granule->part_records, count * sizeof(records[0]));
    if (records == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu parts of a granule", count);
    granule->part_records = records;
    granule->part_capacity = count;
    return BB_OK;
}

/* A part takes a byte at least: their number is bounded by the bytes there are. */
static enum bb_status read_parts(struct bb_column_granule *granule, struct bb_cursor *cursor)
{
    uint64_t records = 0;
    uint64_t count = 0;
    uint64_t sum = 0;
    if (!bb_decode_varint64_short(cursor, &records) || records > BB_COLUMN_RECORDS_MAX ||
        !bb_decode_varint64_short(cursor, &count) || count > bb_cursor_left(cursor))
        return BB_CORRUPT;
    enum bb_status status = make_space_for_parts(granule, (size_t)count);
    if (status != BB_OK)
        return status;
    granule->record_count = (uint32_t)records;
    granule->part_count = (size_t)count;
    for (size_t i = 0; i < count; i++) {
        uint64_t part = 0;
        if (!bb_decode_varint64_short(cursor, &part) || part > records)
            return BB_CORRUPT;
        granule->part_records[i] = (uint32_t)part;
        sum += part;
    }
    return count == 0 || sum == records ? BB_OK : BB_CORRUPT;
}

static bool read_states(struct bb_column_granule *granule, struct bb_cursor *cursor)
{
    uint8_t has_states = 0;
    struct bb_bytes states = {0};
    if (!bb_decode_u8(cursor, &has_states) || has_states > 1)
        return false;
    if (has_states == 1 && !bb_decode_raw(cursor, ((size_t)granule->record_count + 3) / 4, &states))
        return false;
    granule->states = states.data;
    return true;
}

/* The numbers are at the end, and the values are before them. A value takes a byte at least. */
static bool split_values(struct bb_column_granule *granule, struct bb_cursor *cursor)
{
    uint64_t value_count = 0;
    if (!bb_decode_varint64_short(cursor, &value_count) || value_count > granule->record_count)
        return false;
    granule->value_count = (size_t)value_count;
    granule->number_bits = bb_bit_width(value_count);
    size_t size = bb_cursor_left(cursor);
    size_t numbers = (size_t)(((uint64_t)granule->record_count * granule->number_bits + 7) / 8);
    if (numbers > size || value_count > size - numbers)
        return false;
    granule->encoded = bb_bytes_of(cursor->position, size - numbers);
    granule->numbers = bb_bytes_of(cursor->position + (size - numbers), numbers);
    return true;
}

static enum bb_status make_space(struct bb_column_granule *granule)
{
    if (granule->value_count <= granule->value_capacity)
        return BB_OK;
    size_t size = granule->value_count * sizeof(granule->values[0]);
    struct bb_attribute *values = bb_realloc(granule->values, size);
    if (values == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu values of a column", granule->value_count);
    granule->values = values;
    granule->value_capacity = granule->value_count;
    return BB_OK;
}

/* The first values' bytes move when more come: data holds the offset until all are there. */
static enum bb_status read_bytes(struct bb_column_granule *granule, struct bb_cursor *cursor,
                                 size_t *last, size_t i)
{
    uint32_t shared = 0;
    struct bb_bytes rest = {0};
    size_t before = i == 0 ? 0 : granule->values[i - 1].as.bytes.size;
    if (!bb_decode_varint32(cursor, &shared) || !bb_decode_bytes(cursor, &rest) || shared > before)
        return BB_CORRUPT;
    size_t size = shared + rest.size;
    if (size > 2 * BB_COLUMN_GRANULE_MAX - granule->bytes.size)
        return BB_CORRUPT;
    enum bb_status status = bb_buf_reserve(&granule->bytes, size + 1);
    if (status != BB_OK)
        return status;
    size_t offset = granule->bytes.size;
    if (shared > 0)
        memcpy(granule->bytes.data + offset, granule->bytes.data + *last, shared);
    if (rest.size > 0)
        memcpy(granule->bytes.data + offset + shared, rest.data, rest.size);
    granule->bytes.size += size;
    granule->values[i] = (struct bb_attribute){.type = BB_ATTRIBUTE_BYTES};
    granule->values[i].as.bytes.size = size;
    *last = offset;
    return BB_OK;
}

static bool read_number(struct bb_column_granule *granule, enum bb_attribute_type type,
                        struct bb_cursor *cursor, size_t i)
{
    uint64_t word = 0;
    uint8_t bytes[BB_CANONICAL_NUMBER_SIZE];
    if (type == BB_ATTRIBUTE_F64 ? !bb_decode_u64(cursor, &word)
                                 : !bb_decode_varint64(cursor, &word))
        return false;
    if (type != BB_ATTRIBUTE_F64 && i > 0)
        word += bb_canonical_word(&granule->values[i - 1]);
    else if (type != BB_ATTRIBUTE_F64 && type != BB_ATTRIBUTE_U64)
        word = word >> 1 ^ (0 - (word & 1));
    bb_store64(bytes, word);
    granule->values[i] = bb_canonical_number(type, bytes);
    return true;
}

static void set_addresses(struct bb_column_granule *granule)
{
    size_t offset = 0;
    for (size_t i = 0; i < granule->value_count; i++) {
        struct bb_bytes *bytes = &granule->values[i].as.bytes;
        bytes->data = granule->bytes.data + offset;
        offset += bytes->size;
    }
}

enum bb_status bb_column_granule_decode(struct bb_column_granule *granule,
                                        enum bb_attribute_type type)
{
    struct bb_cursor cursor = bb_cursor_of(granule->encoded);
    enum bb_status status = make_space(granule);
    size_t last = 0;
    bb_buf_reset(&granule->bytes);
    for (size_t i = 0; i < granule->value_count && status == BB_OK; i++) {
        if (type == BB_ATTRIBUTE_BYTES)
            status = read_bytes(granule, &cursor, &last, i);
        else if (!read_number(granule, type, &cursor, i))
            status = BB_CORRUPT;
    }
    if (status == BB_OK && bb_cursor_left(&cursor) > 0)
        status = BB_CORRUPT;
    if (status == BB_OK && type == BB_ATTRIBUTE_BYTES)
        set_addresses(granule);
    return status;
}

enum bb_status bb_column_granule_open(struct bb_column_granule *granule, struct bb_bytes unit,
                                      uint32_t granules, uint32_t at)
{
    struct bb_bytes bytes = {0};
    if (!find_granule(unit, granules, at, &bytes))
        return BB_CORRUPT;
    if (bytes.size == 0)
        return BB_NOT_FOUND;
    struct bb_cursor cursor = bb_cursor_of(bytes);
    enum bb_status status = read_parts(granule, &cursor);
    if (status != BB_OK)
        return status;
    return read_states(granule, &cursor) && split_values(granule, &cursor) ? BB_OK : BB_CORRUPT;
}

enum bb_status bb_column_granule_read(struct bb_column_granule *granule,
                                      enum bb_attribute_type type, struct bb_bytes unit,
                                      uint32_t granules, uint32_t at)
{
    enum bb_status status = bb_column_granule_open(granule, unit, granules, at);
    return status == BB_OK ? bb_column_granule_decode(granule, type) : status;
}
