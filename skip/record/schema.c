/* See bb/record.h. */
#include "skip/record/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/record/definition_parser.h"

static enum bb_status no_memory(void)
{
    return bb_fail(BB_NO_MEMORY, "no memory for a schema");
}

enum bb_status bb_schema_create(struct bb_schema **ret_schema)
{
    struct bb_schema *schema = bb_alloc_zeroed(1, sizeof(*schema));
    if (schema == NULL)
        return no_memory();
    *ret_schema = schema;
    return BB_OK;
}

static void destroy_callback(struct bb_callback *callback)
{
    if (callback == NULL)
        return;
    bb_free(callback->name);
    bb_free(callback);
}

void bb_schema_destroy(struct bb_schema *schema)
{
    if (schema == NULL)
        return;
    for (size_t i = 0; i < schema->count; i++)
        bb_definition_destroy(schema->definitions[i]);
    for (size_t i = 0; i < schema->callback_count; i++)
        destroy_callback(schema->callbacks[i]);
    bb_free(schema->definitions);
    bb_free(schema->callbacks);
    bb_free(schema);
}

/* Space for one more pointer; lists are short, and grow once in a program's life. */
static void *grow(void *list, size_t count)
{
    return bb_realloc(list, (count + 1) * sizeof(void *));
}

static enum bb_status check_callback(const struct bb_schema *schema, const char *name)
{
    struct bb_bytes bytes = bb_bytes_of_text(name);
    if (!bb_definition_text_is_word(bytes) || bytes.size > BB_ATTRIBUTE_NAME_MAX)
        return bb_fail(
            BB_INVALID,
            "\"%.80s\" is no name of a callback: expected a letter or '_', then letters, "
            "digits and '_', at most %d bytes",
            name, BB_ATTRIBUTE_NAME_MAX);
    for (size_t i = 0; i < schema->callback_count; i++) {
        if (strcmp(schema->callbacks[i]->name, name) == 0)
            return bb_fail(BB_EXISTS, "the callback \"%s\" is registered already", name);
    }
    return BB_OK;
}

enum bb_status bb_schema_add_callback(struct bb_schema *schema, const char *name,
                                      bb_record_callback function, void *context)
{
    enum bb_status status = check_callback(schema, name);
    if (status != BB_OK)
        return status;
    struct bb_callback **list = grow(schema->callbacks, schema->callback_count);
    if (list == NULL)
        return no_memory();
    schema->callbacks = list;
    struct bb_callback *callback = bb_alloc_zeroed(1, sizeof(*callback));
    char *copy = bb_strdup(name);
    if (callback == NULL || copy == NULL) {
        bb_free(callback);
        bb_free(copy);
        return no_memory();
    }
    *callback = (struct bb_callback){copy, function, context};
    list[schema->callback_count++] = callback;
    return BB_OK;
}

static bool find_name(const struct bb_schema *schema, struct bb_bytes name, size_t *ret_attribute)
{
    for (size_t i = 0; i < schema->count; i++) {
        if (bb_bytes_equal(name, bb_bytes_of_text(schema->definitions[i]->name))) {
            *ret_attribute = i;
            return true;
        }
    }
    return false;
}

static enum bb_status append(struct bb_schema *schema, struct bb_definition *definition)
{
    size_t other;
    if (find_name(schema, bb_bytes_of_text(definition->name), &other))
        return bb_fail(BB_EXISTS, "the attribute \"%s\" is defined already: %s", definition->name,
                       schema->definitions[other]->text);
    struct bb_definition **list = grow(schema->definitions, schema->count);
    if (list == NULL)
        return no_memory();
    schema->definitions = list;
    list[schema->count++] = definition;
    return BB_OK;
}

static enum bb_status add(struct bb_schema *schema, struct bb_bytes text)
{
    struct bb_definition *definition;
    if (schema->count == BB_SCHEMA_ATTRIBUTES_MAX)
        return bb_fail(BB_INVALID, "a schema has at most %d attributes", BB_SCHEMA_ATTRIBUTES_MAX);
    enum bb_status status =
        bb_definition_create(text, schema->callbacks, schema->callback_count, &definition);
    if (status != BB_OK)
        return status;
    status = append(schema, definition);
    if (status != BB_OK)
        bb_definition_destroy(definition);
    return status;
}

