/* File systems that wrap another one and limit the rate at which created files are written: a
 * maximum number of bytes per second over all of them together.
 *
 *     urgent files      wait only for bytes written by urgent files
 *     patient files     wait for all written bytes, but get at least a quarter of the limit. Urgent
 *                       files wait for bytes that patient files write in that quarter
 *
 * Each append is charged to future time: it proceeds once the time charged for earlier appends is
 * over. So any interval of t seconds has at most t times the limit, one urgent append and two
 * patient ones; idle time is not saved up. All other operations, including the clock, pass through
 * to the wrapped system.
 *
 * Threads: as in base/file.h. A waiting append holds no lock, and proceeds immediately when the
 * limit is lifted. */
#ifndef BB_BASE_FILE_LIMIT_H
#define BB_BASE_FILE_LIMIT_H

#include "base/file.h"

struct bb_file_limit;

/* fs is borrowed until the limit is destroyed. bytes_per_second: at least 1. */
BB_MUST_CHECK enum bb_status bb_file_limit_create(struct bb_file_system *fs,
                                                  uint64_t bytes_per_second,
                                                  struct bb_file_limit **ret_limit);
/* REQUIRES: all files created through it are closed. NULL is allowed. */
void bb_file_limit_destroy(struct bb_file_limit *limit);
/* Borrowed. */
struct bb_file_system *bb_file_limit_system(struct bb_file_limit *limit, bool is_urgent);
/* Removes the limit: later appends do not wait. NULL is allowed. */
void bb_file_limit_lift(struct bb_file_limit *limit);
/* Undoes that. NULL is allowed. */
void bb_file_limit_restore(struct bb_file_limit *limit);

#endif
