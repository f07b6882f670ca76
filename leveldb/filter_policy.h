/* Translates a program's filter policy into the store's filter options. */
#ifndef BB_LEVELDB_FILTER_POLICY_H
#define BB_LEVELDB_FILTER_POLICY_H

#include <leveldb/c.h>

#include "bb/db.h"

/* Is the policy LevelDB's own Bloom filter? False for NULL, which is no policy. */
bool bb_leveldb_filter_policy_is_bloom(const leveldb_filterpolicy_t *policy);

/* Sets the filter options of a store: the bits per key of a Bloom policy, no filters for 0 bits,
 * and the store's default for other policies. */
void bb_leveldb_filter_policy_apply(const leveldb_filterpolicy_t *policy,
                                    struct bb_db_options *options);

#endif
