/* logfmt: NAME=value NAME="quoted value". See bb/record.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/record/formats.h"
#include "skip/record/json_text.h"
#include "skip/record/pass.h"

/* definition->path */
struct logfmt_name {
    size_t size;
    uint8_t bytes[];
};

/* --- Definitions --- */

static bool is_bare(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9') || byte == '_' ||
           byte == '-' || byte == '.';
}

static size_t bare_size(struct bb_bytes bytes)
{
    size_t size = 0;
    while (size < bytes.size && is_bare(bytes.data[size]))
        size++;
    return size;
}

static enum bb_status parse_name(struct bb_definition_text *text, struct bb_buf *name)
{
    size_t at = bb_definition_text_next(text);
    if (bb_definition_text_peek(text) == '\'')
        return bb_definition_text_string(text, "a name", name);
    struct bb_bytes rest = bb_bytes_of(text->bytes.data + at, text->bytes.size - at);
    text->at += bare_size(rest);
    return bb_buf_append(name, rest.data, bare_size(rest));
}

/* Names that no line can have. */
static bool is_possible(const struct bb_buf *name)
{
    for (size_t i = 0; i < name->size; i++) {
        if (name->data[i] <= ' ' || name->data[i] == '=')
            return false;
    }
    return name->size > 0;
}

