/* Chooses and stores fences. See the header. Any thread. */
#include "sstable/index/fence.h"

#include "base/assert.h"

struct bb_fence bb_fence_between(const struct bb_comparator *comparator, struct bb_bytes last_key,
                                 uint64_t last_sequence, struct bb_bytes first_key)
{
    if (bb_key_compare(comparator, last_key, first_key) == 0) {
        BB_ASSERT(last_sequence > 0);
        return (struct bb_fence){.key = first_key, .sequence = last_sequence - 1};
    }
    struct bb_fence fence = {.key = first_key, .sequence = BB_SEQUENCE_MAX};
    /* A shorter string cannot separate. It is either a prefix of both keys, and then not above the
     * first; or it is below the second key at a byte that the keys share, and then also below the
     * first. */
    if (comparator == NULL)
        fence.key.size = bb_bytes_shared_prefix(last_key, first_key) + 1;
    return fence;
}

enum bb_status bb_fence_encode(const struct bb_fence *fence, size_t common_size, struct bb_buf *buf)
{
    BB_ASSERT(common_size <= fence->key.size);
    size_t suffix_size = fence->key.size - common_size;
    bool has_sequence = fence->sequence != BB_SEQUENCE_MAX;
    enum bb_status status = bb_buf_reserve(buf, suffix_size + 2 * BB_VARINT64_SIZE_MAX);
    if (status != BB_OK)
        return status;

    uint8_t *p = bb_store_varint(buf->data + buf->size, (uint64_t)suffix_size << 1 | has_sequence);
    if (suffix_size > 0)
        memcpy(p, fence->key.data + common_size, suffix_size);
    p += suffix_size;
    if (has_sequence)
        p = bb_store_varint(p, fence->sequence);
    buf->size = (size_t)(p - buf->data);
    return BB_OK;
}

bool bb_fence_decode(struct bb_cursor *cursor, struct bb_fence *ret_fence)
{
    struct bb_cursor ahead = *cursor;
    struct bb_fence fence = {.sequence = BB_SEQUENCE_MAX};
    uint32_t head = 0;
    if (!bb_decode_varint32(&ahead, &head) || head >> 1 > BB_KEY_SIZE_MAX)
        return false;
    if (!bb_decode_raw(&ahead, head >> 1, &fence.key))
        return false;
    bool has_sequence = (head & 1) != 0;
    if (has_sequence &&
        (!bb_decode_varint64(&ahead, &fence.sequence) || fence.sequence >= BB_SEQUENCE_MAX))
        return false;
    *cursor = ahead;
    *ret_fence = fence;
    return true;
}
