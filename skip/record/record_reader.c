/* The reader of records: a pass per format over each. See bb/record.h and pass.h. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/record/pass.h"
#include "skip/record/schema.h"

struct bb_record_reader {
    struct bb_pass *passes;
    size_t pass_count;
    struct bb_scratch scratch;
};

static enum bb_status no_memory(void)
{
    return bb_fail(BB_NO_MEMORY, "no memory for reading records");
}

static enum bb_status add_slot(struct bb_pass *pass, struct bb_slot slot)
{
    struct bb_slot *slots = bb_realloc(pass->slots, (pass->slot_count + 1) * sizeof(slot));
    if (slots == NULL)
        return no_memory();
    pass->slots = slots;
    slots[pass->slot_count++] = slot;
    return BB_OK;
}

/* The pass that can find the attribute too, or a new one. */
static enum bb_status pass_for(struct bb_record_reader *reader,
                               const struct bb_definition *definition, struct bb_pass **ret_pass)
{
    const struct bb_pass_type *type = definition->format->pass_type;
    for (size_t i = 0; i < reader->pass_count; i++) {
        struct bb_pass *pass = &reader->passes[i];
        if (pass->type == type && type->shares(pass->slots[0].definition, definition)) {
            *ret_pass = pass;
            return BB_OK;
        }
    }
    size_t size = (reader->pass_count + 1) * sizeof(struct bb_pass);
    struct bb_pass *passes = bb_realloc(reader->passes, size);
    if (passes == NULL)
        return no_memory();
    reader->passes = passes;
    *ret_pass = &passes[reader->pass_count++];
    **ret_pass = (struct bb_pass){.type = type};
    return BB_OK;
}

static enum bb_status add_attribute(struct bb_record_reader *reader, const struct bb_schema *schema,
                                    size_t attribute)
{
    const struct bb_definition *definition = schema->definitions[attribute];
    struct bb_pass *pass;
    enum bb_status status = pass_for(reader, definition, &pass);
    if (status != BB_OK)
        return status;
    return add_slot(pass, (struct bb_slot){.definition = definition, .attribute = attribute});
}

static enum bb_status fill(struct bb_record_reader *reader, const struct bb_schema *schema,
                           const bool *wanted)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < schema->count && status == BB_OK; i++) {
        if (wanted == NULL || wanted[i])
            status = add_attribute(reader, schema, i);
    }
    for (size_t i = 0; i < reader->pass_count && status == BB_OK; i++) {
        struct bb_pass *pass = &reader->passes[i];
        if (pass->type->prepare != NULL)
            status = pass->type->prepare(pass);
    }
    return status == BB_NO_MEMORY ? no_memory() : status;
}

enum bb_status bb_record_reader_create(const struct bb_schema *schema, const bool *wanted,
                                       struct bb_record_reader **ret_reader)
{
    struct bb_record_reader *reader = bb_alloc_zeroed(1, sizeof(*reader));
    if (reader == NULL)
        return no_memory();
    enum bb_status status = fill(reader, schema, wanted);
    if (status == BB_OK)
        *ret_reader = reader;
    else
        bb_record_reader_destroy(reader);
    return status;
}

void bb_record_reader_destroy(struct bb_record_reader *reader)
{
    if (reader == NULL)
        return;
    for (size_t i = 0; i < reader->pass_count; i++) {
        struct bb_pass *pass = &reader->passes[i];
        if (pass->type->release != NULL)
            pass->type->release(pass);
        bb_free(pass->slots);
    }
    bb_free(reader->passes);
    bb_buf_deinit(&reader->scratch.buf);
    bb_free(reader);
}

/* Gives empty bytes an address: their own may be NULL. */
static struct bb_bytes with_address(struct bb_bytes bytes)
{
    static const uint8_t nothing[1];
    return bytes.size == 0 ? bb_bytes_of(nothing, 0) : bytes;
}

static struct bb_bytes without_line_end(struct bb_bytes value)
{
    if (value.size > 0 && value.data[value.size - 1] == '\n') {
        value.size--;
        if (value.size > 0 && value.data[value.size - 1] == '\r')
            value.size--;
    }
    return value;
}

/* Each pass takes each byte of the value at most once into the scratch. */
static size_t scratch_capacity(const struct bb_record_reader *reader, size_t value_size)
{
    size_t capacity;
    return __builtin_mul_overflow(reader->pass_count, value_size, &capacity) ? SIZE_MAX : capacity;
}

enum bb_status bb_record_read(struct bb_record_reader *reader, struct bb_bytes key,
                              struct bb_bytes value, struct bb_attribute *attributes)
{
    value = with_address(value);
    struct bb_record record = {
        .key = with_address(key),
        .value = value,
        .line = without_line_end(value),
        .scratch = &reader->scratch,
        .attributes = attributes,
    };
    bb_scratch_reset(&reader->scratch, scratch_capacity(reader, value.size));
    for (size_t i = 0; i < reader->pass_count; i++) {
        struct bb_pass *pass = &reader->passes[i];
        pass->type->read(pass, &record);
    }
    return reader->scratch.has_failed ? no_memory() : BB_OK;
}
