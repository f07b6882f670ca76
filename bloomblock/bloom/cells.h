/* The bits of a Bloom filter as cells: what is needed to count them, and to lay one filter over
 * another, whatever the kind.
 *
 * A probe draws a unit by scaling the hash to the number of units, and in the unit a bit, which
 * does not depend on that number. Units are bits of the classic filter, lines of 64 bytes, blocks
 * of 32. Of f times as many units, f neighbours are one:
 *
 *     floor(h * f m / 2^64) / f, rounded down, is floor(h * m / 2^64)
 *
 *     12 units   | 0  1  2 | 3  4  5 | 6  7  8 | 9 10 11 |      every key of unit 3, 4 or 5 of
 *     4 units    |    0    |    1    |    2    |    3    |      twelve is one of unit 1 of four
 *
 * so that or-ing neighbours gives the filter that would have been built with fewer units, bit for
 * bit ("folding").
 *
 * Pure functions; any thread.
 */
#ifndef BB_BLOOMBLOCK_BLOOM_CELLS_H
#define BB_BLOOMBLOCK_BLOOM_CELLS_H

#include "bloomblock/standalone/envelope.h"

struct bb_cells {
    uint64_t unit_count; /* in a slice */
    uint32_t unit_bits;  /* 1; a multiple of 8 for lines and blocks */
    uint32_t slices; /* of the filter, each with probes of its own: 1 but for partitioned ones */
    uint32_t words;  /* of a unit, each with probes of its own: 1 but for split blocks */
    uint32_t probes;
};

/* The cells of a checked envelope that has a payload; those of a counting filter are bits, for its
 * counters. BB_UNSUPPORTED, with the reason, for kinds whose bits are not marks of keys. */
BB_MUST_CHECK enum bb_status bb_cells_of(const struct bb_envelope *envelope,
                                         struct bb_cells *ret_cells);

/* Bits in all. */
static inline uint64_t bb_cells_count(const struct bb_cells *cells)
{
    return cells->unit_count * cells->unit_bits * cells->slices;
}

/* How many units a key picks one of, for all of its probes; 1 when each probe picks its own. */
static inline uint64_t bb_cells_lines(const struct bb_cells *cells)
{
    return cells->unit_bits == 1 ? 1 : cells->unit_count;
}

/* Probes of a key that can fall on the same bit. */
static inline uint32_t bb_cells_rivals(const struct bb_cells *cells)
{
    return cells->probes / (cells->slices * cells->words);
}

/* The probability that a key sets a given bit of the line that it picked. */
double bb_cells_hit(const struct bb_cells *cells);

/* How many bits are set, or counters above 0. */
uint64_t bb_cells_set_count(const struct bb_envelope *envelope);

/* Sets in the bits of into, which are of these cells, what is set in a filter of factor times as
 * many units; counters above 0 are set bits. factor is not 0. */
void bb_cells_fold(const struct bb_cells *cells, uint64_t factor,
                   const struct bb_envelope *envelope, uint8_t *into);

#endif
