/* The state of a file system in memory: inodes, names, and the unsynced part of both. Private to
 * file_memory*.c. Lookup functions return 0 or an errno value, for bb_fail_errno. */
#ifndef BB_TESTS_SUPPORT_FILE_MEMORY_TREE_H
#define BB_TESTS_SUPPORT_FILE_MEMORY_TREE_H

#include "base/file.h"

#define BB_MEMORY_NAME_SIZE_MAX 255
/* A window's size is a multiple of it. */
#define BB_MEMORY_PAGE_SIZE 4096

struct bb_memory_inode;

struct bb_memory_entry {
    char *name; /* owned */
    struct bb_memory_inode *inode;
};

struct bb_memory_names {
    struct bb_memory_entry *entries;
    size_t count;
    size_t capacity;
};

/* A change to one directory that was not synced. */
struct bb_memory_change {
    enum { BB_MEMORY_CREATE, BB_MEMORY_RENAME, BB_MEMORY_REMOVE } kind;
    uint64_t serial; /* order over all directories */
    char *name;      /* owned */
    char *to;        /* owned; RENAME only */
    struct bb_memory_inode *inode;
};

/* A file or a directory. Lives as long as a name, a durable name, a change or an open file refers
 * to it. */
struct bb_memory_inode {
    size_t number; /* its place in the tree's list */
    size_t references;
    size_t links; /* names, without the durable ones */
    size_t handles;
    bool is_directory;
    bool is_locked;
    size_t shared_locks; /* of a directory: by read-only users */

    uint8_t *bytes; /* 0 ... durable_size is safe, the rest is not */
    size_t size;
    size_t capacity;
    size_t durable_size;
    size_t *append_ends; /* of the appends after the durable prefix, in order */
    size_t append_count;
    size_t append_capacity;
    /* Of a window: its bytes on the disk, as many as above. NULL for other files. */
    uint8_t *written;

    struct bb_memory_names names;
    struct bb_memory_names durable_names;
    struct bb_memory_change *changes; /* lead from durable_names to names */
    size_t change_count;
    size_t change_capacity;
};

struct bb_memory_tree {
    struct bb_memory_inode **inodes;
    size_t count;
    size_t capacity;
    struct bb_memory_inode *root;
    uint64_t next_serial;
};

void bb_memory_tree_init(struct bb_memory_tree *tree);
void bb_memory_tree_deinit(struct bb_memory_tree *tree);
/* A complete copy, without open files and locks. */
void bb_memory_tree_copy(const struct bb_memory_tree *from, struct bb_memory_tree *ret_tree);
/* Bytes of all files that have a name or are open. */
uint64_t bb_memory_tree_used(const struct bb_memory_tree *tree);
/* True while a file without a name is open. */
bool bb_memory_tree_has_removed(const struct bb_memory_tree *tree);

/* The directory and the last component of a path; the component is "" for the root. ENOENT,
 * ENOTDIR, ENAMETOOLONG, and EINVAL for a path with "..". */
int bb_memory_walk(const struct bb_memory_tree *tree, const char *path,
                   struct bb_memory_inode **ret_directory,
                   char ret_name[BB_MEMORY_NAME_SIZE_MAX + 1]);
/* NULL if none exists. The name "" is the directory itself. */
struct bb_memory_inode *bb_memory_lookup(struct bb_memory_inode *directory, const char *name);
int bb_memory_find(const struct bb_memory_tree *tree, const char *path,
                   struct bb_memory_inode **ret_inode);

/* Changes to names; the caller checks the conditions (the name is free, exists, is a file ...). */
struct bb_memory_inode *bb_memory_make(struct bb_memory_tree *tree,
                                       struct bb_memory_inode *directory, const char *name,
                                       bool is_directory);
void bb_memory_unlink(struct bb_memory_tree *tree, struct bb_memory_inode *directory,
                      const char *name);
void bb_memory_relink(struct bb_memory_tree *tree, struct bb_memory_inode *directory,
                      const char *from, const char *to);
/* A further name for a file. */
void bb_memory_link(struct bb_memory_tree *tree, struct bb_memory_inode *directory,
                    const char *name, struct bb_memory_inode *inode);
void bb_memory_sync_names(struct bb_memory_tree *tree, struct bb_memory_inode *directory);

/* Changes to bytes. */
void bb_memory_append(struct bb_memory_inode *file, const void *data, size_t size);
void bb_memory_sync_bytes(struct bb_memory_inode *file);

void bb_memory_acquire(struct bb_memory_inode *inode);
void bb_memory_release(struct bb_memory_tree *tree, struct bb_memory_inode *inode);

/* file_memory_list.c: the names as the file seam hands them out, from the product's allocator. */
enum bb_status bb_memory_list(const struct bb_memory_names *names, struct bb_file_names *ret_list);

#endif
