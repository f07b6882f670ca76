/* One engine through the whole workload, in a separate process.
 *
 * Phases run in order. Before each, the engine becomes quiet, dirty pages are written back, and the
 * page cache is brought to one state (warm: every file read once; cold: dropped, the engine
 * reopened). Only calls into the engine and the comparison of results are timed: keys and expected
 * values are made between batches.
 *
 * Turns of the baton (baton.h): the load until quiet is one; each phase of reading has one to
 * prepare it and one for each slice; the compaction is one. Before an engine passes the baton, it
 * is quiet, so that it does not work during another's turn.
 */
#ifndef BB_BENCH_RUN_H
#define BB_BENCH_RUN_H

#include "bench/counters.h"
#include "bench/engine.h"
#include "bench/workload.h"

enum phase {
    PHASE_LOAD,           /* to the last put */
    PHASE_SETTLE,         /* from then until the engine is quiet */
    PHASE_PRESENT_LOADED, /* lookups of stored keys, as the load left the store */
    PHASE_ABSENT_LOADED,  /* of absent ones */
    PHASE_SEEK_LOADED,    /* range queries */
    PHASE_COMPACT,
    PHASE_PRESENT_COMPACTED,
    PHASE_ABSENT_COMPACTED,
    PHASE_SCAN, /* all entries, compacted */
    PHASE_SEEK_COMPACTED,
    PHASE_COUNT,
};

/* Stable lower-case name, as in the JSON. */
const char *phase_name(enum phase phase);

#define RUN_SLICES_MAX 64

/* Nanoseconds of a slice: by the clock, and of the processor in the calling threads. When other
 * programs take the processor, a short slice may escape them and a long one never does: then only
 * the second value compares two engines. It does not include waiting for the device. The third is
 * of the processor in all threads of the process, until the engine is quiet again, less the making
 * of keys and the checks; 0: not measured. */
struct slice_time {
    uint64_t clock;
    uint64_t processor;
    uint64_t process;
};

struct phase_result {
    uint64_t operations;
    uint64_t nanoseconds;
    struct slice_time slices[RUN_SLICES_MAX]; /* of a phase that has them, in order */
    struct counters counters; /* making keys between batches costs processor time, but no calls */
};

struct run_result {
    struct phase_result phases[PHASE_COUNT];
    uint64_t size_loaded;    /* bytes on disk when quiet after the load */
    uint64_t size_compacted; /* after compaction */
    uint64_t memory_bytes;   /* greatest anonymous memory at the end of any phase */
};

struct run_options {
    struct bench_settings settings;
    uint64_t slice_count; /* of a phase of reading; 1 ... RUN_SLICES_MAX */
    int baton;            /* it is this process's turn */
    bool is_cold;
};

/* Whether it is measured in slices. */
bool phase_is_sliced(enum phase phase);

/* Ends the process on a wrong result. The directory exists and is empty; the store stays in it. */
void run_engine(const struct bench_engine *engine, const struct run_options *options,
                const struct workload *workload, struct run_result *ret_result);

#endif
