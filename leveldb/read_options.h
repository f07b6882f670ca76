/* The options of a read as a program sets them, and as the store takes them. */
#ifndef BB_LEVELDB_READ_OPTIONS_H
#define BB_LEVELDB_READ_OPTIONS_H

#include <leveldb/c.h>

#include "bb/db.h"

/* options may be NULL: the defaults. False: the snapshot in them cannot be read. */
BB_MUST_CHECK bool bb_leveldb_read_options_resolve(const leveldb_readoptions_t *options,
                                                   struct bb_get_options *ret_options);
/* The reason why the snapshot cannot be read. */
struct bb_error bb_leveldb_read_options_failure(void);

#endif