static enum bb_status keep_name(struct bb_definition *definition, const struct bb_buf *name)
{
    struct logfmt_name *copy = bb_alloc(sizeof(*copy) + name->size);
    if (copy == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a name");
    copy->size = name->size;
    memcpy(copy->bytes, name->data, name->size);
    definition->path = copy;
    return BB_OK;
}

static enum bb_status parse_arguments(struct bb_definition_text *text,
                                      struct bb_definition *definition)
{
    struct bb_buf name = {0};
    size_t at = bb_definition_text_next(text);
    enum bb_status status = parse_name(text, &name);
    if (status == BB_OK && !is_possible(&name))
        status = bb_definition_text_fail(text, at, "expected a name without blanks and '='");
    if (status == BB_OK)
        status = keep_name(definition, &name);
    bb_buf_deinit(&name);
    return status;
}

static struct bb_bytes name_of(const struct bb_definition *definition)
{
    const struct logfmt_name *name = definition->path;
    return bb_bytes_of(name->bytes, name->size);
}

static enum bb_status print_arguments(const struct bb_definition *definition, struct bb_buf *buf)
{
    struct bb_bytes name = name_of(definition);
    return bare_size(name) == name.size ? bb_buf_append(buf, name.data, name.size)
                                        : bb_definition_text_print_string(buf, name);
}

/* --- Reading --- */

/* A line from left to right. */
struct logfmt_cursor {
    const uint8_t *at;
    const uint8_t *end;
};

struct logfmt_pair {
    struct bb_bytes name;
    struct bb_field value; /* between the quotes, if it has some */
    bool has_escape;
};

static bool is_blank(uint8_t byte)
{
    return byte <= ' ';
}

static const uint8_t *find_end_quote(const uint8_t *at, const uint8_t *end, bool *ret_has_escape)
{
    for (; at < end && *at != '"'; at++) {
        if (*at != '\\')
            continue;
        *ret_has_escape = true;
        if (++at == end)
            return NULL;
    }
    return at < end ? at : NULL;
}

static void skip_word(struct logfmt_cursor *cursor)
{
    while (cursor->at < cursor->end && !is_blank(*cursor->at))
        cursor->at++;
}

/* False when the quotes have no end: bytes after them cannot be read. */
static bool take_quoted(struct logfmt_cursor *cursor, struct logfmt_pair *pair)
{
    const uint8_t *first = cursor->at + 1;
    const uint8_t *last = find_end_quote(first, cursor->end, &pair->has_escape);
    if (last == NULL)
        return false;
    cursor->at = last + 1;
    pair->value = bb_field_of(first, last);
    if (cursor->at < cursor->end && !is_blank(*cursor->at)) {
        pair->value.state = BB_ATTRIBUTE_MALFORMED;
        skip_word(cursor);
    }
    return true;
}

/* REQUIRES: no blank is next, and not the end. */
static bool take_pair(struct logfmt_cursor *cursor, struct logfmt_pair *pair)
{
    BB_DEBUG_ASSERT(cursor->at < cursor->end && !is_blank(*cursor->at));
    const uint8_t *first = cursor->at;
    while (cursor->at < cursor->end && !is_blank(*cursor->at) && *cursor->at != '=')
        cursor->at++;
    *pair = (struct logfmt_pair){.name = {first, (size_t)(cursor->at - first)},
                                 .value.state = BB_ATTRIBUTE_NULL};
    if (cursor->at == cursor->end || *cursor->at != '=')
        return true;
    first = ++cursor->at;
    if (first < cursor->end && *first == '"')
        return take_quoted(cursor, pair);
    skip_word(cursor);
    pair->value = bb_field_of(first, cursor->at);
    return true;
}

/* A code of "\uNNNN", or of two that are a pair; moves *at past it. */
static bool read_code(const uint8_t **at, const uint8_t *end, uint8_t **target)
{
    uint32_t code;
    if (!bb_json_text_read_code(at, end, &code))
        return false;
    *target += bb_json_text_encode_utf8(code, *target);
    return true;
}

static bool unescape(struct bb_bytes text, uint8_t *target, size_t *ret_size)
{
    static const char names[] = "nrtbf";
    static const char values[] = "\n\r\t\b\f";
    const uint8_t *end = text.data + text.size;
    uint8_t *first = target;
    for (const uint8_t *at = text.data; at < end;) {
        uint8_t byte = *at++;
        if (byte == '\\') {
            byte = *at++; /* a quote after it would have been escaped: it is not the last */
            if (byte == 'u') {
                if (!read_code(&at, end, &target))
                    return false;
                continue;
            }
            const char *found = byte == 0 ? NULL : strchr(names, byte);
            byte = found == NULL ? byte : (uint8_t)values[found - names];
        }
        *target++ = byte;
    }
    *ret_size = (size_t)(target - first);
    return true;
}

static struct bb_field value_of(const struct logfmt_pair *pair, struct bb_record *record)
{
    struct bb_field field = pair->value;
    size_t size = field.text.size, used = 0;
    if (field.state != BB_ATTRIBUTE_PRESENT || !pair->has_escape)
        return field;
    uint8_t *target = bb_scratch_take(record->scratch, size);
    if (target == NULL)
        return bb_field_without(BB_ATTRIBUTE_MALFORMED);
    if (unescape(field.text, target, &used))
        field.text = bb_bytes_of(target, used);
    else
        field.state = BB_ATTRIBUTE_MALFORMED;
    bb_scratch_shrink(record->scratch, size - used);
    return field;
}

/* pass->state: whether the slot was found in the current record. */
static void set_all_others(struct bb_pass *pass, struct bb_record *record,
                           enum bb_attribute_state state)
{
    const bool *is_found = pass->state;
    for (size_t i = 0; i < pass->slot_count; i++) {
        if (!is_found[i])
            bb_slot_set(&pass->slots[i], record, bb_field_without(state));
    }
}

/* Gives how many slots want the pair. */
static size_t set_pair(struct bb_pass *pass, struct bb_record *record,
                       const struct logfmt_pair *pair)
{
    bool *is_found = pass->state;
    struct bb_field field = {0};
    size_t count = 0;
    for (size_t i = 0; i < pass->slot_count; i++) {
        if (is_found[i] || !bb_bytes_equal(name_of(pass->slots[i].definition), pair->name))
            continue;
        if (count++ == 0)
            field = value_of(pair, record);
        is_found[i] = true;
        bb_slot_set(&pass->slots[i], record, field);
    }
    return count;
}

static void read_line(struct bb_pass *pass, struct bb_record *record)
{
    struct logfmt_cursor cursor = {record->line.data, record->line.data + record->line.size};
    struct logfmt_pair pair;
    size_t left = pass->slot_count;
    memset(pass->state, 0, pass->slot_count * sizeof(bool));
    while (left > 0 && cursor.at < cursor.end) {
        if (is_blank(*cursor.at)) {
            cursor.at++;
        } else if (take_pair(&cursor, &pair)) {
            left -= set_pair(pass, record, &pair);
        } else {
            set_all_others(pass, record, BB_ATTRIBUTE_MALFORMED);
            return;
        }
    }
    set_all_others(pass, record, BB_ATTRIBUTE_MISSING);
}

static enum bb_status prepare(struct bb_pass *pass)
{
    pass->state = bb_alloc_zeroed(pass->slot_count, sizeof(bool));
    return pass->state == NULL ? BB_NO_MEMORY : BB_OK;
}

static void release(struct bb_pass *pass)
{
    bb_free(pass->state);
}

static const struct bb_pass_type LINE_PASS = {
    .shares = bb_formats_share_pass,
    .prepare = prepare,
    .read = read_line,
    .release = release,
};

const struct bb_format bb_format_logfmt = {
    .name = "logfmt",
    .has_arguments = true,
    .parse = parse_arguments,
    .print = print_arguments,
    .verbatim = bb_formats_verbatim_backslash,
    .pass_type = &LINE_PASS,
};
