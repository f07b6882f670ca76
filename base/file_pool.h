/* A file system around another one that keeps a limit on open descriptors for reading.
 *
 * A file is opened at once, so that a missing one is known; later its descriptor may be closed to
 * make room, and is opened again at the next read. The one that was not read for the longest time
 * goes first, as a clock tells it (one mark per file, Corbato 1968): reads take no lock and keep no
 * list. One that is inside a read never goes: with more threads inside reads of different files
 * than the limit allows, it is exceeded by so many.
 *
 * A file that is opened again must be there and have the size it had, else the read fails with
 * BB_IO. Whoever removes or replaces a file does so after closing it: its name is what it is opened
 * again by. Where other processes remove files, bb_file_pool_share tells failures apart.
 *
 * Files created for appending, locks and everything else are the wrapped system's own.
 * Threads: as base/file.h says. Only opening, and reading what has to be opened again, takes a
 * lock.
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
/* Somebody else may remove the files: a read that finds its file gone fails with BB_BUSY then. Before
 * the first file is opened. */
void bb_file_pool_share(struct bb_file_pool *pool);
/* REQUIRES: all files opened through it are closed. NULL is allowed. */
void bb_file_pool_destroy(struct bb_file_pool *pool);
/* Of a pool that was inherited over fork: was no thread opening or closing a file? */
bool bb_file_pool_is_free(struct bb_file_pool *pool);
/* Borrowed. */
struct bb_file_system *bb_file_pool_system(struct bb_file_pool *pool);
void bb_file_pool_counters(struct bb_file_pool *pool, struct bb_file_pool_counters *ret_counters);

#endif
