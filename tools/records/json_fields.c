/* See json_fields.h. */
#include "tools/records/json_fields.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/records/line_format.h"

#define DEPTH_MAX 4
/* A longer path of a field has no attribute: definitions have a limit. */
#define PATH_SIZE_MAX 1024

/* Kinds of values, a bit each. */
enum {
    KIND_INTEGER = 1,
    KIND_REAL = 2,
    KIND_TIME = 4,
    KIND_OTHER = 8,
};

enum bb_status json_fields_init(struct json_fields *fields)
{
    *fields = (struct json_fields){.types = json_object()};
    if (fields->types == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for fields of JSON");
    enum bb_status status = bb_schema_create(&fields->time);
    if (status == BB_OK)
        status = bb_schema_add(fields->time, "t time(rfc3339) = value");
    if (status == BB_OK)
        status = bb_record_reader_create(fields->time, NULL, &fields->reader);
    return status;
}

void json_fields_deinit(struct json_fields *fields)
{
    json_decref(fields->types);
    bb_record_reader_destroy(fields->reader);
    bb_schema_destroy(fields->time);
}

static int kind_of_string(struct json_fields *fields, const json_t *value)
{
    struct bb_attribute attribute = {0};
    struct bb_bytes text = bb_bytes_of(json_string_value(value), json_string_length(value));
    enum bb_status status = bb_record_read(fields->reader, (struct bb_bytes){0}, text, &attribute);
    bool is_time = status == BB_OK && attribute.state == BB_ATTRIBUTE_PRESENT;
    return is_time ? KIND_TIME : KIND_OTHER;
}

static int kind_of(struct json_fields *fields, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        return KIND_INTEGER;
    case JSON_REAL:
        return KIND_REAL;
    case JSON_STRING:
        return kind_of_string(fields, value);
    case JSON_NULL:
        return 0;
    default:
        return KIND_OTHER;
    }
}

/* Appends ."key", with escapes. */
static enum bb_status append_step(struct bb_buf *path, const char *key)
{
    enum bb_status status = bb_buf_append(path, ".\"", 2);
    for (; *key != '\0' && status == BB_OK; key++) {
        if (*key == '"' || *key == '\\')
            status = bb_buf_append(path, "\\", 1);
        if (status == BB_OK)
            status = bb_buf_append(path, key, 1);
    }
    return status == BB_OK ? bb_buf_append(path, "\"", 1) : status;
}

/* True if a path in a definition can have the key. */
static bool is_name(const char *key)
{
    const char *at = key;
    while (*at != '\0' && (unsigned char)*at >= ' ')
        at++;
    return *at == '\0';
}

static enum bb_status note_kind(struct json_fields *fields, struct bb_buf *path, int kind)
{
    enum bb_status status = bb_buf_append(path, "", 1);
    if (status != BB_OK)
        return status;
    const char *name = (const char *)path->data;
    const json_t *known = json_object_get(fields->types, name);
    if (known == NULL && json_object_size(fields->types) >= JSON_FIELDS_MAX)
        return BB_OK;
    json_int_t kinds = known == NULL ? 0 : json_integer_value(known);
    return json_object_set_new(fields->types, name, json_integer(kinds | kind)) == 0
               ? BB_OK
               : bb_fail(BB_NO_MEMORY, "no memory for fields of JSON");
}

static enum bb_status look_at_object(struct json_fields *fields, json_t *object,
                                     struct bb_buf *path, int depth)
{
    const char *key = NULL;
    json_t *value = NULL;
    size_t begin = path->size;
    enum bb_status status = BB_OK;
    json_object_foreach(object, key, value)
    {
        path->size = begin;
        if (!is_name(key) || begin + strlen(key) > PATH_SIZE_MAX) {
            fields->skipped_fields++;
            continue;
        }
        status = append_step(path, key);
        if (status == BB_OK && json_is_object(value) && depth < DEPTH_MAX)
            status = look_at_object(fields, value, path, depth + 1);
        else if (status == BB_OK)
            status = note_kind(fields, path, kind_of(fields, value));
        if (status != BB_OK)
            return status;
    }
    return BB_OK;
}

/* Reads the line; again, if an integer may be too large for i64: then all its numbers are reals.
 * NULL: it cannot be read. */
static json_t *read_line(struct bb_bytes line)
{
    const char *text = line.size == 0 ? "" : (const char *)line.data;
    json_t *object = json_loadb(text, line.size, JSON_ALLOW_NUL, NULL);
    return object != NULL
               ? object
               : json_loadb(text, line.size, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
}

enum bb_status json_fields_look(struct json_fields *fields, struct bb_bytes line)
{
    struct bb_buf path = {0};
    enum bb_status status = BB_OK;
    json_t *object = read_line(line);
    if (json_is_object(object))
        status = look_at_object(fields, object, &path, 1);
    else
        fields->skipped_lines++;
    json_decref(object);
    bb_buf_deinit(&path);
    return status;
}

static const char *type_of(json_int_t kinds)
{
    switch (kinds) {
    case KIND_INTEGER:
        return "i64";
    case KIND_REAL:
    case KIND_REAL | KIND_INTEGER:
        return "f64";
    case KIND_TIME:
        return "time(rfc3339)";
    default:
        return "bytes";
    }
}

/* ."a"."b" becomes a_b: line_format_add replaces characters that a name cannot have. */
static enum bb_status append_name(struct bb_buf *name, const char *path)
{
    enum bb_status status = BB_OK;
    for (const char *at = path; *at != '\0' && status == BB_OK; at++) {
        bool is_mark = *at == '"' || *at == '\\' || at == path;
        if (!is_mark)
            status = bb_buf_append(name, at, 1);
    }
    return status;
}

static enum bb_status define(struct bb_db *db, const char *path, json_int_t kinds)
{
    struct bb_buf name = {0};
    struct bb_buf extractor = {0};
    enum bb_status status = append_name(&name, path);
    if (status == BB_OK)
        status = bb_buf_print(&extractor, "json($%s)", path);
    if (status == BB_OK)
        status = bb_buf_append(&extractor, "", 1);
    if (status == BB_OK)
        status =
            line_format_add(db, bb_buf_bytes(&name), type_of(kinds), (const char *)extractor.data);
    bb_buf_deinit(&name);
    bb_buf_deinit(&extractor);
    return status;
}

enum bb_status json_fields_define(struct json_fields *fields, struct bb_db *db)
{
    const char *path = NULL;
    json_t *kinds = NULL;
    enum bb_status status = BB_OK;
    json_object_foreach(fields->types, path, kinds)
    {
        status = define(db, path, json_integer_value(kinds));
        if (status != BB_OK)
            break;
    }
    return status;
}
