/* Collects the fences of an index page or of the root, and writes them as a fence list.
 *
 * Call order: init (add* encode reset)* deinit. One thread.
 */
#ifndef BB_SSTABLE_INDEX_FENCE_BUILDER_H
#define BB_SSTABLE_INDEX_FENCE_BUILDER_H

#include "sstable/index/fence.h"

struct bb_fence_builder {
    struct bb_buf text; /* fences with their whole keys */
    size_t count;
    size_t common_size; /* of all keys */
    bool is_bytewise;
};

void bb_fence_builder_init(struct bb_fence_builder *builder,
                           const struct bb_comparator *comparator);
void bb_fence_builder_deinit(struct bb_fence_builder *builder);
void bb_fence_builder_reset(struct bb_fence_builder *builder);

/* The key is copied. */
BB_MUST_CHECK enum bb_status bb_fence_builder_add(struct bb_fence_builder *builder,
                                                  const struct bb_fence *fence);
/* An upper estimate of the bytes that encode would append now. */
size_t bb_fence_builder_size_estimate(const struct bb_fence_builder *builder);
/* True when this fence would make searches among the existing ones slow. A search sees eight bytes
 * after the common prefix. If the fence shortens that prefix, neighbours that differ now may become
 * equal in those bytes; true when that happens to more than a quarter of the fences. */
bool bb_fence_builder_collapses(const struct bb_fence_builder *builder,
                                const struct bb_fence *fence);
/* Appends the fence list. */
BB_MUST_CHECK enum bb_status bb_fence_builder_encode(const struct bb_fence_builder *builder,
                                                     struct bb_buf *buf);

#endif
