/* Collects fences. See fence_builder.h. Fences are kept whole until they are written, and then
 * stripped of their common prefix: only then is the prefix known. One thread. */
#include "sstable/index/fence_builder.h"

#include "base/assert.h"

void bb_fence_builder_init(struct bb_fence_builder *builder, const struct bb_comparator *comparator)
{
    *builder = (struct bb_fence_builder){.is_bytewise = comparator == NULL};
}

void bb_fence_builder_deinit(struct bb_fence_builder *builder)
{
    bb_buf_deinit(&builder->text);
}

void bb_fence_builder_reset(struct bb_fence_builder *builder)
{
    bb_buf_reset(&builder->text);
    builder->count = 0;
    builder->common_size = 0;
}

/* The fences come from bb_fence_encode, so decoding them cannot fail. */
static struct bb_fence next_fence(struct bb_cursor *cursor)
{
    struct bb_fence fence = {0};
    bool is_fence = bb_fence_decode(cursor, &fence);
    BB_ASSERT(is_fence);
    return fence;
}

/* The common prefix after adding the fence. */
static size_t common_with(const struct bb_fence_builder *builder, const struct bb_fence *fence)
{
    BB_DEBUG_ASSERT(builder->common_size <= builder->text.size);
    if (!builder->is_bytewise)
        return 0;
    if (builder->count == 0)
        return fence->key.size;
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&builder->text));
    struct bb_bytes common = {.data = next_fence(&cursor).key.data, .size = builder->common_size};
    return bb_bytes_shared_prefix(common, fence->key);
}

enum bb_status bb_fence_builder_add(struct bb_fence_builder *builder, const struct bb_fence *fence)
{
    size_t common_size = common_with(builder, fence);
    enum bb_status status = bb_fence_encode(fence, 0, &builder->text);
    if (status != BB_OK)
        return status;
    builder->common_size = common_size;
    builder->count++;
    return BB_OK;
}

size_t bb_fence_builder_size_estimate(const struct bb_fence_builder *builder)
{
    size_t stripped = builder->count * builder->common_size;
    return builder->text.size - stripped + builder->common_size + BB_VARINT32_SIZE_MAX;
}

/* The number of neighbours whose eight bytes after the common prefix are equal. */
static size_t ties(const struct bb_fence_builder *builder, size_t common_size)
{
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&builder->text));
    uint64_t previous = 0;
    size_t count = 0;
    for (size_t i = 0; i < builder->count; i++) {
        struct bb_bytes key = next_fence(&cursor).key;
        uint64_t prefix = bb_bytes_prefix64(bb_bytes_after(key, common_size));
        count += i > 0 && prefix == previous;
        previous = prefix;
    }
    return count;
}

bool bb_fence_builder_collapses(const struct bb_fence_builder *builder,
                                const struct bb_fence *fence)
{
    size_t common_size = common_with(builder, fence);
    if (builder->count < 2 || common_size == builder->common_size)
        return false;
    return ties(builder, common_size) > ties(builder, builder->common_size) + builder->count / 4;
}

enum bb_status bb_fence_builder_encode(const struct bb_fence_builder *builder, struct bb_buf *buf)
{
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&builder->text));
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < builder->count && status == BB_OK; i++) {
        struct bb_fence fence = next_fence(&cursor);
        if (i == 0)
            status = bb_append_bytes(buf, bb_bytes_of(fence.key.data, builder->common_size));
        if (status == BB_OK)
            status = bb_fence_encode(&fence, builder->common_size, buf);
    }
    if (builder->count == 0)
        status = bb_append_varint(buf, 0);
    return status;
}
