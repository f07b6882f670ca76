/* The first name of a table whose data no log repeats: of an ingest, or of a flush without a log.
 *
 *     NUMBER.bbt.new   while it is written, and until its edit follows
 *     NUMBER.bbt       from just before the edit that names it
 *
 * Without the first name, a crash could leave a complete table with the newest sequences of the
 * store. If the end of the manifest is in doubt, such a table might have been acknowledged
 * (kv/directory/unnamed.h). A table with the first name was never acknowledged, so the next open
 * removes it.
 *
 * Threads: any; one at a time per table.
 */
#ifndef BB_KV_STORE_NEW_TABLE_H
#define BB_KV_STORE_NEW_TABLE_H

#include "kv/store/store.h"

/* Renames table `number` from its first name to the name of table new_number, which may be the
 * same. REQUIRES: installing is held until the edit is appended, so that the manifest's last record
 * has its mark. */
BB_MUST_CHECK enum bb_status bb_new_table_rename(struct bb_db *db, uint64_t number,
                                                 uint64_t new_number);

#endif
