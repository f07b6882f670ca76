/* A file that is written sequentially through one buffer, so that small blocks do not cost a system
 * call each.
 *
 * Call order: open append* (finish | abandon), and sync if finish gives the file. Sticky after a
 * failure. One thread.
 */
#ifndef BB_SSTABLE_BUILD_TABLE_WRITER_H
#define BB_SSTABLE_BUILD_TABLE_WRITER_H

#include "base/file.h"

struct bb_table_writer {
    struct bb_file_system *fs; /* borrowed */
    struct bb_file *file;
    char *path; /* owned */
    struct bb_buf buffer;
    uint64_t offset; /* end of everything appended so far */
    enum bb_status status;
};

/* Creates the file. Errors: BB_EXISTS. */
BB_MUST_CHECK enum bb_status bb_table_writer_open(struct bb_table_writer *writer,
                                                  struct bb_file_system *fs, const char *path);
BB_MUST_CHECK enum bb_status bb_table_writer_append(struct bb_table_writer *writer,
                                                    struct bb_bytes data);
/* Writes the buffered bytes, syncs and closes. If ret_file is not NULL, only starts to write
 * them to the device; *ret_file is the open file, owned by the caller: bb_table_writer_sync. */
BB_MUST_CHECK enum bb_status bb_table_writer_finish(struct bb_table_writer *writer,
                                                    struct bb_file **ret_file);
/* Syncs and closes the file of a finished writer. It is closed in any case. */
BB_MUST_CHECK enum bb_status bb_table_writer_sync(struct bb_file *file);
/* Releases everything and removes the file, unless finish succeeded. A zeroed writer is allowed. */
void bb_table_writer_abandon(struct bb_table_writer *writer);

#endif
