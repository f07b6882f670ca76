/* See key_slot.h. */
#include "tools/cluster/key_slot.h"

#include <string.h>

#include "base/bytes.h"

/* CRC-16/XMODEM. Bit by bit, because only one slot per partition is computed. */
static uint16_t crc16(struct bb_bytes bytes)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        crc ^= (uint32_t)bytes.data[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
    }
    return (uint16_t)crc;
}

static struct bb_bytes tag_of(struct bb_bytes key)
{
    const uint8_t *open = key.size == 0 ? NULL : memchr(key.data, '{', key.size);
    if (open == NULL)
        return key;
    size_t rest = (size_t)(key.data + key.size - (open + 1));
    const uint8_t *close = rest == 0 ? NULL : memchr(open + 1, '}', rest);
    if (close == NULL || close == open + 1)
        return key;
    return bb_bytes_of(open + 1, (size_t)(close - (open + 1)));
}

uint16_t key_slot(struct bb_bytes key)
{
    return crc16(tag_of(key)) % SLOT_COUNT;
}
