/* File systems around another one that limit how fast created files are written: at most so many
 * bytes per second over all of them together.
 *
 *     urgent files      wait only for what urgent files have written
 *     patient files     wait for what all have written; but a quarter of the limit is theirs,
 *                       and what they take of it before their turn, urgent files wait for
 *
 * Each append is charged to the time that comes: it goes through once the time that earlier ones
 * were charged to is over. So in any interval of t seconds go at most t times the limit, one
 * urgent append and two patient ones; time in which nothing was written is not saved up. Everything but appending
 * is the wrapped system's own, its clock included.
 *
 * Threads: as base/file.h says. An append that waits holds no lock, and goes on at once when the
 * limit is lifted.
 */
#ifndef BB_BASE_FILE_LIMIT_H
#define BB_BASE_FILE_LIMIT_H

#include "base/file.h"

struct bb_file_limit;

/* fs is borrowed while the limit lives. bytes_per_second: at least 1. */
BB_MUST_CHECK enum bb_status bb_file_limit_create(struct bb_file_system *fs,
                                                  uint64_t bytes_per_second,
                                                  struct bb_file_limit **ret_limit);
/* REQUIRES: all files created through it are closed. NULL is allowed. */
void bb_file_limit_destroy(struct bb_file_limit *limit);
/* Borrowed. */
struct bb_file_system *bb_file_limit_system(struct bb_file_limit *limit, bool is_urgent);
/* From now on nothing waits. NULL is allowed. */
void bb_file_limit_lift(struct bb_file_limit *limit);

#endif
