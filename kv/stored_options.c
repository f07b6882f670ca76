/* See stored_options.h. */
#include "kv/stored_options.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/coding.h"

enum field_type {
    FIELD_NONE, /* the number is used no more */
    FIELD_U64,
    FIELD_U32, /* enumerations too */
    FIELD_REAL,
    FIELD_UNIT, /* of filter_amount */
};

#define OPTION(number, type, field) [number] = {type, offsetof(struct bb_db_options, field)}

static const struct {
    enum field_type type;
    size_t offset;
} fields[BB_STORED_OPTION_END] = {
    OPTION(BB_STORED_FILTER_UNIT, FIELD_UNIT, filter_amount),
    OPTION(BB_STORED_FILTER_VALUE, FIELD_REAL, filter_amount.value),
    OPTION(BB_STORED_FILTER_KIND, FIELD_U32, filter_kind),
    OPTION(BB_STORED_FILTER_GRANULARITY, FIELD_U32, filter_granularity),
    OPTION(BB_STORED_ABSENT_SHARE, FIELD_REAL, absent_share),
    OPTION(BB_STORED_TABLE_FILTER_BITS, FIELD_REAL, table_filter_bits),
    OPTION(BB_STORED_WRITE_BUFFER, FIELD_U64, write_buffer_bytes),
    OPTION(BB_STORED_BLOCK_SIZE, FIELD_U32, block_size_bytes),
    OPTION(BB_STORED_COMPRESSION, FIELD_U32, compression),
    OPTION(BB_STORED_RESTART_INTERVAL, FIELD_U32, restart_interval),
    OPTION(BB_STORED_TABLE_SIZE, FIELD_U64, table_size_bytes),
    OPTION(BB_STORED_STYLE, FIELD_U32, compaction_style),
    OPTION(BB_STORED_LEVEL0_COMPACT, FIELD_U32, level0_run_count_compact),
    OPTION(BB_STORED_LEVEL0_BUSY, FIELD_U32, level0_run_count_busy),
    OPTION(BB_STORED_LEVEL0_STOP, FIELD_U32, level0_run_count_stop),
    OPTION(BB_STORED_LEVEL1_SIZE, FIELD_U64, level1_size_bytes),
    OPTION(BB_STORED_SIZE_RATIO, FIELD_U32, level_size_ratio),
    OPTION(BB_STORED_TOMBSTONE_AGE, FIELD_U64, tombstone_age_max),
};

_Static_assert(sizeof(enum bb_filter_kind) == sizeof(uint32_t), "stored as 32 bits");
_Static_assert(sizeof(enum bb_compression) == sizeof(uint32_t), "stored as 32 bits");
_Static_assert(sizeof(enum bb_compaction_style) == sizeof(uint32_t), "stored as 32 bits");

static uint64_t unit_of(const struct bb_filter_amount *amount)
{
    return amount->value == 0 ? 0 : (uint64_t)amount->unit + 1;
}

static uint64_t read_field(const struct bb_db_options *options, size_t number)
{
    const void *field = (const uint8_t *)options + fields[number].offset;
    uint64_t wide = 0;
    uint32_t narrow = 0;
    switch (fields[number].type) {
    case FIELD_NONE:
        break;
    case FIELD_U64:
        memcpy(&wide, field, sizeof(wide));
        return wide;
    case FIELD_REAL:
        memcpy(&wide, field, sizeof(wide));
        return wide << 1 == 0 ? 0 : wide; /* -0 is not given either */
    case FIELD_U32:
        memcpy(&narrow, field, sizeof(narrow));
        return narrow;
    case FIELD_UNIT:
        return unit_of(field);
    }
    return 0;
}

static void write_field(struct bb_db_options *options, size_t number, uint64_t value)
{
    void *field = (uint8_t *)options + fields[number].offset;
    uint32_t narrow = (uint32_t)value;
    switch (fields[number].type) {
    case FIELD_NONE:
        break;
    case FIELD_U64:
    case FIELD_REAL:
        memcpy(field, &value, sizeof(value));
        break;
    case FIELD_U32:
        memcpy(field, &narrow, sizeof(narrow));
        break;
    case FIELD_UNIT:
        ((struct bb_filter_amount *)field)->unit = (enum bb_filter_unit)(value - 1);
        break;
    }
}

struct bb_stored_options bb_stored_options_of(const struct bb_db_options *options)
{
    struct bb_stored_options stored = {{0}};
    for (size_t i = 1; options != NULL && i < BB_STORED_OPTION_END; i++)
        stored.values[i] = read_field(options, i);
    return stored;
}

static bool has_amount(const struct bb_stored_options *options)
{
    return options->values[BB_STORED_FILTER_VALUE] != 0;
}

