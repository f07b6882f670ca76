/* See like.h. */
#include "skip/condition/like.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/condition/character.h"
#include "skip/condition/search.h"

#define ESCAPE '\\'

static bool is_special(uint8_t byte)
{
    return byte == '%' || byte == '_' || byte == ESCAPE;
}

/* The output of a compilation, in space for the longest that it can be. */
struct compiler {
    struct bb_like *like;
    size_t item_count;
    size_t byte_count;
    bool is_in_segment;
};

static struct bb_like_item *open_item(struct compiler *compiler)
{
    struct bb_like *like = compiler->like;
    struct bb_like_item *item = &like->items[compiler->item_count++];
    if (!compiler->is_in_segment)
        like->segments[like->segment_count++] = (struct bb_like_segment){.items = item};
    compiler->is_in_segment = true;
    like->segments[like->segment_count - 1].item_count++;
    return item;
}

static struct bb_like_item *last_item(struct compiler *compiler)
{
    return compiler->is_in_segment ? &compiler->like->items[compiler->item_count - 1] : NULL;
}

static void add_any(struct compiler *compiler)
{
    struct bb_like_item *last = last_item(compiler);
    if (last == NULL || last->any_count == 0)
        last = open_item(compiler);
    last->any_count++;
}

static void add_byte(struct compiler *compiler, uint8_t byte)
{
    struct bb_like *like = compiler->like;
    struct bb_like_item *last = last_item(compiler);
    if (last == NULL || last->any_count != 0) {
        last = open_item(compiler);
        last->literal.data = like->bytes + compiler->byte_count;
    }
    like->bytes[compiler->byte_count++] = like->ignores_case ? bb_fold_byte(byte) : byte;
    last->literal.size++;
}

static void compile(struct compiler *compiler, struct bb_bytes pattern)
{
    for (size_t i = 0; i < pattern.size; i++) {
        uint8_t byte = pattern.data[i];
        compiler->like->is_open_at_end = byte == '%';
        if (byte == '%') {
            compiler->like->is_open_at_start |= i == 0;
            compiler->is_in_segment = false;
        } else if (byte == '_') {
            add_any(compiler);
        } else {
            if (byte == ESCAPE && i + 1 < pattern.size && is_special(pattern.data[i + 1]))
                byte = pattern.data[++i];
            add_byte(compiler, byte);
        }
    }
}

enum bb_status bb_like_create(struct bb_bytes pattern, bool ignores_case, struct bb_like **ret_like)
{
    struct bb_like *like = bb_alloc_zeroed(1, sizeof(*like));
    if (like != NULL) {
        like->segments = bb_alloc_zeroed(pattern.size + 1, sizeof(*like->segments));
        like->items = bb_alloc_zeroed(pattern.size + 1, sizeof(*like->items));
        like->bytes = bb_alloc(pattern.size);
        like->ignores_case = ignores_case;
    }
    if (like == NULL || like->segments == NULL || like->items == NULL || like->bytes == NULL) {
        bb_like_destroy(like);
        return bb_fail(BB_NO_MEMORY, "no memory for a pattern of %zu bytes", pattern.size);
    }
    struct compiler compiler = {.like = like};
    compile(&compiler, pattern);
    *ret_like = like;
    return BB_OK;
}

void bb_like_destroy(struct bb_like *like)
{
    if (like == NULL)
        return;
    bb_free(like->segments);
    bb_free(like->items);
    bb_free(like->bytes);
    bb_free(like);
}

/* The part of a text that segments may still take. */
struct window {
    struct bb_bytes text;
    size_t begin;
    size_t end;
};

static bool literal_is_at(const struct bb_like *like, const struct window *window, size_t at,
                          struct bb_bytes literal)
{
    if (window->end - at < literal.size)
        return false;
    if (like->ignores_case)
        return bb_search_folded_is_at(window->text, at, literal);
    return memcmp(window->text.data + at, literal.data, literal.size) == 0;
}

/* Moves over count characters. False at the window's end, and within a character. */
static bool skip_characters(const struct window *window, size_t count, size_t *at)
{
    for (; count > 0; count--) {
        if (*at >= window->end || !bb_character_is_boundary(window->text, *at))
            return false;
        *at += bb_character_size(window->text, *at);
    }
    return *at <= window->end;
}

