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
    bool has_links;
    bool has_windows;
    uint32_t cold_one_in;
    uint32_t cold_turn;
    uint64_t lost_after; /* calls of is_sound; 0: never */
    uint64_t maps_forgotten;
    uint64_t write_backs;
    size_t open_files;
    struct bb_file_counters counters;
    bb_file_memory_hook *hook;
    void *hook_context;
};

/* An open file or a held lock. */
struct bb_memory_file {
    struct bb_file base;
    struct bb_file_memory *memory;
    struct bb_memory_inode *inode;
    bool writable;
    bool failed; /* as in base/file_posix.c: never written again */
};

/* A file system without a tree; the caller puts one in. */
struct bb_file_memory *bb_file_memory_create_bare(void);

/* Counts a changing call and calls the hook, which may refuse it. Without the mutex. */
enum bb_status bb_memory_announce(struct bb_file_memory *memory, enum bb_file_call call,
                                  const char *path);
/* The status of an errno value, 0 being success. Called when the mutex is released. */
enum bb_status bb_memory_done(int error_number, const char *operation, const char *path);
/* With the mutex. */
uint64_t bb_memory_space_left(const struct bb_file_memory *memory);

/* Makes a new file or directory; errno value. With the mutex. */
int bb_memory_make_at(struct bb_file_memory *memory, const char *path, bool is_directory,
                      struct bb_memory_inode **ret_inode);

/* file_memory_window.c. Gives windows to the file systems with this table, which is the same in
 * each call. */
void bb_memory_offer_windows(const struct bb_file_system_ops *ops);

/* file_memory_file.c. create with the mutex, destroy without. */
struct bb_memory_file *bb_memory_file_create(struct bb_file_memory *memory,
                                             struct bb_memory_inode *inode, const char *path,
                                             bool writable);
void bb_memory_file_destroy(struct bb_memory_file *file);

#endif
