/* The options of an opening as a program sets them, and as the store takes them. */
#ifndef BB_LEVELDB_OPTIONS_H
#define BB_LEVELDB_OPTIONS_H

#include <leveldb/c.h>

#include "bb/db.h"

/* Values out of range are moved to its ends, as LevelDB does, never refused. *ret_order is the
 * program's order of keys, of which *ret_options borrows the address; untouched when there is none.
 */
void bb_leveldb_options_resolve(const leveldb_options_t *options, struct bb_comparator *ret_order,
                                struct bb_db_options *ret_options);

#endif
