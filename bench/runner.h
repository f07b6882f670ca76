/* The parts that all runs of an engine share: phases, their times, and the turns.
 *
 * Phases run in order. Before each, the engine becomes quiet, dirty pages are written back, and the
 * page cache is brought to one state (warm: every file read once; cold: dropped, the engine
 * reopened). Only calls into the engine and the use of results are timed: keys and expected values
 * are made between batches.
 *
 * Turns of the baton (baton.h): the load until quiet is one; each phase that has slices has one to
 * prepare it and one for each slice; the compaction is one. Before an engine passes the baton, it
 * is quiet, so that it does not work during another's turn.
 */
#ifndef BB_BENCH_RUNNER_H
#define BB_BENCH_RUNNER_H

#include "bench/counters.h"
#include "bench/engine.h"

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
    /* Of the mixed workloads (mix.h), each in the store that its predecessor left: */
    PHASE_MIX, /* operations of different kinds */
    PHASE_OVERWRITE,
    PHASE_DELETE,
    PHASE_GET,       /* of any key, stored or deleted */
    PHASE_GET_NEVER, /* of keys that were never stored */
    PHASE_GET_10,    /* in calls for 10 keys, per key */
    PHASE_GET_100,
    PHASE_SEEK,
    PHASE_RANGE_10, /* iterators with bounds that enclose 10 entries */
    PHASE_RANGE_100,
    PHASE_PREFIX, /* iterators over the entries with a prefix */
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
    uint64_t checksum;                        /* of the operations of a mixed workload */
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

/* The process of an engine. */
struct runner {
    const struct bench_engine *engine;
    const struct run_options *options;
    void *store;
    struct run_result *result;
    struct counters counters; /* at the beginning of the phase */
};

/* Opens the store; all figures are 0. REQUIRES: engine, options and result are set. */
void runner_open(struct runner *runner);
/* Returns when the engine is quiet. */
void runner_settle(struct runner *runner);
/* Begins a phase that has no slices. */
void runner_begin_phase(struct runner *runner);
void runner_end_phase(struct runner *runner, enum phase phase, uint64_t operations,
                      uint64_t nanoseconds);
/* After the load: the phase PHASE_SETTLE, and the size on disk. */
void runner_measure_settling(struct runner *runner);

/* Begins a phase that has slices: every engine begins it in the same state. Passes the baton. */
void runner_prepare(struct runner *runner);
/* The first of count operations that the slice has. */
uint64_t runner_slice_begin(const struct runner *runner, uint64_t count, uint64_t slice);
/* After the last slice, before its turn ends. */
void runner_end_slices(struct runner *runner, enum phase phase, uint64_t operations);
/* Ends a slice's turn: waits until the engine is quiet, and passes the baton. */
void runner_end_slice(struct runner *runner);
/* The same without passing it. */
void runner_settle_slice(struct runner *runner);

struct slice_time runner_time(void);
/* Adds the time of the clock and of this thread since `begin`. */
void runner_add_since(struct slice_time *sum, struct slice_time begin);

#endif
