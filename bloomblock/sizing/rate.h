/* The mathematics of the filters: rates for non-member keys, and the parameters that meet a target.
 * docs/filters.md derives the formulas.
 *
 * Rates are expectations over non-member keys and over the hash, in 0 ... 1. Sizes are minimal: a
 * rate computed for a size from these functions never exceeds the target, and a larger number of
 * keys or a lower target never gives a smaller size.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_SIZING_RATE_H
#define BB_BLOOMBLOCK_SIZING_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fewest bits per key that a filter of this rate can have: log2(1 / rate). */
double bb_rate_limit(double rate);

/* --- Ribbon --- */

/* 2^-fingerprint_bits, exactly and for any number of keys: the fingerprint of a non-member key is
 * independent of the rows. */
double bb_rate_ribbon(uint32_t fingerprint_bits);
/* The largest number of fingerprint bits whose rate is at or above the target, at least 1. If its
 * rate is above the target, filters with it are mixed with filters that have one bit more. */
uint32_t bb_rate_ribbon_fingerprint_bits(double target_rate);

/* --- Classic Bloom --- */

/* The expectation of (set bits / bits)^probes: exact for small sets, by moments for large ones
 * (relative error below 1e-4). bits is not 0. */
double bb_rate_bloom(uint64_t key_count, uint64_t bits, uint32_t probes);
/* The best number of probes for many keys. */
uint32_t bb_rate_bloom_probes(double target_rate);
/* The smallest number of bits with which this number of probes meets the target; at least 1. */
uint64_t bb_rate_bloom_bits(uint64_t key_count, uint32_t probes, double target_rate);
/* The number of probes that needs the fewest bits for this number of keys. */
uint32_t bb_rate_bloom_best_probes(uint64_t key_count, double target_rate, uint64_t *ret_bits);

/* --- Blocked Bloom, lines of 512 bits --- */

#define BB_RATE_LINE_KEYS 768

/* rate[j], for j < filled: the rate of a line with j keys. A line with more keys counts with rate
 * 1. WHY a table: every mixture needs all of it. */
struct bb_rate_line {
    uint32_t filled;
    double rate[BB_RATE_LINE_KEYS];
};
/* Fills the table up to key_count keys, the maximum of a line: all keys of the filter, or
 * bb_rate_line_keys. */
void bb_rate_line_init(struct bb_rate_line *line, uint32_t probes, uint64_t key_count);
/* A number of keys that a line practically never exceeds if lines have mean_keys on average. */
uint64_t bb_rate_line_keys(double mean_keys);

/* The rate of a filter: the mean over its lines, whose numbers of keys are binomially distributed.
 * line_count is not 0. */
double bb_rate_blocked_bloom(const struct bb_rate_line *line, uint64_t key_count,
                             uint64_t line_count);
/* The best number of probes for many keys. */
uint32_t bb_rate_blocked_bloom_probes(double target_rate);
/* The smallest number of lines that meets the target; at least 1. */
uint64_t bb_rate_blocked_bloom_lines(const struct bb_rate_line *line, uint64_t key_count,
                                     double target_rate);
/* The number of probes that needs the fewest lines for this number of keys; among equals, the best
 * for many keys. */
uint32_t bb_rate_blocked_bloom_best_probes(uint64_t key_count, double target_rate,
                                           uint64_t *ret_lines);

#endif
