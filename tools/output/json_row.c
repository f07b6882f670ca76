/* See json_row.h. */
#include "tools/output/json_row.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "tools/output/escape.h"
#include "tools/output/json_text.h"

void json_row_deinit(struct json_row *row)
{
    bb_buf_deinit(&row->key_decoded);
    bb_buf_deinit(&row->value_decoded);
}

/* ---- writing ---- */

static enum bb_status append(struct bb_buf *buf, const char *text)
{
    return bb_buf_append(buf, text, strlen(text));
}

/* name precedes the text, name_hex the digits. */
static enum bb_status append_field(struct bb_buf *buf, const char *name, const char *name_hex,
                                   struct bb_bytes bytes, bool is_hex)
{
    size_t begin = buf->size;
    bool is_text = false;
    enum bb_status status = append(buf, name);
    if (status == BB_OK && !is_hex)
        status = json_text_append(buf, bytes, &is_text);
    if (status == BB_OK && !is_text) {
        buf->size = begin;
        status = append(buf, name_hex);
        if (status == BB_OK)
            status = hex_append(buf, bytes);
    }
    return status == BB_OK ? append(buf, "\"") : status;
}

enum bb_status json_row_write(struct output *out, struct bb_bytes key, struct bb_bytes value,
                              bool is_hex, struct bb_buf *scratch)
{
    bb_buf_reset(scratch);
    enum bb_status status = append_field(scratch, "{\"key\":\"", "{\"key_hex\":\"", key, is_hex);
    if (status == BB_OK)
        status = append_field(scratch, ",\"value\":\"", ",\"value_hex\":\"", value, is_hex);
    if (status == BB_OK)
        status = append(scratch, "}\n");
    if (status == BB_OK)
        output_write(out, bb_buf_bytes(scratch));
    return status;
}

/* ---- reading ---- */

static bool take(struct bb_bytes *rest, const char *token)
{
    size_t size = strlen(token);
    while (rest->size > 0 && rest->data[0] == ' ')
        *rest = bb_bytes_of(rest->data + 1, rest->size - 1);
    if (rest->size < size || memcmp(rest->data, token, size) != 0)
        return false;
    *rest = bb_bytes_of(rest->data + size, rest->size - size);
    return true;
}

static enum bb_status take_digits(struct bb_bytes digits, struct bb_buf *decoded,
                                  struct bb_bytes *ret_bytes, bool *ret_has)
{
    enum bb_status status = BB_INVALID;
    /* Digits written with escapes are in the buffer. */
    if (digits.data != decoded->data) {
        bb_buf_reset(decoded);
        status = hex_decode(digits, decoded);
    }
    *ret_has = status == BB_OK;
    if (status == BB_OK)
        *ret_bytes = bb_buf_bytes(decoded);
    return status == BB_INVALID ? BB_OK : status;
}

static enum bb_status take_field(struct bb_bytes *rest, const char *name, const char *name_hex,
                                 struct bb_buf *decoded, struct bb_bytes *ret_bytes, bool *ret_has)
{
    struct bb_bytes text = {0};
    bool is_hex = take(rest, name_hex);
    *ret_has = (is_hex || take(rest, name)) && take(rest, ":") && take(rest, "\"");
    enum bb_status status = BB_OK;
    if (*ret_has)
        status = json_text_read(rest, decoded, &text, ret_has);
    if (status != BB_OK || !*ret_has)
        return status;
    *ret_bytes = text;
    return is_hex ? take_digits(text, decoded, ret_bytes, ret_has) : BB_OK;
}

enum bb_status json_row_read(struct json_row *row, struct bb_bytes line, bool *ret_is_row)
{
    struct bb_bytes rest = line;
    bool has = take(&rest, "{");
    enum bb_status status = BB_OK;
    if (has)
        status = take_field(&rest, "\"key\"", "\"key_hex\"", &row->key_decoded, &row->key, &has);
    has = status == BB_OK && has && take(&rest, ",");
    if (has)
        status =
            take_field(&rest, "\"value\"", "\"value_hex\"", &row->value_decoded, &row->value, &has);
    *ret_is_row = status == BB_OK && has && take(&rest, "}") && take(&rest, "") && rest.size == 0;
    return status;
}
