/* Translates a program's filter policy into the store's filter options. */
#ifndef BB_LEVELDB_FILTER_POLICY_H
#define BB_LEVELDB_FILTER_POLICY_H

#include <leveldb/c.h>

#include "bb/db.h"

/* Is it LevelDB's own Bloom filter? NULL: no policy, which is not. */
bool bb_leveldb_filter_policy_is_bloom(const leveldb_filterpolicy_t *policy);

/* Sets the options of filters: bits per key where the policy has them, none for 0 bits, for
 * anything else the store's default. */
void bb_leveldb_filter_policy_apply(const leveldb_filterpolicy_t *policy,
                                    struct bb_db_options *options);

#endif
