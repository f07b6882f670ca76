/* A block cache as LevelDB's C interface knows it: a capacity. Each store that is opened with it has
 * a cache of its own of that size. */
#ifndef BB_LEVELDB_CACHE_H
#define BB_LEVELDB_CACHE_H

#include <leveldb/c.h>

#include "bb/db.h"

/* NULL: LevelDB's default of 8 MiB. */
void bb_leveldb_cache_apply(const leveldb_cache_t *cache, struct bb_db_options *options);

#endif
