/* Elimination over a pool of equations. The picture is in ribbon_band.h. */
#include "bloomblock/ribbon_band.h"

#include <string.h>

#include "base/coding.h"
#include "bloomblock/ribbon_spread.h"

#define GROUP_ROWS  BB_RIBBON_SLAB_WIDTH
#define LANES       8 /* equations that are treated at once; the pool is padded with zeros */
#define HOLE_WORDS  (BB_RIBBON_POOL_MAX / 64)
#define FRONT_WORDS 2

void bb_ribbon_band_reset(struct bb_ribbon_band *band, uint32_t slot_count, uint32_t rank)
{
    BB_ASSERT(slot_count <= BB_RIBBON_SLOTS_MAX && rank >= 1 && rank <= BB_RIBBON_RANK_MAX);
    band->slot_count = slot_count;
    band->rank = rank;
    band->equation_count = 0;
    memset(band->group_sizes, 0, bb_ribbon_band_group_count(band) * sizeof(band->group_sizes[0]));
}

/* Behind count all is 0. */
struct pool {
    uint32_t count;
    uint64_t holes[HOLE_WORDS]; /* bit i: equation i has become a pivot */
    uint64_t coefficients[BB_RIBBON_POOL_MAX + LANES];
    uint64_t results[BB_RIBBON_POOL_MAX + LANES];
};

/* The equations by group, in the order in which they came. */
static inline void sort_by_group(const struct bb_ribbon_band *band, uint32_t group_count,
                                 uint16_t *order)
{
    uint16_t next[BB_RIBBON_WORDS_MAX];
    uint32_t sum = 0;
    for (uint32_t g = 0; g < group_count; g++) {
        next[g] = (uint16_t)sum;
        sum += band->group_sizes[g];
    }
    for (uint32_t i = 0; i < band->equation_count; i++)
        order[next[band->groups[i]]++] = (uint16_t)i;
}

static inline void put(struct pool *pool, uint32_t place, const struct bb_ribbon_band *band,
                       uint32_t equation)
{
    pool->coefficients[place] = band->coefficients[equation];
    pool->results[place] = bb_ribbon_spread_fingerprint(band->fingerprints[equation], band->rank);
}

/* Takes the last equation's place away. */
static inline void fill_from_end(struct pool *pool, uint32_t hole)
{
    uint32_t last = --pool->count;
    pool->coefficients[hole] = pool->coefficients[last];
    pool->results[hole] = pool->results[last];
}

/* New equations into the holes, from the last hole on; those that are left over are filled from the
 * end, which then is no hole. Gives the number of new equations used. */
static inline uint32_t fill_holes(struct pool *pool, const struct bb_ribbon_band *band,
                                  const uint16_t *order, uint32_t count)
{
    uint32_t used = 0;
    for (uint32_t word = HOLE_WORDS; word-- > 0;) {
        uint64_t holes = pool->holes[word];
        for (; holes != 0; pool->holes[word] = holes) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(holes);
            holes ^= UINT64_C(1) << bit;
            if (used < count)
                put(pool, word * 64 + bit, band, order[used++]);
            else
                fill_from_end(pool, word * 64 + bit);
        }
    }
    return used;
}

/* False: there are too many. */
static inline bool admit(struct pool *pool, const struct bb_ribbon_band *band,
                         const uint16_t *order, uint32_t count)
{
    uint32_t used = fill_holes(pool, band, order, count);
    if (count - used > BB_RIBBON_POOL_MAX - pool->count)
        return false;
    while (used < count)
        put(pool, pool->count++, band, order[used++]);
    for (uint32_t i = pool->count; i < pool->count + LANES; i++)
        pool->coefficients[i] = pool->results[i] = 0;
    return true;
}

/* The number of equations, rounded up. */
static inline uint32_t lanes_of(const struct pool *pool)
{
    return (pool->count + LANES - 1) / LANES * LANES;
}

/* The coefficients of the first equations for the rows of the group, a byte each. Among so many one
 * almost always has the row that a pivot is wanted for, and they are kept up to date apart. */
struct front {
    uint64_t words[FRONT_WORDS];
};

static inline struct front front_of(const struct pool *pool)
{
    uint8_t bytes[FRONT_WORDS * 8];
    struct front front;
    for (uint32_t i = 0; i < FRONT_WORDS * 8; i++)
        bytes[i] = (uint8_t)pool->coefficients[i];
    for (uint32_t i = 0; i < FRONT_WORDS; i++)
        front.words[i] = bb_load64(bytes + (size_t)i * 8);
    return front;
}

