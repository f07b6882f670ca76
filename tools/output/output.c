/* See output.h. */
#include "tools/output/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/output/escape.h"

#define PENDING_MAX 65536

static void fail(struct output *out, int error_number)
{
    out->has_failed = true;
    out->error_number = error_number;
}

static void fail_on(struct output *out, enum bb_status status)
{
    if (status != BB_OK)
        fail(out, 0);
}

void output_flush(struct output *out)
{
    size_t written = 0;
    while (written < out->pending.size && !out->has_failed) {
        ssize_t size =
            write(STDOUT_FILENO, out->pending.data + written, out->pending.size - written);
        if (size >= 0)
            written += (size_t)size;
        else if (errno != EINTR)
            fail(out, errno);
    }
    bb_buf_reset(&out->pending);
}

static void flush_when_full(struct output *out)
{
    if (out->pending.size >= PENDING_MAX)
        output_flush(out);
}

void output_write(struct output *out, struct bb_bytes bytes)
{
    if (output_is_over(out))
        return;
    if (out->size_max != 0 && bytes.size > out->size_max - out->size) {
        bytes.size = (size_t)(out->size_max - out->size);
        out->is_cut = true;
    }
    out->size += bytes.size;
    fail_on(out, bb_buf_append(&out->pending, bytes.data, bytes.size));
    flush_when_full(out);
}

void output_print(struct output *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0) {
        fail(out, 0);
        return;
    }
    output_write(out, bb_bytes_of(text, (size_t)size));
    free(text);
}

void output_bytes(struct output *out, struct bb_bytes bytes, bool is_hex)
{
    struct bb_buf text = {0};
    enum bb_status status =
        is_hex ? hex_append(&text, bytes) : escape_append(&text, bytes, ESCAPE_ALL);
    if (status == BB_OK)
        output_write(out, bb_buf_bytes(&text));
    else
        fail(out, 0);
    bb_buf_deinit(&text);
}

static int write_json_part(const char *buffer, size_t size, void *context)
{
    struct output *out = context;
    output_write(out, bb_bytes_of(buffer, size));
    return out->has_failed ? -1 : 0;
}

static void write_document(struct output *out, json_t *document, size_t flags)
{
    if (document == NULL)
        fail(out, 0);
    else if (json_dump_callback(document, write_json_part, out, flags | JSON_REAL_PRECISION(12)) !=
                 0 &&
             !out->has_failed)
        fail(out, 0);
    json_decref(document);
}

void output_json(struct output *out, json_t *document)
{
    write_document(out, document, JSON_INDENT(2));
    output_write(out, bb_bytes_of("\n", 1));
}

void output_json_compact(struct output *out, json_t *document)
{
    write_document(out, document, JSON_COMPACT);
}

enum bb_status output_end(struct output *out)
{
    output_flush(out);
    bb_buf_deinit(&out->pending);
    if (!out->has_failed || out->error_number == EPIPE)
        return BB_OK;
    return out->error_number == 0 ? bb_fail(BB_NO_MEMORY, "no memory for the output")
                                  : bb_fail_errno(out->error_number, "write", "standard output");
}

/* jansson's setters fail when memory is short, or for a NULL value that an earlier failure left:
 * the document then lacks the field. Out of memory is not worth a check at each of hundreds of
 * fields. */
static void set(json_t *object, const char *name, json_t *value)
{
    (void)json_object_set_new(object, name, value);
}

static void set_digits(json_t *object, const char *name, struct bb_bytes bytes)
{
    struct bb_buf text = {0};
    if (bb_buf_print(&text, "%s_hex", name) == BB_OK && bb_buf_append(&text, "", 1) == BB_OK) {
        size_t name_size = text.size;
        if (hex_append(&text, bytes) == BB_OK)
            set(object, (const char *)text.data,
                json_stringn((const char *)text.data + name_size, text.size - name_size));
    }
    bb_buf_deinit(&text);
}

void json_set_shown(json_t *object, const char *name, struct bb_bytes bytes, bool is_hex)
{
    if (is_hex || !utf8_valid(bytes))
        set_digits(object, name, bytes);
    else
        set(object, name,
            json_stringn(bytes.size == 0 ? "" : (const char *)bytes.data, bytes.size));
}

void json_set_bytes(json_t *object, const char *name, struct bb_bytes bytes)
{
    json_set_shown(object, name, bytes, false);
}

void json_set_count(json_t *object, const char *name, uint64_t value)
{
    /* jansson's integers have a sign. */
    set(object, name,
        value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value));
}

void json_set_real(json_t *object, const char *name, double value)
{
    /* JSON has no infinity. */
    set(object, name, isfinite(value) ? json_real(value) : json_null());
}

void json_set_text(json_t *object, const char *name, const char *value)
{
    json_set_bytes(object, name, bb_bytes_of_text(value));
}

void json_set_bool(json_t *object, const char *name, bool value)
{
    set(object, name, json_boolean(value));
}

void json_set_hex64(json_t *object, const char *name, uint64_t value)
{
    char digits[17] = "";
    snprintf(digits, sizeof(digits), "%016" PRIx64, value);
    set(object, name, json_string(digits));
}
