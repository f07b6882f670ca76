/* One sort of question to one filter, or to one set of filters, in one instruction set: a side of
 * turns. */
#ifndef BB_BENCH_PROBE_H
#define BB_BENCH_PROBE_H

#include "bench/turns.h"
#include "bloomblock/table/block_filter.h"

struct probe {
    enum bb_cpu cpu;
    void *subject;
    void (*use)(void *subject, enum bb_cpu cpu); /* NULL: it has one form */
    void (*ask)(const void *subject);            /* all questions; NULL: not there */
    size_t question_count;
};

/* A turns_slice over an array of probes: nanoseconds of thread CPU time per probe. The second pass
 * is timed, because the caches first hold another probe's data. 0 if the probe or the processor's
 * instructions are not available. */
double probe_slice(void *probes, size_t side, size_t turn);

/* Keeps the optimiser from leaving an answer out. */
static inline void probe_keep(uint64_t answer)
{
    __asm__ volatile("" : : "r"(answer));
}

#endif
