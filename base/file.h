/* The only interface to the operating system: bb/file.h, and functions that call its tables.
 *
 * Implementations: file_posix.c (the real one), ram_system.c (in memory, for users' tests),
 * tests/support/file_memory.c (in memory; a simulated crash loses unsynced data, including
 * directory entries) and tests/support/file_fault.c (wraps another; the n-th call fails). No other
 * file makes a system call. docs/durability.md has the rules of the whole engine. */
#ifndef BB_BASE_FILE_H
#define BB_BASE_FILE_H

#include "bb/file.h"

/* Nanoseconds since `begin`, an earlier now; 0 if the clock was set back. */
static inline uint64_t bb_file_elapsed(struct bb_file_system *fs, uint64_t begin)
{
    uint64_t now = fs->ops->now(fs);
    return now > begin ? now - begin : 0;
}

/* The file system of a call or an object: the given one, or if that is NULL a new one of the
 * operating system, which is also *ret_own and then owned: bb_file_system_posix_destroy. *ret_own
 * is NULL otherwise. */
BB_MUST_CHECK enum bb_status bb_file_system_posix_default(struct bb_file_system *given,
                                                          struct bb_file_system **ret_own,
                                                          struct bb_file_system **ret_fs);

/* Functions that call the tables above, for readability. */
BB_MUST_CHECK enum bb_status bb_file_open(struct bb_file_system *fs, const char *path,
                                          struct bb_file **ret_file);
BB_MUST_CHECK enum bb_status bb_file_create(struct bb_file_system *fs, const char *path,
                                            struct bb_file **ret_file);
/* Exactly size bytes, or BB_CORRUPT "file ends at ..., expected ...". */
BB_MUST_CHECK enum bb_status bb_file_read_exactly(struct bb_file *file, uint64_t offset,
                                                  void *buffer, size_t size);
BB_MUST_CHECK enum bb_status bb_file_read_at(struct bb_file *file, uint64_t offset, void *buffer,
                                             size_t size, size_t *ret_size);
BB_MUST_CHECK bool bb_file_read_now(struct bb_file *file, uint64_t offset, void *buffer,
                                    size_t size);
void bb_file_will_need(struct bb_file *file, uint64_t offset, uint64_t size);
void bb_file_forget(struct bb_file *file);
/* REQUIRES: size > 0. */
BB_MUST_CHECK enum bb_status bb_file_map_create(struct bb_file *file, uint64_t size,
                                                struct bb_file_map **ret_map);
static inline bool bb_file_map_is_sound(const struct bb_file_map *map)
{
    return map->ops->is_sound(map);
}
static inline void bb_file_map_forget(struct bb_file_map *map)
{
    if (map->ops->forget != NULL)
        map->ops->forget(map);
}
/* NULL is allowed. */
void bb_file_map_destroy(struct bb_file_map *map);
BB_MUST_CHECK enum bb_status bb_file_append(struct bb_file *file, struct bb_bytes data);
void bb_file_write_back(struct bb_file *file);
BB_MUST_CHECK enum bb_status bb_file_sync(struct bb_file *file);
BB_MUST_CHECK enum bb_status bb_file_size(struct bb_file *file, uint64_t *ret_size);
/* 0 if it is not known. */
BB_MUST_CHECK enum bb_status bb_file_modified(struct bb_file *file, int64_t *ret_nanoseconds);
/* NULL is allowed. */
BB_MUST_CHECK enum bb_status bb_file_close(struct bb_file *file);
/* Closes a file after work on it that ended with `status`. Returns the first failure, which is the
 * thread's latest afterwards. NULL is allowed. */
BB_MUST_CHECK enum bb_status bb_file_close_after(struct bb_file *file, enum bb_status status);
/* The whole file into buf (replaced); BB_TOO_LARGE beyond size_max. */
BB_MUST_CHECK enum bb_status bb_file_read_whole(struct bb_file_system *fs, const char *path,
                                                uint64_t size_max, struct bb_buf *buf);
/* Makes bytes the contents of a file, new or not: written under another name, synced, renamed, and
 * the directory synced. After a failure, or a power failure at any time, the path has its old
 * contents or the new ones. */
BB_MUST_CHECK enum bb_status bb_file_replace(struct bb_file_system *fs, const char *path,
                                             struct bb_bytes bytes);
/* The same with another way to give the file its name: move renames `from` to `to`, or fails and
 * changes nothing. */
typedef enum bb_status bb_file_mover(struct bb_file_system *fs, const char *from, const char *to);
BB_MUST_CHECK enum bb_status bb_file_replace_by(struct bb_file_system *fs, const char *path,
                                                struct bb_bytes bytes, bb_file_mover *move);
/* Creates `to` with the contents of `from`, and syncs it, but not its directory. After a failure
 * there may be a part of `to`. */
BB_MUST_CHECK enum bb_status bb_file_copy_synced(struct bb_file_system *fs, const char *from,
                                                 const char *to);
/* Syncs the directory that has the name `path`. */
BB_MUST_CHECK enum bb_status bb_file_sync_parent(struct bb_file_system *fs, const char *path);

#endif
