/* import text: the form of mdb_dump and db_dump, drawn in docs/tools.md. */
#include "base/buf.h"
#include "base/bytes.h"
#include "tools/output/escape.h"
#include "tools/import/import.h"
#include "tools/import/import_lines.h"
#include "tools/keys/key_reader.h"

struct text_import {
    struct import *import; /* borrowed */
    struct import_lines lines;
    bool has_version;
    bool is_print; /* else every byte is two digits */
    struct bb_buf key;
    struct bb_buf value;
};

/* ---- header ---- */

static bool is_line(const struct text_import *text, const char *expected)
{
    return bb_bytes_equal(text->lines.line, bb_bytes_of_text(expected));
}

static bool begins_with(const struct text_import *text, const char *prefix)
{
    struct bb_bytes line = text->lines.line;
    size_t size = strlen(prefix);
    return line.size >= size && memcmp(line.data, prefix, size) == 0;
}

static enum bb_status take_header_line(struct text_import *text)
{
    const struct import_lines *lines = &text->lines;
    if (is_line(text, "VERSION=3"))
        text->has_version = true;
    else if (is_line(text, "format=print"))
        text->is_print = true;
    else if (is_line(text, "format=bytevalue"))
        text->is_print = false;
    else if (begins_with(text, "VERSION=") || begins_with(text, "format="))
        return import_lines_fail(lines, "VERSION=3 and the formats print and bytevalue are known");
    else if (begins_with(text, "type=") && !is_line(text, "type=btree") &&
             !is_line(text, "type=hash"))
        return import_lines_fail(lines, "only the types btree and hash have keys and values");
    else if (is_line(text, "duplicates=1") || is_line(text, "dupsort=1"))
        return import_lines_fail(lines, "a key with several values has no place in a store");
    else if (memchr(lines->line.data, '=', lines->line.size) == NULL)
        return import_lines_fail(lines, "a header line is NAME=VALUE");
    return BB_OK;
}

static enum bb_status read_header(struct text_import *text)
{
    bool has = true;
    for (;;) {
        enum bb_status status = import_lines_next(&text->lines, &has);
        if (status != BB_OK)
            return status;
        if (!has)
            return import_lines_fail(&text->lines, "the file ends before HEADER=END");
        if (is_line(text, "HEADER=END"))
            break;
        status = take_header_line(text);
        if (status != BB_OK)
            return status;
    }
    return text->has_version ? BB_OK
                             : import_lines_fail(&text->lines, "the header has no VERSION=3");
}

/* ---- data ---- */

static int digit(uint8_t character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    return character >= 'A' && character <= 'F' ? character - 'A' + 10 : -1;
}

/* A backslash precedes another backslash, or two digits. Decoding works in place, since the result
 * is never longer. */
static bool unescape(struct bb_buf *buf)
{
    size_t to = 0;
    for (size_t from = 0; from < buf->size; to++) {
        uint8_t *bytes = buf->data;
        if (bytes[from] != '\\') {
            bytes[to] = bytes[from++];
        } else if (from + 1 < buf->size && bytes[from + 1] == '\\') {
            bytes[to] = '\\';
            from += 2;
        } else {
            if (from + 2 >= buf->size || digit(bytes[from + 1]) < 0 || digit(bytes[from + 2]) < 0)
                return false;
            bytes[to] = (uint8_t)(digit(bytes[from + 1]) * 16 + digit(bytes[from + 2]));
            from += 3;
        }
    }
    buf->size = to;
    return true;
}

static enum bb_status decode(struct text_import *text, struct bb_buf *buf)
{
    struct bb_bytes line = text->lines.line;
    if (line.size == 0 || line.data[0] != ' ')
        return import_lines_fail(&text->lines, "a line of data begins with a blank");
    struct bb_bytes rest = bb_bytes_of(line.data + 1, line.size - 1);
    bb_buf_reset(buf);
    enum bb_status status = text->is_print ? bb_buf_assign(buf, rest) : hex_decode(rest, buf);
    if (status == BB_INVALID)
        return import_lines_fail(&text->lines, "not pairs of hexadecimal digits");
    if (status == BB_OK && text->is_print && !unescape(buf))
        return import_lines_fail(
            &text->lines,
            "a backslash must be followed by another one or by two hexadecimal digits");
    return status;
}

static enum bb_status next_line(struct text_import *text)
{
    bool has = false;
    enum bb_status status = import_lines_next(&text->lines, &has);
    if (status != BB_OK)
        return status;
    progress_add(&text->import->progress, text->lines.line.size + 1);
    return has ? BB_OK
               : import_lines_fail(&text->lines, "the file ends before DATA=END: it is incomplete");
}

static enum bb_status read_data(struct text_import *text)
{
    for (;;) {
        enum bb_status status = next_line(text);
        if (status == BB_OK && is_line(text, "DATA=END"))
            return BB_OK;
        if (status == BB_OK)
            status = decode(text, &text->key);
        if (status == BB_OK)
            status = next_line(text);
        if (status == BB_OK && is_line(text, "DATA=END"))
            return import_lines_fail(&text->lines, "a key without a value");
        if (status == BB_OK)
            status = decode(text, &text->value);
        if (status == BB_OK)
            status = import_put(text->import, bb_buf_bytes(&text->key), bb_buf_bytes(&text->value));
        if (status != BB_OK)
            return status;
    }
}

static enum bb_status expect_end(struct text_import *text)
{
    bool has = false;
    enum bb_status status = import_lines_next(&text->lines, &has);
    if (status == BB_OK && has)
        return import_lines_fail(&text->lines,
                                 "something follows DATA=END; one database makes a store");
    return status;
}

static enum bb_status import_data(struct text_import *text, const char *directory)
{
    char *paths[] = {(char *)text->lines.path};
    enum bb_status status = import_begin(text->import, directory, key_reader_size_bytes(paths, 1));
    if (status == BB_OK)
        status = read_data(text);
    if (status == BB_OK)
        status = expect_end(text);
    return import_end(text->import, status);
}

enum bb_status import_text(struct import *import, const char *source, const char *directory)
{
    struct text_import text = {.import = import};
    enum bb_status status = import_lines_open(&text.lines, source);
    if (status == BB_OK)
        status = read_header(&text);
    if (status == BB_OK)
        status = import_data(&text, directory);
    import_lines_close(&text.lines);
    bb_buf_deinit(&text.key);
    bb_buf_deinit(&text.value);
    return status;
}
