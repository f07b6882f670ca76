/* The index file next to a table: the table file's companion. It is opened on first use; one that cannot
 * be opened costs reads and no answer.
 *
 * Threads: any.
 */
#ifndef BB_KV_INDEXES_INDEX_FILE_H
#define BB_KV_INDEXES_INDEX_FILE_H

#include "bb/skip.h"
#include "compaction/companion.h"
#include "kv/indexes/catalog.h"
#include "kv/store.h"

/* The file is not touched. One reference, the caller's: bb_companion_unref. BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_index_file_create(struct bb_db *db, uint64_t number,
                                                  const uint8_t table_id[16],
                                                  struct bb_companion **ret_file);

/* The open file, borrowed as long as the caller has a reference to the companion. What
 * bb_skip_file_open says: that a file is missing, damaged or of a newer version is kept and given
 * again; after another failure the next call tries again. */
BB_MUST_CHECK enum bb_status bb_index_file_open(struct bb_companion *companion,
                                                struct bb_skip_file **ret_file);

/* Is an index of a file this one of the catalog: of the same attribute, with the same definition? */
bool bb_index_file_is(const struct bb_skip_index_info *info, const struct bb_catalog *catalog,
                      const struct bb_skip_spec *spec);
/* Of opening one: it is missing, damaged or of a newer version, and will be at every other attempt. */
static inline bool bb_index_file_is_lost(enum bb_status status)
{
    return status == BB_NOT_FOUND || status == BB_CORRUPT || status == BB_UNSUPPORTED;
}

/* Has the file this index, of the same attribute with the same definition? Then *ret_info is of it. */
bool bb_index_file_has(const struct bb_skip_file *file, const struct bb_catalog *catalog,
                       const struct bb_skip_spec *spec, struct bb_skip_index_info *ret_info);

/* Removes an index file that no manifest names. */
void bb_index_file_remove(struct bb_db *db, uint64_t number);

#endif