enum bb_status bb_schema_add(struct bb_schema *schema, const char *definition)
{
    return add(schema, bb_bytes_of_text(definition));
}

size_t bb_schema_count(const struct bb_schema *schema)
{
    return schema->count;
}

enum bb_status bb_schema_find(const struct bb_schema *schema, struct bb_bytes name,
                              size_t *ret_attribute)
{
    return find_name(schema, name, ret_attribute) ? BB_OK : BB_NOT_FOUND;
}

/* "a, b, c", cut when they are many. */
static void list_names(const struct bb_schema *schema, char *ret_text, size_t size)
{
    size_t used = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < schema->count && used < size; i++)
        used += (size_t)snprintf(ret_text + used, size - used, "%s%s", i == 0 ? "" : ", ",
                                 bb_schema_name(schema, i));
}

enum bb_status bb_schema_tell_names(const struct bb_schema *schema)
{
    struct bb_error failure = *bb_error_last();
    char known[400];
    if (schema->count == 0)
        return failure.status;
    list_names(schema, known, sizeof(known));
    return bb_fail(failure.status, "%s; known are %s", failure.message, known);
}

static const struct bb_definition *definition_at(const struct bb_schema *schema, size_t attribute)
{
    BB_ASSERT(attribute < schema->count);
    return schema->definitions[attribute];
}

const char *bb_schema_name(const struct bb_schema *schema, size_t attribute)
{
    return definition_at(schema, attribute)->name;
}

enum bb_attribute_type bb_schema_type(const struct bb_schema *schema, size_t attribute)
{
    return definition_at(schema, attribute)->type;
}

const char *bb_schema_definition(const struct bb_schema *schema, size_t attribute)
{
    return definition_at(schema, attribute)->text;
}

enum bb_verbatim bb_schema_verbatim(const struct bb_schema *schema, size_t attribute,
                                    uint8_t *ret_escape)
{
    const struct bb_definition *definition = definition_at(schema, attribute);
    return definition->type == BB_ATTRIBUTE_BYTES
               ? definition->format->verbatim(definition, ret_escape)
               : BB_VERBATIM_NEVER;
}

enum bb_verbatim bb_schema_number_verbatim(const struct bb_schema *schema, size_t attribute,
                                           uint8_t *ret_escape)
{
    const struct bb_definition *definition = definition_at(schema, attribute);
    bool is_integer = definition->type == BB_ATTRIBUTE_U64 || definition->type == BB_ATTRIBUTE_I64;
    return is_integer ? definition->format->verbatim(definition, ret_escape) : BB_VERBATIM_NEVER;
}

uint8_t bb_schema_byte_before(const struct bb_schema *schema, size_t attribute)
{
    const struct bb_definition *definition = definition_at(schema, attribute);
    return definition->format->byte_before == NULL ? 0
                                                   : definition->format->byte_before(definition);
}

bool bb_schema_is_verbatim(const struct bb_schema *schema, size_t attribute)
{
    uint8_t escape;
    return bb_schema_verbatim(schema, attribute, &escape) == BB_VERBATIM_ALWAYS;
}

/* --- As text --- */

enum bb_status bb_schema_encode(const struct bb_schema *schema, struct bb_buf *buf)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < schema->count && status == BB_OK; i++)
        status = bb_buf_print(buf, "%s\n", schema->definitions[i]->text);
    return status;
}

enum bb_status bb_schema_decode(struct bb_schema *schema, struct bb_bytes text)
{
    const uint8_t *end = text.data + text.size;
    for (const uint8_t *at = text.data; at < end;) {
        const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL)
            return bb_fail(BB_INVALID, "a list of definitions ends without a newline");
        enum bb_status status = add(schema, bb_bytes_of(at, (size_t)(newline - at)));
        if (status != BB_OK)
            return status;
        at = newline + 1;
    }
    return BB_OK;
}
