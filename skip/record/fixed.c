/* fixed: numbers and bytes at a fixed offset of the value. See bb/record.h. */
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "skip/record/formats.h"
#include "skip/record/pass.h"

enum fixed_kind { FIXED_UNSIGNED, FIXED_SIGNED, FIXED_FLOAT, FIXED_BYTES };

struct fixed_form {
    const char *name;
    uint8_t kind;
    uint8_t size; /* of BYTES in the definition */
    bool is_big_endian;
};

static const struct fixed_form FORMS[] = {
    {"u8", FIXED_UNSIGNED, 1, false},    {"i8", FIXED_SIGNED, 1, false},
    {"u16le", FIXED_UNSIGNED, 2, false}, {"u16be", FIXED_UNSIGNED, 2, true},
    {"i16le", FIXED_SIGNED, 2, false},   {"i16be", FIXED_SIGNED, 2, true},
    {"u32le", FIXED_UNSIGNED, 4, false}, {"u32be", FIXED_UNSIGNED, 4, true},
    {"i32le", FIXED_SIGNED, 4, false},   {"i32be", FIXED_SIGNED, 4, true},
    {"u64le", FIXED_UNSIGNED, 8, false}, {"u64be", FIXED_UNSIGNED, 8, true},
    {"i64le", FIXED_SIGNED, 8, false},   {"i64be", FIXED_SIGNED, 8, true},
    {"f32le", FIXED_FLOAT, 4, false},    {"f32be", FIXED_FLOAT, 4, true},
    {"f64le", FIXED_FLOAT, 8, false},    {"f64be", FIXED_FLOAT, 8, true},
    {"bytes", FIXED_BYTES, 0, false},
};

#define OFFSET_MAX ((uint64_t)1 << 40)

/* --- Definitions --- */

static bool gives_type(const struct fixed_form *form, const struct bb_definition *definition)
{
    switch (definition->type) {
    case BB_ATTRIBUTE_BYTES:
        return form->kind == FIXED_BYTES;
    case BB_ATTRIBUTE_I64:
        return form->kind != FIXED_FLOAT;
    case BB_ATTRIBUTE_U64:
        return form->kind == FIXED_UNSIGNED || form->kind == FIXED_BYTES;
    case BB_ATTRIBUTE_F64:
        return form->kind == FIXED_FLOAT || form->kind == FIXED_BYTES;
    case BB_ATTRIBUTE_TIME:
        break;
    }
    return form->kind == FIXED_BYTES ||
           (form->kind != FIXED_FLOAT && bb_time_format_has_unit(&definition->time));
}

static enum bb_status parse_form(struct bb_definition_text *text, struct bb_definition *definition)
{
    struct bb_bytes name;
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_word(
        text, "u8, i8, u16le, u16be, ... i64be, f32le, f32be, f64le, f64be or bytes", &name);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(FORMS); i++) {
        if (!bb_bytes_equal(name, bb_bytes_of_text(FORMS[i].name)))
            continue;
        if (!gives_type(&FORMS[i], definition))
            return bb_definition_text_fail(text, at, "%s does not give %s", FORMS[i].name,
                                           bb_attribute_type_name(definition->type));
        definition->form = (int)i;
        definition->size = FORMS[i].size;
        return BB_OK;
    }
    return bb_definition_text_fail(text, at,
                                   "unknown form, expected u8, i8, u16le, u16be, ... i64be, f32le, "
                                   "f32be, f64le, f64be or bytes");
}

static enum bb_status parse_arguments(struct bb_definition_text *text,
                                      struct bb_definition *definition)
{
    enum bb_status status =
        bb_definition_text_number(text, "an offset", 0, OFFSET_MAX, &definition->field);
    if (status == BB_OK)
        status = bb_definition_text_expect(text, ',');
    if (status == BB_OK)
        status = parse_form(text, definition);
    if (status == BB_OK && definition->size == 0)
        status = bb_definition_text_number(text, "a length", 1, OFFSET_MAX, &definition->size);
    return status;
}

