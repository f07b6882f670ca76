/* See line_format.h. */
#include "tools/records/line_format.h"

#include <inttypes.h>
#include <stdlib.h>
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
    bb_schema_destroy(format->before);
    bb_schema_destroy(format->given);
}

enum bb_status line_format_begin(struct line_format *format, struct bb_db *db)
{
    enum bb_status status = bb_db_schema(db, &format->before);
    return status == BB_OK ? bb_schema_create(&format->given) : status;
}

enum bb_status line_format_give(struct line_format *format, const char *definition)
{
    enum bb_status status = bb_schema_add(format->given, definition);
    return status == BB_EXISTS ? BB_OK : status;
}

/* ---- headers ---- */

static bool begins_with(struct bb_bytes line, const char *prefix)
{
    size_t size = strlen(prefix);
    return line.size >= size && memcmp(line.data, prefix, size) == 0;
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

/* At most 100 bytes of a name, for a message. */
static int shown_size(struct bb_bytes name)
{
    return name.size < 100 ? (int)name.size : 100;
}

static enum bb_status look_at_first(struct line_format *format, const struct key_record *line)
{
    struct bb_bytes names = line->value;
    if (format->path == NULL) {
        format->is_fresh = true;
        format->path = line->path;
        format->line = line->line;
        return bb_buf_assign(&format->names, names);
    }
    if (bb_bytes_equal(bb_buf_bytes(&format->names), names))
        return BB_OK;
    return bb_fail(BB_INVALID,
                   "%s: the header, line 1, differs from that of the previous file: load it into a "
                   "separate store",
                   line->path);
}

/* A later header has the columns of the earlier one, in this order; one of them may have more. */
static enum bb_status look_at_fields(struct line_format *format, const struct key_record *line,
                                     struct bb_bytes names)
{
    struct bb_bytes before = bb_buf_bytes(&format->names);
    struct bb_bytes now = names;
    for (int number = 1; before.size > 0 && now.size > 0; number++) {
        struct bb_bytes expected = take_field(&before, '\t');
        struct bb_bytes found = take_field(&now, '\t');
        if (!bb_bytes_equal(expected, found))
            return bb_fail(
                BB_INVALID,
                "%s: line %" PRIu64 ": column %d of \"#fields\" is \"%.*s\", but \"%.*s\" "
                "in the previous \"#fields\": load these lines into a separate store",
                line->path, line->line, number, shown_size(found), (const char *)found.data,
                shown_size(expected), (const char *)expected.data);
    }
    if (names.size <= format->names.size)
        return BB_OK;
    format->is_fresh = true;
    format->path = line->path;
    format->line = line->line;
    return bb_buf_assign(&format->names, names);
}

/* #types follows #fields, and both precede the first record. */
static enum bb_status look_at_comment(struct line_format *format, const struct key_record *line)
{
    static const char fields[] = "#fields\t";
    static const char types[] = "#types\t";
    bool is_fields = begins_with(line->value, fields);
    if (!is_fields && !begins_with(line->value, types))
        return BB_OK;
    size_t size = strlen(is_fields ? fields : types);
    struct bb_bytes row = bb_bytes_of(line->value.data + size, line->value.size - size);
    return is_fields ? look_at_fields(format, line, row) : bb_buf_assign(&format->types, row);
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
        status = look_at_comment(format, line);
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

/* The text after the equals sign: "csv(3)". A pattern of the type may have such a sign. */
static const char *extractor_of(const char *definition)
{
    bool is_quoted = false;
    const char *at = definition;
    while (*at != '\0' && (is_quoted || *at != '=')) {
        if (is_quoted && *at == '\\' && at[1] != '\0')
            at++;
        else if (*at == '\'')
            is_quoted = !is_quoted;
        at++;
    }
    return at + strspn(at, "= ");
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

/* ---- columns ---- */

static const char *extractor_name(const struct line_format *format)
{
    return format->kind == LINE_FORMAT_ZEEK  ? "zeek"
           : format->kind == LINE_FORMAT_CSV ? "csv"
                                             : "tsv";
}

static uint8_t separator_of(const struct line_format *format)
{
    return format->kind == LINE_FORMAT_CSV ? ',' : '\t';
}

/* A column of the header is field N of the extractor. */
static struct column_text extractor_of_column(const struct line_format *format, int number)
{
    struct column_text extractor;
    snprintf(extractor.text, sizeof(extractor.text), "%s(%d)", extractor_name(format), number);
    return extractor;
}

struct column_text line_format_last(const struct line_format *format)
{
    struct bb_bytes names = bb_buf_bytes(&format->names);
    int count = 0;
    if (format->kind == LINE_FORMAT_CLF)
        return (struct column_text){"clf(status)"};
    for (; names.size > 0; count++)
        take_field(&names, separator_of(format));
    return count == 0 ? (struct column_text){""} : extractor_of_column(format, count);
}

/* Whether the name is this one, or this one with marks that made it free or valid. */
static bool is_name_of(const char *name, struct bb_bytes wanted)
{
    return strncmp(name, (const char *)wanted.data, wanted.size) == 0 &&
           name[wanted.size + strspn(name + wanted.size, "_")] == '\0';
}

static bool is_given(const struct line_format *format, const char *name)
{
    size_t number = 0;
    return bb_schema_find(format->given, bb_bytes_of_text(name), &number) == BB_OK;
}

static enum bb_status refuse(const struct line_format *format, int number, struct bb_bytes name,
                             const char *definition)
{
    char line[32] = "";
    if (format->path != NULL)
        snprintf(line, sizeof(line), ": line %" PRIu64, format->line);
    return bb_fail(BB_INVALID,
                   "%s%s: column %d is \"%.*s\", but the store has the attribute \"%.300s\": load "
                   "into a separate store, or, if the attribute is correct, give it with "
                   "--attribute",
                   format->path == NULL ? "option --format" : format->path, line, number,
                   (int)name.size, (const char *)name.data, definition);
}

/* Whether the column with this number has this name too: then the name has another mark. */
static bool has_column(const struct line_format *format, unsigned long number, struct bb_bytes name)
{
    struct bb_bytes names = bb_buf_bytes(&format->names);
    struct bb_bytes column = {0};
    struct bb_buf found = {0};
    for (unsigned long i = 0; i < number; i++) {
        if (names.size == 0)
            return false;
        column = take_field(&names, separator_of(format));
    }
    bool is_equal =
        append_name(&found, column) == BB_OK && bb_bytes_equal(bb_buf_bytes(&found), name);
    bb_buf_deinit(&found);
    return is_equal;
}

/* The store had no attribute of the column. An attribute with its name is of another column only
 * if that column has the same name. */
static enum bb_status check_name(const struct line_format *format, int number, struct bb_bytes name)
{
    const struct bb_schema *schema = format->before;
    size_t found = 0;
    if (bb_schema_find(schema, name, &found) != BB_OK ||
        is_given(format, bb_schema_name(schema, found)))
        return BB_OK;
    const char *definition = bb_schema_definition(schema, found);
    const char *extractor = extractor_of(definition);
    size_t size = strlen(extractor_name(format));
    if (strncmp(extractor, extractor_name(format), size) != 0 || extractor[size] != '(')
        return BB_OK;
    return has_column(format, strtoul(extractor + size + 1, NULL, 10), name)
               ? BB_OK
               : refuse(format, number, name, definition);
}

/* An attribute of the column has its name, or the command gives all attributes of the column. */
static enum bb_status check_column(const struct line_format *format, int number,
                                   struct bb_bytes name)
{
    const struct bb_schema *schema = format->before;
    struct column_text extractor = extractor_of_column(format, number);
    const char *other = NULL;
    bool is_known = false;
    for (size_t i = 0; i < bb_schema_count(schema); i++) {
        const char *definition = bb_schema_definition(schema, i);
        if (strcmp(extractor_of(definition), extractor.text) != 0)
            continue;
        if (is_name_of(bb_schema_name(schema, i), name))
            return BB_OK;
        is_known = true;
        if (other == NULL && !is_given(format, bb_schema_name(schema, i)))
            other = definition;
    }
    if (other != NULL)
        return refuse(format, number, name, other);
    return is_known ? BB_OK : check_name(format, number, name);
}

/* The store does not keep headers: the names of its attributes show the columns of earlier
 * loads. */
static enum bb_status check_columns(const struct line_format *format)
{
    struct bb_bytes names = bb_buf_bytes(&format->names);
    struct bb_buf name = {0};
    enum bb_status status = BB_OK;
    for (int number = 1; names.size > 0 && status == BB_OK; number++) {
        bb_buf_reset(&name);
        status = append_name(&name, take_field(&names, separator_of(format)));
        if (status == BB_OK)
            status = check_column(format, number, bb_buf_bytes(&name));
    }
    bb_buf_deinit(&name);
    return status;
}

static enum bb_status define_columns(const struct line_format *format, struct bb_db *db)
{
    struct bb_bytes names = bb_buf_bytes(&format->names);
    struct bb_bytes types = bb_buf_bytes(&format->types);
    enum bb_status status = check_columns(format);
    for (int number = 1; names.size > 0 && status == BB_OK; number++) {
        struct bb_bytes column = take_field(&names, separator_of(format));
        const char *type = type_of_zeek(take_field(&types, separator_of(format)));
        status = line_format_add(db, column, type, extractor_of_column(format, number).text);
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
