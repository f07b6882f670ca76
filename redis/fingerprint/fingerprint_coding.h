/* The bytes of a growing filter: a header, and chunks of whole shards.
 *
 *     header   "bbfp" | version: 1 byte | is_set: 1 byte | table limit: 1 byte | tables: 1 byte
 *              | capacity: 8 bytes | rate: 8 bytes, a double | expansion: 4 bytes
 *     chunk    first shard: varint | shards: varint | entries
 *     entry    fingerprints: varint | upper and lower part of the shard (fingerprint_shard.h)
 *              or 0: varint | shards - 1: varint, for shards without fingerprints
 *
 * Shards are numbered through all tables, oldest table first. Numbers are little-endian, varints
 * have 7 bits per byte, lowest first. A filter is the header and the chunks of all its shards; a
 * chunk replaces the shards that it contains. The same members added in the same order give the
 * same bytes.
 *
 * Decoding checks everything: a filter that it makes could have been made by commands. */
#ifndef BB_REDIS_FINGERPRINT_FINGERPRINT_CODING_H
#define BB_REDIS_FINGERPRINT_FINGERPRINT_CODING_H

#include "bb/base.h"
#include "redis/fingerprint/fingerprint_chain.h"

#define BB_FINGERPRINT_HEADER_SIZE 28

void bb_fingerprint_coding_header(const struct bb_fingerprint_chain *chain,
                                  uint8_t header[BB_FINGERPRINT_HEADER_SIZE]);

/* Replaces the contents of the buffer with the chunk from this shard on. The chunk has at least one
 * entry and ends before size_max bytes if it can. Returns the shard after it. BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_fingerprint_coding_chunk(const struct bb_fingerprint_chain *chain,
                                                         uint64_t first, size_t size_max,
                                                         struct bb_buf *chunk, uint64_t *ret_end);

/* Makes the filter without members. NULL: no such header, or there is no memory. */
struct bb_fingerprint_chain *bb_fingerprint_coding_decode_header(struct bb_bytes header);

/* Sets the shards of the chunk. False: the bytes are no chunk for this filter; some shards may have
 * been set. *ret_end: the shard after the chunk, if not NULL. */
bool bb_fingerprint_coding_decode_chunk(struct bb_fingerprint_chain *chain, struct bb_bytes chunk,
                                        uint64_t *ret_first, uint64_t *ret_end);

#endif
