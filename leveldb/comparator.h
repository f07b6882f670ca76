/* A program's order of keys, and the store's view of it. */
#ifndef BB_LEVELDB_COMPARATOR_H
#define BB_LEVELDB_COMPARATOR_H

#include <leveldb/c.h>

#include "bb/base.h"

/* The order in the store's form; it borrows the comparator, and copies only the address of the
 * name.
 *
 * LevelDB's C interface cannot express whether keys with different bytes may be equal; a filter,
 * which hashes the bytes, would then hide keys. So filters are used only if has_bloom is true: the
 * program uses LevelDB's Bloom filter, which has the same condition. */
struct bb_comparator bb_leveldb_comparator_order(leveldb_comparator_t *comparator, bool has_bloom);

#endif
