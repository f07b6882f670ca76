/* A block cache of LevelDB's C interface: a capacity. Each store opened with it has a separate
 * cache of that size. */
#ifndef BB_LEVELDB_CACHE_H
#define BB_LEVELDB_CACHE_H

#include <leveldb/c.h>

#include "bb/db.h"

/* NULL: LevelDB's default of 8 MiB. */
void bb_leveldb_cache_apply(const leveldb_cache_t *cache, struct bb_db_options *options);

#endif
