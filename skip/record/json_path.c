/* See json_path.h. */
#include "skip/record/json_path.h"

#include <string.h>

#include "bb/record.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

#define INDEX_MAX 4294967295u

/* The steps during parsing. All keys are in one buffer, whose address may change. So key.data of a
 * step is set only at the end (finish). */
struct path_draft {
    struct bb_json_step steps[BB_JSON_DEPTH_MAX];
    size_t count;
    struct bb_buf keys;
};

static bool is_bare(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9') || byte == '_' ||
           byte == '-' || byte == '@' || byte >= 0x80;
}

static enum bb_status parse_bare_key(struct bb_definition_text *text, struct bb_buf *key)
{
    size_t first = text->at;
    struct bb_bytes bytes = text->bytes;
    while (text->at < bytes.size && is_bare(bytes.data[text->at]))
        text->at++;
    if (text->at == first)
        return bb_definition_text_fail(text, first, "expected a key, or a key in double quotes");
    return bb_buf_append(key, bytes.data + first, text->at - first);
}

static enum bb_status parse_quoted_key(struct bb_definition_text *text, struct bb_buf *key)
{
    size_t first = text->at++;
    struct bb_bytes bytes = text->bytes;
    enum bb_status status = BB_OK;
    for (; text->at < bytes.size && status == BB_OK; text->at++) {
        uint8_t byte = bytes.data[text->at];
        if (byte == '"') {
            text->at++;
            return BB_OK;
        }
        if (byte == '\\') {
            byte = ++text->at < bytes.size ? bytes.data[text->at] : 0;
            if (byte != '"' && byte != '\\')
                return bb_definition_text_fail(text, text->at - 1,
                                               "unknown escape, expected \\\" or \\\\");
        }
        if (byte < 0x20)
            return bb_definition_text_fail(text, text->at, "a control character in a key");
        status = bb_buf_append(key, &byte, 1);
    }
    return status != BB_OK ? status : bb_definition_text_fail(text, first, "the quote has no end");
}

static enum bb_status parse_key(struct bb_definition_text *text, struct path_draft *draft,
                                struct bb_json_step *step)
{
    size_t before = draft->keys.size;
    bool is_quoted = text->at < text->bytes.size && text->bytes.data[text->at] == '"';
    enum bb_status status =
        is_quoted ? parse_quoted_key(text, &draft->keys) : parse_bare_key(text, &draft->keys);
    *step = (struct bb_json_step){.key.size = draft->keys.size - before};
    return status;
}

static enum bb_status parse_index(struct bb_definition_text *text, struct bb_json_step *step)
{
    *step = (struct bb_json_step){.is_index = true};
    enum bb_status status =
        bb_definition_text_number(text, "the index of an element", 0, INDEX_MAX, &step->index);
    return status == BB_OK ? bb_definition_text_expect(text, ']') : status;
}

static enum bb_status parse_steps(struct bb_definition_text *text, struct path_draft *draft)
{
    enum bb_status status = bb_definition_text_expect(text, '$');
    while (status == BB_OK) {
        size_t at = bb_definition_text_next(text);
        bool is_key = bb_definition_text_accept(text, '.');
        if (!is_key && !bb_definition_text_accept(text, '['))
            return BB_OK;
        if (draft->count == BB_JSON_DEPTH_MAX)
            return bb_definition_text_fail(text, at, "a path has at most %d steps",
                                           BB_JSON_DEPTH_MAX);
        struct bb_json_step *step = &draft->steps[draft->count++];
        status = is_key ? parse_key(text, draft, step) : parse_index(text, step);
    }
    return status;
}

static enum bb_status finish(const struct path_draft *draft, struct bb_json_path **ret_path)
{
    size_t steps_size = draft->count * sizeof(struct bb_json_step);
    struct bb_json_path *path = bb_alloc(sizeof(*path) + steps_size + draft->keys.size);
    if (path == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a path");
    path->count = draft->count;
    uint8_t *key = (uint8_t *)(path->steps + draft->count);
    if (draft->keys.size > 0)
        memcpy(key, draft->keys.data, draft->keys.size);
    for (size_t i = 0; i < draft->count; i++) {
        path->steps[i] = draft->steps[i];
        path->steps[i].key.data = key;
        key += path->steps[i].key.size;
    }
    *ret_path = path;
    return BB_OK;
}

enum bb_status bb_json_path_parse(struct bb_definition_text *text, struct bb_json_path **ret_path)
{
    struct path_draft draft;
    draft.count = 0;
    draft.keys = (struct bb_buf){0};
    enum bb_status status = parse_steps(text, &draft);
    if (status == BB_OK)
        status = finish(&draft, ret_path);
    bb_buf_deinit(&draft.keys);
    return status;
}

/* --- Canonical text --- */

static bool is_bare_key(struct bb_bytes key)
{
    for (size_t i = 0; i < key.size; i++) {
        if (!is_bare(key.data[i]))
            return false;
    }
    return key.size > 0;
}

static enum bb_status print_key(struct bb_bytes key, struct bb_buf *buf)
{
    bool is_bare_word = is_bare_key(key);
    enum bb_status status = bb_buf_append(buf, ".\"", is_bare_word ? 1 : 2);
    for (size_t i = 0; i < key.size && status == BB_OK; i++) {
        if (key.data[i] == '"' || key.data[i] == '\\')
            status = bb_buf_append(buf, "\\", 1);
        if (status == BB_OK)
            status = bb_buf_append(buf, &key.data[i], 1);
    }
    return status == BB_OK && !is_bare_word ? bb_buf_append(buf, "\"", 1) : status;
}

enum bb_status bb_json_path_print(const struct bb_json_path *path, struct bb_buf *buf)
{
    enum bb_status status = bb_buf_append(buf, "$", 1);
    for (size_t i = 0; i < path->count && status == BB_OK; i++) {
        const struct bb_json_step *step = &path->steps[i];
        status = step->is_index ? bb_buf_print(buf, "[%llu]", (unsigned long long)step->index)
                                : print_key(step->key, buf);
    }
    return status;
}

bool bb_json_path_step_equal(const struct bb_json_step *a, const struct bb_json_step *b)
{
    if (a->is_index || b->is_index)
        return a->is_index && b->is_index && a->index == b->index;
    return bb_bytes_equal(a->key, b->key);
}
