/* The measured tables of docs/filters.md: each function prints one, in Markdown, and returns
 * whether every figure agrees with the mathematics. */
#ifndef BB_BENCH_FILTER_TABLES_H
#define BB_BENCH_FILTER_TABLES_H

#include <stdbool.h>
#include <stdint.h>

/* Predicted and measured rate of every kind, n = 1 ... 4096, targets 0.3 ... 1e-5. positives: the
 * intended number of passing non-member keys per cell. */
bool filter_tables_rates(uint64_t seed, uint64_t positives);

/* The experiment of the older literature: m / n bits per key and k probes of a classic Bloom
 * filter, 80,000 keys. */
bool filter_tables_probes(uint64_t seed, uint64_t question_count);

/* Textbook formulas compared with the exact values, for small sets. */
bool filter_tables_formulas(uint64_t seed);

/* Bytes of large sets at 0.01 %. */
bool filter_tables_large(uint64_t seed, uint64_t key_count_max);

#endif
