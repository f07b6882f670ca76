/* A file of fixed size that a program writes like memory: a window.
 *
 * Bytes that were stored into the window are in the system's memory of the file. They survive the
 * end of the process, also a kill, without a system call. A power failure may lose any of them.
 * Files of the operating system and of the tests' file system have windows, others not.
 * Threads: one at a time. */
#ifndef BB_BASE_FILE_WINDOW_H
#define BB_BASE_FILE_WINDOW_H

#include "base/file.h"

struct bb_file_window;

/* Creates the file with zeros, and maps it. Its space is reserved, so that no store into it fails
 * on a full disk. Errors: BB_UNSUPPORTED if fs has no windows, cannot reserve space, or a limit of
 * the process forbids files of this size; BB_EXISTS; BB_NO_SPACE; BB_NO_MEMORY; BB_IO. After a
 * failure there is no such file, unless it existed before. Ends with bb_file_window_destroy. */
BB_MUST_CHECK enum bb_status bb_file_window_create(struct bb_file_system *fs, const char *path,
                                                   size_t size, struct bb_file_window **ret_window);
/* The file remains. NULL is allowed. */
void bb_file_window_destroy(struct bb_file_window *window);

/* The size given at creation; may be written. NULL in a process that did not create the window: a
 * child made by fork. */
uint8_t *bb_file_window_bytes(const struct bb_file_window *window);
/* False: bytes that were stored before may be missing in the file. See map_watch.h. */
bool bb_file_window_is_sound(const struct bb_file_window *window);

/* ---- for file systems ---- */

struct bb_file_window_ops {
    bool (*is_sound)(const struct bb_file_window *window);
    void (*destroy)(struct bb_file_window *window);
};

/* The first member of the window of a file system, which sets ops and bytes. */
struct bb_file_window {
    const struct bb_file_window_ops *ops;
    uint8_t *bytes;
    uint64_t process; /* that created it: base/process.h */
};

/* Makes windows for the file systems with one table of calls. */
struct bb_file_window_maker {
    const struct bb_file_system_ops *ops;
    /* Does not set window->process. */
    enum bb_status (*create)(struct bb_file_system *fs, const char *path, size_t size,
                             struct bb_file_window **ret_window);
    struct bb_file_window_maker *next; /* set by bb_file_window_offer */
};

/* After this call file systems with this table have windows. maker stays to the end of the process.
 * WHY not a member of the table: it is public, and a window needs the kernel's memory of a file.
 * Call it once for each maker. Threads: any. */
void bb_file_window_offer(struct bb_file_window_maker *maker);

#endif
