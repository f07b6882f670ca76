/* A store in an RDB file, in DUMP and in MIGRATE.
 *
 *     state          string: 16 bytes, the id of the saved state; zeros: none
 *     options        unsigned: unit of the filters; string: its value in text; unsigned: block,
 *                    compression, buffer, cache
 *     is incomplete  unsigned: 1 if the store lost a write (store.h); then the loaded one did, too
 *     chunk ...      strings (chunk.h)
 *     end            string: empty
 *     count          unsigned: entries; 2^64 - 1: saving failed, and the payload is not used
 *
 * Equal contents and options give equal payloads, except for the state. */
#ifndef BB_REDIS_STORE_PAYLOAD_H
#define BB_REDIS_STORE_PAYLOAD_H

#include "redis/server/redis_module.h"
#include "redis/store/store.h"

#define BB_REDIS_PAYLOAD_VERSION 0

/* Writes the store with the contents of db, which is the store's own or a saved state of it; NULL:
 * no entries. A failure makes the payload unusable. */
BB_MUST_CHECK enum bb_status bb_redis_payload_save(struct RedisModuleIO *rdb,
                                                   const struct bb_redis_store *store,
                                                   const struct bb_redis_id *state,
                                                   struct bb_db *db);

/* Creates the store that a payload describes: from the directory of its state if there is one, else
 * from its chunks. On a replica that cannot make it, an incomplete store. BB_CORRUPT: the payload
 * is damaged. */
BB_MUST_CHECK enum bb_status bb_redis_payload_load(struct RedisModuleIO *rdb,
                                                   struct bb_redis_store **ret_store);

#endif
