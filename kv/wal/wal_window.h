/* The window of a log: the end of the log that is not in its file yet.
 *
 * A commit that is not synced must survive the end of the process. A write(2) for each would cost
 * more than the rest of a small put. So the writer copies its frames into a file that it has in its
 * address space (base/file_window.h), and writes them to the log when the window is full, before a
 * sync, and before the log is closed:
 *
 *     NUMBER.wal       fragment fragment ... fragment|           the file ends here
 *     NUMBER.window    header, head, fragment fragment ...       the log continues here
 *
 * The window, in bytes:
 *
 *     offset  size
 *          0     8  magic "bb.win\r\n"
 *          8    40  as in the header of the log
 *         48     8  base: the offset in the log of the first byte below
 *         56     8  check of the base
 *         64        bytes of the log
 *
 * The check of a fragment covers its place in the log (wal_format.h). So neither the remains of an
 * earlier filling nor an interrupted copy pass as a fragment, and no size is stored. For the same
 * reason a power failure leaves no wrong bytes in a window, only fewer fragments.
 *
 * The head is base and check. Base, check and bytes change one after the other, and a kill may come
 * between them. That is harmless, because the log has all bytes at that moment. If the check is
 * wrong, a fragment shows the base: its check is only right at one offset. So damage of the head
 * loses nothing.
 *
 * A reader takes the log, and from its window the fragments that end after the end of the log's
 * file.
 */
#ifndef BB_KV_WAL_WAL_WINDOW_H
#define BB_KV_WAL_WAL_WINDOW_H

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "kv/wal/wal_format.h"

#define BB_WAL_WINDOW_MAGIC "bb.win\r\n"
/* WHY 256 KiB: the system copies larger pieces into fewer and larger pages; beyond that nothing is
 * gained (docs/decisions/0039-log-window.md). */
#define BB_WAL_WINDOW_FILE_SIZE  ((size_t)256 * 1024)
#define BB_WAL_WINDOW_BYTES      64 /* their place in the file */
#define BB_WAL_WINDOW_BYTES_SIZE (BB_WAL_WINDOW_FILE_SIZE - BB_WAL_WINDOW_BYTES)

_Static_assert(sizeof(BB_WAL_WINDOW_MAGIC) == BB_WAL_MAGIC_SIZE + 1, "the magic has 8 bytes");
_Static_assert(BB_WAL_WINDOW_BYTES == BB_WAL_HEADER_SIZE + 16, "the head follows the header");

/* The path of the window of the log at this path. False: its name is not NUMBER.wal, so that it has
 * no window. */
bool bb_wal_window_path(const char *log_path, char ret_path[BB_PATH_SIZE_MAX]);

/* ---- for the writer ---- */

struct bb_wal_window;

/* Creates the window of a log. Fails as bb_file_window_create does. */
BB_MUST_CHECK enum bb_status bb_wal_window_create(struct bb_file_system *fs, const char *log_path,
                                                  const struct bb_wal_identity *identity,
                                                  struct bb_wal_window **ret_window);
/* Makes frames the bytes from `base` on. Bytes that were given with the same base before are not
 * copied again. False: they do not fit; or the window's file was truncated or lost its device, or
 * is of another process, and it is not used any more. Then the caller writes them to the log. */
bool bb_wal_window_put(struct bb_wal_window *window, uint64_t base, struct bb_bytes frames);
/* Removes the file, and frees the window. Call when the log's file has all bytes. NULL is
 * allowed. */
void bb_wal_window_remove(struct bb_wal_window *window, struct bb_file_system *fs);
/* Frees the window. Its file remains: the log's file lacks bytes. NULL is allowed. */
void bb_wal_window_destroy(struct bb_wal_window *window);

/* ---- for readers ---- */

/* Reads the file of the log's window into contents (replaced; empty without such a file). Call this
 * before you ask for the size of the log's file: the writer may fill the window again at any time,
 * but first it writes the bytes to the log. Errors: BB_INVALID if the window is not a regular file;
 * BB_UNSUPPORTED if a newer version wrote it; BB_IO; BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_wal_window_read(struct bb_file_system *fs, const char *log_path,
                                                struct bb_buf *contents);
/* Makes contents the bytes of the log from the first whole fragment that ends after file_size, the
 * size of the log's file, to the last one. Bytes between whole fragments become zeros. Returns the
 * offset of the first byte in the log. contents is empty if there is no such fragment. */
uint64_t bb_wal_window_take(struct bb_buf *contents, uint64_t seed, uint64_t file_size);

#endif
