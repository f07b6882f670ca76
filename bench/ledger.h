/* The state that the store of a mixed workload must have, and the check of results against it.
 *
 * A key is known by its index i (workload_number). Each write of a key starts its next version. A
 * value names the version that wrote it, so that the check finds an old value or a lost write.
 *
 *     started  |1|4|2|D3|0|...   version whose write has started; D: a deletion; 0: never stored
 *     finished |1|3|2|D3|0|...   version whose write has returned
 *
 * A key is written only by its owner, thread i % thread_count. The owner of a key knows the version
 * that it must read. Another thread may read any version from the one finished before its read to
 * the one started after it.
 *
 * Threads: any; entries of a key are changed by its owner.
 */
#ifndef BB_BENCH_LEDGER_H
#define BB_BENCH_LEDGER_H

#include <stdatomic.h>

#include "bench/workload.h"

/* Flag of a version that is a deletion. */
#define LEDGER_DELETED (UINT32_C(1) << 31)

struct ledger {
    const struct workload *workload;
    const char *engine; /* for messages */
    uint64_t capacity;  /* indexes that may ever be stored */
    uint64_t *sorted;   /* their numbers; places in it are positions */
    _Atomic uint32_t *started;
    _Atomic uint32_t *finished;
    uint64_t thread_count;
};

/* An entry as an iterator returned it; enough of it to recognise a wrong one. */
struct ledger_entry {
    uint8_t key[16]; /* the beginning */
    uint64_t begin;  /* of the value: 8 bytes */
    uint64_t end;
    uint64_t sum; /* ledger_sum of the value */
    uint32_t key_size;
    uint32_t value_size;
};

/* The entries that an iterator had to return: from a key on, to the end of a range or to their
 * maximum number. */
struct ledger_range {
    uint64_t low;  /* a number */
    uint64_t high; /* exclusive; only if is_bounded */
    bool is_bounded;
    uint64_t count_max;
};

/* A sum over one byte of every 64. It makes the processor load each cache line of the value, so
 * that a value in a mapped file is really read. */
static inline uint64_t ledger_sum(struct bb_bytes value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < value.size; i += 64)
        sum = sum * 3 + value.data[i];
    return sum;
}

/* workload: borrowed. Owned: ledger_deinit. */
void ledger_init(struct ledger *ledger, const struct workload *workload, uint64_t capacity);
void ledger_deinit(struct ledger *ledger);

/* Starts the next version of a key, by its owner; returns the new state. */
uint32_t ledger_start(struct ledger *ledger, uint64_t index, bool is_deletion);
/* The write of this state has returned. */
void ledger_finish(struct ledger *ledger, uint64_t index, uint32_t state);

/* The oldest state that a read may find: for the owner of the key the last one started, for others
 * the last one finished. */
uint32_t ledger_state(const struct ledger *ledger, uint64_t index, bool is_owner);
/* Checks the result of a get, and ends the process if it is wrong. value: NULL if the key was not
 * found. least: ledger_state before the get. scratch has the size of a value. */
void ledger_check_get(const struct ledger *ledger, uint64_t index, uint32_t least, bool is_owner,
                      const struct bb_bytes *value, uint8_t *scratch);
/* Checks all entries that an iterator returned to a thread. REQUIRES: the thread has not called
 * ledger_finish for writes of the same batch. */
void ledger_check_range(const struct ledger *ledger, const struct ledger_range *range,
                        const struct ledger_entry *entries, uint64_t entry_count, uint64_t thread,
                        uint8_t *scratch);

/* The value of the version that a state has. */
void ledger_value(const struct ledger *ledger, uint64_t index, uint32_t state, uint8_t *value);

#endif
