/* See pass.h. */
#include "skip/record/pass.h"

#include "skip/record/number.h"

/* The value of a text for the types that are not bytes; false when it is no value of the type. */
static bool read_value(struct bb_slot *slot, struct bb_bytes text, struct bb_attribute *attribute)
{
    switch (slot->definition->type) {
    case BB_ATTRIBUTE_BYTES:
        attribute->as.bytes = text;
        return true;
    case BB_ATTRIBUTE_I64:
        return bb_number_i64(text, &attribute->as.i64);
    case BB_ATTRIBUTE_U64:
        return bb_number_u64(text, &attribute->as.u64);
    case BB_ATTRIBUTE_F64:
        return bb_number_f64(text, &attribute->as.f64);
    case BB_ATTRIBUTE_TIME:
        break;
    }
    return bb_time_memo_read(&slot->time, &slot->definition->time, text, &attribute->as.i64);
}

void bb_pass_slot_set_text(struct bb_slot *slot, struct bb_record *record,
                           enum bb_attribute_state state, struct bb_bytes text)
{
    const struct bb_definition *definition = slot->definition;
    struct bb_attribute *attribute = &record->attributes[slot->attribute];
    attribute->type = definition->type;
    attribute->state = state;
    if (state != BB_ATTRIBUTE_PRESENT)
        return;
    if (text.size == 0 && definition->type != BB_ATTRIBUTE_BYTES)
        attribute->state = BB_ATTRIBUTE_NULL;
    else if (!read_value(slot, text, attribute))
        attribute->state = BB_ATTRIBUTE_MALFORMED;
}
