/* See text.h. */
#include "skip/condition/text.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/condition/regex_pieces.h"
#include "skip/condition/token.h"

static enum bb_status fail_memory(void)
{
    return bb_fail(BB_NO_MEMORY, "no memory for a condition on text");
}

void bb_text_destroy(struct bb_text *text)
{
    if (text == NULL)
        return;
    bb_like_destroy(text->like);
    bb_regex_destroy(text->regex);
    bb_piece_list_deinit(&text->pieces);
    bb_piece_list_deinit(&text->words);
    bb_free(text->operands);
    bb_free(text->bytes);
    bb_free(text->cover_high);
    bb_free(text);
}

static enum bb_status create(enum bb_text_kind kind, struct bb_text **ret_text)
{
    struct bb_text *text = bb_alloc_zeroed(1, sizeof(*text));
    if (text == NULL)
        return fail_memory();
    text->kind = kind;
    *ret_text = text;
    return BB_OK;
}

static void finish(struct bb_text *text)
{
    text->groups = bb_piece_list_finish(&text->pieces, &text->group_count);
}

/* All that begins with the prefix: up to the prefix with its last byte that is not 255 increased.
 * The text owns the bytes of the prefix. */
static enum bb_status cover_prefix(struct bb_text *text, struct bb_bytes prefix)
{
    size_t size = prefix.size;
    while (size > 0 && prefix.data[size - 1] == UINT8_MAX)
        size--;
    text->has_cover = true;
    text->cover = (struct bb_interval){.low = {.is_open = true}, .high = {.is_open = true}};
    if (prefix.size > 0)
        text->cover.low =
            (struct bb_bound){.value = {.type = BB_ATTRIBUTE_BYTES, .as.bytes = prefix}};
    if (size == 0)
        return BB_OK;
    text->cover_high = bb_alloc(size);
    if (text->cover_high == NULL)
        return fail_memory();
    memcpy(text->cover_high, prefix.data, size);
    text->cover_high[size - 1]++;
    text->cover.high = (struct bb_bound){
        .is_exclusive = true,
        .value = {.type = BB_ATTRIBUTE_BYTES, .as.bytes = bb_bytes_of(text->cover_high, size)}};
    return BB_OK;
}

bool bb_text_like_is_literal(const struct bb_like *like, struct bb_bytes *ret_literal)
{
    if (like->ignores_case || like->is_open_at_start || like->is_open_at_end)
        return false;
    if (like->segment_count == 0) {
        *ret_literal = bb_bytes_of("", 0);
        return true;
    }
    const struct bb_like_segment *only = &like->segments[0];
    if (like->segment_count != 1 || only->item_count != 1 || only->items[0].any_count != 0)
        return false;
    *ret_literal = only->items[0].literal;
    return true;
}

static enum bb_status add_segment_pieces(struct bb_text *text, size_t number)
{
    const struct bb_like *like = text->like;
    const struct bb_like_segment *segment = &like->segments[number];
    bool is_first = number == 0 && !like->is_open_at_start;
    bool is_last = number + 1 == like->segment_count && !like->is_open_at_end;
    enum bb_status status = BB_OK;
    for (size_t i = 0; status == BB_OK && i < segment->item_count; i++) {
        struct bb_piece piece = {.bytes = segment->items[i].literal,
                                 .is_at_start = is_first && i == 0,
                                 .is_at_end = is_last && i + 1 == segment->item_count,
                                 .ignores_case = like->ignores_case};
        if (piece.bytes.size > 0)
            status = bb_piece_list_add_group(&text->pieces, &piece);
    }
    return status;
}

/* The bytes that every match begins with. */
static struct bb_bytes prefix_of(const struct bb_like *like)
{
    bool has_prefix = !like->ignores_case && !like->is_open_at_start && like->segment_count > 0;
    return has_prefix ? like->segments[0].items[0].literal : bb_bytes_of(NULL, 0);
}

/* abc% or %: only the prefix is required. */
static bool is_prefix_alone(const struct bb_like *like)
{
    if (like->segment_count == 0)
        return like->is_open_at_end;
    const struct bb_like_segment *only = &like->segments[0];
    return like->segment_count == 1 && only->item_count == 1 && only->items[0].any_count == 0 &&
           !like->ignores_case && !like->is_open_at_start && like->is_open_at_end;
}

static enum bb_status describe_like(struct bb_text *text)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; status == BB_OK && i < text->like->segment_count; i++)
        status = add_segment_pieces(text, i);
    text->is_cover_exact = is_prefix_alone(text->like);
    struct bb_bytes prefix = prefix_of(text->like);
    if (status == BB_OK && (prefix.size > 0 || text->is_cover_exact))
        status = cover_prefix(text, prefix);
    return status;
}

