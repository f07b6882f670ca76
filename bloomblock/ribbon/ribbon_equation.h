/* The equation of a key in a ribbon, computed from its hash and a filter's descriptor.
 *
 * A ribbon of r fingerprint bits is a column of rows, each of r bits. A key selects up to w
 * consecutive rows (coefficients, from the row start on) and their required sum modulo 2
 * (fingerprint):
 *
 *     rows        ... | z | z | z | z | z | ...          each r bits
 *     key              start ^   ^       ^               coefficients 1 1 0 1: z[0] + z[1] + z[3]
 *                                                        = fingerprint
 *
 * The rows are solved so that the equation holds for all members. For any other key it holds with
 * probability 2^-r, for any rows, because its fingerprint is independent of everything else.
 * Source: Dillinger, Walzer, "Ribbon filter: practically smaller than Bloom and xor", 2021,
 * including the smash at the ends: starts are drawn slightly past both ends and clamped, which
 * fills the first and last rows as well as the others.
 *
 * All parts come from two independent products of the hash: one gives the coefficients, the other
 * start and fingerprint. Two values are combined with the key's hash by exclusive or: the domain,
 * which differs between tables (domain.h), and the tweak, which is the filter's descriptor, in
 * which the solver changes the seed. Both must change all three parts: with few rows there is only
 * one start, and with one row only one coefficient. None of the three is linear in another over
 * GF(2): if a fingerprint were a linear function of the coefficients, the same rows would solve it
 * for every key, member or not.
 *
 * ON DISK: constants and formulas are part of every ribbon filter. Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_EQUATION_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_EQUATION_H

#include <stdbool.h>
#include <stdint.h>

#define BB_RIBBON_FINGERPRINT_BITS_MAX 25 /* 2^-24, and a step */
#define BB_RIBBON_SEED_COUNT           64 /* 6 bits of the descriptor */

/* ON DISK. */
#define BB_RIBBON_TWEAK_FACTOR       UINT64_C(0xa0761d6478bd642f)
#define BB_RIBBON_START_FACTOR       UINT64_C(0x9e3779b97f4a7c15)
#define BB_RIBBON_COEFFICIENT_FACTOR UINT64_C(0xe7037ed1a0b428db)
#define BB_RIBBON_FINGERPRINT_SHIFT  7

struct bb_ribbon_equation {
    uint32_t start;        /* row of the first coefficient */
    uint32_t fingerprint;  /* 32 bits, of which a filter uses the lowest r */
    uint64_t coefficients; /* bit i: row start + i; bit 0 is set */
};

/* The factors, in memory: instructions that multiply take them from there, so that probes need no
 * registers for them. */
struct bb_ribbon_factors {
    uint64_t tweak;
    uint64_t start;
    uint64_t coefficient;
};
extern const struct bb_ribbon_factors bb_ribbon_factors __attribute__((visibility("hidden")));

__extension__ typedef unsigned __int128 bb_ribbon_product;

/* Applies a tweak of 16 bits by exclusive or: its effect on the product depends on the hash, so
 * that the attempts of a solver are independent. With multipliers linear in the tweak, two keys
 * that agree under some seeds would agree under many. */
static inline uint64_t bb_ribbon_equation_tweaked(uint64_t hash, uint64_t tweak)
{
    return hash ^ tweak * bb_ribbon_factors.tweak;
}

/* 0 ... 2^32 - 1, to be scaled to the number of starts. */
static inline uint64_t bb_ribbon_equation_start_hash(uint64_t hash, uint64_t tweak)
{
    return bb_ribbon_equation_tweaked(hash, tweak) * bb_ribbon_factors.start >> 32;
}

/* The halves of the product of 128 bits, combined by exclusive or. For such a product gcc reserves
 * two adjacent registers, saves them on the stack, and then may not even use them. That costs an
 * eighth of a probe. */
static inline uint64_t bb_ribbon_equation_folded_product(uint64_t a, uint64_t factor)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    uint64_t high;
    __asm__("mulq %[factor]" : "+a"(a), "=d"(high) : [factor] "rm"(factor) : "cc");
    return high ^ a;
#else
    bb_ribbon_product product = (bb_ribbon_product)a * factor;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
#endif
}

/* 64 coefficients; the caller sets the first. */
static inline uint64_t bb_ribbon_equation_later_coefficients(uint64_t hash, uint64_t tweak)
{
    return bb_ribbon_equation_folded_product(bb_ribbon_equation_tweaked(hash, tweak),
                                             bb_ribbon_factors.coefficient);
}

/* 64 coefficients, bit 0 set: every key has at least one row, even if there are few rows. */
static inline uint64_t bb_ribbon_equation_coefficients(uint64_t hash, uint64_t tweak)
{
    return bb_ribbon_equation_later_coefficients(hash, tweak) | 1;
}

/* Scales a start hash to count places and overhang more at either end, at most 254 in total: bits
 * 32 and up are the place, the lower bits the position inside it.
 *
 *     drawn      63          40 39    32 31               7 6     0
 *              |      0        | place  | fingerprint      | rest   |
 *
 * All values are words of 64 bits, like all of a probe: narrower words between the steps take an
 * eighth more time. */
static inline uint64_t bb_ribbon_equation_draw(uint64_t start_hash, uint64_t count,
                                               uint64_t overhang)
{
    return start_hash * (count + 2 * overhang);
}

/* All values of the lowest 25 bits, BB_RIBBON_FINGERPRINT_BITS_MAX, are equally likely. The bits
 * below them contain zeros if the factor is a power of two. */
static inline uint32_t bb_ribbon_equation_fingerprint(uint64_t drawn)
{
    return (uint32_t)(drawn >> BB_RIBBON_FINGERPRINT_SHIFT);
}

/* 0 ... count - 1: the place, clamped. */
static inline uint64_t bb_ribbon_equation_start(uint64_t drawn, uint64_t count, uint64_t overhang)
{
    int64_t start = (int64_t)(drawn >> 32) - (int64_t)overhang;
    int64_t last = (int64_t)count - 1;
    start = start < 0 ? 0 : start;
    return (uint64_t)(start > last ? last : start);
}

static inline uint32_t bb_ribbon_equation_fingerprint_mask(uint32_t fingerprint_bits)
{
    return (UINT32_C(1) << fingerprint_bits) - 1;
}

#endif
