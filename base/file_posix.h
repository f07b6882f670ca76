/* What the parts of the POSIX file system share. Included by the _posix.c files alone. */
#ifndef BB_BASE_FILE_POSIX_H
#define BB_BASE_FILE_POSIX_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/file.h"

struct bb_posix_file_system {
    struct bb_file_system base;
    _Atomic uint64_t reads;
    _Atomic uint64_t read_bytes;
    _Atomic uint64_t needs;
    _Atomic uint64_t appends;
    _Atomic uint64_t append_bytes;
    _Atomic uint64_t syncs;
    _Atomic uint64_t directory_syncs;
};

static inline struct bb_posix_file_system *bb_posix_of(struct bb_file_system *fs)
{
    return (struct bb_posix_file_system *)fs; /* base is the first member */
}

/* The counters are read on their own, never to order other memory. */
static inline void bb_posix_count(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

/* Opens path with flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK (mode 0600 when created) and refuses
 * with BB_INVALID what is not a regular file; a FIFO is refused, not waited for. */
BB_MUST_CHECK enum bb_status bb_posix_open_regular(const char *path, int flags, int *ret_fd);

/* directory_posix.c */
enum bb_status bb_posix_rename(struct bb_file_system *fs, const char *from, const char *to);
enum bb_status bb_posix_link(struct bb_file_system *fs, const char *from, const char *to);
enum bb_status bb_posix_remove(struct bb_file_system *fs, const char *path);
enum bb_status bb_posix_list(struct bb_file_system *fs, const char *directory,
                             struct bb_name_list *ret_list);
enum bb_status bb_posix_make_directory(struct bb_file_system *fs, const char *path);
enum bb_status bb_posix_remove_directory(struct bb_file_system *fs, const char *path);
enum bb_status bb_posix_sync_directory(struct bb_file_system *fs, const char *path);
enum bb_status bb_posix_status(struct bb_file_system *fs, const char *path, bool *ret_is_directory,
                               uint64_t *ret_size);
enum bb_status bb_posix_free_space(struct bb_file_system *fs, const char *path,
                                   uint64_t *ret_bytes);

/* lock_posix.c */
enum bb_status bb_posix_lock(struct bb_file_system *fs, const char *path,
                             struct bb_file **ret_lock);
enum bb_status bb_posix_unlock(struct bb_file_system *fs, struct bb_file *lock);

#endif
