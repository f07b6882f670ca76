/* A batch of operations, and its encoding in the log.
 *
 * bb/db.h declares the public functions (create, put, delete, ...). This header has the parts that
 * the store needs: a batch in the caller's memory, its payload for the log, and the decoder for
 * both the memtable and recovery.
 *
 * Threads: a batch is used by one thread at a time, also while it is committed.
 */
#ifndef BB_KV_BATCH_H
#define BB_KV_BATCH_H

#include "base/coding.h"
#include "base/status.h"
#include "bb/db.h"

/* ON DISK: sequence u64, count u32. */
#define BB_BATCH_HEADER_SIZE 12
/* Limit of a whole payload. It is enough for three entries of maximum size. */
#define BB_BATCH_SIZE_MAX UINT32_MAX

/* Bytes of a payload. */
struct bb_batch_place {
    size_t offset;
    size_t size;
};

/* Empty when zeroed. Owned: bb_batch_deinit. */
struct bb_batch {
    struct bb_buf payload; /* empty, or the header and all operations */
    uint32_t count;
    uint64_t raw_bytes; /* the sum of the sizes of all keys and values */
    /* Borrowed. If not empty, it is the end of the payload, the last value. */
    struct bb_bytes tail;
    /* The last operation; key and value are places in the payload. */
    enum bb_entry_kind last_kind;
    struct bb_batch_place last_key;
    struct bb_batch_place last_value; /* empty if the operation has no value, or the batch a tail */
};

void bb_batch_deinit(struct bb_batch *batch);

/* At least the size of a payload with one operation. */
static inline size_t bb_batch_size_of_one(size_t key_size, size_t value_size)
{
    return BB_BATCH_HEADER_SIZE + 1 + 2 * BB_VARINT64_SIZE_MAX + key_size + value_size;
}

/* A put whose value is not copied, for large values. The value must not change while the batch is
 * used. No operation may follow it. REQUIRES: an empty batch and a value that is not empty. */
BB_MUST_CHECK enum bb_status bb_batch_put_borrowed(struct bb_batch *batch, struct bb_bytes key,
                                                   struct bb_bytes value);

/* The batch as it is stored in the log, without the tail, which follows it. The i-th operation has
 * sequence `sequence` + i. Borrowed until the batch is changed or stamped again. This overwrites
 * the header inside the batch and copies nothing. REQUIRES: the batch is not empty. */
struct bb_bytes bb_batch_stamp(const struct bb_batch *batch, uint64_t sequence);

/* The last operation as an entry with this sequence. Borrowed until the batch is changed. WHY: most
 * commits have one operation, and decoding it would take a twelfth of the time. REQUIRES: the batch
 * is not empty. */
struct bb_entry bb_batch_last(const struct bb_batch *batch, uint64_t sequence);

/* Reads a payload operation by operation. It checks everything, because payloads come from
 * files. */
struct bb_batch_cursor {
    struct bb_cursor bytes;
    struct bb_place place; /* of the payload, for messages */
    const uint8_t *start;  /* of the payload */
    uint64_t sequence;     /* of the first operation */
    uint32_t count;        /* total number of operations */
    uint32_t position;     /* operations read so far */
};

/* payload is borrowed while the cursor is used. Errors: BB_CORRUPT when the header is short, its
 * sequences exceed BB_SEQUENCE_MAX, or the count is impossible. */
BB_MUST_CHECK enum bb_status bb_batch_cursor_init(struct bb_batch_cursor *cursor,
                                                  struct bb_bytes payload, struct bb_place place);
/* BB_OK with the next operation as an entry (borrowed from the payload), or BB_NOT_FOUND after the
 * last one. Errors: BB_CORRUPT for an unknown kind, a size beyond its limit or the end, or bytes
 * after the last operation. */
BB_MUST_CHECK enum bb_status bb_batch_cursor_next(struct bb_batch_cursor *cursor,
                                                  struct bb_entry *ret_entry);

#endif
