/* See json_row.h. */
#include "tools/output/json_row.h"

#include <string.h>

#include "base/bytes.h"
#include "tools/output/escape.h"

static bool is_plain(struct bb_bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] < 0x20 || text.data[i] == '"' || text.data[i] == '\\')
            return false;
    return utf8_valid(text);
}

static void write_text(struct output *out, const char *text)
{
    output_write(out, bb_bytes_of_text(text));
}

void json_row_write(struct output *out, struct bb_bytes key, struct bb_bytes value)
{
    if (is_plain(key) && is_plain(value)) {
        write_text(out, "{\"key\":\"");
        output_write(out, key);
        write_text(out, "\",\"value\":\"");
        output_write(out, value);
        write_text(out, "\"}\n");
        return;
    }
    json_t *row = json_object();
    json_set_bytes(row, "key", key);
    json_set_bytes(row, "value", value);
    output_json_compact(out, row);
    write_text(out, "\n");
}

static void skip_blanks(struct bb_bytes *rest)
{
    while (rest->size > 0 && rest->data[0] == ' ')
        *rest = bb_bytes_of(rest->data + 1, rest->size - 1);
}

static bool take(struct bb_bytes *rest, const char *token)
{
    size_t size = strlen(token);
    skip_blanks(rest);
    if (rest->size < size || memcmp(rest->data, token, size) != 0)
        return false;
    *rest = bb_bytes_of(rest->data + size, rest->size - size);
    return true;
}

/* The bytes up to the next quote. */
static bool take_string(struct bb_bytes *rest, struct bb_bytes *ret_string)
{
    if (!take(rest, "\""))
        return false;
    const uint8_t *quote = memchr(rest->data, '"', rest->size);
    if (quote == NULL)
        return false;
    size_t size = (size_t)(quote - rest->data);
    *ret_string = bb_bytes_of(rest->data, size);
    *rest = bb_bytes_of(quote + 1, rest->size - size - 1);
    return is_plain(*ret_string);
}

bool json_row_read(struct bb_bytes line, struct bb_bytes *ret_key, struct bb_bytes *ret_value)
{
    struct bb_bytes rest = line;
    bool is_row = take(&rest, "{") && take(&rest, "\"key\"") && take(&rest, ":") &&
                  take_string(&rest, ret_key) && take(&rest, ",") && take(&rest, "\"value\"") &&
                  take(&rest, ":") && take_string(&rest, ret_value) && take(&rest, "}");
    skip_blanks(&rest);
    return is_row && rest.size == 0;
}
