/* Batches: operations that bb_db_write applies atomically. <bb/db.h> includes this file. A batch is
 * used by one thread at a time. Calls that add an operation fail with BB_TOO_LARGE if the key, the
 * value or the batch (at most 4 GiB) is too large, and with BB_NO_MEMORY. */
#ifndef BB_PUBLIC_BATCH_H
#define BB_PUBLIC_BATCH_H

#include "bb/base.h"
#include "bb/table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bb_batch;

BB_API BB_MUST_CHECK enum bb_status bb_batch_create(struct bb_batch **ret_batch);
/* NULL is allowed. */
BB_API void bb_batch_destroy(struct bb_batch *batch);
/* Removes all operations; the memory is kept for reuse. */
BB_API void bb_batch_reset(struct bb_batch *batch);
/* Key and value are copied. */
BB_API BB_MUST_CHECK enum bb_status bb_batch_put(struct bb_batch *batch, struct bb_bytes key,
                                                 struct bb_bytes value);
BB_API BB_MUST_CHECK enum bb_status bb_batch_delete(struct bb_batch *batch, struct bb_bytes key);
/* Deletes a range of keys, like bb_db_delete_range. */
BB_API BB_MUST_CHECK enum bb_status
bb_batch_delete_range(struct bb_batch *batch, struct bb_bytes low, struct bb_bytes high);
/* The number of operations, and their size in the log in bytes. */
BB_API size_t bb_batch_count(const struct bb_batch *batch);
BB_API size_t bb_batch_size_bytes(const struct bb_batch *batch);
/* Calls visit for each operation in order. Stops at the first status other than BB_OK and returns
 * it. Returns BB_OK if every visit succeeds. For BB_ENTRY_DELETE_RANGE, key is low and value is
 * high. */
BB_API BB_MUST_CHECK enum bb_status
bb_batch_iterate(const struct bb_batch *batch,
                 enum bb_status (*visit)(void *context, enum bb_entry_kind kind,
                                         struct bb_bytes key, struct bb_bytes value),
                 void *context);

#ifdef __cplusplus
}
#endif
#endif
