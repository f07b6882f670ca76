/* Examines a directory before it is opened, repaired or destroyed: another engine's store is
 * rejected and not touched. */
#ifndef BB_LEVELDB_DIRECTORY_H
#define BB_LEVELDB_DIRECTORY_H

#include "bb/base.h"

/* Status BB_INVALID: the directory has files of a LevelDB store (or of RocksDB, which names its
 * files the same way) and none of ours. A directory that cannot be read passes the check. */
struct bb_error bb_leveldb_directory_check(const char *directory);

/* Does the directory have a file with a name of a store? False if it cannot be read. */
bool bb_leveldb_directory_has_store(const char *directory);

/* Removes the directory if it is empty; anything else stays. */
void bb_leveldb_directory_remove_empty(const char *directory);

#endif
