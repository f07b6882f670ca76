/* A program's order of keys, and the store's view of it. */
#ifndef BB_LEVELDB_COMPARATOR_H
#define BB_LEVELDB_COMPARATOR_H

#include <leveldb/c.h>

#include "bb/base.h"

/* The order as the store takes it; borrows the comparator, copies nothing but the name's address.
 *
 * LevelDB's C interface cannot say whether keys of different bytes may be equal, and a filter, which
 * hashes the bytes, would then hide keys. So filters are used only if has_bloom says that the
 * program asked for LevelDB's Bloom filter, which has the same condition. */
struct bb_comparator bb_leveldb_comparator_order(leveldb_comparator_t *comparator, bool has_bloom);

#endif
