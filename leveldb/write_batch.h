/* Batches of writes.
 *
 * Adding to a batch cannot fail in LevelDB's C interface. Here it can: a key may be too large, or
 * memory may run out. The batch keeps the first failure, later operations are not added, and
 * writing it fails, until it is cleared. */
#ifndef BB_LEVELDB_WRITE_BATCH_H
#define BB_LEVELDB_WRITE_BATCH_H

#include <leveldb/c.h>

#include "bb/db.h"

struct leveldb_writebatch_t {
    struct bb_batch *batch; /* NULL only after a failure */
    struct bb_error failure;
};

#endif
