/* The extractors key and value: all bytes of the key or of the value. */
#include "skip/record/formats.h"
#include "skip/record/pass.h"

static void read_key(struct bb_pass *pass, struct bb_record *record)
{
    struct bb_field field = {BB_ATTRIBUTE_PRESENT, record->key};
    for (size_t i = 0; i < pass->slot_count; i++)
        bb_slot_set(&pass->slots[i], record, field);
}

static void read_whole_value(struct bb_pass *pass, struct bb_record *record)
{
    struct bb_field field = {BB_ATTRIBUTE_PRESENT, record->value};
    for (size_t i = 0; i < pass->slot_count; i++)
        bb_slot_set(&pass->slots[i], record, field);
}

static const struct bb_pass_type KEY_PASS = {.shares = bb_formats_share_pass, .read = read_key};
static const struct bb_pass_type VALUE_PASS = {.shares = bb_formats_share_pass,
                                               .read = read_whole_value};

const struct bb_format bb_format_key = {
    .name = "key",
    .verbatim = bb_formats_verbatim_never,
    .pass_type = &KEY_PASS,
};

const struct bb_format bb_format_value = {
    .name = "value",
    .verbatim = bb_formats_verbatim_always,
    .pass_type = &VALUE_PASS,
};