static enum bb_status print_arguments(const struct bb_definition *definition, struct bb_buf *buf)
{
    const struct fixed_form *form = &FORMS[definition->form];
    enum bb_status status =
        bb_buf_print(buf, "%llu, %s", (unsigned long long)definition->field, form->name);
    return status == BB_OK && form->kind == FIXED_BYTES
               ? bb_buf_print(buf, " %llu", (unsigned long long)definition->size)
               : status;
}

/* --- Reading --- */

static uint64_t load(const uint8_t *bytes, const struct fixed_form *form)
{
    uint64_t value = 0;
    for (size_t i = 0; i < form->size; i++)
        value = value << 8 | bytes[form->is_big_endian ? i : form->size - 1 - i];
    return value;
}

static double float_of(uint64_t bits, size_t size)
{
    float narrow;
    uint32_t narrow_bits = (uint32_t)bits;
    memcpy(&narrow, &narrow_bits, sizeof(narrow));
    return size == sizeof(narrow) ? (double)narrow : bb_double_of_bits(bits);
}

/* Integers of I64 and TIME. */
static bool set_signed(const struct bb_definition *definition, const struct fixed_form *form,
                       uint64_t bits, struct bb_attribute *attribute)
{
    unsigned spare = 64 - 8 * (unsigned)form->size;
    int64_t value = form->kind == FIXED_SIGNED ? (int64_t)(bits << spare) >> spare : (int64_t)bits;
    if (form->kind == FIXED_UNSIGNED && value < 0)
        return false;
    if (definition->type == BB_ATTRIBUTE_TIME)
        return bb_time_format_of_integer(&definition->time, value, &attribute->as.i64);
    attribute->as.i64 = value;
    return true;
}

static bool set_number(const struct bb_definition *definition, const uint8_t *bytes,
                       struct bb_attribute *attribute)
{
    const struct fixed_form *form = &FORMS[definition->form];
    uint64_t bits = load(bytes, form);
    if (definition->type == BB_ATTRIBUTE_U64)
        attribute->as.u64 = bits;
    else if (definition->type == BB_ATTRIBUTE_F64)
        attribute->as.f64 = float_of(bits, form->size);
    else
        return set_signed(definition, form, bits, attribute);
    return true;
}

static void read_slot(struct bb_slot *slot, struct bb_record *record)
{
    const struct bb_definition *definition = slot->definition;
    struct bb_attribute *attribute = &record->attributes[slot->attribute];
    uint64_t size = record->value.size;
    if (definition->field > size || definition->size > size - definition->field) {
        bb_slot_set(slot, record, bb_field_without(BB_ATTRIBUTE_MISSING));
        return;
    }
    const uint8_t *bytes = record->value.data + definition->field;
    if (FORMS[definition->form].kind == FIXED_BYTES) {
        bb_slot_set(slot, record, bb_field_of(bytes, bytes + definition->size));
        return;
    }
    attribute->type = definition->type;
    attribute->state =
        set_number(definition, bytes, attribute) ? BB_ATTRIBUTE_PRESENT : BB_ATTRIBUTE_MALFORMED;
}

static void read_value(struct bb_pass *pass, struct bb_record *record)
{
    for (size_t i = 0; i < pass->slot_count; i++)
        read_slot(&pass->slots[i], record);
}

static const struct bb_pass_type VALUE_PASS = {.shares = bb_formats_share_pass, .read = read_value};

/* Numbers may be text too. */
static enum bb_verbatim verbatim(const struct bb_definition *definition, uint8_t *ret_escape)
{
    (void)ret_escape;
    return FORMS[definition->form].kind == FIXED_BYTES ? BB_VERBATIM_ALWAYS : BB_VERBATIM_NEVER;
}

const struct bb_format bb_format_fixed = {
    .name = "fixed",
    .has_arguments = true,
    .parse = parse_arguments,
    .print = print_arguments,
    .verbatim = verbatim,
    .pass_type = &VALUE_PASS,
};
