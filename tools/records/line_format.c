/* See line_format.h. */
#include "tools/records/line_format.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

enum bb_status line_format_init(struct line_format *format, const char *text)
{
    static const struct {
        const char *name;
        enum line_format_kind kind;
    } known[] = {{"clf", LINE_FORMAT_CLF},
                 {"csv", LINE_FORMAT_CSV},
                 {"tsv", LINE_FORMAT_TSV},
                 {"zeek", LINE_FORMAT_ZEEK},
                 {"json", LINE_FORMAT_JSON}};
    *format = (struct line_format){0};
    if (text == NULL)
        return BB_OK;
    size_t size = strcspn(text, "=");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(known); i++) {
        if (strlen(known[i].name) == size && memcmp(known[i].name, text, size) == 0)
            format->kind = known[i].kind;
    }
    bool takes_header = format->kind == LINE_FORMAT_CSV || format->kind == LINE_FORMAT_TSV;
    if (format->kind == LINE_FORMAT_NONE || (text[size] == '=' && !takes_header))
        return bb_fail(BB_INVALID,
                       "option --format: \"%.100s\" is not clf, csv, csv=HEADER, tsv, tsv=HEADER, "
                       "zeek or json",
                       text);
    format->header = text[size] == '=' ? text + size + 1 : NULL;
    format->is_fresh = format->header != NULL || format->kind == LINE_FORMAT_CLF;
    return format->header == NULL ? BB_OK
                                  : bb_buf_assign(&format->names, bb_bytes_of_text(format->header));
}

void line_format_deinit(struct line_format *format)
{
    bb_buf_deinit(&format->names);
    bb_buf_deinit(&format->types);
}

/* ---- headers ---- */

static bool begins_with(struct bb_bytes line, const char *prefix)
{
    size_t size = strlen(prefix);
    return line.size >= size && memcmp(line.data, prefix, size) == 0;
}

static enum bb_status look_at_first(struct line_format *format, const struct key_record *line)
{
    struct bb_bytes names = line->value;
    if (format->names.size == 0) {
        format->is_fresh = true;
        return bb_buf_assign(&format->names, names);
    }
    if (bb_bytes_equal(bb_buf_bytes(&format->names), names))
        return BB_OK;
    return bb_fail(BB_INVALID,
                   "%s: the header, line 1, differs from that of the previous file: load it into a "
                   "separate store",
                   line->path);
}

/* #types follows #fields, and both precede the first record. */
static enum bb_status look_at_comment(struct line_format *format, struct bb_bytes line)
{
    static const char fields[] = "#fields\t";
    static const char types[] = "#types\t";
    struct bb_buf *part = NULL;
    size_t size = 0;
    if (begins_with(line, fields)) {
        part = &format->names;
        size = strlen(fields);
    } else if (begins_with(line, types)) {
        part = &format->types;
        size = strlen(types);
    } else {
        return BB_OK;
    }
    format->is_fresh = true;
    return bb_buf_assign(part, bb_bytes_of(line.data + size, line.size - size));
}

enum bb_status line_format_look(struct line_format *format, const struct key_record *line,
                                bool *ret_is_record)
{
    bool is_columns = format->kind == LINE_FORMAT_CSV || format->kind == LINE_FORMAT_TSV;
    enum bb_status status = BB_OK;
    *ret_is_record = true;
    if (is_columns && format->header == NULL && line->line == 1) {
        *ret_is_record = false;
        status = look_at_first(format, line);
    } else if (format->kind == LINE_FORMAT_ZEEK && begins_with(line->value, "#")) {
        *ret_is_record = false;
        status = look_at_comment(format, line->value);
    } else if (format->kind == LINE_FORMAT_ZEEK && format->names.size == 0) {
        status = bb_fail(
            BB_INVALID, "%s: line %" PRIu64 ": expected a line \"#fields\" before the first record",
            line->path, line->line);
    }
    return status;
}

/* ---- attributes ---- */

static bool is_word_byte(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return (lower >= 'a' && lower <= 'z') || byte == '_' || (byte >= '0' && byte <= '9');
}

/* "id.orig_h" becomes "id_orig_h". */
static enum bb_status append_name(struct bb_buf *text, struct bb_bytes name)
{
    size_t size = name.size < BB_ATTRIBUTE_NAME_MAX - 8 ? name.size : BB_ATTRIBUTE_NAME_MAX - 8;
    bool needs_mark = size == 0 || (name.data[0] >= '0' && name.data[0] <= '9');
    enum bb_status status = needs_mark ? bb_buf_append(text, "_", 1) : BB_OK;
    for (size_t i = 0; i < size && status == BB_OK; i++)
        status =
            bb_buf_append(text, is_word_byte(name.data[i]) ? (const void *)&name.data[i] : "_", 1);
    return status;
}

/* The text after the name: "bytes = csv(3)". */
static const char *extractor_of(const char *definition)
{
    return definition + strcspn(definition, "=");
}

/* Whether the schema has an attribute with the extractor of the candidate, the only attribute of
 * its schema. */
static bool has_extractor(const struct bb_schema *schema, const struct bb_schema *candidate)
{
    const char *wanted = extractor_of(bb_schema_definition(candidate, 0));
    for (size_t i = 0; i < bb_schema_count(schema); i++) {
        if (strcmp(extractor_of(bb_schema_definition(schema, i)), wanted) == 0)
            return true;
    }
    return false;
}

