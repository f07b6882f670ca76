/* The directory in which a command would create a store. */
#ifndef BB_TOOLS_STORE_STORE_PLACE_H
#define BB_TOOLS_STORE_STORE_PLACE_H

#include "bb/base.h"

/* BB_EXISTS if the directory holds no store but other files, which a new store would be mixed with;
 * the message names one and the option --force. */
BB_MUST_CHECK enum bb_status store_place_check(const char *directory);

/* The user or the file system permits reading the directory, and not writing to it or to the
 * store's lock. */
bool store_place_is_read_only(const char *directory);

/* The directory has a file LOG, as LevelDB and RocksDB write one and a store does not. */
bool store_place_has_log(const char *directory);

#endif
