/* Operations on borrowed bytes that are too long for the header. No allocation, any thread. */
#include "base/bytes.h"

#include "base/assert.h"
#include "base/coding.h"

size_t bb_bytes_shared_prefix(struct bb_bytes a, struct bb_bytes b)
{
    size_t limit = a.size < b.size ? a.size : b.size;
    size_t shared = 0;
    while (limit - shared >= 8) {
        uint64_t difference = bb_load64(a.data + shared) ^ bb_load64(b.data + shared);
        if (difference != 0)
            return shared + (size_t)__builtin_ctzll(difference) / 8;
        shared += 8;
    }
    while (shared < limit && a.data[shared] == b.data[shared])
        shared++;
    return shared;
}

/* Short keys are joined from loads that overlap: a loop or a memcpy of variable length costs a call
 * or a mispredicted branch per key, and this runs once per key of a search. */
uint64_t bb_bytes_prefix64_of_short(struct bb_bytes bytes)
{
    const uint8_t *p = bytes.data;
    size_t size = bytes.size;
    BB_DEBUG_ASSERT(size < sizeof(uint64_t));
    if (size >= 4) {
        uint64_t head = __builtin_bswap32(bb_load32(p));
        uint64_t tail = __builtin_bswap32(bb_load32(p + size - 4));
        /* Bytes that both loads have fall on the same place. */
        return head << 32 | tail << (8 * (8 - size));
    }
    if (size == 0)
        return 0;
    uint64_t first = (uint64_t)p[0] << 56;
    uint64_t middle = (uint64_t)p[size / 2] << (56 - 8 * (size / 2));
    uint64_t last = (uint64_t)p[size - 1] << (56 - 8 * (size - 1));
    return first | middle | last;
}

/* Writes the visible form of one byte; its length. */
static size_t escape_byte(uint8_t byte, char form[4])
{
    static const char digits[] = "0123456789abcdef";
    form[0] = '\\';
    if (byte == '\\') {
        form[1] = '\\';
        return 2;
    }
    if (byte >= 0x20 && byte < 0x7f) {
        form[0] = (char)byte;
        return 1;
    }
    form[1] = 'x';
    form[2] = digits[byte >> 4];
    form[3] = digits[byte & 15];
    return 4;
}

char *bb_bytes_escape(struct bb_bytes bytes, char *buffer, size_t size)
{
    BB_ASSERT(size > 0);
    size_t limit = size - 1;
    size_t dots = limit < 3 ? limit : 3;
    size_t used = 0;
    /* Position of the dots if the rest does not fit: after the last complete form that leaves space
     * for them. */
    size_t cut = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        char form[4];
        size_t length = escape_byte(bytes.data[i], form);
        if (length > limit - used) {
            memcpy(buffer + cut, "...", dots);
            used = cut + dots;
            break;
        }
        memcpy(buffer + used, form, length);
        used += length;
        if (used <= limit - dots)
            cut = used;
    }
    buffer[used] = '\0';
    return buffer;
}
