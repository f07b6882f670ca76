/* Shared parts of the POSIX file system. Included only by the _posix.c files. */
#ifndef BB_BASE_FILE_POSIX_H
#define BB_BASE_FILE_POSIX_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/file.h"
#include "base/sync.h"

/* A locked directory: operations in it use the descriptor. */
struct bb_posix_hold {
    struct bb_posix_hold *next;
    int fd;           /* -1: not supported by the system */
    const char *path; /* of the lock file; borrowed while the directory is held */
    size_t size;      /* length of the directory's part of the path */
};

struct bb_posix_file_system {
    struct bb_file_system base;
    uint64_t process; /* the process that created it: base/process.h */
    struct bb_mutex mutex;
    struct bb_posix_hold *holds; /* guarded by the mutex; borrowed */
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

/* A counter orders no other memory. */
static inline void bb_posix_count(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

/* The location of a path, for system calls that end in "at". */
struct bb_posix_place {
    int fd; /* borrowed while the lock is held; AT_FDCWD: the path is used unchanged */
    const char *name;
};

/* place_posix.c */
struct bb_posix_place bb_posix_place_of(struct bb_file_system *fs, const char *path);
/* The same for a directory itself. */
struct bb_posix_place bb_posix_place_of_directory(struct bb_file_system *fs, const char *path);
void bb_posix_hold(struct bb_file_system *fs, struct bb_posix_hold *hold);
void bb_posix_let_go(struct bb_file_system *fs, const struct bb_posix_hold *hold);

/* open_posix.c */
/* BB_INVALID in a child made by fork, which inherited the file system. It may read from open files
 * and close them. All calls that open or change something check this first. */
BB_MUST_CHECK enum bb_status bb_posix_check_process(struct bb_file_system *fs, const char *path);

/* Opens path with flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK (mode 0600 when created). Fails with
 * BB_INVALID if it is not a regular file, without waiting for a FIFO. */
BB_MUST_CHECK enum bb_status bb_posix_open_regular(struct bb_file_system *fs, const char *path,
                                                   int flags, int *ret_fd);

/* file_map_posix.c. path: for messages. */
BB_MUST_CHECK enum bb_status bb_posix_map(int fd, const char *path, uint64_t size,
                                          struct bb_file_map **ret_map);

/* file_window_posix.c. Gives windows to the file systems with this table. */
void bb_posix_offer_windows(const struct bb_file_system_ops *ops);

/* directory_posix.c */
enum bb_status bb_posix_rename(struct bb_file_system *fs, const char *from, const char *to);
enum bb_status bb_posix_link(struct bb_file_system *fs, const char *from, const char *to);
enum bb_status bb_posix_remove(struct bb_file_system *fs, const char *path);
enum bb_status bb_posix_list(struct bb_file_system *fs, const char *directory,
                             struct bb_file_names *ret_list);
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
enum bb_status bb_posix_lock_shared(struct bb_file_system *fs, const char *path,
                                    struct bb_file **ret_lock);
enum bb_status bb_posix_unlock(struct bb_file_system *fs, struct bb_file *lock);

#endif
