/* A file system that wraps another one and limits the number of descriptors open for reading.
 *
 * A file is opened immediately, so that a missing file is reported. Later its descriptor may be
 * closed to free a slot; the next read opens the file again. A clock algorithm (one mark per file,
 * Corbato 1968) selects a file that was not read recently: reads take no lock and update no list. A
 * descriptor in use is never closed: if more threads than the limit read different files at the
 * same time, the limit is exceeded by the difference.
 *
 * A reopened file must exist and have its earlier size, else the read fails with BB_IO. Close a
 * file before removing or replacing it, because it is reopened by name. If other processes remove
 * files, call bb_file_pool_share.
 *
 * All other operations pass through. Threads: as in base/file.h. Opening and closing files, and
 * reading a file that must be reopened, take a lock. */
#ifndef BB_BASE_FILE_POOL_H
#define BB_BASE_FILE_POOL_H

#include "base/file.h"

struct bb_file_pool;

struct bb_file_pool_counters {
    uint64_t open_files;      /* open handles */
    uint64_t descriptors;     /* of these, currently open */
    uint64_t descriptors_max; /* the maximum so far */
    uint64_t reopens;
};

/* fs is borrowed until the pool is destroyed. limit: at least 1. */
BB_MUST_CHECK enum bb_status bb_file_pool_create(struct bb_file_system *fs, uint32_t limit,
                                                 struct bb_file_pool **ret_pool);
/* For files that other processes may remove: reading a removed file then fails with BB_BUSY. Call
 * this before the first file is opened. */
void bb_file_pool_share(struct bb_file_pool *pool);
/* REQUIRES: all files opened through it are closed. NULL is allowed. */
void bb_file_pool_destroy(struct bb_file_pool *pool);
/* In a child made by fork: whether no thread was opening or closing a file at the fork. */
bool bb_file_pool_is_free(struct bb_file_pool *pool);
/* The file system that opens files in the pool; borrowed from it. */
struct bb_file_system *bb_file_pool_system(struct bb_file_pool *pool);
void bb_file_pool_counters(struct bb_file_pool *pool, struct bb_file_pool_counters *ret_counters);

#endif
