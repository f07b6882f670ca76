/* The load of a store, with lower limits: a part of limits_bench, which explains the rows. */
#ifndef BB_BENCH_LIMITS_LOAD_H
#define BB_BENCH_LIMITS_LOAD_H

#include "bb/db.h"
#include "bench/workload.h"

struct limits_load {
    const struct workload *workload;
    const char *path;       /* for a file, which is removed */
    const uint8_t *records; /* ideal_load.h */
    size_t block_size;
    /* Nanoseconds per put, of the steps that the thread of the puts cannot avoid. */
    double memtable_time;
};

/* Puts the workload's entries into the empty store, waits until it is quiet, and prints the times.
 * The store then has nothing in its memtables. */
void limits_load_run(const struct limits_load *load, struct bb_db *db);

#endif