enum bb_status bb_text_of_like(struct bb_like *like, struct bb_text **ret_text)
{
    struct bb_text *text = NULL;
    enum bb_status status = create(BB_TEXT_LIKE, &text);
    if (status != BB_OK)
        return status;
    text->like = like;
    status = describe_like(text);
    if (status != BB_OK) {
        text->like = NULL;
        bb_text_destroy(text);
        return status;
    }
    finish(text);
    *ret_text = text;
    return BB_OK;
}

static size_t count_tokens(const struct bb_bytes *operands, size_t count, size_t *ret_size)
{
    size_t token_count = 0;
    struct bb_bytes token;
    *ret_size = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; bb_token_next(operands[i], &at, &token); token_count++)
            *ret_size += token.size;
    return token_count;
}

static void add_token(struct bb_text *text, struct bb_bytes token, uint8_t **to)
{
    for (size_t i = 0; i < text->operand_count; i++)
        if (bb_bytes_equal(text->operands[i], token))
            return;
    memcpy(*to, token.data, token.size);
    text->operands[text->operand_count++] = bb_bytes_of(*to, token.size);
    *to += token.size;
}

static enum bb_status copy_tokens(struct bb_text *text, const struct bb_bytes *operands,
                                  size_t count)
{
    size_t size = 0;
    size_t token_count = count_tokens(operands, count, &size);
    text->operands = bb_alloc_zeroed(token_count + 1, sizeof(*text->operands));
    text->bytes = bb_alloc(size);
    if (text->operands == NULL || text->bytes == NULL)
        return fail_memory();
    uint8_t *to = text->bytes;
    struct bb_bytes token;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; bb_token_next(operands[i], &at, &token);)
            add_token(text, token, &to);
    /* Any of one token is all of it: one tree for one meaning. */
    if (text->operand_count == 1)
        text->kind = BB_TEXT_ALL_TOKENS;
    return BB_OK;
}

static enum bb_status describe_tokens(struct bb_text *text)
{
    enum bb_status status = BB_OK;
    bool is_all = text->kind == BB_TEXT_ALL_TOKENS;
    for (size_t i = 0; status == BB_OK && i < text->operand_count; i++) {
        struct bb_piece piece = {.bytes = text->operands[i], .is_token = true};
        status = bb_piece_list_add(&text->pieces, &piece);
        if (status == BB_OK && (is_all || i + 1 == text->operand_count))
            status = bb_piece_list_end_group(&text->pieces);
    }
    return status;
}

static enum bb_status check_tokens(const struct bb_bytes *operands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        struct bb_bytes token;
        if (!bb_token_next(operands[i], &at, &token))
            return bb_fail(BB_INVALID, "expected a text with a token in it: letters or digits");
    }
    return BB_OK;
}

enum bb_status bb_text_of_tokens(enum bb_text_kind kind, const struct bb_bytes *operands,
                                 size_t count, struct bb_text **ret_text)
{
    struct bb_text *text = NULL;
    enum bb_status status = check_tokens(operands, count);
    if (status == BB_OK)
        status = create(kind, &text);
    if (status == BB_OK)
        status = copy_tokens(text, operands, count);
    if (status == BB_OK)
        status = describe_tokens(text);
    if (status != BB_OK) {
        bb_text_destroy(text);
        return status;
    }
    finish(text);
    *ret_text = text;
    return BB_OK;
}

/* A group of one piece that every match begins with. */
static enum bb_status cover_by_pieces(struct bb_text *text)
{
    for (size_t i = 0; i < text->group_count; i++) {
        const struct bb_piece *piece = &text->groups[i].pieces[0];
        if (text->groups[i].piece_count == 1 && piece->is_at_start && !piece->ignores_case)
            return cover_prefix(text, piece->bytes);
    }
    return BB_OK;
}

static enum bb_status describe_regex(struct bb_text *text, struct bb_bytes pattern)
{
    text->operands = bb_alloc_zeroed(1, sizeof(*text->operands));
    text->bytes = bb_alloc(pattern.size);
    if (text->operands == NULL || text->bytes == NULL)
        return fail_memory();
    if (pattern.size > 0)
        memcpy(text->bytes, pattern.data, pattern.size);
    text->operands[0] = bb_bytes_of(text->bytes, pattern.size);
    text->operand_count = 1;
    enum bb_status status = bb_regex_create(pattern, &text->regex);
    if (status == BB_OK)
        status = bb_regex_pieces(pattern, &text->pieces);
    if (status != BB_OK)
        return status;
    finish(text);
    return cover_by_pieces(text);
}

enum bb_status bb_text_of_regex(struct bb_bytes pattern, struct bb_text **ret_text)
{
    struct bb_text *text = NULL;
    enum bb_status status = create(BB_TEXT_REGEX, &text);
    if (status == BB_OK)
        status = describe_regex(text, pattern);
    if (status != BB_OK) {
        bb_text_destroy(text);
        return status;
    }
    *ret_text = text;
    return BB_OK;
}
