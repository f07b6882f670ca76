/* Records of a table below newer tables that earlier counts of selections looked up, and the ones
 * among them that a newer table hides.
 *
 *     granule 0    none yet
 *     granule 1    known    1 1 0 0 0 1 0 1      the record was looked up
 *                  hidden   0 1 0 0 0 0 0 1      a newer table hides it
 *     granule 2    none yet
 *
 * Newer tables are immutable, so the bits hold for one list of them. Another list has another
 * object. Two bits for each record of the granules that were counted, some 0.4 bytes with records
 * of 240 bytes: less than the table's filter has for each key.
 *
 * Threads: any. Bits are only ever set; the hidden bit of a record is set before its known bit.
 */
#ifndef BB_KV_INDEXES_KNOWN_ROWS_H
#define BB_KV_INDEXES_KNOWN_ROWS_H

#include <stdatomic.h>

#include "base/buf.h"

struct bb_known_granule {
    size_t word_count;        /* of each kind of bits */
    _Atomic uint64_t words[]; /* of known bits, then of hidden bits */
};

struct bb_known_rows {
    _Atomic uint32_t references;
    uint64_t memory_bytes;         /* without the granules */
    _Atomic uint64_t *total_bytes; /* of all such objects of the store; borrowed */
    struct bb_buf newer;           /* the u64 numbers of the newer tables */
    size_t granule_count;
    _Atomic(struct bb_known_granule *) granules[]; /* owned; NULL until one is counted */
};

/* Adds its memory to *total_bytes while it exists, and later that of its granules. One reference
 * for the caller. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_known_rows_create(size_t granule_count, struct bb_bytes newer,
                                                  _Atomic uint64_t *total_bytes,
                                                  struct bb_known_rows **ret_rows);
struct bb_known_rows *bb_known_rows_ref(struct bb_known_rows *rows);
/* NULL is allowed. */
void bb_known_rows_unref(struct bb_known_rows *rows);

/* The bits of a granule, which live as long as rows. BB_NOT_FOUND, without a message: there is no
 * such granule, or an earlier call gave it another number of records. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_known_rows_granule(struct bb_known_rows *rows, size_t granule,
                                                   uint64_t record_count,
                                                   struct bb_known_granule **ret_granule);

static inline uint64_t bb_known_rows_known(const struct bb_known_granule *granule, size_t word)
{
    return atomic_load_explicit(&granule->words[word], memory_order_acquire);
}

/* Final for the records whose known bits the caller has read. */
static inline uint64_t bb_known_rows_hidden(const struct bb_known_granule *granule, size_t word)
{
    return atomic_load_explicit(&granule->words[granule->word_count + word], memory_order_relaxed);
}

/* REQUIRES: record is below the number of records given to bb_known_rows_granule. */
void bb_known_rows_learn(struct bb_known_granule *granule, uint64_t record, bool is_hidden);

#endif
