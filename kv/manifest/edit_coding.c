/* The bytes of an edit.
 *
 *     edit     :=  u8 version (0) | field *              tags ascend; removed and added may repeat
 *     field    :=  varint tag | varint size | size bytes
 *                                      readers may skip an unknown field with an odd tag
 *     identity :=  u32 format version | id 16 | secret 192
 *                | comparator's name, 1 ... 255 bytes, the rest
 *     close    :=  (varint log number | varint offset | u64 check) *    ascending by number
 *     table    :=  u8 level | varint number | id 16
 *                | varint of each: file size, entries, keys, tombstones, blocks, raw bytes,
 *                  filter bytes, table filter bytes, lowest sequence, highest sequence
 *                | u64 filter rate | u64 table filter rate (IEEE 754)
 *                | varint size, smallest key | varint size, largest key | field *  (tags ascend)
 *                    2: varint, run; omitted when 0
 *                    4: varint, range tombstones; omitted when 0
 *                    6: empty; the largest key is exclusive
 *                    7: varint, sequence of the oldest tombstone; omitted when 0
 *                    8: varint, number of the index file; omitted when 0
 *                    9: u64, u64: predicted rates of the block filters and of the table filter
 *                       (IEEE 754); omitted when 0
 *
 * One edit has exactly one encoding: numbers of 0 are omitted, varints are minimal, fields are in
 * order. Threads: any, on different edits.
 */
#include "kv/manifest/edit.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/coding.h"
#include "kv/manifest/filename.h"

/* ON DISK: the values never change. */
#define EDIT_VERSION 0

enum edit_tag {
    TAG_IDENTITY = 2,
    TAG_NEXT_FILE_NUMBER = 4,
    TAG_LAST_SEQUENCE = 6,
    TAG_LOG_NUMBER = 8,
    TAG_LOG_IS_ABSENT = 10,
    TAG_REMOVED = 12,
    TAG_ADDED = 14,
    TAG_CATALOG = 16,
    TAG_CLOSE = 17, /* odd: readers may skip it */
    TAG_OPTIONS = 18,
};

/* Tags of the fields after a table. */
enum table_tag {
    TABLE_TAG_RUN = 2,
    TABLE_TAG_RANGE_TOMBSTONES = 4,
    TABLE_TAG_LARGEST_IS_EXCLUSIVE = 6,
    TABLE_TAG_TOMBSTONE_SEQUENCE_MIN = 7, /* odd: readers may skip it */
    TABLE_TAG_INDEX = 8,
    TABLE_TAG_PREDICTED_RATES = 9, /* odd: readers may skip it */
};

#define IDENTITY_SIZE_FIXED (4 + BB_STORE_ID_SIZE + BB_HASH_SECRET_SIZE)

/* ---- encoding ---- */

static enum bb_status append_head(struct bb_buf *buf, uint64_t tag, size_t size)
{
    enum bb_status status = bb_append_varint(buf, tag);
    return status == BB_OK ? bb_append_varint(buf, size) : status;
}

static enum bb_status append_field(struct bb_buf *buf, uint64_t tag, const struct bb_buf *value)
{
    enum bb_status status = append_head(buf, tag, value->size);
    return status == BB_OK ? bb_buf_append(buf, value->data, value->size) : status;
}

static enum bb_status encode_number(uint64_t tag, uint64_t number, struct bb_buf *buf)
{
    if (number == 0)
        return BB_OK;
    enum bb_status status = append_head(buf, tag, bb_varint_size(number));
    return status == BB_OK ? bb_append_varint(buf, number) : status;
}

static enum bb_status encode_identity(const struct bb_store_identity *identity, struct bb_buf *buf)
{
    size_t name_size = strlen(identity->comparator);
    enum bb_status status = append_head(buf, TAG_IDENTITY, IDENTITY_SIZE_FIXED + name_size);
    if (status == BB_OK)
        status = bb_append_u32(buf, identity->format_version);
    if (status == BB_OK)
        status = bb_buf_append(buf, identity->store_id, BB_STORE_ID_SIZE);
    if (status == BB_OK)
        status = bb_buf_append(buf, identity->secret.bytes, BB_HASH_SECRET_SIZE);
    return status == BB_OK ? bb_buf_append(buf, identity->comparator, name_size) : status;
}

/* The counts of a meta in file order. */
#define META_COUNTS 10

