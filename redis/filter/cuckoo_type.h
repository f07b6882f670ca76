/* The data type bb-cuckoo, whose values are struct bb_redis_cuckoo. */
#ifndef BB_REDIS_FILTER_CUCKOO_TYPE_H
#define BB_REDIS_FILTER_CUCKOO_TYPE_H

#include "bb/base.h"
#include "redis/filter/cuckoo.h"
#include "redis/fingerprint/fingerprint_coding.h"
#include "redis/server/redis_module.h"

/* NULL: the server refuses the type. */
struct RedisModuleType *bb_redis_cuckoo_type_create(struct RedisModuleCtx *ctx);

/* The first piece of CF.SCANDUMP: the fields and the header of the filter. */
#define BB_REDIS_CUCKOO_HEADER_SIZE (BB_REDIS_CUCKOO_FIELDS_SIZE + BB_FINGERPRINT_HEADER_SIZE)
void bb_redis_cuckoo_type_header(const struct bb_redis_cuckoo *cuckoo,
                                 uint8_t header[BB_REDIS_CUCKOO_HEADER_SIZE]);
/* A filter without fingerprints. NULL: no such header, or there is no memory. */
struct bb_redis_cuckoo *bb_redis_cuckoo_type_decode(struct bb_bytes header);

#endif
