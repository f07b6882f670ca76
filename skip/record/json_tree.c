/* See json_tree.h. */
#include "skip/record/json_tree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "skip/record/json_text.h"

/* "\u0041" is one byte. */
#define ESCAPED_BYTE_MAX 6

static struct bb_json_node *find_child(const struct bb_json_node *node,
                                       const struct bb_json_step *step)
{
    struct bb_json_node *child = node->first_child;
    while (child != NULL && !bb_json_path_step_equal(&child->step, step))
        child = child->next;
    return child;
}

static struct bb_json_node *add_child(struct bb_json_node *node, const struct bb_json_step *step)
{
    struct bb_json_node *child = bb_alloc_zeroed(1, sizeof(*child));
    if (child == NULL)
        return NULL;
    child->step = *step;
    child->next = node->first_child;
    node->first_child = child;
    node->key_count += !step->is_index;
    node->index_count += step->is_index;
    return child;
}

static enum bb_status add_slot(struct bb_json_node *node, size_t slot)
{
    size_t *slots = bb_realloc(node->slots, (node->slot_count + 1) * sizeof(slots[0]));
    if (slots == NULL)
        return BB_NO_MEMORY;
    node->slots = slots;
    slots[node->slot_count++] = slot;
    return BB_OK;
}

static enum bb_status add_path(struct bb_json_tree *tree, const struct bb_json_path *path,
                               size_t slot)
{
    struct bb_json_node *node = &tree->root;
    for (size_t i = 0; i < path->count; i++) {
        const struct bb_json_step *step = &path->steps[i];
        struct bb_json_node *child = find_child(node, step);
        node = child != NULL ? child : add_child(node, step);
        if (node == NULL)
            return BB_NO_MEMORY;
        if (step->key.size * ESCAPED_BYTE_MAX > tree->key_capacity)
            tree->key_capacity = step->key.size * ESCAPED_BYTE_MAX;
    }
    return add_slot(node, slot);
}

enum bb_status bb_json_tree_init(struct bb_json_tree *tree, const struct bb_pass *pass)
{
    *tree = (struct bb_json_tree){.slot_count = pass->slot_count};
    for (size_t i = 0; i < pass->slot_count; i++) {
        enum bb_status status = add_path(tree, pass->slots[i].definition->path, i);
        if (status != BB_OK)
            return status;
    }
    tree->key = bb_alloc(tree->key_capacity);
    return tree->key == NULL ? BB_NO_MEMORY : BB_OK;
}

static void free_children(struct bb_json_node *node)
{
    struct bb_json_node *next;
    for (struct bb_json_node *child = node->first_child; child != NULL; child = next) {
        next = child->next;
        free_children(child);
        bb_free(child);
    }
    bb_free(node->slots);
}

void bb_json_tree_deinit(struct bb_json_tree *tree)
{
    free_children(&tree->root);
    bb_free(tree->key);
}

/* --- Walking --- */

static struct bb_json_node *find_key(const struct bb_json_node *node, struct bb_bytes key)
{
    for (struct bb_json_node *child = node->first_child; child != NULL; child = child->next) {
        if (child->step.key.size == key.size && !child->step.is_index &&
            memcmp(child->step.key.data, key.data, key.size) == 0)
            return child;
    }
    return NULL;
}

struct bb_json_node *bb_json_tree_walk_key(struct bb_json_walk *walk, struct bb_json_node *node,
                                           struct bb_bytes key, bool has_escape)
{
    struct bb_json_tree *tree = walk->tree;
    if (has_escape) {
        size_t size;
        if (key.size > tree->key_capacity || !bb_json_text_unescape(key, tree->key, &size))
            return NULL;
        key = bb_bytes_of(tree->key, size);
    }
    struct bb_json_node *child = find_key(node, key);
    if (child == NULL || child->is_seen)
        return NULL;
    child->is_seen = true;
    return child;
}

struct bb_json_node *bb_json_tree_walk_index(struct bb_json_node *node, uint64_t index)
{
    for (struct bb_json_node *child = node->first_child; child != NULL; child = child->next) {
        if (child->step.is_index && child->step.index == index) {
            child->is_seen = true;
            return child;
        }
    }
    return NULL;
}

static struct bb_field string_field(struct bb_record *record, const uint8_t *at,
                                    const uint8_t *after)
{
    struct bb_field field = bb_field_of(at + 1, after - 1);
    size_t size = field.text.size;
    if (memchr(field.text.data, '\\', size) == NULL)
        return field;
    uint8_t *target = bb_scratch_take(record->scratch, size);
    size_t used = 0;
    if (target == NULL)
        return bb_field_without(BB_ATTRIBUTE_MALFORMED);
    if (bb_json_text_unescape(field.text, target, &used))
        field.text = bb_bytes_of(target, used);
    else
        field.state = BB_ATTRIBUTE_MALFORMED;
    bb_scratch_shrink(record->scratch, size - used);
    return field;
}

static struct bb_field field_of(struct bb_record *record, const uint8_t *at, const uint8_t *after)
{
    struct bb_field field = bb_field_of(at, after);
    if (*at == '"')
        return string_field(record, at, after);
    if (*at != '{' && *at != '[')
        field.state = bb_json_text_scalar_state(field.text);
    return field;
}

static void set_slots(struct bb_json_walk *walk, const struct bb_json_node *node,
                      struct bb_field field)
{
    for (size_t i = 0; i < node->slot_count; i++)
        bb_slot_set(&walk->pass->slots[node->slots[i]], walk->record, field);
    walk->slots_left -= node->slot_count;
}

void bb_json_tree_walk_found(struct bb_json_walk *walk, const struct bb_json_node *node,
                             const uint8_t *at, const uint8_t *after)
{
    if (node->slot_count > 0)
        set_slots(walk, node, field_of(walk->record, at, after));
}

/* All below a node whose value has nothing below it. */
static void set_missing(struct bb_json_walk *walk, const struct bb_json_node *node)
{
    set_slots(walk, node, bb_field_without(BB_ATTRIBUTE_MISSING));
    for (struct bb_json_node *child = node->first_child; child != NULL; child = child->next)
        set_missing(walk, child);
}

void bb_json_tree_walk_missing(struct bb_json_walk *walk, const struct bb_json_node *node,
                               bool is_index)
{
    for (struct bb_json_node *child = node->first_child; child != NULL; child = child->next) {
        if (!child->is_seen && child->step.is_index == is_index)
            set_missing(walk, child);
    }
}

void bb_json_tree_walk_scalar(struct bb_json_walk *walk, const struct bb_json_node *node,
                              const uint8_t *at, const uint8_t *after)
{
    if (*at != '"' &&
        bb_json_text_scalar_state(bb_bytes_of(at, (size_t)(after - at))) == BB_ATTRIBUTE_MALFORMED)
        return;
    bb_json_tree_walk_missing(walk, node, false);
    bb_json_tree_walk_missing(walk, node, true);
}
