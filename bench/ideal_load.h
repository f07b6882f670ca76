/* The entries of a load, and the writing of tables that no store can avoid, as a lower limit for
 * loads. Threads: one. */
#ifndef BB_BENCH_IDEAL_LOAD_H
#define BB_BENCH_IDEAL_LOAD_H

#include "bench/workload.h"

/* The workload's entries in the order of the load, a key and a value each: made before anything is
 * timed. Owned: ideal_load_release. */
uint8_t *ideal_load_records(const struct workload *workload);
void ideal_load_release(const struct workload *workload, uint8_t *records);

/* Writes each entry once, in order: copies the entries of a block together, compresses the block by
 * LZ4, hashes it by XXH3, and writes it, 256 KiB in a call, without sync. Makes the file, and
 * removes it. Returns nanoseconds of thread CPU time per entry. */
double ideal_load_write(const struct workload *workload, const char *path, size_t block_size);

#endif
