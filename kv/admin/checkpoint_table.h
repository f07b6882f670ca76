/* Writes a memtable, as of a sequence, to a table of a checkpoint, while the memtable is in use. */
#ifndef BB_KV_ADMIN_CHECKPOINT_TABLE_H
#define BB_KV_ADMIN_CHECKPOINT_TABLE_H

#include "kv/store/store.h"

/* Entries with later sequences are ignored. The file is synced, but not its directory entry.
 * *ret_is_written is false if no entry remains: then there is no file and no meta. Otherwise the
 * caller owns *ret_meta. Any thread; the caller holds a reference to the memtable. */
BB_MUST_CHECK enum bb_status
bb_checkpoint_table_write(struct bb_db *db, const struct bb_memtable *memtable, uint64_t sequence,
                          const char *path, struct bb_table_meta *ret_meta, bool *ret_is_written);

#endif
