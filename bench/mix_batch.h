/* A batch of operations of a mixed workload, by one thread:
 *
 *     mix_batch_fill    draws operations, and makes their keys and values       not timed
 *     mix_batch_call    calls the engine, and copies its results                timed
 *     mix_batch_check   checks the results against the ledger                   not timed
 *
 * Memory grows with the entries that iterators return. Threads: a batch belongs to one.
 */
#ifndef BB_BENCH_MIX_BATCH_H
#define BB_BENCH_MIX_BATCH_H

#include "bench/chooser.h"

/* Few enough that keys and small values stay in the processor's caches. */
#define MIX_BATCH_OPERATIONS_MAX 128
#define MIX_BATCH_ITERATORS_MAX  32

/* A key of an operation, and its result. */
struct mix_batch_slot {
    uint64_t index;
    uint32_t state; /* a read finds this at least, a write writes it */
    bool is_owner;  /* of the key: the read finds exactly the state */
    bool is_never;  /* the key is not in the ledger */
    bool is_found;
    size_t size; /* of the value found */
};

struct mix_batch_operation {
    enum mix_kind kind;
    size_t slot; /* the first */
    size_t slot_count;
    uint32_t written; /* the state that MIX_MODIFY writes */
    struct ledger_range range;
    size_t prefix_size;
    size_t entry; /* the first */
    size_t entry_count;
};

/* Copies the entries that an iterator returns. */
struct mix_batch_visitor {
    struct bench_visitor visitor; /* first */
    struct ledger_entry *entries;
    size_t count;
    size_t capacity;
};

struct mix_batch {
    const struct bench_engine *engine;
    void *store; /* the thread's handle */
    struct ledger *ledger;
    struct chooser chooser;
    struct mix_batch_operation operations[MIX_BATCH_OPERATIONS_MAX];
    size_t operation_count;
    uint64_t checksum; /* of all operations drawn: equal for every engine */
    struct mix_batch_slot *slots;
    size_t slot_count;
    size_t slot_capacity;
    uint8_t *keys;   /* two for each slot: the second is an upper bound */
    uint8_t *values; /* to write */
    uint8_t *results;
    uint8_t *scratch;
    struct mix_batch_visitor visitor;
};

/* Borrowed: engine, ledger. Owned: mix_batch_deinit. */
void mix_batch_init(struct mix_batch *batch, const struct bench_engine *engine,
                    struct ledger *ledger, uint64_t seed, uint64_t thread);
void mix_batch_deinit(struct mix_batch *batch);

/* Of the phase that the chooser has begun: at most `most` operations, at least one. Returns their
 * number. */
size_t mix_batch_fill(struct mix_batch *batch, uint64_t most);
/* Of a load: puts of the keys with these indexes, which the thread owns. At most `most` of them,
 * at least one; returns their number. */
size_t mix_batch_fill_load(struct mix_batch *batch, const uint64_t *indexes, uint64_t most);
void mix_batch_call(struct mix_batch *batch);
/* The same without a commit of each write. */
void mix_batch_call_load(struct mix_batch *batch);
/* Ends the process on a wrong result. Writes count as finished. */
void mix_batch_check(struct mix_batch *batch);

#endif
