/* Files and directories in memory: nodes, their names, and the part of both that a power failure
 * leaves (bb/file.h). Functions of type int return 0 or an errno value.
 *
 *   node   a file with its bytes, of which a prefix is durable; or a directory
 *   name   (directory, name) -> node. A directory's durable names are a copy of its names, made
 *          when it was synced
 *
 * For tests: names are searched one after another. Threads: the caller's lock. */
#ifndef BB_BASE_RAM_TREE_H
#define BB_BASE_RAM_TREE_H

#include "bb/file.h"

struct bb_ram_node {
    size_t references; /* names, durable names, open files, and directories of names */
    bool is_directory;
    bool is_locked;
    size_t shared_locks; /* of a directory */
    struct bb_buf bytes;
    size_t durable_size;
    struct bb_ram_node *twin; /* while a tree is copied */
};

struct bb_ram_name {
    struct bb_ram_node *directory; /* referenced */
    char *name;                    /* owned */
    struct bb_ram_node *node;      /* referenced */
};

struct bb_ram_names {
    struct bb_ram_name *items;
    size_t count;
    size_t capacity;
};

struct bb_ram_tree {
    struct bb_ram_node *root; /* referenced */
    struct bb_ram_names names;
    struct bb_ram_names durable;
};

/* BB_NO_MEMORY. */
enum bb_status bb_ram_tree_init(struct bb_ram_tree *tree);
void bb_ram_tree_deinit(struct bb_ram_tree *tree);
/* The durable part of a tree, all of it durable. */
enum bb_status bb_ram_tree_copy_durable(const struct bb_ram_tree *from,
                                        struct bb_ram_tree *ret_tree);

/* The directory of a path, and its last component, which is owned: bb_free. For the root it
 * is "". ENOENT, ENOTDIR, ENOMEM, EINVAL (".."). */
int bb_ram_tree_walk(const struct bb_ram_tree *tree, const char *path,
                     struct bb_ram_node **ret_directory, char **ret_name);
/* The node of a name, or NULL. "" is the directory itself. */
struct bb_ram_node *bb_ram_tree_lookup(const struct bb_ram_tree *tree,
                                       struct bb_ram_node *directory, const char *name);
/* The node of a path; ENOENT. */
int bb_ram_tree_find(const struct bb_ram_tree *tree, const char *path,
                     struct bb_ram_node **ret_node);

/* A new node, with one reference; NULL: no memory. */
struct bb_ram_node *bb_ram_tree_node_create(bool is_directory);
void bb_ram_tree_node_unref(struct bb_ram_node *node);

/* Adds a name, which is copied. ENOMEM. */
int bb_ram_tree_name_add(struct bb_ram_names *names, struct bb_ram_node *directory,
                         const char *name, struct bb_ram_node *node);
/* Removes a name if it exists. */
void bb_ram_tree_name_remove(struct bb_ram_names *names, const struct bb_ram_node *directory,
                             const char *name);
size_t bb_ram_tree_name_count(const struct bb_ram_names *names,
                              const struct bb_ram_node *directory);
/* Makes the names of a directory durable. ENOMEM: they are unchanged. */
int bb_ram_tree_names_sync(struct bb_ram_tree *tree, struct bb_ram_node *directory);

#endif
