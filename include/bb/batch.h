/* Batches: operations that bb_db_write in <bb/db.h>, which includes this file, applies atomically.
 * A batch is used by one thread at a time. Calls that add to it fail with BB_TOO_LARGE if the key,
 * the value or the batch (4 GiB) is too large, and with BB_NO_MEMORY. */
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
/* As bb_db_delete_range. */
BB_API BB_MUST_CHECK enum bb_status
bb_batch_delete_range(struct bb_batch *batch, struct bb_bytes low, struct bb_bytes high);
/* Number of operations, and their size in bytes in the log. */
BB_API size_t bb_batch_count(const struct bb_batch *batch);
BB_API size_t bb_batch_size_bytes(const struct bb_batch *batch);
/* Calls visit for each operation in order, until it returns a status other than BB_OK, and returns
 * that status. BB_OK if no visit fails. For BB_ENTRY_DELETE_RANGE, key is low and value is high. */
BB_API BB_MUST_CHECK enum bb_status
bb_batch_iterate(const struct bb_batch *batch,
                 enum bb_status (*visit)(void *context, enum bb_entry_kind kind,
                                         struct bb_bytes key, struct bb_bytes value),
                 void *context);

#ifdef __cplusplus
}
#endif
#endif
