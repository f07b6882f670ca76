/* clf: the common and combined log of Apache and nginx.
 *
 *     host ident user [time] "request" status bytes "referer" "agent"
 *
 * See bb/record.h. A line is read up to the last field that is wanted.
 */
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "skip/record/formats.h"
#include "skip/record/separated.h"

/* In the order of the line; the parts of the request after it. */
enum clf_field {
    CLF_HOST,
    CLF_IDENT,
    CLF_USER,
    CLF_TIME,
    CLF_REQUEST,
    CLF_METHOD,
    CLF_PATH,
    CLF_PROTOCOL,
    CLF_STATUS,
    CLF_BYTES,
    CLF_REFERER,
    CLF_AGENT,
    CLF_FIELD_COUNT,
};

static const char *const FIELD_NAMES[CLF_FIELD_COUNT] = {
    "host", "ident",    "user",   "time",  "request", "method",
    "path", "protocol", "status", "bytes", "referer", "agent",
};

static enum bb_status parse_arguments(struct bb_definition_text *text,
                                      struct bb_definition *definition)
{
    struct bb_bytes name;
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_word(text, "a field of the log", &name);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < CLF_FIELD_COUNT; i++) {
        if (bb_bytes_equal(name, bb_bytes_of_text(FIELD_NAMES[i]))) {
            definition->field = i;
            return BB_OK;
        }
    }
    return bb_definition_fail(text, at,
                              "unknown field, expected host, ident, user, time, request, method, "
                              "path, protocol, status, bytes, referer or agent");
}

static enum bb_status print_arguments(const struct bb_definition *definition, struct bb_buf *buf)
{
    return bb_buf_print(buf, "%s", FIELD_NAMES[definition->field]);
}

/* --- Reading --- */

/* A line from left to right. Fields that are not reached keep the state MISSING. */
struct clf_cursor {
    const uint8_t *at;
    const uint8_t *end;
    struct bb_field *fields;
};

/* This field, and all that are not read yet, are not where they must be. */
static bool damage(struct clf_cursor *cursor, enum clf_field field)
{
    for (int i = (int)field; i < CLF_FIELD_COUNT; i++)
        cursor->fields[i].state = BB_ATTRIBUTE_MALFORMED;
    return false;
}

static void set_field(struct clf_cursor *cursor, enum clf_field field, const uint8_t *first,
                      const uint8_t *last)
{
    bool is_null = last - first == 1 && *first == '-';
    cursor->fields[field] =
        is_null ? bb_field_without(BB_ATTRIBUTE_NULL) : bb_field_of(first, last);
}

/* The blank between two fields; false at the end of the line, where all that follows is missing. */
static bool take_blank(struct clf_cursor *cursor, enum clf_field next)
{
    if (cursor->at == cursor->end)
        return false;
    if (*cursor->at != ' ')
        return damage(cursor, next);
    cursor->at++;
    return true;
}

static const uint8_t *find(const uint8_t *at, const uint8_t *end, uint8_t byte)
{
    return memchr(at, byte, (size_t)(end - at));
}

/* Words are short: a loop beats a call. */
static bool take_word(struct clf_cursor *cursor, enum clf_field field)
{
    const uint8_t *first = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != ' ')
        cursor->at++;
    if (cursor->at == first)
        return first == cursor->end ? false : damage(cursor, field);
    set_field(cursor, field, first, cursor->at);
    return true;
}

/* Up to " [": names of users have blanks at times. */
static bool take_user(struct clf_cursor *cursor)
{
    const uint8_t *first = cursor->at;
    const uint8_t *mark = cursor->at;
    if (mark == cursor->end)
        return false;
    do {
        mark = find(mark, cursor->end, '[');
        if (mark == NULL)
            return damage(cursor, CLF_USER);
        mark++;
    } while (mark - first < 3 || mark[-2] != ' ');
    set_field(cursor, CLF_USER, first, mark - 2);
    cursor->at = mark - 2;
    return true;
}

static bool take_time(struct clf_cursor *cursor)
{
    /* take_user has seen the mark. */
    const uint8_t *first = cursor->at + 1;
    const uint8_t *last = find(first, cursor->end, ']');
    if (last == NULL)
        return damage(cursor, CLF_TIME);
    set_field(cursor, CLF_TIME, first, last);
    cursor->at = last + 1;
    return true;
}

/* The quote that ends a field: an odd number of backslashes before it keeps it from doing so. */
static const uint8_t *find_end_quote(const uint8_t *first, const uint8_t *end)
{
    for (const uint8_t *at = first; (at = find(at, end, '"')) != NULL; at++) {
        const uint8_t *back = at;
        while (back > first && back[-1] == '\\')
            back--;
        if ((at - back) % 2 == 0)
            return at;
    }
    return NULL;
}

