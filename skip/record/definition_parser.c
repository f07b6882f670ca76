/* See definition_parser.h. */
#include "skip/record/definition_parser.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/record/formats.h"

/* Words of conditions in lower case: bb/condition.h would not read them as names. */
static const char *const RESERVED[] = {
    "and", "or", "not", "in", "is", "null", "like", "between", "escape", "true", "false",
};

static bool is_reserved(struct bb_bytes name)
{
    char lower[8];
    if (name.size >= sizeof(lower))
        return false;
    for (size_t i = 0; i < name.size; i++)
        lower[i] = (char)(name.data[i] | 0x20);
    lower[name.size] = '\0';
    for (size_t i = 0; i < BB_ARRAY_LENGTH(RESERVED); i++) {
        if (strcmp(lower, RESERVED[i]) == 0)
            return true;
    }
    return false;
}

static enum bb_status copy_word(struct bb_bytes word, char **ret_copy)
{
    char *copy = bb_alloc(word.size + 1);
    if (copy == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a definition");
    memcpy(copy, word.data, word.size);
    copy[word.size] = '\0';
    *ret_copy = copy;
    return BB_OK;
}

static enum bb_status parse_name(struct bb_definition_text *text, struct bb_definition *definition)
{
    struct bb_bytes name;
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_word(text, "a name", &name);
    if (status != BB_OK)
        return status;
    if (name.size > BB_ATTRIBUTE_NAME_MAX)
        return bb_definition_text_fail(text, at, "the name has more than %d bytes",
                                       BB_ATTRIBUTE_NAME_MAX);
    if (is_reserved(name))
        return bb_definition_text_fail(text, at, "this is a word of conditions, not a name");
    return copy_word(name, &definition->name);
}

static enum bb_status parse_pattern(struct bb_definition_text *text,
                                    struct bb_definition *definition)
{
    struct bb_buf pattern = {0};
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_string(text, "a pattern", &pattern);
    if (status == BB_OK) {
        const char *wrong = bb_time_format_of_pattern(bb_buf_bytes(&pattern), &definition->time);
        if (wrong != NULL)
            status = bb_definition_text_fail(text, at, "%s", wrong);
    }
    bb_buf_deinit(&pattern);
    return status;
}

static enum bb_status parse_time_kind(struct bb_definition_text *text,
                                      struct bb_definition *definition)
{
    struct bb_bytes name;
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_word(
        text,
        "rfc3339, clf, unix, unix_ms, unix_us, unix_ns, unix_float or a pattern in single quotes",
        &name);
    if (status == BB_OK && !bb_time_format_named(name, &definition->time))
        return bb_definition_text_fail(
            text, at,
            "unknown format of time, expected rfc3339, clf, unix, unix_ms, "
            "unix_us, unix_ns, unix_float or a pattern in single quotes");
    return status;
}

static enum bb_status parse_time(struct bb_definition_text *text, struct bb_definition *definition)
{
    enum bb_status status = bb_definition_text_expect(text, '(');
    if (status == BB_OK)
        status = bb_definition_text_peek(text) == '\'' ? parse_pattern(text, definition)
                                                       : parse_time_kind(text, definition);
    return status == BB_OK ? bb_definition_text_expect(text, ')') : status;
}

static enum bb_status parse_type(struct bb_definition_text *text, struct bb_definition *definition)
{
    struct bb_bytes name;
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_word(text, "a type", &name);
    if (status != BB_OK)
        return status;
    for (int type = BB_ATTRIBUTE_BYTES; type <= BB_ATTRIBUTE_TIME; type++) {
        definition->type = (enum bb_attribute_type)type;
        const char *known = bb_attribute_type_name(definition->type);
        if (bb_bytes_equal(name, bb_bytes_of_text(known)))
            return type == BB_ATTRIBUTE_TIME ? parse_time(text, definition) : BB_OK;
    }
    return bb_definition_text_fail(text, at,
                                   "unknown type, expected bytes, i64, u64, f64 or time(...)");
}

static enum bb_status parse_callback(struct bb_definition_text *text,
                                     struct bb_callback *const *callbacks, size_t count,
                                     struct bb_definition *definition)
{
    struct bb_bytes name;
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_word(text, "the name of a callback", &name);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (bb_bytes_equal(name, bb_bytes_of_text(callbacks[i]->name))) {
            definition->callback = callbacks[i];
            return BB_OK;
        }
    }
    return bb_definition_text_fail(text, at, "no callback of this name is registered");
}

