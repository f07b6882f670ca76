/* The bits of a Bloom filter as cells, for counting them and for folding filters of any Bloom kind.
 *
 * A probe selects a unit by scaling the hash to the number of units, and in the unit a bit, which
 * does not depend on that number. Units are bits of the classic filter, lines of 64 bytes, or
 * blocks of 32. With f times as many units, f neighbours correspond to one:
 *
 *     floor(h * f m / 2^64) / f, rounded down, is floor(h * m / 2^64)
 *
 *     12 units   | 0  1  2 | 3  4  5 | 6  7  8 | 9 10 11 |      every key of unit 3, 4 or 5 of
 *     4 units    |    0    |    1    |    2    |    3    |      twelve is in unit 1 of four
 *
 * So OR-ing neighbours gives, bit for bit, the filter that a build with fewer units would give
 * ("folding").
 *
 * Pure functions; any thread. */
#ifndef BB_STANDALONE_BLOOM_CELLS_H
#define BB_STANDALONE_BLOOM_CELLS_H

#include "standalone/envelope/envelope.h"

struct bb_cells {
    uint64_t unit_count; /* in a slice */
    uint32_t unit_bits;  /* 1; a multiple of 8 for lines and blocks */
    uint32_t slices;     /* with separate probes: 1 except for partitioned filters */
    uint32_t words;      /* of a unit, each with separate probes: 1 except for split blocks */
    uint32_t probes;
};

/* The cells of a checked envelope that has a payload; for a counting filter, one bit per counter.
 * BB_UNSUPPORTED, with the reason, for kinds whose bits do not correspond to keys. */
BB_MUST_CHECK enum bb_status bb_cells_of(const struct bb_envelope *envelope,
                                         struct bb_cells *ret_cells);

/* Bits in all. */
static inline uint64_t bb_cells_count(const struct bb_cells *cells)
{
    return cells->unit_count * cells->unit_bits * cells->slices;
}

/* The number of units from which a key selects one for all of its probes; 1 if each probe selects a
 * unit. */
static inline uint64_t bb_cells_lines(const struct bb_cells *cells)
{
    return cells->unit_bits == 1 ? 1 : cells->unit_count;
}

/* Probes of a key that can fall on the same bit. */
static inline uint32_t bb_cells_rivals(const struct bb_cells *cells)
{
    return cells->probes / (cells->slices * cells->words);
}

/* The probability that a key sets a given bit of the line that it selected. */
double bb_cells_hit(const struct bb_cells *cells);

/* How many bits are set, or counters above 0. */
uint64_t bb_cells_set_count(const struct bb_envelope *envelope);

/* Folds a filter that has `factor` times as many units: sets its bits in `into`, which has these
 * cells. A counter above 0 is a set bit. factor is not 0. */
void bb_cells_fold(const struct bb_cells *cells, uint64_t factor,
                   const struct bb_envelope *envelope, uint8_t *into);

#endif
