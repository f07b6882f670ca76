/* Random numbers for tests: the same seed gives the same run on every machine.
 *
 * Generator: xoshiro256** (Blackman, Vigna: Scrambled Linear Pseudorandom Number Generators, 2018),
 * seeded by SplitMix64, so that neighbouring seeds give unrelated runs. Threads: one generator per
 * thread.
 */
#ifndef BB_TESTS_SUPPORT_RNG_H
#define BB_TESTS_SUPPORT_RNG_H

#include "bb/base.h"

struct bb_rng {
    uint64_t state[4];
};

/* The seed of a test: BB_TEST_SEED of the environment (decimal, or hexadecimal with 0x) when it is
 * set, else fallback. Prints it with the name of the test, so that a failed run can be repeated.
 * Ends the process when BB_TEST_SEED is not a number. */
uint64_t bb_rng_seed(const char *test, uint64_t fallback);

void bb_rng_init(struct bb_rng *rng, uint64_t seed);
uint64_t bb_rng_next(struct bb_rng *rng);

/* 0 ... count - 1, evenly; count is not 0. */
uint64_t bb_rng_below(struct bb_rng *rng, uint64_t count);
/* low ... high, both included. */
uint64_t bb_rng_between(struct bb_rng *rng, uint64_t low, uint64_t high);
/* True once in count draws. */
bool bb_rng_one_in(struct bb_rng *rng, uint64_t count);
/* 0 ... max, with every order of magnitude about as likely as the next: small sizes are common,
 * large ones occur. */
uint64_t bb_rng_skewed(struct bb_rng *rng, uint64_t max);

void bb_rng_bytes(struct bb_rng *rng, void *buffer, size_t size);

/* A key as real and hostile ones look, 0 ... size_max bytes: text, numbers with zero padding, long
 * runs of one byte, NUL and 0xff bytes, raw bytes; drawn so that shared prefixes and repeated keys
 * are frequent. Gives its size. */
size_t bb_rng_key(struct bb_rng *rng, uint8_t *buffer, size_t size_max);

/* Brings count numbers into random order. */
void bb_rng_shuffle(struct bb_rng *rng, uint32_t *numbers, size_t count);

#endif
