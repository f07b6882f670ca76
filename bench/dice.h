/* Random draws that follow from a seed: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
#ifndef BB_BENCH_DICE_H
#define BB_BENCH_DICE_H

#include <stdint.h>

struct dice {
    uint64_t seed;
    uint64_t count; /* of draws */
};

/* A bijection of 64 bits whose output looks random. */
static inline uint64_t dice_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The input of dice_mix. */
static inline uint64_t dice_unmix(uint64_t x)
{
    x ^= (x >> 31) ^ (x >> 62);
    x *= UINT64_C(0x319642b2d24d8ec3); /* inverses of the factors above, modulo 2^64 */
    x ^= (x >> 27) ^ (x >> 54);
    x *= UINT64_C(0x96de1b173f119089);
    x ^= (x >> 30) ^ (x >> 60);
    return x - UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t dice_draw(struct dice *dice)
{
    return dice_mix(dice->seed + dice->count++ * UINT64_C(0x9e3779b97f4a7c15));
}

/* REQUIRES: limit > 0. */
static inline uint64_t dice_below(struct dice *dice, uint64_t limit)
{
    return dice_draw(dice) % limit;
}

/* Above 0, and below 1. */
static inline double dice_unit(struct dice *dice)
{
    return ((double)(dice_draw(dice) >> 12) + 0.5) / 4503599627370496.0;
}

#endif