/* REQUIRES: at <= window->end. */
static bool segment_is_at(const struct bb_like *like, const struct bb_like_segment *segment,
                          const struct window *window, size_t at, size_t *ret_end)
{
    BB_DEBUG_ASSERT(at <= window->end);
    for (size_t i = 0; i < segment->item_count; i++) {
        const struct bb_like_item *item = &segment->items[i];
        if (item->any_count != 0) {
            if (!skip_characters(window, item->any_count, &at))
                return false;
        } else {
            if (!literal_is_at(like, window, at, item->literal))
                return false;
            at += item->literal.size;
        }
    }
    *ret_end = at;
    return true;
}

static bool skip_characters_back(const struct window *window, size_t count, size_t *at)
{
    for (; count > 0; count--) {
        if (*at <= window->begin || !bb_character_is_boundary(window->text, *at))
            return false;
        size_t size = bb_character_size_before(window->text, *at);
        if (*at - window->begin < size)
            return false;
        *at -= size;
    }
    return true;
}

/* The one place of a segment that ends where the window does. */
static bool segment_is_before_end(const struct bb_like *like, const struct bb_like_segment *segment,
                                  const struct window *window, size_t *ret_begin)
{
    size_t at = window->end;
    for (size_t i = segment->item_count; i > 0; i--) {
        const struct bb_like_item *item = &segment->items[i - 1];
        if (item->any_count != 0) {
            if (!skip_characters_back(window, item->any_count, &at))
                return false;
            continue;
        }
        if (at - window->begin < item->literal.size ||
            !literal_is_at(like, window, at - item->literal.size, item->literal))
            return false;
        at -= item->literal.size;
    }
    *ret_begin = at;
    return true;
}

/* The next place where the segment may begin. */
static bool find_candidate(const struct bb_like *like, const struct bb_like_segment *segment,
                           const struct window *window, size_t from, size_t *ret_at)
{
    struct bb_bytes text = bb_bytes_of(window->text.data, window->end);
    struct bb_bytes literal = segment->items[0].literal;
    if (segment->items[0].any_count != 0) {
        *ret_at = from;
        return from <= window->end;
    }
    return like->ignores_case ? bb_search_folded(text, from, literal, ret_at)
                              : bb_search(text, from, literal, ret_at);
}

static bool find_segment(const struct bb_like *like, const struct bb_like_segment *segment,
                         struct window *window)
{
    size_t at = 0;
    size_t from = window->begin;
    while (from <= window->end && find_candidate(like, segment, window, from, &at)) {
        size_t end = 0;
        if (segment_is_at(like, segment, window, at, &end)) {
            window->begin = end;
            return true;
        }
        from = at + 1;
    }
    return false;
}

bool bb_like_match(const struct bb_like *like, struct bb_bytes text)
{
    struct window window = {.text = text, .end = text.size};
    size_t first = 0;
    size_t last = like->segment_count;
    if (last == 0)
        return like->is_open_at_start || text.size == 0;
    if (!like->is_open_at_start) {
        if (!segment_is_at(like, &like->segments[first++], &window, 0, &window.begin))
            return false;
        if (first == last && !like->is_open_at_end)
            return window.begin == window.end;
    }
    if (!like->is_open_at_end &&
        !segment_is_before_end(like, &like->segments[--last], &window, &window.end))
        return false;
    for (; first < last; first++)
        if (!find_segment(like, &like->segments[first], &window))
            return false;
    return true;
}

enum bb_status bb_like_escape(struct bb_bytes text, struct bb_buf *buf)
{
    static const uint8_t escape = ESCAPE;
    enum bb_status status = BB_OK;
    for (size_t i = 0; status == BB_OK && i < text.size; i++) {
        if (is_special(text.data[i]))
            status = bb_buf_append(buf, &escape, 1);
        if (status == BB_OK)
            status = bb_buf_append(buf, &text.data[i], 1);
    }
    return status;
}

static enum bb_status print_item(const struct bb_like_item *item, struct bb_buf *buf)
{
    enum bb_status status = bb_like_escape(item->literal, buf);
    for (size_t i = 0; status == BB_OK && i < item->any_count; i++)
        status = bb_buf_append(buf, "_", 1);
    return status;
}

enum bb_status bb_like_print(const struct bb_like *like, struct bb_buf *buf)
{
    enum bb_status status = like->is_open_at_start ? bb_buf_append(buf, "%", 1) : BB_OK;
    for (size_t i = 0; status == BB_OK && i < like->segment_count; i++) {
        const struct bb_like_segment *segment = &like->segments[i];
        for (size_t j = 0; status == BB_OK && j < segment->item_count; j++)
            status = print_item(&segment->items[j], buf);
        bool is_last = i + 1 == like->segment_count;
        if (status == BB_OK && (!is_last || like->is_open_at_end))
            status = bb_buf_append(buf, "%", 1);
    }
    return status;
}