static void list_counts(struct bb_table_meta *meta, uint64_t *ret_counts[META_COUNTS])
{
    uint64_t *counts[META_COUNTS] = {
        &meta->file_size,    &meta->entry_count,  &meta->key_count,    &meta->tombstone_count,
        &meta->block_count,  &meta->raw_bytes,    &meta->filter_bytes, &meta->table_filter_bytes,
        &meta->sequence_min, &meta->sequence_max,
    };
    memcpy(ret_counts, counts, sizeof(counts));
}

static enum bb_status encode_meta(const struct bb_table_meta *meta, struct bb_buf *buf)
{
    struct bb_table_meta shallow = *meta;
    uint64_t *counts[META_COUNTS];
    list_counts(&shallow, counts);
    enum bb_status status = bb_buf_append(buf, meta->table_id, sizeof(meta->table_id));
    for (size_t i = 0; i < META_COUNTS && status == BB_OK; i++)
        status = bb_append_varint(buf, *counts[i]);
    if (status == BB_OK)
        status = bb_append_double(buf, meta->filter_rate);
    if (status == BB_OK)
        status = bb_append_double(buf, meta->table_filter_rate);
    if (status == BB_OK)
        status = bb_append_bytes(buf, bb_buf_bytes(&meta->smallest));
    return status == BB_OK ? bb_append_bytes(buf, bb_buf_bytes(&meta->largest)) : status;
}

static enum bb_status encode_extensions(const struct bb_table_meta *meta, struct bb_buf *buf)
{
    enum bb_status status =
        encode_number(TABLE_TAG_RANGE_TOMBSTONES, meta->range_tombstone_count, buf);
    if (status == BB_OK && meta->largest_is_exclusive)
        status = append_head(buf, TABLE_TAG_LARGEST_IS_EXCLUSIVE, 0);
    if (status == BB_OK)
        status = encode_number(TABLE_TAG_TOMBSTONE_SEQUENCE_MIN, meta->tombstone_sequence_min, buf);
    return status;
}

static enum bb_status encode_predictions(const struct bb_table_meta *meta, struct bb_buf *buf)
{
    if (meta->predicted_block_rate == 0)
        return BB_OK;
    enum bb_status status = append_head(buf, TABLE_TAG_PREDICTED_RATES, 2 * sizeof(uint64_t));
    if (status == BB_OK)
        status = bb_append_double(buf, meta->predicted_block_rate);
    return status == BB_OK ? bb_append_double(buf, meta->predicted_table_filter_rate) : status;
}

/* value is scratch space, because a field's size precedes it. */
static enum bb_status encode_table(const struct bb_edit_table *table, struct bb_buf *value,
                                   struct bb_buf *buf)
{
    bb_buf_reset(value);
    enum bb_status status = bb_append_u8(value, (uint8_t)table->level);
    if (status == BB_OK)
        status = bb_append_varint(value, table->number);
    if (status == BB_OK)
        status = encode_meta(&table->meta, value);
    if (status == BB_OK)
        status = encode_number(TABLE_TAG_RUN, table->run, value);
    if (status == BB_OK)
        status = encode_extensions(&table->meta, value);
    if (status == BB_OK)
        status = encode_number(TABLE_TAG_INDEX, table->index_number, value);
    if (status == BB_OK)
        status = encode_predictions(&table->meta, value);
    return status == BB_OK ? append_field(buf, TAG_ADDED, value) : status;
}

static enum bb_status encode_counters(const struct bb_edit *edit, struct bb_buf *buf)
{
    enum bb_status status = encode_number(TAG_NEXT_FILE_NUMBER, edit->next_file_number, buf);
    if (status == BB_OK)
        status = encode_number(TAG_LAST_SEQUENCE, edit->last_sequence, buf);
    if (status == BB_OK)
        status = encode_number(TAG_LOG_NUMBER, edit->log_number, buf);
    if (status == BB_OK && edit->log_is_absent)
        status = append_head(buf, TAG_LOG_IS_ABSENT, 0);
    return status;
}

static enum bb_status encode_tables(const struct bb_edit *edit, struct bb_buf *buf)
{
    struct bb_buf value = {0};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < edit->removed_count && status == BB_OK; i++)
        status = encode_number(TAG_REMOVED, edit->removed[i], buf);
    for (size_t i = 0; i < edit->added_count && status == BB_OK; i++)
        status = encode_table(&edit->added[i], &value, buf);
    bb_buf_deinit(&value);
    return status;
}

