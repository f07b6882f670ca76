/* import json: a line for each key, {"key": ..., "value": ...}. Bytes that are not UTF-8 are
 * hexadecimal digits under key_hex, value_hex. */
#include "base/buf.h"
#include "base/bytes.h"
#include "tools/output/escape.h"
#include "tools/import/import.h"
#include "tools/import/import_lines.h"
#include "tools/output/json_row.h"
#include "tools/keys/key_reader.h"

struct json_import {
    struct import *import; /* borrowed */
    struct import_lines lines;
    struct json_row row;
    struct bb_buf key;
    struct bb_buf value;
};

/* The bytes of the field `name`, or of the digits in `name_hex`; one of the two is there. */
static enum bb_status take_bytes(const struct json_import *json, const json_t *row,
                                 const char *name, const char *name_hex, struct bb_buf *buf)
{
    json_t *text = json_object_get(row, name);
    json_t *digits = json_object_get(row, name_hex);
    json_t *given = text != NULL ? text : digits;
    char what[64];
    snprintf(what, sizeof(what), "a string \"%s\" or \"%s\" is missing", name, name_hex);
    if ((text != NULL) == (digits != NULL) || !json_is_string(given))
        return import_lines_fail(&json->lines, what);
    struct bb_bytes bytes = bb_bytes_of(json_string_value(given), json_string_length(given));
    bb_buf_reset(buf);
    if (text != NULL)
        return bb_buf_assign(buf, bytes);
    enum bb_status status = hex_decode(bytes, buf);
    return status == BB_INVALID ? import_lines_fail(&json->lines, "not pairs of hexadecimal digits")
                                : status;
}

static enum bb_status take_row(struct json_import *json, const json_t *row)
{
    if (!json_is_object(row) || json_object_size(row) != 2)
        return import_lines_fail(&json->lines, "a line is an object with a key and a value");
    enum bb_status status = take_bytes(json, row, "key", "key_hex", &json->key);
    if (status == BB_OK)
        status = take_bytes(json, row, "value", "value_hex", &json->value);
    if (status == BB_OK)
        status = import_put(json->import, bb_buf_bytes(&json->key), bb_buf_bytes(&json->value));
    return status;
}

static enum bb_status take_line(struct json_import *json)
{
    json_error_t error;
    struct bb_bytes line = json->lines.line;
    progress_add(&json->import->progress, line.size + 1);
    bool is_row = false;
    enum bb_status status = json_row_read(&json->row, line, &is_row);
    if (status != BB_OK)
        return status;
    if (is_row)
        return import_put(json->import, json->row.key, json->row.value);
    json_t *row = json_loadb((const char *)line.data, line.size,
                             JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    if (row == NULL)
        return import_lines_fail(&json->lines, error.text);
    status = take_row(json, row);
    json_decref(row);
    return status;
}

static enum bb_status import_rows(struct json_import *json, const char *directory)
{
    char *paths[] = {(char *)json->lines.path};
    bool has = true;
    enum bb_status status = import_begin(json->import, directory, key_reader_size_bytes(paths, 1));
    while (status == BB_OK && has) {
        status = import_lines_next(&json->lines, &has);
        if (status == BB_OK && has)
            status = take_line(json);
    }
    return import_end(json->import, status);
}

enum bb_status import_json(struct import *import, const char *source, const char *directory)
{
    struct json_import json = {.import = import};
    enum bb_status status = import_lines_open(&json.lines, source);
    if (status == BB_OK)
        status = import_rows(&json, directory);
    import_lines_close(&json.lines);
    json_row_deinit(&json.row);
    bb_buf_deinit(&json.key);
    bb_buf_deinit(&json.value);
    return status;
}
