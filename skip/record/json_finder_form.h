/* The text of a form of json_finder.h: not a header, but included once by each file that makes one,
 * with
 *     FORM_TARGET   on every function
 *     FORM_FIND     the name of the form
 * and, before it, two functions of the form's own
 *     find_string_stop(at, end)       the first quote or backslash, or end
 *     find_structure(at, end)         the first quote or bracket, or end
 */
#ifndef BB_SKIP_RECORD_JSON_FINDER_FORM_H
#define BB_SKIP_RECORD_JSON_FINDER_FORM_H

#include "base/assert.h"
#include "skip/record/json_tree.h"

FORM_TARGET static inline const uint8_t *skip_blanks(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* The quote that ends the string whose first byte is at; NULL when none does. */
FORM_TARGET static inline const uint8_t *find_end_quote(const uint8_t *at, const uint8_t *end,
                                                        bool *ret_has_escape)
{
    for (;;) {
        at = find_string_stop(at, end);
        if (at == end)
            return NULL;
        if (*at == '"')
            return at;
        *ret_has_escape = true;
        if (end - at < 2)
            return NULL;
        at += 2;
    }
}

/* After the bracket that closes the outermost of depth open brackets; NULL when no bracket does. */
FORM_TARGET static const uint8_t *skip_brackets(const uint8_t *at, const uint8_t *end, size_t depth)
{
    bool has_escape;
    while (depth > 0) {
        at = find_structure(at, end);
        if (at == end)
            return NULL;
        uint8_t byte = *at++;
        if (byte == '"') {
            at = find_end_quote(at, end, &has_escape);
            if (at == NULL)
                return NULL;
            at++;
        } else {
            /* '[' and '{' end in the bits 011, their partners in 101. */
            depth += (byte & 2) != 0 ? 1 : (size_t)-1;
        }
    }
    return at;
}

/* After a number or word, which ends before a byte that may follow a value; NULL when there is no
 * number or word. */
FORM_TARGET static inline const uint8_t *skip_scalar(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *first = at;
    for (; at < end; at++) {
        uint8_t byte = *at;
        if (byte <= ' ' || byte == ',' || byte == '"' || byte == ':' || (byte | 0x20) == '{' ||
            (byte | 0x20) == '}')
            break;
    }
    return at == first ? NULL : at;
}

/* After the value that begins at at; NULL when it has no end. REQUIRES: at < end. */
FORM_TARGET static inline const uint8_t *skip_value(const uint8_t *at, const uint8_t *end)
{
    BB_DEBUG_ASSERT(at < end);
    bool has_escape;
    if (*at == '"') {
        at = find_end_quote(at + 1, end, &has_escape);
        return at == NULL ? NULL : at + 1;
    }
    if (*at == '{' || *at == '[')
        return skip_brackets(at + 1, end, 1);
    return skip_scalar(at, end);
}

FORM_TARGET static const uint8_t *read_value(struct bb_json_walk *walk, struct bb_json_node *node,
                                             const uint8_t *at);

/* The value of a member or element: read where the tree has nodes below it, else skipped. */
FORM_TARGET static inline const uint8_t *take_value(struct bb_json_walk *walk,
                                                    struct bb_json_node *child, const uint8_t *at)
{
    at = skip_blanks(at, walk->end);
    if (at == walk->end)
        return NULL;
    return child == NULL ? skip_value(at, walk->end) : read_value(walk, child, at);
}

/* After a value inside of brackets: the begin of the next one after a comma; the place after the
 * closing mark, with *ret_is_end; NULL for anything else. */
FORM_TARGET static inline const uint8_t *take_mark(struct bb_json_walk *walk, const uint8_t *at,
                                                   uint8_t closing, bool *ret_is_end)
{
    at = skip_blanks(at, walk->end);
    if (at == walk->end || (*at != ',' && *at != closing))
        return NULL;
    *ret_is_end = *at == closing;
    return at + 1;
}

/* "key": up to the value; the child of the key, if there is one. */
FORM_TARGET static inline const uint8_t *take_key(struct bb_json_walk *walk,
                                                  struct bb_json_node *node, const uint8_t *at,
                                                  struct bb_json_node **ret_child)
{
    bool has_escape = false;
    at = skip_blanks(at, walk->end);
    if (at == walk->end || *at != '"')
        return NULL;
    const uint8_t *first = at + 1;
    const uint8_t *last = find_end_quote(first, walk->end, &has_escape);
    if (last == NULL)
        return NULL;
    at = skip_blanks(last + 1, walk->end);
    if (at == walk->end || *at != ':')
        return NULL;
    *ret_child = bb_json_tree_walk_key(walk, node, (struct bb_bytes){first, (size_t)(last - first)},
                                       has_escape);
    return at + 1;
}

/* The members of an object, after its bracket, until all keys are seen. NULL for damage, and when
 * all attributes are found. */
FORM_TARGET static const uint8_t *read_object(struct bb_json_walk *walk, struct bb_json_node *node,
                                              const uint8_t *at)
{
    size_t left = node->key_count;
    bool is_end = false;
    const uint8_t *first = skip_blanks(at, walk->end);
    if (first < walk->end && *first == '}') {
        bb_json_tree_walk_missing(walk, node, false);
        return first + 1;
    }
    while (left > 0 && !is_end) {
        struct bb_json_node *child = NULL;
        at = take_key(walk, node, at, &child);
        if (at != NULL)
            at = take_value(walk, child, at);
        if (at != NULL && child != NULL && --left == 0)
            break;
        if (at != NULL)
            at = take_mark(walk, at, '}', &is_end);
        if (at == NULL || walk->slots_left == 0)
            return NULL;
    }
    if (is_end)
        bb_json_tree_walk_missing(walk, node, false);
    return is_end || walk->slots_left == 0 ? at : skip_brackets(at, walk->end, 1);
}

/* The elements of an array, in the same way. */
FORM_TARGET static const uint8_t *read_array(struct bb_json_walk *walk, struct bb_json_node *node,
                                             const uint8_t *at)
{
    size_t left = node->index_count;
    bool is_end = false;
    const uint8_t *first = skip_blanks(at, walk->end);
    if (first < walk->end && *first == ']') {
        bb_json_tree_walk_missing(walk, node, true);
        return first + 1;
    }
    for (uint64_t index = 0; left > 0 && !is_end; index++) {
        struct bb_json_node *child = bb_json_tree_walk_index(node, index);
        at = take_value(walk, child, at);
        if (at != NULL && child != NULL && --left == 0)
            break;
        if (at != NULL)
            at = take_mark(walk, at, ']', &is_end);
        if (at == NULL || walk->slots_left == 0)
            return NULL;
    }
    if (is_end)
        bb_json_tree_walk_missing(walk, node, true);
    return is_end || walk->slots_left == 0 ? at : skip_brackets(at, walk->end, 1);
}

/* The values below an object or array. An object has no elements, an array no members. */
FORM_TARGET static inline const uint8_t *read_below(struct bb_json_walk *walk,
                                                    struct bb_json_node *node, const uint8_t *at)
{
    bool is_object = *at == '{';
    bb_json_tree_walk_missing(walk, node, is_object);
    return is_object ? read_object(walk, node, at + 1) : read_array(walk, node, at + 1);
}

/* After a value that the tree has a node for; NULL for damage, and when all attributes are
 * found. */
FORM_TARGET static const uint8_t *read_value(struct bb_json_walk *walk, struct bb_json_node *node,
                                             const uint8_t *at)
{
    const uint8_t *after = NULL;
    bool has_brackets = *at == '{' || *at == '[';
    bool has_children = node->first_child != NULL;
    if (has_children)
        bb_json_node_begin(node);
    if (has_children && has_brackets) {
        after = read_below(walk, node, at);
        if (walk->slots_left == 0)
            return NULL;
    }
    if (after == NULL)
        after = skip_value(at, walk->end);
    /* A value that touches the end of the text may be cut. */
    if (after == NULL ||
        (after == walk->end && !has_brackets && *at != '"' && node != &walk->tree->root))
        return NULL;
    if (has_children && !has_brackets)
        bb_json_tree_walk_scalar(walk, node, at, after);
    bb_json_tree_walk_found(walk, node, at, after);
    return after;
}

FORM_TARGET void FORM_FIND(struct bb_json_tree *tree, const struct bb_pass *pass,
                           struct bb_record *record)
{
    struct bb_json_walk walk = {
        .tree = tree,
        .pass = pass,
        .record = record,
        .end = record->value.data + record->value.size,
        .slots_left = tree->slot_count,
    };
    for (size_t i = 0; i < pass->slot_count; i++)
        bb_slot_set(&pass->slots[i], record, bb_field_without(BB_ATTRIBUTE_MALFORMED));
    if (record->value.size > 0)
        (void)take_value(&walk, &tree->root, record->value.data);
}

#endif