static enum bb_status encode_log_end(const struct bb_wal_end *end, struct bb_buf *buf)
{
    enum bb_status status = bb_append_varint(buf, end->log_number);
    if (status == BB_OK)
        status = bb_append_varint(buf, end->offset);
    return status == BB_OK ? bb_append_u64(buf, end->check) : status;
}

static enum bb_status encode_close(const struct bb_edit *edit, struct bb_buf *buf)
{
    struct bb_buf value = {0};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < edit->log_end_count && status == BB_OK; i++)
        status = encode_log_end(&edit->log_ends[i], &value);
    if (status == BB_OK)
        status = append_field(buf, TAG_CLOSE, &value);
    bb_buf_deinit(&value);
    return status;
}

static enum bb_status encode_options(const struct bb_edit *edit, struct bb_buf *buf)
{
    struct bb_buf value = {0};
    if (bb_stored_options_are_empty(&edit->options))
        return BB_OK;
    enum bb_status status = bb_stored_options_encode(&edit->options, &value);
    if (status == BB_OK)
        status = append_field(buf, TAG_OPTIONS, &value);
    bb_buf_deinit(&value);
    return status;
}

enum bb_status bb_edit_encode(const struct bb_edit *edit, struct bb_buf *buf)
{
    size_t size_before = buf->size;
    enum bb_status status = bb_append_u8(buf, EDIT_VERSION);
    if (status == BB_OK && edit->has_identity)
        status = encode_identity(&edit->identity, buf);
    if (status == BB_OK)
        status = encode_counters(edit, buf);
    if (status == BB_OK)
        status = encode_tables(edit, buf);
    if (status == BB_OK && edit->has_catalog)
        status = append_field(buf, TAG_CATALOG, &edit->catalog);
    if (status == BB_OK && edit->is_close)
        status = encode_close(edit, buf);
    if (status == BB_OK)
        status = encode_options(edit, buf);
    if (status == BB_OK && buf->size - size_before > BB_EDIT_SIZE_MAX)
        status = bb_fail(BB_TOO_LARGE, "an edit of %zu bytes, the limit is %" PRIu32,
                         buf->size - size_before, BB_EDIT_SIZE_MAX);
    if (status != BB_OK)
        buf->size = size_before;
    return status;
}

/* ---- decoding ---- */

struct decoder {
    const uint8_t *begin; /* start of the edit: offsets count from here */
    struct bb_place place;
    struct bb_edit *edit; /* the edit being built */
};

struct field {
    uint64_t tag;
    const uint8_t *start;
    struct bb_bytes value;
};

static enum bb_status corrupt_at(const struct decoder *decoder, const uint8_t *position,
                                 const char *what)
{
    return bb_corrupt(decoder->place, (uint64_t)(position - decoder->begin),
                      "edit of the manifest: %s", what);
}

static enum bb_status decode_field(const struct decoder *decoder, struct bb_cursor *cursor,
                                   struct field *ret_field)
{
    struct field field = {.start = cursor->position};
    if (!bb_decode_varint64(cursor, &field.tag))
        return corrupt_at(decoder, cursor->position, "the tag of a field is cut off or no varint");
    if (!bb_decode_bytes(cursor, &field.value))
        return corrupt_at(decoder, cursor->position,
                          "the size of a field is no varint or reaches past the edit");
    *ret_field = field;
    return BB_OK;
}

/* Tags ascend. Some fields may repeat. */
struct field_order {
    bool (*may_repeat)(uint64_t tag);
    const char *violation;
};

/* Replaces *field, the previous one or zeros, by the next. */
static enum bb_status decode_next(const struct decoder *decoder, struct bb_cursor *cursor,
                                  const struct field_order *order, struct field *field)
{
    uint64_t tag_before = field->tag;
    enum bb_status status = decode_field(decoder, cursor, field);
    if (status != BB_OK)
        return status;
    if (field->tag < tag_before || (field->tag == tag_before && !order->may_repeat(field->tag)))
        return corrupt_at(decoder, field->start, order->violation);
    return BB_OK;
}

