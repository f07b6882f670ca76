/* The options of an opening as a program sets them, and as the store takes them. */
#ifndef BB_LEVELDB_OPTIONS_H
#define BB_LEVELDB_OPTIONS_H

#include <leveldb/c.h>

#include "bb/db.h"

/* Values out of range are clamped, as in LevelDB, never rejected. *ret_order is the program's order
 * of keys, whose address *ret_options borrows; unchanged without one. */
void bb_leveldb_options_resolve(const leveldb_options_t *options, struct bb_comparator *ret_order,
                                struct bb_db_options *ret_options);

#endif