static bool has_no_filters(const struct bb_stored_options *options)
{
    return options->values[BB_STORED_FILTER_KIND] == BB_FILTER_NONE;
}

static bool has_level0(const struct bb_stored_options *options)
{
    return options->values[BB_STORED_LEVEL0_COMPACT] != 0 ||
           options->values[BB_STORED_LEVEL0_BUSY] != 0 ||
           options->values[BB_STORED_LEVEL0_STOP] != 0;
}

/* Clears stored options that a given one makes impossible or meaningless. */
static void make_way(struct bb_stored_options *stored, const struct bb_stored_options *given)
{
    if (has_amount(given) && has_no_filters(stored))
        stored->values[BB_STORED_FILTER_KIND] = 0;
    if (has_no_filters(given)) {
        stored->values[BB_STORED_FILTER_UNIT] = 0;
        stored->values[BB_STORED_FILTER_VALUE] = 0;
    }
    if (has_level0(given)) {
        stored->values[BB_STORED_LEVEL0_COMPACT] = 0;
        stored->values[BB_STORED_LEVEL0_BUSY] = 0;
        stored->values[BB_STORED_LEVEL0_STOP] = 0;
    }
}

struct bb_stored_options bb_stored_options_merge(const struct bb_stored_options *stored,
                                                 const struct bb_stored_options *given)
{
    struct bb_stored_options merged = *stored;
    make_way(&merged, given);
    for (size_t i = 1; i < BB_STORED_OPTION_END; i++)
        if (given->values[i] != 0)
            merged.values[i] = given->values[i];
    return merged;
}

void bb_stored_options_fill(const struct bb_stored_options *stored, struct bb_db_options *options)
{
    for (size_t i = 1; i < BB_STORED_OPTION_END; i++)
        if (stored->values[i] != 0)
            write_field(options, i, stored->values[i]);
}

bool bb_stored_options_are_equal(const struct bb_stored_options *a,
                                 const struct bb_stored_options *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

bool bb_stored_options_are_empty(const struct bb_stored_options *options)
{
    const struct bb_stored_options none = {{0}};
    return bb_stored_options_are_equal(options, &none);
}

enum bb_status bb_stored_options_encode(const struct bb_stored_options *options, struct bb_buf *buf)
{
    enum bb_status status = BB_OK;
    for (size_t i = 1; i < BB_STORED_OPTION_END && status == BB_OK; i++) {
        if (options->values[i] == 0)
            continue;
        status = bb_append_varint(buf, i);
        if (status == BB_OK)
            status = bb_append_u64(buf, options->values[i]);
    }
    return status;
}

/* True when the field of the option cannot hold the value. */
static bool is_too_wide(size_t number, uint64_t value)
{
    enum field_type type = fields[number].type;
    return (type == FIELD_U32 || type == FIELD_UNIT) && value > UINT32_MAX;
}

static enum bb_status decode_option(struct bb_cursor *cursor, struct bb_place place,
                                    uint64_t *number_before, struct bb_stored_options *options)
{
    uint64_t number = 0;
    uint64_t value = 0;
    if (!bb_decode_varint64(cursor, &number) || !bb_decode_u64(cursor, &value))
        return bb_corrupt(place, 0, "a stored option is cut off or no varint");
    if (number <= *number_before || value == 0)
        return bb_corrupt(place, 0, "stored option %" PRIu64 " is out of order or 0", number);
    if (number >= BB_STORED_OPTION_END)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: at offset %" PRIu64 ": stored option %" PRIu64
                       ", this version knows up to %d",
                       place.file == NULL ? "(memory)" : place.file, place.offset, number,
                       BB_STORED_OPTION_END - 1);
    if (is_too_wide(number, value))
        return bb_corrupt(place, 0, "stored option %" PRIu64 " is %" PRIu64 ", at most %" PRIu32,
                          number, value, UINT32_MAX);
    *number_before = number;
    if (fields[number].type != FIELD_NONE)
        options->values[number] = value;
    return BB_OK;
}

enum bb_status bb_stored_options_decode(struct bb_bytes bytes, struct bb_place place,
                                        struct bb_stored_options *ret_options)
{
    struct bb_stored_options options = {{0}};
    struct bb_cursor cursor = bb_cursor_of(bytes);
    uint64_t number_before = 0;
    enum bb_status status = BB_OK;
    while (bb_cursor_left(&cursor) > 0 && status == BB_OK)
        status = decode_option(&cursor, place, &number_before, &options);
    bool has_unit = options.values[BB_STORED_FILTER_UNIT] != 0;
    if (status == BB_OK && has_unit != has_amount(&options))
        status = bb_corrupt(place, 0, "a stored amount of filters without its unit or value");
    if (status == BB_OK)
        *ret_options = options;
    return status;
}