static enum bb_status pass_over(const struct decoder *decoder, const struct field *field)
{
    if ((field->tag & 1) != 0)
        return BB_OK;
    return bb_fail(BB_UNSUPPORTED,
                   "%s: at offset %" PRIu64 ": a field with tag %" PRIu64
                   ", which must not be skipped: the store was written by a newer version",
                   decoder->place.file == NULL ? "(memory)" : decoder->place.file,
                   decoder->place.offset + (uint64_t)(field->start - decoder->begin), field->tag);
}

static enum bb_status decode_number(const struct decoder *decoder, const struct field *field,
                                    uint64_t max, uint64_t *ret_number)
{
    struct bb_cursor cursor = bb_cursor_of(field->value);
    uint64_t number = 0;
    if (!bb_decode_varint64(&cursor, &number) || bb_cursor_left(&cursor) > 0)
        return corrupt_at(decoder, field->start, "the value of a number is not one varint");
    if (number == 0 || number > max)
        return corrupt_at(decoder, field->start, "a number out of range");
    *ret_number = number;
    return BB_OK;
}

static enum bb_status decode_identity(struct decoder *decoder, const struct field *field)
{
    struct bb_cursor cursor = bb_cursor_of(field->value);
    struct bb_store_identity *identity = &decoder->edit->identity;
    struct bb_bytes id;
    struct bb_bytes secret;
    struct bb_bytes name;
    if (!bb_decode_u32(&cursor, &identity->format_version))
        return corrupt_at(decoder, field->start, "the identity is cut off");
    if (identity->format_version > BB_STORE_FORMAT_VERSION)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: a store of format version %" PRIu32 ", this version reads up to %d",
                       decoder->place.file == NULL ? "(memory)" : decoder->place.file,
                       identity->format_version, BB_STORE_FORMAT_VERSION);
    if (!bb_decode_raw(&cursor, BB_STORE_ID_SIZE, &id) ||
        !bb_decode_raw(&cursor, BB_HASH_SECRET_SIZE, &secret))
        return corrupt_at(decoder, field->start, "the identity is cut off");
    name = bb_bytes_of(cursor.position, bb_cursor_left(&cursor));
    if (name.size == 0 || name.size > BB_COMPARATOR_NAME_SIZE_MAX ||
        memchr(name.data, 0, name.size) != NULL)
        return corrupt_at(decoder, field->start,
                          "the comparator's name is empty, too long or holds a NUL");
    memcpy(identity->store_id, id.data, id.size);
    memcpy(identity->secret.bytes, secret.data, secret.size);
    memcpy(identity->comparator, name.data, name.size);
    decoder->edit->has_identity = true;
    return BB_OK;
}

static bool decode_meta(struct bb_cursor *cursor, struct bb_table_meta *meta,
                        struct bb_bytes *ret_smallest, struct bb_bytes *ret_largest)
{
    uint64_t *counts[META_COUNTS];
    struct bb_bytes id;
    list_counts(meta, counts);
    if (!bb_decode_raw(cursor, sizeof(meta->table_id), &id))
        return false;
    memcpy(meta->table_id, id.data, sizeof(meta->table_id));
    for (size_t i = 0; i < META_COUNTS; i++) {
        if (!bb_decode_varint64(cursor, counts[i]))
            return false;
    }
    if (!bb_decode_double(cursor, &meta->filter_rate) ||
        !bb_decode_double(cursor, &meta->table_filter_rate))
        return false;
    return bb_decode_bytes(cursor, ret_smallest) && bb_decode_bytes(cursor, ret_largest);
}

/* Other limits: meta_defect. A rate of 0 would be a field that is omitted. */
static enum bb_status decode_predictions(const struct decoder *decoder, const struct field *field,
                                         struct bb_table_meta *meta)
{
    struct bb_cursor cursor = bb_cursor_of(field->value);
    if (!bb_decode_double(&cursor, &meta->predicted_block_rate) ||
        !bb_decode_double(&cursor, &meta->predicted_table_filter_rate) ||
        bb_cursor_left(&cursor) > 0)
        return corrupt_at(decoder, field->start, "predicted rates that are not two numbers");
    if (meta->predicted_block_rate == 0)
        return corrupt_at(decoder, field->start, "a predicted rate of 0");
    return BB_OK;
}

