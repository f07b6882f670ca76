/* The index file of a table: the table file's companion. It is opened on first use. If that fails,
 * selections read more, but stay correct.
 *
 * Threads: any.
 */
#ifndef BB_KV_INDEXES_INDEX_FILE_H
#define BB_KV_INDEXES_INDEX_FILE_H

#include "bb/skip.h"
#include "compaction/levels/companion.h"
#include "kv/indexes/catalog.h"
#include "kv/indexes/known_rows.h"
#include "kv/store/store.h"

/* Does not access the file. One reference for the caller: bb_companion_unref. Errors:
 * BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_index_file_create(struct bb_db *db, uint64_t number,
                                                  const uint8_t table_id[16],
                                                  struct bb_companion **ret_file);

/* The open file, borrowed as long as the caller has a reference to the companion. Errors as for
 * bb_skip_file_open. The error for a missing, damaged or newer file is stored and returned again;
 * after other errors the next call tries again. */
BB_MUST_CHECK enum bb_status bb_index_file_open(struct bb_companion *companion,
                                                struct bb_skip_file **ret_file);
/* bb_skip_file_open for the index file of a table. BB_CORRUPT when a directory, a FIFO or a
 * symbolic link has its name. */
BB_MUST_CHECK enum bb_status bb_index_file_open_path(const char *path,
                                                     const struct bb_skip_file_options *options,
                                                     struct bb_skip_file **ret_file);

/* False: the next bb_index_file_open may read the file. Takes no lock. */
bool bb_index_file_is_tried(struct bb_companion *companion);
/* Announces to the system that the end of the file, which opening reads, will be needed. Does
 * nothing if the file is tried or was announced before. */
void bb_index_file_announce(struct bb_companion *companion);

/* Checks that the name of the open file exists, with the file's size: an open file stays readable
 * after its name was removed. Errors: BB_NOT_FOUND; BB_CORRUPT when something else has the name; as
 * the file system's. REQUIRES: the file is open. */
BB_MUST_CHECK enum bb_status bb_index_file_check_place(struct bb_companion *companion);

/* Lets the system drop the file from memory, if it is open: skip_file.h. */
void bb_index_file_forget_pages(struct bb_companion *companion);

/* True when an index of a file is this one of the catalog: the same attribute, with the same
 * definition. */
bool bb_index_file_is(const struct bb_skip_index_info *info, const struct bb_catalog *catalog,
                      const struct bb_skip_spec *spec);
/* For the status of opening one: true when it is missing, damaged or of a newer version, so that
 * retrying is useless. */
static inline bool bb_index_file_is_lost(enum bb_status status)
{
    return status == BB_NOT_FOUND || status == BB_CORRUPT || status == BB_UNSUPPORTED;
}
/* For the status of opening or reading one: true when it is lost, or the device cannot read it. */
static inline bool bb_index_file_is_unreadable(enum bb_status status)
{
    return status == BB_IO || bb_index_file_is_lost(status);
}

/* True when the file has this index, of the same attribute with the same definition. Then *ret_info
 * describes it. */
bool bb_index_file_has(const struct bb_skip_file *file, const struct bb_catalog *catalog,
                       const struct bb_skip_spec *spec, struct bb_skip_index_info *ret_info);
/* Whether it has such an index with words of another version of the library (bb/skip.h). */
bool bb_index_file_has_other_words(const struct bb_skip_file *file,
                                   const struct bb_catalog *catalog,
                                   const struct bb_skip_spec *spec);

/* The known rows of the table below newer tables with these u64 numbers. The previous call's are
 * used again if its numbers were the same. One reference for the caller. Errors: BB_NO_MEMORY.
 * REQUIRES: the file is open. */
BB_MUST_CHECK enum bb_status bb_index_file_known_rows(struct bb_companion *companion,
                                                      struct bb_bytes newer,
                                                      struct bb_known_rows **ret_rows);
/* Drops the latest of them. */
void bb_index_file_forget_rows(struct bb_companion *companion);

#endif
