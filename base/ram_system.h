/* The file system in memory of bb/file.h: the state that its parts share. */
#ifndef BB_BASE_RAM_SYSTEM_H
#define BB_BASE_RAM_SYSTEM_H

#include "base/ram_tree.h"
#include "base/sync.h"

struct bb_ram_system {
    struct bb_file_system base;
    struct bb_mutex mutex; /* guards all fields below */
    struct bb_ram_tree tree;
    uint64_t random;
    uint64_t clock;
    struct bb_file_counters counters;
    size_t open_files; /* and locks */
};

struct bb_ram_file {
    struct bb_file base;
    struct bb_ram_system *system;
    struct bb_ram_node *node; /* referenced */
    bool is_writable;
};

/* ram_file.c. create: the caller holds the mutex; NULL: no memory. destroy: the caller does not
 * hold it. */
struct bb_ram_file *bb_ram_file_create(struct bb_ram_system *system, struct bb_ram_node *node,
                                       const char *path, bool is_writable);
void bb_ram_file_destroy(struct bb_ram_file *file);

#endif