static enum bb_status decode_extension(const struct decoder *decoder, const struct field *field,
                                       struct bb_edit_table *table)
{
    switch (field->tag) {
    case TABLE_TAG_RUN:
        return decode_number(decoder, field, BB_RUN_NUMBER_MAX, &table->run);
    case TABLE_TAG_RANGE_TOMBSTONES:
        return decode_number(decoder, field, UINT64_MAX, &table->meta.range_tombstone_count);
    case TABLE_TAG_LARGEST_IS_EXCLUSIVE:
        if (field->value.size != 0)
            return corrupt_at(decoder, field->start, "an exclusive largest key with a value");
        table->meta.largest_is_exclusive = true;
        return BB_OK;
    case TABLE_TAG_TOMBSTONE_SEQUENCE_MIN:
        return decode_number(decoder, field, BB_SEQUENCE_MAX, &table->meta.tombstone_sequence_min);
    case TABLE_TAG_INDEX:
        return decode_number(decoder, field, BB_FILE_NUMBER_MAX, &table->index_number);
    case TABLE_TAG_PREDICTED_RATES:
        return decode_predictions(decoder, field, &table->meta);
    default:
        return pass_over(decoder, field);
    }
}

/* Only an unknown field may repeat, since this version skips it. */
static bool may_repeat_in_table(uint64_t tag)
{
    return (tag & 1) != 0 && tag != TABLE_TAG_TOMBSTONE_SEQUENCE_MIN &&
           tag != TABLE_TAG_PREDICTED_RATES;
}

/* Fields after a table, including later versions' fields. */
static enum bb_status decode_extensions(const struct decoder *decoder, struct bb_cursor *cursor,
                                        struct bb_edit_table *table)
{
    static const struct field_order order = {may_repeat_in_table,
                                             "a field of a table out of order or twice"};
    struct field field = {0};
    enum bb_status status = BB_OK;
    while (bb_cursor_left(cursor) > 0 && status == BB_OK) {
        status = decode_next(decoder, cursor, &order, &field);
        if (status == BB_OK)
            status = decode_extension(decoder, &field, table);
    }
    return status;
}

static enum bb_status decode_table(struct decoder *decoder, const struct field *field)
{
    struct bb_cursor cursor = bb_cursor_of(field->value);
    struct bb_edit_table table = {0};
    struct bb_bytes smallest;
    struct bb_bytes largest;
    uint8_t level = 0;
    if (!bb_decode_u8(&cursor, &level) || !bb_decode_varint64(&cursor, &table.number) ||
        !decode_meta(&cursor, &table.meta, &smallest, &largest))
        return corrupt_at(decoder, cursor.position,
                          "the description of a table is cut off or no varint");
    enum bb_status status = decode_extensions(decoder, &cursor, &table);
    if (status != BB_OK)
        return status;
    table.level = level;
    /* Borrowed temporarily: adding the table copies them after the checks. */
    table.meta.smallest =
        (struct bb_buf){.data = (uint8_t *)(uintptr_t)smallest.data, .size = smallest.size};
    table.meta.largest =
        (struct bb_buf){.data = (uint8_t *)(uintptr_t)largest.data, .size = largest.size};
    const char *defect = bb_edit_table_defect(&table);
    if (defect != NULL)
        return corrupt_at(decoder, field->start, defect);
    return bb_edit_copy_table(decoder->edit, &table);
}

static enum bb_status decode_removed(struct decoder *decoder, const struct field *field)
{
    uint64_t number = 0;
    enum bb_status status = decode_number(decoder, field, BB_FILE_NUMBER_MAX, &number);
    return status == BB_OK ? bb_edit_remove_table(decoder->edit, number) : status;
}

static enum bb_status decode_log_is_absent(struct decoder *decoder, const struct field *field)
{
    if (field->value.size != 0 || decoder->edit->log_number == 0)
        return corrupt_at(decoder, field->start, "a log is marked absent, but without its number");
    decoder->edit->log_is_absent = true;
    return BB_OK;
}

static enum bb_status decode_catalog(struct decoder *decoder, const struct field *field)
{
    if (field->value.size > BB_CATALOG_SIZE_MAX)
        return corrupt_at(decoder, field->start, "a catalog beyond its limit");
    return bb_edit_set_catalog(decoder->edit, field->value);
}

