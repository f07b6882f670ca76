/* See line_load.h. */
#include "tools/records/line_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/records/attribute_text.h"
#include "tools/records/definitions.h"

#define NUMBER_DIGITS 16
#define NUMBER_MAX    UINT64_C(9999999999999999)
#define KEY_BYTES_MAX 1024

/* Lines that are searched for fields of JSON. */
#define LOOK_LINES_MAX 1000
#define LOOK_BYTES_MAX (1024 * 1024)

/* ---- options ---- */

enum bb_status line_load_init(struct line_load *load)
{
    bool has_options = load->format_text != NULL || load->key_name != NULL ||
                       load->attributes.count > 0 || load->indexes.count > 0 ||
                       load->granule_bytes != 0;
    if (!load->is_on && has_options)
        return bb_fail(BB_INVALID,
                       "options --format, --key, --attribute, --index and --granule need "
                       "--lines: the values of lines");
    if (load->line_size_max == 0 || load->line_size_max > BB_VALUE_SIZE_MAX)
        return bb_fail(BB_INVALID, "option --line-max: lines have 1 to %d bytes",
                       BB_VALUE_SIZE_MAX);
    return line_format_init(&load->format, load->format_text);
}

void line_load_deinit(struct line_load *load)
{
    line_format_deinit(&load->format);
    if (load->fields.types != NULL)
        json_fields_deinit(&load->fields);
    line_probe_deinit(&load->probe);
    bb_buf_deinit(&load->held);
    bb_buf_deinit(&load->key);
    bb_free(load->read);
    bb_record_reader_destroy(load->reader);
    bb_schema_destroy(load->schema);
}

/* ---- numbers ---- */

static bool decode_number(struct bb_bytes key, uint64_t *ret_number)
{
    uint64_t number = 0;
    if (key.size != NUMBER_DIGITS)
        return false;
    for (size_t i = 0; i < key.size; i++) {
        if (key.data[i] < '0' || key.data[i] > '9')
            return false;
        number = 10 * number + (uint64_t)(key.data[i] - '0');
    }
    *ret_number = number;
    return true;
}

static enum bb_status find_last_number(struct line_load *load)
{
    struct bb_db_iter *iter = NULL;
    enum bb_status status = bb_db_iter_create_keys(load->db, NULL, NULL, &iter);
    if (status != BB_OK)
        return status;
    bb_db_iter_seek_last(iter);
    load->number = 1;
    if (!bb_db_iter_valid(iter))
        status = bb_db_iter_status(iter);
    else if (decode_number(bb_db_iter_key(iter), &load->number))
        load->number++;
    else
        status =
            bb_fail(BB_INVALID,
                    "the largest key of the store is not a running number of %d digits, so these "
                    "lines would not follow it; load them into another store, or with --key",
                    NUMBER_DIGITS);
    bb_db_iter_destroy(iter);
    return status;
}

static enum bb_status begin_numbers(struct line_load *load)
{
    struct bb_db_stats stats = {0};
    if (load->key_name == NULL)
        return find_last_number(load);
    bb_db_stats(load->db, &stats);
    load->number = stats.last_sequence + 1;
    return BB_OK;
}

/* ---- definitions ---- */

enum bb_status line_load_begin(struct line_load *load, struct bb_db *db)
{
    load->db = db;
    enum bb_status status =
        load->granule_bytes == 0 ? BB_OK : bb_db_granule_set(db, load->granule_bytes);
    if (status == BB_OK)
        status = line_format_begin(&load->format, db);
    for (size_t i = 0; i < load->attributes.count && status == BB_OK; i++) {
        status = definitions_add_attribute(db, load->attributes.values[i], true);
        if (status == BB_OK)
            status = line_format_give(&load->format, load->attributes.values[i]);
    }
    if (status == BB_OK)
        status = begin_numbers(load);
    load->is_looking = load->format.kind == LINE_FORMAT_JSON;
    if (status == BB_OK && load->is_looking)
        status = json_fields_init(&load->fields);
    return status;
}

