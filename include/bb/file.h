/* The interface to the operating system, and a file system in memory, with which a program's tests
 * need no disk.
 *
 *     struct bb_file_system *files = NULL;
 *     status = bb_file_system_memory_create(&files);
 *     struct bb_db_options options = {.create_if_missing = true, .file_system = files};
 *     status = bb_db_open("store", &options, &db);           // a path in files
 *     ...
 *     status = bb_file_system_power_failure(files, &after);  // the synced part, a second system
 *
 * The library accesses files, directories, locks, randomness and time only through a struct
 * bb_file_system. A program may implement one, for example to count or refuse calls before it
 * passes them to the file system of bb_file_system_posix_create. A store that uses the operating
 * system's files directly also keeps the end of its log in a mapped file, NUMBER.window. The
 * library keeps these rules:
 *
 * - Files are written once, front to back, and never changed afterwards.
 * - sync makes a file's bytes durable, sync_directory its name. Neither implies the other.
 * - After a failed append or sync a file is never written again.
 *
 * Errors: BB_IO, BB_NO_SPACE, BB_NO_MEMORY and the errors listed below. A function that fails sets
 * a message (bb_error_set) with the path and the system's error text. A function may be NULL only
 * if its declaration defines what NULL means. Threads: a file system may be used from any thread.
 * read_at, read_now and will_need are safe from any thread; append, write_back, sync and close of
 * a file are used by one thread at a time. */
#ifndef BB_PUBLIC_FILE_H
#define BB_PUBLIC_FILE_H

#include "bb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bb_file;
struct bb_file_system;

/* Names of a directory's entries, without "." and "..", in no particular order. Owned:
 * bb_file_names_deinit. The array and each name are allocated with malloc. */
struct bb_file_names {
    char **names;
    size_t count;
};
BB_API void bb_file_names_deinit(struct bb_file_names *list);

/* A map of a file: its bytes are in the address space and are read without a call. A file may be
 * truncated while it is mapped, or its device may fail. Pages that cannot be read then contain
 * zeros, and is_sound returns false from that moment on. So a caller reads bytes first and then
 * calls is_sound. If it returns true, the bytes are the file's. Any thread may read a map. */
struct bb_file_map {
    const struct bb_file_map_ops *ops;
    const uint8_t *bytes;
    uint64_t size;
};

struct bb_file_map_ops {
    bool (*is_sound)(const struct bb_file_map *map);
    /* The map refers to no page until its next use. WHY: the system drops no page to which a map
     * refers, also when forget of the file asks for it. NULL: not needed. */
    void (*forget)(struct bb_file_map *map);
    /* Releases the map. REQUIRES: no thread reads the bytes any more. */
    void (*destroy)(struct bb_file_map *map);
};

struct bb_file_ops {
    /* Reads size bytes at offset. *ret_size is smaller only at the end of the file. Never waits for
     * more bytes. */
    enum bb_status (*read_at)(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size);
    /* Reads all size bytes at offset if this needs no wait, because the system has them in memory.
     * False: the buffer contents are undefined; call read_at, which also reports errors. NULL: not
     * supported. */
    bool (*read_now)(struct bb_file *file, uint64_t offset, void *buffer, size_t size);
    /* Announces a read of these bytes, so that the system may fetch them while the caller
     * continues. Only a hint; NULL: not supported. */
    void (*will_need)(struct bb_file *file, uint64_t offset, uint64_t size);
    /* Tells the system that it need not keep the file's bytes in memory. If it complies, the next
     * reads come from the device. Only a hint; NULL: not supported. */
    void (*forget)(struct bb_file *file);
    /* Maps the first size bytes of the file, which has at least that many, for reads in any order.
     * The map stays valid after the file is closed. Errors: BB_UNSUPPORTED, BB_NO_MEMORY, BB_IO.
     * NULL: not supported. */
    enum bb_status (*map)(struct bb_file *file, uint64_t size, struct bb_file_map **ret_map);
    /* Appends all of data. After a failure any part of it may have been written. One write(2) if
     * the system accepts all bytes. */
    enum bb_status (*append)(struct bb_file *file, const void *data, size_t size);
    /* Starts to write the appended bytes to the device, so that a later sync waits for less. Only a
     * hint; NULL: not supported. */
    void (*write_back)(struct bb_file *file);
    /* Makes all appended bytes durable. */
    enum bb_status (*sync)(struct bb_file *file);
    enum bb_status (*size)(struct bb_file *file, uint64_t *ret_size);
    /* The time of the last change of its bytes, in nanoseconds since 1970 on the system's clock,
     * which may be set back. NULL: not known. */
    enum bb_status (*modified)(struct bb_file *file, int64_t *ret_nanoseconds);
    /* Always releases the file. A failure means that an earlier write failed, which the system
     * reports only now. */
    enum bb_status (*close)(struct bb_file *file);
};

struct bb_file {
    const struct bb_file_ops *ops;
    const char *path; /* for messages; owned by the file */
};

/* Calls that reached the system since the file system was created. */
struct bb_file_counters {
    /* pread calls, including repeats after short reads and calls of read_now */
    uint64_t reads;
    uint64_t read_bytes;
    uint64_t needs;   /* calls of will_need */
    uint64_t appends; /* write calls */
    uint64_t append_bytes;
    uint64_t syncs;
    uint64_t directory_syncs;
};