static enum bb_status decode_close(struct decoder *decoder, const struct field *field)
{
    struct bb_cursor cursor = bb_cursor_of(field->value);
    uint64_t number_before = 0;
    enum bb_status status = BB_OK;
    decoder->edit->is_close = true;
    while (bb_cursor_left(&cursor) > 0 && status == BB_OK) {
        struct bb_wal_end end = {0};
        if (!bb_decode_varint64(&cursor, &end.log_number) ||
            !bb_decode_varint64(&cursor, &end.offset) || !bb_decode_u64(&cursor, &end.check))
            return corrupt_at(decoder, cursor.position, "the end of a log is cut off or no varint");
        if (end.log_number <= number_before || end.log_number > BB_FILE_NUMBER_MAX ||
            end.offset < BB_WAL_HEADER_SIZE)
            return corrupt_at(decoder, field->start, "the end of a log that cannot be");
        number_before = end.log_number;
        status = bb_edit_add_log_end(decoder->edit, &end);
    }
    return status;
}

static enum bb_status decode_options(struct decoder *decoder, const struct field *field)
{
    struct bb_place place = decoder->place;
    if (field->value.size == 0)
        return corrupt_at(decoder, field->start, "stored options that are empty");
    place.offset += (uint64_t)(field->value.data - decoder->begin);
    return bb_stored_options_decode(field->value, place, &decoder->edit->options);
}

static enum bb_status decode_value(struct decoder *decoder, const struct field *field)
{
    struct bb_edit *edit = decoder->edit;
    switch (field->tag) {
    case TAG_IDENTITY:
        return decode_identity(decoder, field);
    case TAG_NEXT_FILE_NUMBER:
        return decode_number(decoder, field, BB_FILE_NUMBER_MAX + 1, &edit->next_file_number);
    case TAG_LAST_SEQUENCE:
        return decode_number(decoder, field, BB_SEQUENCE_MAX, &edit->last_sequence);
    case TAG_LOG_NUMBER:
        return decode_number(decoder, field, BB_FILE_NUMBER_MAX, &edit->log_number);
    case TAG_LOG_IS_ABSENT:
        return decode_log_is_absent(decoder, field);
    case TAG_REMOVED:
        return decode_removed(decoder, field);
    case TAG_ADDED:
        return decode_table(decoder, field);
    case TAG_CATALOG:
        return decode_catalog(decoder, field);
    case TAG_CLOSE:
        return decode_close(decoder, field);
    case TAG_OPTIONS:
        return decode_options(decoder, field);
    default:
        return pass_over(decoder, field);
    }
}

static bool may_repeat(uint64_t tag)
{
    return tag == TAG_REMOVED || tag == TAG_ADDED || ((tag & 1) != 0 && tag != TAG_CLOSE);
}

static enum bb_status decode_fields(struct decoder *decoder, struct bb_cursor *cursor)
{
    static const struct field_order order = {may_repeat, "a field out of order or twice"};
    struct field field = {0};
    enum bb_status status = BB_OK;
    while (bb_cursor_left(cursor) > 0 && status == BB_OK) {
        status = decode_next(decoder, cursor, &order, &field);
        if (status == BB_OK)
            status = decode_value(decoder, &field);
    }
    return status;
}

enum bb_status bb_edit_decode(struct bb_bytes bytes, struct bb_place place,
                              struct bb_edit *ret_edit)
{
    struct bb_edit edit = {0};
    struct decoder decoder = {.begin = bytes.data, .place = place, .edit = &edit};
    struct bb_cursor cursor = bb_cursor_of(bytes);
    uint8_t version = 0;
    if (bytes.size > BB_EDIT_SIZE_MAX)
        return bb_corrupt(place, 0, "an edit of %zu bytes, the limit is %" PRIu32, bytes.size,
                          BB_EDIT_SIZE_MAX);
    if (!bb_decode_u8(&cursor, &version))
        return bb_corrupt(place, 0, "an empty edit of the manifest");
    if (version > EDIT_VERSION)
        return bb_fail(
            BB_UNSUPPORTED,
            "%s: at offset %" PRIu64 ": an edit of version %u, this version reads up to %d",
            place.file == NULL ? "(memory)" : place.file, place.offset, version, EDIT_VERSION);
    enum bb_status status = decode_fields(&decoder, &cursor);
    if (status == BB_OK)
        *ret_edit = edit;
    else
        bb_edit_deinit(&edit);
    return status;
}
