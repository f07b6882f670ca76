/* zeek: fields of Zeek's logs. See bb/record.h. */
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "skip/record/formats.h"
#include "skip/record/number.h"
#include "skip/record/separated.h"

static enum bb_status parse_arguments(struct bb_definition_text *text,
                                      struct bb_definition *definition)
{
    uint8_t byte = bb_definition_text_peek(text);
    definition->separator = '\t';
    return byte >= '0' && byte <= '9'
               ? bb_definition_text_number(text, "the number of a field", 1, BB_RECORD_FIELD_MAX,
                                           &definition->field)
               : bb_separated_parse_column(text, "\t ", false, &definition->field);
}

/* --- Reading --- */

/* Size of the escape at at, which is a backslash; 1 when it is no escape. */
static size_t read_escape(const uint8_t *at, const uint8_t *end, uint8_t *ret_byte)
{
    *ret_byte = '\\';
    if (end - at >= 2 && at[1] == '\\')
        return 2;
    if (end - at < 4 || at[1] != 'x')
        return 1;
    int high = bb_number_hex_digit(at[2]);
    int low = bb_number_hex_digit(at[3]);
    if (high < 0 || low < 0)
        return 1;
    *ret_byte = (uint8_t)(high * 16 + low);
    return 4;
}

static size_t unescape(struct bb_bytes text, uint8_t *target)
{
    const uint8_t *end = text.data + text.size;
    size_t size = 0;
    for (const uint8_t *at = text.data; at < end;) {
        uint8_t byte = *at;
        at += byte == '\\' ? read_escape(at, end, &byte) : 1;
        target[size++] = byte;
    }
    return size;
}

static struct bb_field read_field(struct bb_record *record, struct bb_bytes text)
{
    struct bb_field field = {BB_ATTRIBUTE_PRESENT, text};
    if (text.size == 1 && text.data[0] == '-')
        field.state = BB_ATTRIBUTE_NULL;
    else if (bb_bytes_equal(text, bb_bytes_of("(empty)", 7)))
        field.text.size = 0;
    else if (text.size > 0 && memchr(text.data, '\\', text.size) != NULL) {
        uint8_t *target = bb_scratch_take(record->scratch, text.size);
        if (target == NULL)
            return bb_field_without(BB_ATTRIBUTE_MALFORMED);
        field.text = bb_bytes_of(target, unescape(text, target));
        bb_scratch_shrink(record->scratch, text.size - field.text.size);
    }
    return field;
}

static void read_line(struct bb_pass *pass, struct bb_record *record)
{
    bb_separated_read(pass, record, read_field);
}

static const struct bb_pass_type LINE_PASS = {
    .shares = bb_formats_share_pass,
    .prepare = bb_separated_prepare,
    .read = read_line,
    .release = bb_separated_release,
};

const struct bb_format bb_format_zeek = {
    .name = "zeek",
    .has_arguments = true,
    .parse = parse_arguments,
    .print = bb_separated_print_field,
    .verbatim = bb_formats_verbatim_backslash,
    .pass_type = &LINE_PASS,
};