struct bb_file_system_ops {
    /* Opens for reading. BB_NOT_FOUND if missing; BB_INVALID if it is not a regular file (checked
     * on the opened descriptor; a FIFO does not block). */
    enum bb_status (*open)(struct bb_file_system *fs, const char *path, struct bb_file **ret_file);
    /* Creates a new file for appending, mode 0600. BB_EXISTS if the name exists. */
    enum bb_status (*create)(struct bb_file_system *fs, const char *path,
                             struct bb_file **ret_file);
    /* Atomically renames a file within a directory; replaces an existing file. */
    enum bb_status (*rename)(struct bb_file_system *fs, const char *from, const char *to);
    /* Gives a file a second name, possibly in another directory. It can be opened and removed under
     * either name, and has the same bytes, synced or not. BB_EXISTS if the name exists.
     * BB_UNSUPPORTED if a link is impossible: another device, a file system without links, too many
     * links. */
    enum bb_status (*link)(struct bb_file_system *fs, const char *from, const char *to);
    /* BB_NOT_FOUND if missing. */
    enum bb_status (*remove)(struct bb_file_system *fs, const char *path);
    enum bb_status (*list)(struct bb_file_system *fs, const char *directory,
                           struct bb_file_names *ret_list);
    /* Mode 0700. BB_EXISTS if the name exists, or if a directory was locked under this name and was
     * moved since: see lock. The parent is not synced. */
    enum bb_status (*make_directory)(struct bb_file_system *fs, const char *path);
    enum bb_status (*remove_directory)(struct bb_file_system *fs, const char *path);
    /* Makes the names in a directory durable. BB_READ_ONLY: there is no permission to open the
     * directory, so it was not synced. */
    enum bb_status (*sync_directory)(struct bb_file_system *fs, const char *path);
    /* BB_NOT_FOUND if the name does not exist; *ret_is_directory is true only for directories. */
    enum bb_status (*status)(struct bb_file_system *fs, const char *path, bool *ret_is_directory,
                             uint64_t *ret_size);
    /* Takes the lock file (created if missing) for this process and writes the process id into it.
     * BB_BUSY, with the holder's id in the message, if this or another process holds the lock, even
     * if someone has removed the file since: a directory has only one such lock. Released by
     * unlock; the file remains. Until unlock, paths that start with the same characters as this
     * path, up to the last slash, may refer to the locked directory, wherever it was moved.
     * Operations in the directory must end before unlock starts. */
    enum bb_status (*lock)(struct bb_file_system *fs, const char *path, struct bb_file **ret_lock);
    /* Locks for reading: several readers may hold this lock at a time. This lock and the lock above
     * exclude each other. The call creates and writes no file, so read permission is enough; the
     * lock file may be missing. Where neither the file nor the directory can be locked, the call
     * succeeds and excludes no one. Released by unlock. */
    enum bb_status (*lock_shared)(struct bb_file_system *fs, const char *path,
                                  struct bb_file **ret_lock);
    enum bb_status (*unlock)(struct bb_file_system *fs, struct bb_file *lock);
    enum bb_status (*free_space)(struct bb_file_system *fs, const char *path, uint64_t *ret_bytes);
    enum bb_status (*random)(struct bb_file_system *fs, void *buffer, size_t size);
    /* A monotonic clock, in nanoseconds. */
    uint64_t (*now)(struct bb_file_system *fs);
    /* Waits until that clock has advanced by about this much; it may return earlier. */
    void (*sleep)(struct bb_file_system *fs, uint64_t nanoseconds);
    void (*counters)(struct bb_file_system *fs, struct bb_file_counters *ret_counters);
    /* The number of files that the process may have open at a time, including files that the
     * library does not use. The number may change. NULL: no limit. */
    uint64_t (*open_files_max)(struct bb_file_system *fs);
};

struct bb_file_system {
    const struct bb_file_system_ops *ops;
};

/* The operating system's files. Owned: bb_file_system_posix_destroy, after all its files are
 * closed. */
BB_API BB_MUST_CHECK enum bb_status bb_file_system_posix_create(struct bb_file_system **ret_fs);
BB_API void bb_file_system_posix_destroy(struct bb_file_system *fs);

/* An empty file system in memory, with a root directory. Paths may be absolute or relative, with
 * the same meaning; ".." is an error. Its random numbers are the same in each run. Its clock
 * advances with each call, and sleeping only advances the clock, so that no test waits. Names are
 * searched linearly: use it for at most a few thousand files. BB_NO_MEMORY. Owned:
 * bb_file_system_memory_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_file_system_memory_create(struct bb_file_system **ret_fs);
/* REQUIRES: all its files are closed and all its locks released, as after bb_db_close. NULL is
 * allowed. */
BB_API void bb_file_system_memory_destroy(struct bb_file_system *fs);
/* Creates a second file system with the files that a power failure at this moment would leave: the
 * synced bytes of each file, under the names that its directory had when it was last synced. A real
 * disk may keep more, but never less. fs is unchanged and may be in use; close a store that is open
 * in it as usual. BB_INVALID if bb_file_system_memory_create did not make fs. Owned:
 * bb_file_system_memory_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_file_system_power_failure(struct bb_file_system *fs,
                                                                 struct bb_file_system **ret_fs);

#ifdef __cplusplus
}
#endif
#endif
