/* Translates the options of a program's write into the store's options. */
#ifndef BB_LEVELDB_WRITE_OPTIONS_H
#define BB_LEVELDB_WRITE_OPTIONS_H

#include <leveldb/c.h>

#include "bb/db.h"

/* options may be NULL: the defaults. */
struct bb_write_options bb_leveldb_write_options_resolve(const leveldb_writeoptions_t *options);

#endif
