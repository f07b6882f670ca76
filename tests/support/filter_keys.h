/* Hashes for the tests of filters, without limit, and the band for a measured rate. */
#ifndef BB_TESTS_SUPPORT_FILTER_KEYS_H
#define BB_TESTS_SUPPORT_FILTER_KEYS_H

#include "tests/support/assert_status.h"

#include <math.h>

#include "base/hash.h"
#include "tests/support/rng.h"

/* Chosen by BB_TEST_SEED: all keys of the test change with it. */
static uint64_t key_seed;

static inline void keys_init(const char *test)
{
    key_seed = bb_hash_mix(bb_rng_seed(test, 0));
}

/* Member i of a set, and a hash that is in none. Bijections of disjoint ranges: never equal. */
static inline uint64_t member_hash(uint64_t set, uint64_t i)
{
    return bb_hash_mix(((set << 32) + i + 1) ^ key_seed);
}

static inline uint64_t absent_hash(uint64_t i)
{
    return bb_hash_mix(~i ^ key_seed);
}

/* --- Rates --- */

/* Deviations of a binomial count that a correct filter shows once in 10^9 measurements. */
#define BAND 6.0

/* passed of asked questions agree with a rate. */
static inline void assert_rate(uint64_t passed, uint64_t asked, double rate, const char *what)
{
    double expected = (double)asked * rate;
    double band = BAND * sqrt(expected * (1 - rate)) + BAND;
    if (fabs((double)passed - expected) <= band)
        return;
    print_error("%s: %llu of %llu passed, expected %.1f +- %.1f\n", what,
                (unsigned long long)passed, (unsigned long long)asked, expected, band);
    fail();
}

#endif