static enum bb_status parse_arguments(struct bb_definition_text *text,
                                      struct bb_callback *const *callbacks, size_t count,
                                      struct bb_definition *definition)
{
    const struct bb_format *format = definition->format;
    if (!format->has_arguments)
        return BB_OK;
    enum bb_status status = bb_definition_text_expect(text, '(');
    if (status == BB_OK)
        status = format->parse == NULL ? parse_callback(text, callbacks, count, definition)
                                       : format->parse(text, definition);
    return status == BB_OK ? bb_definition_text_expect(text, ')') : status;
}

static enum bb_status parse_format(struct bb_definition_text *text, bool has_callbacks,
                                   struct bb_definition *definition)
{
    struct bb_bytes name;
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_word(text, "an extractor", &name);
    if (status != BB_OK)
        return status;
    definition->format = bb_format_find(name);
    return definition->format != NULL
               ? BB_OK
               : bb_definition_text_fail(text, at, "unknown extractor, expected one of %s%s",
                                         bb_format_names, has_callbacks ? ", callback" : "");
}

/* --- Canonical text --- */

static enum bb_status print_type(const struct bb_definition *definition, struct bb_buf *buf)
{
    const struct bb_time_format *time = &definition->time;
    if (definition->type != BB_ATTRIBUTE_TIME)
        return bb_buf_print(buf, "%s", bb_attribute_type_name(definition->type));
    const char *name = bb_time_format_kind_name(time->kind);
    if (name != NULL)
        return bb_buf_print(buf, "time(%s)", name);
    enum bb_status status = bb_buf_append(buf, "time(", 5);
    if (status == BB_OK)
        status =
            bb_definition_text_print_string(buf, bb_bytes_of(time->pattern, time->pattern_size));
    return status == BB_OK ? bb_buf_append(buf, ")", 1) : status;
}

static enum bb_status print_extractor(const struct bb_definition *definition, struct bb_buf *buf)
{
    const struct bb_format *format = definition->format;
    enum bb_status status = bb_buf_print(buf, " = %s", format->name);
    if (status != BB_OK || !format->has_arguments)
        return status;
    status = bb_buf_append(buf, "(", 1);
    if (status == BB_OK)
        status = format->print(definition, buf);
    return status == BB_OK ? bb_buf_append(buf, ")", 1) : status;
}

static enum bb_status check_size(size_t size)
{
    return size <= BB_DEFINITION_SIZE_MAX
               ? BB_OK
               : bb_fail(BB_INVALID,
                         "a definition has %zu bytes with its escapes, at most %d are possible",
                         size, BB_DEFINITION_SIZE_MAX);
}

static enum bb_status print_definition(struct bb_definition *definition)
{
    struct bb_buf buf = {0};
    enum bb_status status = bb_buf_print(&buf, "%s ", definition->name);
    if (status == BB_OK)
        status = print_type(definition, &buf);
    if (status == BB_OK)
        status = print_extractor(definition, &buf);
    /* The printed text must be short enough to be read back: escapes make a text longer. */
    if (status == BB_OK)
        status = check_size(buf.size);
    if (status == BB_OK)
        status = copy_word(bb_buf_bytes(&buf), &definition->text);
    bb_buf_deinit(&buf);
    return status;
}

static enum bb_status parse_definition(struct bb_definition_text *text,
                                       struct bb_callback *const *callbacks, size_t count,
                                       struct bb_definition *definition)
{
    enum bb_status status = parse_name(text, definition);
    if (status == BB_OK)
        status = parse_type(text, definition);
    if (status == BB_OK)
        status = bb_definition_text_expect(text, '=');
    if (status == BB_OK)
        status = parse_format(text, count > 0, definition);
    if (status == BB_OK)
        status = parse_arguments(text, callbacks, count, definition);
    if (status == BB_OK)
        status = bb_definition_text_expect_end(text);
    return status == BB_OK ? print_definition(definition) : status;
}

enum bb_status bb_definition_create(struct bb_bytes bytes, struct bb_callback *const *callbacks,
                                    size_t callback_count, struct bb_definition **ret_definition)
{
    struct bb_definition_text text = {.bytes = bytes};
    enum bb_status status = check_size(bytes.size);
    if (status != BB_OK)
        return status;
    struct bb_definition *definition = bb_alloc_zeroed(1, sizeof(*definition));
    if (definition == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a definition");
    status = parse_definition(&text, callbacks, callback_count, definition);
    if (status == BB_OK)
        *ret_definition = definition;
    else
        bb_definition_destroy(definition);
    return status;
}

void bb_definition_destroy(struct bb_definition *definition)
{
    if (definition == NULL)
        return;
    bb_free(definition->name);
    bb_free(definition->text);
    bb_free(definition->path);
    bb_free(definition);
}
