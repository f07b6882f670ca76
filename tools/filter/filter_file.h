/* Files of filters (docs/format-filter-file.md): read whole, replaced whole.
 *
 * A write creates a new file in the same directory, syncs it, renames it and syncs the directory:
 * after a crash at any moment the name has the old contents or the new. Symbolic links are
 * followed: their target is read or replaced, and must exist. Threads: one.
 */
#ifndef BB_TOOLS_FILTER_FILTER_FILE_H
#define BB_TOOLS_FILTER_FILTER_FILE_H

#include "bb/filter.h"

struct filter_file {
    struct bb_buf contents;
    bool is_bare;                /* a bare envelope, without the hash function of its keys */
    struct bb_filter_file parts; /* borrows contents */
};

/* Reads and checks the header, the envelope not. BB_CORRUPT and BB_UNSUPPORTED name the file.
 * Owned: filter_file_deinit. */
BB_MUST_CHECK enum bb_status filter_file_read(const char *path, struct filter_file *ret_file);
void filter_file_deinit(struct filter_file *file);

/* The file's filter. A failure has the file's name; *view then lets everything through. */
BB_MUST_CHECK enum bb_status filter_file_view(const struct filter_file *file, const char *path,
                                              struct bb_filter_view *view);
/* Puts the file's name, and for damage where the envelope begins, before the message. */
BB_MUST_CHECK enum bb_status filter_file_context(const struct filter_file *file, const char *path,
                                                 enum bb_status status);
/* BB_INVALID for a bare envelope, which cannot be probed with keys. */
BB_MUST_CHECK enum bb_status filter_file_check_hash(const struct filter_file *file,
                                                    const char *path);

/* Checks, before long work, that the file can be written. BB_EXISTS if the name is taken and
 * replacing is not requested, BB_INVALID if it is not a regular file, or a link to a missing one,
 * BB_IO for its directory. */
BB_MUST_CHECK enum bb_status filter_file_check_target(const char *path, bool is_replacing);
/* Writes header and envelope; mode 0600. BB_EXISTS when the name is taken and not to be replaced.
 */
BB_MUST_CHECK enum bb_status filter_file_write(const char *path, const struct bb_filter_file *parts,
                                               bool is_replacing);

/* Locks the file against other commands until unlock. BB_BUSY: another process holds the lock;
 * BB_NOT_FOUND. */
BB_MUST_CHECK enum bb_status filter_file_lock(const char *path, int *ret_lock);
void filter_file_unlock(int lock);

#endif
