/* callback(NAME): a function of the program. definition_parser.c resolves its name. */
#include "base/alloc.h"
#include "base/buf.h"
#include "skip/record/formats.h"
#include "skip/record/pass.h"

static enum bb_status print_arguments(const struct bb_definition *definition, struct bb_buf *buf)
{
    return bb_buf_print(buf, "%s", definition->callback->name);
}

static bool lies_in(struct bb_bytes part, struct bb_bytes whole)
{
    uintptr_t first = (uintptr_t)part.data, start = (uintptr_t)whole.data;
    return first >= start && first - start <= whole.size &&
           part.size <= whole.size - (first - start);
}

/* Bytes of the function's own are copied into the buffer of the slot. */
static void keep_bytes(struct bb_buf *copy, struct bb_record *record,
                       struct bb_attribute *attribute)
{
    struct bb_bytes *bytes = &attribute->as.bytes;
    if (lies_in(*bytes, record->key) || lies_in(*bytes, record->value))
        return;
    if (bb_buf_assign(copy, *bytes) != BB_OK)
        record->scratch->has_failed = true;
    *bytes = bb_buf_bytes(copy);
}

static void read_callbacks(struct bb_pass *pass, struct bb_record *record)
{
    struct bb_buf *copies = pass->state;
    for (size_t i = 0; i < pass->slot_count; i++) {
        const struct bb_definition *definition = pass->slots[i].definition;
        struct bb_attribute *attribute = &record->attributes[pass->slots[i].attribute];
        *attribute = (struct bb_attribute){.state = BB_ATTRIBUTE_MISSING, .type = definition->type};
        definition->callback->function(definition->callback->context, record->key, record->value,
                                       attribute);
        attribute->type = definition->type;
        if (attribute->state == BB_ATTRIBUTE_PRESENT && attribute->type == BB_ATTRIBUTE_BYTES)
            keep_bytes(&copies[i], record, attribute);
    }
}

static enum bb_status prepare(struct bb_pass *pass)
{
    pass->state = bb_alloc_zeroed(pass->slot_count, sizeof(struct bb_buf));
    return pass->state == NULL ? BB_NO_MEMORY : BB_OK;
}

static void release(struct bb_pass *pass)
{
    struct bb_buf *copies = pass->state;
    for (size_t i = 0; copies != NULL && i < pass->slot_count; i++)
        bb_buf_deinit(&copies[i]);
    bb_free(copies);
}

static const struct bb_pass_type CALLBACK_PASS = {
    .shares = bb_formats_share_pass,
    .prepare = prepare,
    .read = read_callbacks,
    .release = release,
};

const struct bb_format bb_format_callback = {
    .name = "callback",
    .has_arguments = true,
    .print = print_arguments,
    .verbatim = bb_formats_verbatim_never,
    .pass_type = &CALLBACK_PASS,
};
