/* A file system around another one that keeps a limit on open descriptors for reading.
 *
 * A file opened through it is opened once at once, so that a missing one is known; later its
 * descriptor may be closed to make room and is opened again at the next read. The least recently
 * used goes first, and never one that is inside a read: with more threads inside reads of different
 * files than the limit allows, the limit is exceeded by so many. A file that is opened again must
 * have the size it had; else the read fails with BB_IO. Whoever removes or replaces a file does so
 * after closing it: the name is what a file is opened again by.
 *
 * Files created for appending, and everything else, are the wrapped system's own. Counters too:
 * opening is not counted.
 * Threads: as base/file.h says. Reading a file whose descriptor is open takes no lock.
 */
#ifndef BB_BASE_FILE_POOL_H
#define BB_BASE_FILE_POOL_H

#include "base/file.h"

struct bb_file_pool;

struct bb_file_pool_counters {
    uint64_t open_files;      /* handles given out */
    uint64_t descriptors;     /* of these, open right now */
    uint64_t descriptors_max; /* the most there ever were at a time */
    uint64_t reopens;
};

/* fs is borrowed while the pool lives. limit: at least 1. */
BB_MUST_CHECK enum bb_status bb_file_pool_create(struct bb_file_system *fs, uint32_t limit,
                                                 struct bb_file_pool **ret_pool);
/* REQUIRES: all files opened through it are closed. NULL is allowed. */
void bb_file_pool_destroy(struct bb_file_pool *pool);
/* Borrowed. */
struct bb_file_system *bb_file_pool_system(struct bb_file_pool *pool);
void bb_file_pool_counters(struct bb_file_pool *pool, struct bb_file_pool_counters *ret_counters);

#endif
