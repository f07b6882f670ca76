/* The file system around the tree. Private to file_memory*.c. */
#ifndef BB_TESTS_SUPPORT_FILE_MEMORY_PRIVATE_H
#define BB_TESTS_SUPPORT_FILE_MEMORY_PRIVATE_H

#include "base/sync.h"
#include "tests/support/file_memory.h"
#include "tests/support/file_memory_tree.h"
#include "tests/support/rng.h"

struct bb_file_memory {
    struct bb_file_system base;
    struct bb_mutex mutex; /* everything below */
    struct bb_memory_tree tree;
    struct bb_rng rng;
    uint64_t clock;
    uint64_t space; /* 0: no limit */
    uint64_t calls;
    size_t open_files;
    struct bb_file_counters counters;
    bb_file_memory_hook *hook;
    void *hook_context;
};

/* A file system without a tree; the caller puts one in. */
struct bb_file_memory *bb_file_memory_create_bare(void);

#endif
