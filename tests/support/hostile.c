/* See hostile.h. */
#include "tests/support/hostile.h"

#include <stdlib.h>
#include <string.h>

#include "base/coding.h"
#include "tests/support/assert_status.h"

#define NO_CUT SIZE_MAX

static unsigned digit_value(char digit)
{
    const char *digits = "0123456789abcdef";
    const char *found = strchr(digits, digit);
    assert_true(digit != '\0' && found != NULL);
    return (unsigned)(found - digits);
}

/* Appends one byte, or several with a star and a number. Returns the rest of the digits. */
static const char *append_byte(const char *digits, struct bb_buf *buf)
{
    uint8_t byte = (uint8_t)(digit_value(digits[0]) << 4 | digit_value(digits[1]));
    char *end = NULL;
    unsigned long times = digits[2] == '*' ? strtoul(digits + 3, &end, 10) : 1;
    for (unsigned long i = 0; i < times; i++)
        assert_ok(bb_append_u8(buf, byte));
    return digits[2] == '*' ? end : digits + 2;
}

static const char *append_letters(const char *letters, struct bb_buf *buf)
{
    for (; *letters != '\''; letters++)
        assert_ok(bb_append_u8(buf, (uint8_t)*letters));
    return letters + 1;
}

static void append_digits(const char *digits, struct bb_buf *buf)
{
    while (*digits != '\0') {
        if (*digits == ' ')
            digits++;
        else if (*digits == '\'')
            digits = append_letters(digits + 1, buf);
        else
            digits = append_byte(digits, buf);
    }
}

/* A sound object, or one with other digits in a field, or one that ends inside of a field. */
struct assembly {
    const struct hostile_field *at;
    const struct hostile_case *one;  /* or NULL */
    const struct hostile_field *cut; /* or NULL */
    size_t kept;                     /* bytes of the field that is cut */
    bool is_replaced;
};

static size_t field_size(const struct hostile_field *field)
{
    struct bb_buf buf = {0};
    append_digits(field->digits, &buf);
    size_t size = buf.size;
    bb_buf_deinit(&buf);
    return size;
}

static void append_field(struct assembly *assembly, struct bb_buf *buf)
{
    const struct hostile_field *field = assembly->at;
    size_t begin = buf->size;
    bool is_other = assembly->one != NULL && strcmp(assembly->one->field, field->name) == 0;
    append_digits(is_other ? assembly->one->digits : field->digits, buf);
    assembly->is_replaced |= is_other;
    if (field == assembly->cut)
        buf->size = begin + assembly->kept;
}

static bool is_end(const struct hostile_field *field)
{
    return field->name == NULL || strcmp(field->name, ")") == 0;
}

/* Appends fields up to the end of the enclosing bytes, or up to the cut. */
static void append_fields(struct assembly *assembly, struct bb_buf *buf)
{
    bool is_over = false;
    for (; !is_end(assembly->at); assembly->at++) {
        if (strcmp(assembly->at->name, "(") == 0) {
            struct bb_buf inner = {0};
            assembly->at++;
            append_fields(assembly, &inner);
            if (!is_over)
                assert_ok(bb_append_bytes(buf, bb_buf_bytes(&inner)));
            bb_buf_deinit(&inner);
        } else if (!is_over) {
            append_field(assembly, buf);
            is_over = assembly->at == assembly->cut;
        }
    }
}

static struct bb_bytes exact_copy(struct bb_buf *buf)
{
    uint8_t *data = malloc(buf->size == 0 ? 1 : buf->size);
    assert_non_null(data);
    if (buf->size > 0)
        memcpy(data, buf->data, buf->size);
    struct bb_bytes bytes = {.data = data, .size = buf->size};
    bb_buf_deinit(buf);
    return bytes;
}

struct bb_bytes hostile_bytes(const struct hostile_field *fields, const struct hostile_case *one)
{
    struct bb_buf buf = {0};
    struct assembly assembly = {.at = fields, .one = one};
    append_fields(&assembly, &buf);
    if (one != NULL && !assembly.is_replaced)
        fail_msg("%s: there is no field \"%s\"", one->wrong, one->field);
    return exact_copy(&buf);
}

void hostile_free(struct bb_bytes bytes)
{
    free((void *)(uintptr_t)bytes.data);
}

static enum bb_status decode_and_free(struct bb_bytes bytes, hostile_decode decode,
                                      const void *context)
{
    enum bb_status status = decode(bytes, context);
    hostile_free(bytes);
    return status;
}

static void check_refused(enum bb_status status, const char *answer, const char *wrong,
                          const char *field, size_t kept)
{
    if (status != BB_CORRUPT)
        fail_msg("%s, field \"%s\"%s%zu: status %d", wrong, field, kept == NO_CUT ? " " : ", kept ",
                 kept == NO_CUT ? 0 : kept, (int)status);
    if (answer != NULL)
        assert_message(answer);
}

static void check_cuts(const struct hostile_field *fields, hostile_decode decode,
                       const void *context, const char *answer)
{
    for (const struct hostile_field *cut = fields; cut->name != NULL; cut++) {
        size_t size = cut->digits == NULL ? 0 : field_size(cut);
        for (size_t kept = cut->may_end_before ? 1 : 0; kept < size; kept++) {
            struct bb_buf buf = {0};
            struct assembly assembly = {.at = fields, .cut = cut, .kept = kept};
            append_fields(&assembly, &buf);
            check_refused(decode_and_free(exact_copy(&buf), decode, context), answer, "cut",
                          cut->name, kept);
        }
    }
}

void hostile_check(const struct hostile_field *fields, const struct hostile_case *cases,
                   hostile_decode decode, const void *context, const char *answer)
{
    assert_ok(decode_and_free(hostile_bytes(fields, NULL), decode, context));
    for (; cases->wrong != NULL; cases++)
        check_refused(decode_and_free(hostile_bytes(fields, cases), decode, context), answer,
                      cases->wrong, cases->field, NO_CUT);
    check_cuts(fields, decode, context, answer);
}