/* Names that are taken, and words of conditions, get marks after them. */
static enum bb_status add_under_free_name(struct bb_db *db, const struct bb_schema *schema,
                                          struct bb_buf *name, const char *rest)
{
    struct bb_buf definition = {0};
    enum bb_status status = BB_EXISTS;
    for (int i = 0; i < 8 && (status == BB_EXISTS || status == BB_INVALID); i++) {
        struct bb_schema *candidate = NULL;
        size_t number = 0;
        bb_buf_reset(&definition);
        status =
            bb_buf_print(&definition, "%.*s %s", (int)name->size, (const char *)name->data, rest);
        if (status == BB_OK)
            status = bb_buf_append(&definition, "", 1);
        if (status == BB_OK)
            status = bb_schema_create(&candidate);
        if (status == BB_OK)
            status = bb_schema_add(candidate, (const char *)definition.data);
        if (status == BB_OK && has_extractor(schema, candidate)) {
            bb_schema_destroy(candidate);
            break;
        }
        if (status == BB_OK)
            status = bb_schema_find(schema, bb_buf_bytes(name), &number) == BB_OK
                         ? BB_EXISTS
                         : bb_db_attribute_create(db, (const char *)definition.data);
        bb_schema_destroy(candidate);
        if (status != BB_OK && bb_buf_append(name, "_", 1) != BB_OK)
            status = BB_NO_MEMORY;
    }
    bb_buf_deinit(&definition);
    return status;
}

enum bb_status line_format_add(struct bb_db *db, struct bb_bytes name, const char *type,
                               const char *extractor)
{
    struct bb_schema *schema = NULL;
    struct bb_buf taken = {0};
    struct bb_buf rest = {0};
    enum bb_status status = bb_db_schema(db, &schema);
    if (status == BB_OK)
        status = append_name(&taken, name);
    if (status == BB_OK)
        status = bb_buf_print(&rest, "%s = %s", type, extractor);
    if (status == BB_OK)
        status = bb_buf_append(&rest, "", 1);
    if (status == BB_OK)
        status = add_under_free_name(db, schema, &taken, (const char *)rest.data);
    bb_schema_destroy(schema);
    bb_buf_deinit(&taken);
    bb_buf_deinit(&rest);
    return status;
}

static enum bb_status define_clf(struct bb_db *db)
{
    static const struct {
        const char *name;
        const char *type;
        const char *extractor;
    } fields[] = {{"host", "bytes", "clf(host)"},       {"ident", "bytes", "clf(ident)"},
                  {"user", "bytes", "clf(user)"},       {"time", "time(clf)", "clf(time)"},
                  {"request", "bytes", "clf(request)"}, {"method", "bytes", "clf(method)"},
                  {"path", "bytes", "clf(path)"},       {"protocol", "bytes", "clf(protocol)"},
                  {"status", "u64", "clf(status)"},     {"bytes", "u64", "clf(bytes)"},
                  {"referer", "bytes", "clf(referer)"}, {"agent", "bytes", "clf(agent)"}};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(fields) && status == BB_OK; i++)
        status = line_format_add(db, bb_bytes_of_text(fields[i].name), fields[i].type,
                                 fields[i].extractor);
    return status;
}

/* Takes the first field of a row. In CSV, quotes may enclose separators; they become '_'. */
static struct bb_bytes take_field(struct bb_bytes *row, uint8_t separator)
{
    bool is_quoted = false;
    size_t size = 0;
    while (size < row->size && (is_quoted || row->data[size] != separator)) {
        is_quoted ^= separator == ',' && row->data[size] == '"';
        size++;
    }
    struct bb_bytes field = bb_bytes_of(row->data, size);
    size_t taken = size < row->size ? size + 1 : size;
    *row = bb_bytes_of(row->data + taken, row->size - taken);
    if (separator == ',' && field.size >= 2 && field.data[0] == '"')
        field = bb_bytes_of(field.data + 1, field.size - 2);
    return field;
}

static bool is_text(struct bb_bytes bytes, const char *text)
{
    return bb_bytes_equal(bytes, bb_bytes_of_text(text));
}

static const char *type_of_zeek(struct bb_bytes type)
{
    if (is_text(type, "time"))
        return "time(unix_float)";
    if (is_text(type, "count") || is_text(type, "port"))
        return "u64";
    if (is_text(type, "int"))
        return "i64";
    return is_text(type, "double") || is_text(type, "interval") ? "f64" : "bytes";
}

/* A column of the header is field N of the extractor. */
static enum bb_status define_columns(const struct line_format *format, struct bb_db *db)
{
    const char *name = format->kind == LINE_FORMAT_ZEEK  ? "zeek"
                       : format->kind == LINE_FORMAT_CSV ? "csv"
                                                         : "tsv";
    uint8_t separator = format->kind == LINE_FORMAT_CSV ? ',' : '\t';
    struct bb_bytes names = bb_buf_bytes(&format->names);
    struct bb_bytes types = bb_buf_bytes(&format->types);
    enum bb_status status = BB_OK;
    for (int number = 1; names.size > 0 && status == BB_OK; number++) {
        char extractor[32];
        snprintf(extractor, sizeof(extractor), "%s(%d)", name, number);
        struct bb_bytes column = take_field(&names, separator);
        const char *type = type_of_zeek(take_field(&types, separator));
        status = line_format_add(db, column, type, extractor);
    }
    return status;
}

enum bb_status line_format_define(struct line_format *format, struct bb_db *db)
{
    if (!format->is_fresh)
        return BB_OK;
    format->is_fresh = false;
    return format->kind == LINE_FORMAT_CLF ? define_clf(db) : define_columns(format, db);
}
