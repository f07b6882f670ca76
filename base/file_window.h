/* A file of fixed size that a program writes like memory: a window.
 *
 * Bytes that were stored into the window are in the system's memory of the file. They survive the
 * end of the process, also a kill, without a system call. A power failure may lose any of them.
 * Only files of the operating system have windows.
 * Threads: one at a time. */
#ifndef BB_BASE_FILE_WINDOW_H
#define BB_BASE_FILE_WINDOW_H

#include "base/file.h"

struct bb_file_window;

/* Creates the file with zeros, and maps it. Its space is reserved, so that no store into it fails
 * on a full disk. Errors: BB_UNSUPPORTED if fs is another than bb_file_system_posix_create's, or
 * cannot reserve space; BB_EXISTS; BB_NO_SPACE; BB_NO_MEMORY; BB_IO. After a failure there is no
 * such file, unless it existed before. Ends with bb_file_window_destroy. */
BB_MUST_CHECK enum bb_status bb_file_window_create(struct bb_file_system *fs, const char *path,
                                                   size_t size, struct bb_file_window **ret_window);
/* The file remains. NULL is allowed. */
void bb_file_window_destroy(struct bb_file_window *window);

/* The size given at creation; may be written. */
uint8_t *bb_file_window_bytes(const struct bb_file_window *window);
/* False: bytes that were stored before may be missing in the file. See map_watch.h. */
bool bb_file_window_is_sound(const struct bb_file_window *window);

#endif
