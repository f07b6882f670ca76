/* See crc32c.h. */
#include "tools/leveldb/crc32c.h"

#include "base/coding.h"

#define POLYNOMIAL 0x82F63B78U /* reflected */
#define MASK_DELTA 0xA282EAD8U

void crc32c_init(struct crc32c *crc)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = (value >> 1) ^ ((value & 1) != 0 ? POLYNOMIAL : 0);
        crc->tables[0][byte] = value;
    }
    for (size_t i = 1; i < 8; i++) {
        for (size_t byte = 0; byte < 256; byte++) {
            uint32_t value = crc->tables[i - 1][byte];
            crc->tables[i][byte] = (value >> 8) ^ crc->tables[0][value & 0xFF];
        }
    }
}

static uint32_t step(const struct crc32c *crc, uint32_t value, const uint8_t *p)
{
    uint64_t word = bb_load64(p) ^ value;
    uint32_t next = 0;
    for (size_t i = 0; i < 8; i++)
        next ^= crc->tables[7 - i][(word >> (8 * i)) & 0xFF];
    return next;
}

uint32_t crc32c_of(const struct crc32c *crc, struct bb_bytes bytes)
{
    uint32_t value = UINT32_MAX;
    size_t i = 0;
    for (; i + 8 <= bytes.size; i += 8)
        value = step(crc, value, bytes.data + i);
    for (; i < bytes.size; i++)
        value = (value >> 8) ^ crc->tables[0][(value ^ bytes.data[i]) & 0xFF];
    return ~value;
}

uint32_t crc32c_mask(uint32_t checksum)
{
    return ((checksum >> 15) | (checksum << 17)) + MASK_DELTA;
}
