/* Writes that happen together.
 *
 * Adding to a batch cannot fail in LevelDB's C interface. Here it can: a key may be too large, or
 * memory be missing. The first failure stays in the batch, what follows is not added, and writing it
 * fails as a whole, until it is cleared. */
#ifndef BB_LEVELDB_WRITE_BATCH_H
#define BB_LEVELDB_WRITE_BATCH_H

#include <leveldb/c.h>

#include "bb/db.h"

struct leveldb_writebatch_t {
    struct bb_batch *batch; /* NULL only after a failure */
    struct bb_error failure;
};

#endif