static bool take_quoted(struct clf_cursor *cursor, enum clf_field field)
{
    if (cursor->at == cursor->end)
        return false;
    const uint8_t *first = cursor->at + 1;
    const uint8_t *last = *cursor->at == '"' ? find_end_quote(first, cursor->end) : NULL;
    if (last == NULL)
        return damage(cursor, field);
    set_field(cursor, field, first, last);
    cursor->at = last + 1;
    return true;
}

/* "GET /path HTTP/1.1" */
static void split_request(struct clf_cursor *cursor)
{
    struct bb_field request = cursor->fields[CLF_REQUEST];
    for (int i = CLF_METHOD; i <= CLF_PROTOCOL; i++)
        cursor->fields[i].state = request.state;
    if (request.state != BB_ATTRIBUTE_PRESENT)
        return;
    const uint8_t *end = request.text.data + request.text.size;
    const uint8_t *blank = find(request.text.data, end, ' ');
    if (blank == NULL || blank == request.text.data) {
        for (int i = CLF_METHOD; i <= CLF_PROTOCOL; i++)
            cursor->fields[i].state = BB_ATTRIBUTE_MALFORMED;
        return;
    }
    cursor->fields[CLF_METHOD] = bb_field_of(request.text.data, blank);
    const uint8_t *last = memrchr(blank, ' ', (size_t)(end - blank));
    bool has_protocol = last > blank && end - last > 5 && memcmp(last + 1, "HTTP/", 5) == 0;
    cursor->fields[CLF_PATH] = bb_field_of(blank + 1, has_protocol ? last : end);
    cursor->fields[CLF_PROTOCOL] =
        has_protocol ? bb_field_of(last + 1, end) : bb_field_without(BB_ATTRIBUTE_MISSING);
}

static bool take_field(struct clf_cursor *cursor, enum clf_field field)
{
    switch (field) {
    case CLF_USER:
        return take_user(cursor);
    case CLF_TIME:
        return take_time(cursor);
    case CLF_REQUEST:
    case CLF_REFERER:
    case CLF_AGENT:
        return take_quoted(cursor, field);
    default:
        return take_word(cursor, field);
    }
}

static void read_fields(struct clf_cursor *cursor, enum clf_field last)
{
    static const enum clf_field order[] = {CLF_HOST,  CLF_IDENT,   CLF_USER,
                                           CLF_TIME,  CLF_REQUEST, CLF_STATUS,
                                           CLF_BYTES, CLF_REFERER, CLF_AGENT};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(order) && order[i] <= last; i++) {
        if (i > 0 && !take_blank(cursor, order[i]))
            return;
        if (!take_field(cursor, order[i]))
            return;
    }
}

static bool wants_parts_of_request(const struct bb_pass *pass)
{
    for (size_t i = 0; i < pass->slot_count; i++) {
        size_t field = pass->slots[i].definition->field;
        if (field >= CLF_METHOD && field <= CLF_PROTOCOL)
            return true;
    }
    return false;
}

static void read_line(struct bb_pass *pass, struct bb_record *record)
{
    struct bb_field fields[CLF_FIELD_COUNT];
    struct clf_cursor cursor = {record->line.data, record->line.data + record->line.size, fields};
    enum clf_field last = (enum clf_field)pass->slots[pass->slot_count - 1].definition->field;
    for (size_t i = 0; i < CLF_FIELD_COUNT; i++)
        fields[i] = bb_field_without(BB_ATTRIBUTE_MISSING);
    read_fields(&cursor, last);
    if (wants_parts_of_request(pass) && fields[CLF_REQUEST].state != BB_ATTRIBUTE_MISSING)
        split_request(&cursor);
    for (size_t i = 0; i < pass->slot_count; i++)
        bb_slot_set(&pass->slots[i], record, fields[pass->slots[i].definition->field]);
}

static enum bb_status prepare(struct bb_pass *pass)
{
    bb_slots_sort(pass->slots, pass->slot_count);
    return BB_OK;
}

static const struct bb_pass_type LINE_PASS = {
    .shares = bb_pass_shares_all,
    .prepare = prepare,
    .read = read_line,
};

const struct bb_format bb_format_clf = {
    .name = "clf",
    .has_arguments = true,
    .parse = parse_arguments,
    .print = print_arguments,
    .verbatim = bb_verbatim_always,
    .pass_type = &LINE_PASS,
};