static enum bb_status begin_keys(struct line_load *load)
{
    if (load->key_name == NULL)
        return BB_OK;
    enum bb_status status = bb_db_schema(load->db, &load->schema);
    if (status != BB_OK)
        return status;
    size_t count = bb_schema_count(load->schema);
    if (bb_schema_find(load->schema, bb_bytes_of_text(load->key_name), &load->key_attribute) !=
        BB_OK)
        return bb_fail(BB_INVALID, "option --key: there is no attribute \"%.100s\"",
                       load->key_name);
    if (bb_schema_type(load->schema, load->key_attribute) == BB_ATTRIBUTE_F64)
        return bb_fail(BB_INVALID,
                       "option --key: \"%.100s\" is of type f64; bytes, i64, u64 and "
                       "times make keys",
                       load->key_name);
    load->read = bb_alloc_zeroed(count, sizeof(*load->read));
    bool *wanted = bb_alloc_zeroed(count, sizeof(*wanted));
    if (load->read == NULL || wanted == NULL) {
        bb_free(wanted);
        return bb_fail(BB_NO_MEMORY, "no memory for %zu attributes", count);
    }
    wanted[load->key_attribute] = true;
    status = bb_record_reader_create(load->schema, wanted, &load->reader);
    bb_free(wanted);
    return status;
}

/* Called at the first record, and again after another header. Indexes are created after
 * attributes. */
static enum bb_status define(struct line_load *load)
{
    enum bb_status status = line_format_define(&load->format, load->db);
    if (load->is_defined || status != BB_OK)
        return status;
    load->is_defined = true;
    for (size_t i = 0; i < load->indexes.count && status == BB_OK; i++)
        status = definitions_add_index(load->db, load->indexes.values[i], true, NULL);
    if (status == BB_OK)
        status = line_probe_init(&load->probe, line_format_last(&load->format).text);
    return status == BB_OK ? begin_keys(load) : status;
}

/* ---- keys ---- */

static enum bb_status append_attribute(struct bb_buf *key, const struct bb_attribute *attribute)
{
    struct bb_bytes bytes = attribute->as.bytes;
    switch (attribute->type) {
    case BB_ATTRIBUTE_TIME:
        return bb_buf_print(key, "%s", time_text_fixed(attribute->as.i64).text);
    case BB_ATTRIBUTE_U64:
        return bb_buf_print(key, "%020" PRIu64, attribute->as.u64);
    case BB_ATTRIBUTE_I64:
        return attribute->as.i64 < 0
                   ? bb_buf_print(key, "-%019" PRIu64,
                                  (uint64_t)attribute->as.i64 - (uint64_t)INT64_MIN)
                   : bb_buf_print(key, "%020" PRId64, attribute->as.i64);
    default:
        return bb_buf_append(key, bytes.data,
                             bytes.size < KEY_BYTES_MAX ? bytes.size : KEY_BYTES_MAX);
    }
}

static enum bb_status append_prefix(struct line_load *load, struct bb_bytes value)
{
    enum bb_status status = bb_record_read(load->reader, (struct bb_bytes){0}, value, load->read);
    const struct bb_attribute *attribute = &load->read[load->key_attribute];
    if (status == BB_OK && attribute->state == BB_ATTRIBUTE_PRESENT)
        status = append_attribute(&load->key, attribute);
    else
        load->without_key++;
    return status == BB_OK ? bb_buf_append(&load->key, "\t", 1) : status;
}

static enum bb_status make_key(struct line_load *load, struct key_record *record)
{
    enum bb_status status = BB_OK;
    if (load->number > NUMBER_MAX)
        return bb_fail(BB_TOO_LARGE, "%s: line %" PRIu64 ": the running numbers are used up",
                       record->path, record->line);
    bb_buf_reset(&load->key);
    if (load->key_name != NULL)
        status = append_prefix(load, record->value);
    if (status == BB_OK)
        status = bb_buf_print(&load->key, "%0*" PRIu64, NUMBER_DIGITS, load->number++);
    record->key = bb_buf_bytes(&load->key);
    return status;
}

