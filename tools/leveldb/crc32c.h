/* CRC-32C (Castagnoli), as LevelDB stores it: masked, so that checksums of data that contain
 * checksums stay good. Eight bytes a step, with tables that the caller holds. */
#ifndef BB_TOOLS_LEVELDB_CRC32C_H
#define BB_TOOLS_LEVELDB_CRC32C_H

#include "bb/base.h"

struct crc32c {
    uint32_t tables[8][256];
};

void crc32c_init(struct crc32c *crc);
uint32_t crc32c_of(const struct crc32c *crc, struct bb_bytes bytes);
/* The masked form of a checksum, which LevelDB stores. */
uint32_t crc32c_mask(uint32_t checksum);

#endif
