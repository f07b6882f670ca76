/* The requested paths of a JSON text, as a tree: paths that begin with the same steps share them.
 *
 *     $.a   $.b.c   $.b.d        root -- a
 *                                     -- b -- c
 *                                          -- d
 *
 * A finder walks the text and the tree together. Before a text every attribute is MALFORMED; found
 * attributes are set, and so are attributes that a whole object does not have. So damage needs no
 * more work.
 * Threads: one.
 */
#ifndef BB_SKIP_RECORD_JSON_TREE_H
#define BB_SKIP_RECORD_JSON_TREE_H

#include "skip/record/json_path.h"
#include "skip/record/pass.h"

struct bb_json_node {
    struct bb_json_step step; /* the root's means nothing */
    struct bb_json_node *first_child;
    struct bb_json_node *next; /* of the same parent */
    size_t key_count;          /* children that are keys */
    size_t index_count;        /* and indexes of arrays */
    size_t *slots;             /* owned: numbers of the pass's slots that end here */
    size_t slot_count;
    bool is_seen; /* in the current object or array */
};

struct bb_json_tree {
    struct bb_json_node root;
    size_t slot_count;
    uint8_t *key; /* owned: space for a key of the text without escapes */
    size_t key_capacity;
    void (*find)(struct bb_json_tree *tree, const struct bb_pass *pass, struct bb_record *record);
};

/* NO_MEMORY without a message; bb_json_tree_deinit in either case. */
BB_MUST_CHECK enum bb_status bb_json_tree_init(struct bb_json_tree *tree,
                                               const struct bb_pass *pass);
void bb_json_tree_deinit(struct bb_json_tree *tree);

/* One walk. */
struct bb_json_walk {
    struct bb_json_tree *tree;
    const struct bb_pass *pass;
    struct bb_record *record;
    const uint8_t *end;
    size_t slots_left; /* that are not set: 0 ends the walk */
};

/* The child of this key, which was not seen before; NULL when there is no child, and for a repeated
 * key. */
struct bb_json_node *bb_json_tree_walk_key(struct bb_json_walk *walk, struct bb_json_node *node,
                                           struct bb_bytes key, bool has_escape);
/* The child of this index. */
struct bb_json_node *bb_json_tree_walk_index(struct bb_json_node *node, uint64_t index);
/* Sets the attributes of a node to the value at ... after. */
void bb_json_tree_walk_found(struct bb_json_walk *walk, const struct bb_json_node *node,
                             const uint8_t *at, const uint8_t *after);
/* Sets the attributes of the children of one kind that were not seen, and of all below them, to
 * MISSING. */
void bb_json_tree_walk_missing(struct bb_json_walk *walk, const struct bb_json_node *node,
                               bool is_index);
/* The value is neither object nor array: it has no values below it, if it is a value. */
void bb_json_tree_walk_scalar(struct bb_json_walk *walk, const struct bb_json_node *node,
                              const uint8_t *at, const uint8_t *after);

static inline void bb_json_node_begin(struct bb_json_node *node)
{
    for (struct bb_json_node *child = node->first_child; child != NULL; child = child->next)
        child->is_seen = false;
}

#endif