/* ---- lines ---- */

/* A carriage return before the newline would be a part of the last field, and a byte order mark a
 * part of the first one. */
static void trim(const struct line_load *load, struct key_record *line)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    struct bb_bytes *value = &line->value;
    if (load->format.kind == LINE_FORMAT_NONE)
        return;
    if (value->size > 0 && value->data[value->size - 1] == '\r')
        value->size--;
    if (line->line == 1 && value->size >= sizeof(mark) &&
        memcmp(value->data, mark, sizeof(mark)) == 0)
        *value = bb_bytes_of(value->data + sizeof(mark), value->size - sizeof(mark));
}

static enum bb_status read_line(struct line_load *load, struct key_reader *reader,
                                struct key_record *line)
{
    enum bb_status status = key_reader_next(reader, line);
    if (status == BB_OK)
        trim(load, line);
    return status;
}

static enum bb_status hold(struct line_load *load, const struct key_record *line)
{
    bool is_huge = line->value.size > LOOK_BYTES_MAX;
    enum bb_status status = is_huge ? BB_OK : json_fields_look(&load->fields, line->value);
    if (status == BB_OK)
        status = bb_buf_append(&load->held, line->value.data, line->value.size);
    load->held_count++;
    return status == BB_OK ? bb_buf_append(&load->held, "\n", 1) : status;
}

/* Holds the first lines back until their fields are known. */
static enum bb_status look(struct line_load *load, struct key_reader *reader)
{
    enum bb_status status = BB_OK;
    while (status == BB_OK && load->held_count < LOOK_LINES_MAX &&
           load->held.size < LOOK_BYTES_MAX) {
        struct key_record line = {0};
        status = read_line(load, reader, &line);
        if (status == BB_OK)
            status = hold(load, &line);
    }
    load->is_looking = false;
    /* The lines before a failing line are good and are stored first. */
    if (status != BB_OK && status != BB_NOT_FOUND)
        load->failure = *bb_error_last();
    return json_fields_define(&load->fields, load->db);
}

/* A line that was held back, else the next one of the input. */
static enum bb_status next_line(struct line_load *load, struct key_reader *reader,
                                struct key_record *line)
{
    if (load->held_at == load->held.size) {
        bb_buf_deinit(&load->held);
        load->held_at = 0;
        return load->failure.status == BB_OK ? read_line(load, reader, line)
                                             : bb_error_restore(&load->failure);
    }
    const uint8_t *begin = load->held.data + load->held_at;
    const uint8_t *end = memchr(begin, '\n', load->held.size - load->held_at);
    *line = (struct key_record){.value = bb_bytes_of(begin, (size_t)(end - begin)),
                                .path = "the first lines"};
    load->held_at += line->value.size + 1;
    return BB_OK;
}

/* An input without a record also gets its attributes and indexes, unless only a header or records
 * would tell the attributes. */
static enum bb_status define_at_end(struct line_load *load)
{
    bool is_known = load->format.is_fresh || load->format.kind == LINE_FORMAT_NONE;
    enum bb_status status = load->is_defined || !is_known ? BB_OK : define(load);
    return status == BB_OK ? BB_NOT_FOUND : status;
}

enum bb_status line_load_next(struct line_load *load, struct key_reader *reader,
                              struct key_record *ret_record)
{
    bool is_record = false;
    enum bb_status status = load->is_looking ? look(load, reader) : BB_OK;
    while (status == BB_OK && !is_record) {
        status = next_line(load, reader, ret_record);
        if (status == BB_OK)
            status = line_format_look(&load->format, ret_record, &is_record);
    }
    if (status == BB_NOT_FOUND)
        return define_at_end(load);
    if (status == BB_OK)
        status = define(load);
    if (status == BB_OK)
        status = line_probe_look(&load->probe, ret_record->value);
    return status == BB_OK ? make_key(load, ret_record) : status;
}
