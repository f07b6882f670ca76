/* The bits of a Bloom filter as cells, for counting them and for folding filters of any Bloom kind.
 *
 * A probe scales the hash to the number of units, and so selects a unit. In the unit it selects a
 * bit, which does not depend on the number of units. A unit is a bit of a classic filter, a line of
 * 64 bytes, or a block of 32 bytes. In a filter with f times as many units, f neighbours correspond
 * to one unit:
 *
 *     floor(h * f m / 2^64) / f, rounded down, is floor(h * m / 2^64)
 *
 *     12 units   | 0  1  2 | 3  4  5 | 6  7  8 | 9 10 11 |      every key of unit 3, 4 or 5 of
 *     4 units    |    0    |    1    |    2    |    3    |      twelve is in unit 1 of four
 *
 * So the OR of neighbours is, bit for bit, the filter that a build with fewer units would give.
 * This is called folding.
 *
 * Pure functions; any thread. */
#ifndef BB_STANDALONE_BLOOM_CELLS_H
#define BB_STANDALONE_BLOOM_CELLS_H

#include "standalone/envelope/envelope.h"

struct bb_cells {
    uint64_t unit_count; /* in a slice */
    uint32_t unit_bits;  /* 1; a multiple of 8 for lines and blocks */
    uint32_t slices;     /* each with its own probes; 1 except for partitioned filters */
    uint32_t words;      /* of a unit, each with its own probes; 1 except for split blocks */
    uint32_t probes;
};

/* The cells of a checked envelope that has a payload; for a counting filter, one bit per counter.
 * BB_UNSUPPORTED, with the reason, for kinds whose bits do not correspond to keys. */
BB_MUST_CHECK enum bb_status bb_cells_of(const struct bb_envelope *envelope,
                                         struct bb_cells *ret_cells);

/* The number of all bits. */
static inline uint64_t bb_cells_count(const struct bb_cells *cells)
{
    return cells->unit_count * cells->unit_bits * cells->slices;
}

/* The number of lines. A key selects one line for all of its probes. If each probe selects a unit,
 * the whole filter is one line. */
static inline uint64_t bb_cells_lines(const struct bb_cells *cells)
{
    return cells->unit_bits == 1 ? 1 : cells->unit_count;
}

/* The number of a key's probes that can fall on the same bit. */
static inline uint32_t bb_cells_rivals(const struct bb_cells *cells)
{
    return cells->probes / (cells->slices * cells->words);
}

/* The probability that a key sets a given bit of the line that it selected. */
double bb_cells_hit(const struct bb_cells *cells);

/* The number of set bits, or of counters above 0. */
uint64_t bb_cells_set_count(const struct bb_envelope *envelope);

/* Folds a filter that has `factor` times as many units: sets its bits in `into`, which has these
 * cells. A counter above 0 is a set bit. factor is not 0. */
void bb_cells_fold(const struct bb_cells *cells, uint64_t factor,
                   const struct bb_envelope *envelope, uint8_t *into);

#endif
