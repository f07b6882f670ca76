/* clf: the common and combined log of Apache and nginx.
 *
 *     host ident user [time] "request" status bytes "referer" "agent"
 *
 * See bb/record.h. A line is read up to the last requested field.
 */
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "skip/record/formats.h"
#include "skip/record/separated.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
    return bb_definition_text_fail(
        text, at,
        "unknown field, expected host, ident, user, time, request, method, "
        "path, protocol, status, bytes, referer or agent");
}

static enum bb_status print_arguments(const struct bb_definition *definition, struct bb_buf *buf)
{
    return bb_buf_print(buf, "%s", FIELD_NAMES[definition->field]);
}

/* --- Reading --- */

/* A line from left to right. Fields that are not reached keep the state MISSING. Fields without a
 * text have an undefined one. */
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
    struct bb_field *set = &cursor->fields[field];
    bool is_null = last - first == 1 && *first == '-';
    set->state = is_null ? BB_ATTRIBUTE_NULL : BB_ATTRIBUTE_PRESENT;
    set->text = bb_bytes_of(first, (size_t)(last - first));
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

#define NEAR 16

#ifdef __SSE2__

/* The first such byte of 16; NEAR: there is no such byte. */
static inline unsigned place_of(const uint8_t *at, uint8_t byte)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)at);
    int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)byte)));
    return (unsigned)__builtin_ctz((unsigned)found | 1u << NEAR);
}

#else

/* The top bit of each byte of the word that equals `byte`, exact up to the first of them. */
static inline uint64_t marks_of(uint64_t word, uint8_t byte)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t differences = word ^ ones * byte;
    return (differences - ones) & ~differences & ones << 7;
}

/* The first such byte of 16; NEAR: there is no such byte. */
static inline unsigned place_of(const uint8_t *at, uint8_t byte)
{
    uint64_t low = marks_of(bb_load64(at), byte);
    uint64_t high = marks_of(bb_load64(at + 8), byte);
    if ((low | high) == 0)
        return NEAR;
    unsigned bit = (unsigned)__builtin_ctzll(low != 0 ? low : high);
    return (low != 0 ? 0 : 8) + bit / 8;
}

#endif

/* The first such byte, or the end. WHY not memchr: most words and times end in the first 16 or 32
 * bytes, and a step of 16 has no branch that depends on where. */
static const uint8_t *find_near(const uint8_t *at, const uint8_t *end, uint8_t byte)
{
    for (; end - at >= NEAR; at += NEAR) {
        unsigned place = place_of(at, byte);
        if (place < NEAR)
            return at + place;
    }
    while (at < end && *at != byte)
        at++;
    return at;
}

static bool take_word(struct clf_cursor *cursor, enum clf_field field)
{
    const uint8_t *first = cursor->at;
    cursor->at = find_near(first, cursor->end, ' ');
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
        mark = find_near(mark, cursor->end, '[');
        if (mark == cursor->end)
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
    const uint8_t *last = find_near(first, cursor->end, ']');
    if (last == cursor->end)
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
        fields[i].state = BB_ATTRIBUTE_MISSING;
    read_fields(&cursor, last);
    if (wants_parts_of_request(pass) && fields[CLF_REQUEST].state != BB_ATTRIBUTE_MISSING)
        split_request(&cursor);
    for (size_t i = 0; i < pass->slot_count; i++) {
        const struct bb_field *field = &fields[pass->slots[i].definition->field];
        bb_pass_slot_set_text(&pass->slots[i], record, field->state, field->text);
    }
}

static enum bb_status prepare(struct bb_pass *pass)
{
    bb_separated_sort_slots(pass->slots, pass->slot_count);
    return BB_OK;
}

static const struct bb_pass_type LINE_PASS = {
    .shares = bb_formats_share_pass,
    .prepare = prepare,
    .read = read_line,
};

static uint8_t byte_before(const struct bb_definition *definition)
{
    switch ((enum clf_field)definition->field) {
    case CLF_HOST:
        return 0;
    case CLF_TIME:
        return '[';
    case CLF_REQUEST:
    case CLF_METHOD:
    case CLF_REFERER:
    case CLF_AGENT:
        return '"';
    default:
        return ' ';
    }
}

const struct bb_format bb_format_clf = {
    .name = "clf",
    .has_arguments = true,
    .parse = parse_arguments,
    .print = print_arguments,
    .verbatim = bb_formats_verbatim_always,
    .byte_before = byte_before,
    .pass_type = &LINE_PASS,
};
