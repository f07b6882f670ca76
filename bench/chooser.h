/* Chooses the keys of a phase of a mixed workload, for one thread. Everything follows from the
 * seed.
 *
 * Threads: a chooser belongs to one.
 */
#ifndef BB_BENCH_CHOOSER_H
#define BB_BENCH_CHOOSER_H

#include "bench/dice.h"
#include "bench/ledger.h"
#include "bench/mix.h"

#define CHOOSER_RANGES 30 /* of MIX_HOT_RANGES, as in mixgraph */

struct chooser {
    const struct ledger *ledger;
    const struct mix_phase *phase;
    uint64_t thread;
    struct dice dice;
    uint64_t insert_count; /* insertions by this thread, over all phases */
    uint64_t each_count;   /* keys that MIX_EACH has chosen */
    uint64_t each_step;
    double weights[CHOOSER_RANGES]; /* sums up to each hot range */
};

/* For the first phase; borrowed: ledger. */
void chooser_init(struct chooser *chooser, const struct ledger *ledger, uint64_t seed,
                  uint64_t thread);
void chooser_begin_phase(struct chooser *chooser, const struct mix_phase *phase);

enum mix_kind chooser_kind(struct chooser *chooser);
/* The index of a key by the phase's distribution. REQUIRES: not MIX_NEVER. */
uint64_t chooser_index(struct chooser *chooser);
/* One that the thread owns, near to it. */
uint64_t chooser_own_index(struct chooser *chooser);
/* The index of the thread's next insertion. */
uint64_t chooser_insertion(struct chooser *chooser);
/* The number of a key that was never stored. */
uint64_t chooser_never(struct chooser *chooser);
/* Entries of a seek. */
uint64_t chooser_length(struct chooser *chooser);
/* A position in the order of keys that has at least `space` positions after it. */
uint64_t chooser_position(struct chooser *chooser, uint64_t space);

#endif
