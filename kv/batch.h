/* A batch of operations, and the bytes that carry it through the log.
 *
 * The public face (create, put, delete, ...) is declared in bb/db.h; here is what the store itself
 * needs: a batch in the caller's memory, its payload for the log, and the decoder that both the
 * memtable and recovery read it with.
 *
 * Threads: a batch is for one thread at a time, a commit of it included.
 */
#ifndef BB_KV_BATCH_H
#define BB_KV_BATCH_H

#include "base/coding.h"
#include "base/status.h"
#include "bb/db.h"

/* ON DISK: sequence u64, count u32. */
#define BB_BATCH_HEADER_SIZE 12
/* Of a whole payload. Room for three of the largest entries. */
#define BB_BATCH_SIZE_MAX UINT32_MAX

/* Empty when zeroed; owned: bb_batch_deinit. */
struct bb_batch {
    struct bb_buf payload; /* no bytes, or the header and all operations */
    uint32_t count;
    uint64_t raw_bytes;
    struct bb_bytes tail; /* borrowed; not empty: the end of the payload, a value, stands here */
};

void bb_batch_init(struct bb_batch *batch);
void bb_batch_deinit(struct bb_batch *batch);

/* A put whose value stays where it is and must not change while the batch is used: for values that
 * are too large to be copied. Nothing may be added behind it. REQUIRES: an empty batch, and a value
 * that is not empty. */
BB_MUST_CHECK enum bb_status bb_batch_put_borrowed(struct bb_batch *batch, struct bb_bytes key,
                                                   struct bb_bytes value);

/* Sum of the sizes of all keys and values. */
uint64_t bb_batch_raw_bytes(const struct bb_batch *batch);

/* The batch as it stands in the log, but for the tail, which is to follow. Its operations are
 * numbered from sequence on: the i-th has sequence + i. Borrowed until the batch is changed or
 * stamped again. Nothing is copied: the header inside the batch is overwritten, which no public
 * function shows. REQUIRES: the batch is not empty. */
struct bb_bytes bb_batch_stamp(const struct bb_batch *batch, uint64_t sequence);

/* Reads a payload operation by operation. Trusts nothing: payloads come from files. */
struct bb_batch_cursor {
    struct bb_cursor bytes;
    struct bb_place place; /* of the payload, for messages */
    const uint8_t *start;  /* of the payload */
    uint64_t sequence;     /* of the first operation */
    uint32_t count;        /* operations in all */
    uint32_t position;     /* operations read */
    struct bb_bytes tail;  /* of the batch: the value of the last operation; empty: none */
};

/* payload is borrowed while the cursor is used. BB_CORRUPT when the header is short, its sequences
 * pass BB_SEQUENCE_MAX, or the count cannot be true. */
BB_MUST_CHECK enum bb_status bb_batch_cursor_init(struct bb_batch_cursor *cursor,
                                                  struct bb_bytes payload, struct bb_place place);
/* BB_OK with the next operation as an entry (borrowed from the payload), BB_NOT_FOUND behind the
 * last one, or BB_CORRUPT: unknown kind, a size past its limit or the end, bytes behind the last
 * operation. */
BB_MUST_CHECK enum bb_status bb_batch_cursor_next(struct bb_batch_cursor *cursor,
                                                  struct bb_entry *ret_entry);

#endif