static inline void front_eliminate(struct front *front, uint32_t row, uint64_t pivot)
{
    for (uint32_t i = 0; i < FRONT_WORDS; i++)
        front->words[i] ^= (front->words[i] >> row & BB_EVERY_BYTE) * (pivot & 0xff);
}

/* An equation behind the front that has the row, or lanes. */
static inline uint32_t find_behind(const struct pool *pool, uint32_t lanes, uint32_t row)
{
    for (uint32_t i = FRONT_WORDS * 8; i < lanes; i++)
        if ((pool->coefficients[i] >> row & 1) != 0)
            return i;
    return lanes;
}

/* An equation that has the row, or a number from lanes on. */
static inline uint32_t find_pivot(const struct pool *pool, const struct front *front,
                                  uint32_t lanes, uint32_t row)
{
    for (uint32_t i = 0; i < FRONT_WORDS; i++) {
        uint64_t having = front->words[i] >> row & BB_EVERY_BYTE;
        if (having != 0)
            return i * 8 + (uint32_t)__builtin_ctzll(having) / 8;
    }
    return find_behind(pool, lanes, row);
}

/* Adds the pivot to all that have the row, itself included: what is left of it is a hole of zeros.
 */
static inline void eliminate(struct pool *pool, uint32_t lanes, uint32_t row, uint64_t pivot,
                             uint64_t result)
{
    for (uint32_t i = 0; i < lanes; i += LANES)
        for (uint32_t j = i; j < i + LANES; j++) {
            uint64_t mask = -(pool->coefficients[j] >> row & 1);
            pool->coefficients[j] ^= mask & pivot;
            pool->results[j] ^= mask & result;
        }
}

/* Pivots for the eight rows of the group. */
static inline void eliminate_group(struct pool *pool, uint64_t *pivots, uint64_t *results)
{
    uint32_t lanes = lanes_of(pool);
    struct front front = front_of(pool);
    for (uint32_t row = 0; row < GROUP_ROWS; row++) {
        uint32_t i = find_pivot(pool, &front, lanes, row);
        if (i >= lanes) {
            pivots[row] = results[row] = 0;
            continue;
        }
        pivots[row] = pool->coefficients[i];
        results[row] = pool->results[i];
        pool->holes[i / 64] |= UINT64_C(1) << (i % 64);
        front_eliminate(&front, row, pivots[row]);
        eliminate(pool, lanes, row, pivots[row], results[row]);
    }
}

/* To the next group; false: an equation without coefficients has a result. */
static inline bool advance(struct pool *pool)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < lanes_of(pool); i += LANES)
        for (uint32_t j = i; j < i + LANES; j++) {
            wrong |= pool->coefficients[j] == 0 ? pool->results[j] : 0;
            pool->coefficients[j] >>= GROUP_ROWS;
        }
    return wrong == 0;
}

static inline __attribute__((always_inline)) bool eliminate_all(struct bb_ribbon_band *band)
{
    struct pool pool = {.count = 0};
    uint16_t order[BB_RIBBON_SLOTS_MAX];
    uint32_t group_count = bb_ribbon_band_group_count(band);
    const uint16_t *next = order;
    sort_by_group(band, group_count, order);
    for (uint32_t g = 0; g < group_count; g++) {
        uint32_t count = band->group_sizes[g];
        if (!admit(&pool, band, next, count))
            return false;
        next += count;
        eliminate_group(&pool, band->pivots + (size_t)g * GROUP_ROWS,
                        band->results + (size_t)g * GROUP_ROWS);
        if (!advance(&pool))
            return false;
    }
    return true;
}

#if BB_CPU_X86
BB_CPU_TARGET_AVX2 static bool finish_avx2(struct bb_ribbon_band *band)
{
    return eliminate_all(band);
}

BB_CPU_TARGET_AVX512 static bool finish_avx512(struct bb_ribbon_band *band)
{
    return eliminate_all(band);
}
#endif

static bool finish_portable(struct bb_ribbon_band *band)
{
    return eliminate_all(band);
}

bool bb_ribbon_band_finish(struct bb_ribbon_band *band)
{
    switch (band->cpu) {
#if BB_CPU_X86
    case BB_CPU_AVX512:
        return finish_avx512(band);
    case BB_CPU_AVX2:
        return finish_avx2(band);
#endif
    default:
        return finish_portable(band);
    }
}
