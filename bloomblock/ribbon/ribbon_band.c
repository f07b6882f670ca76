/* Elimination over a pool of equations. The picture is in ribbon_band.h. */
#include "bloomblock/ribbon/ribbon_band.h"

#include <string.h>

#include "bloomblock/ribbon/ribbon_spread.h"

#define GROUP_ROWS  BB_RIBBON_SLAB_WIDTH
#define HOLE_WORDS  (BB_RIBBON_POOL_MAX / 64)
#define FRONT_WORDS 2
#define FRONT       (FRONT_WORDS * 8)
#define HALF        (GROUP_ROWS / 2)

/* An equation: its coefficients, and its result as in struct bb_ribbon_band. */
typedef uint64_t pair __attribute__((vector_size(16)));

/* Coefficients are stored at row mod 64, so that they are not shifted from group to group. After
 * count all elements are 0, up to the size of the front. */
struct pool {
    uint32_t count;
    uint64_t holes[HOLE_WORDS]; /* bit i: equation i has become a pivot, and is 0 */
    pair equations[BB_RIBBON_POOL_MAX + FRONT];
};

/* Sorts the equations by group, stably. */
static void sort_by_group(const struct bb_ribbon_system *system, uint16_t *order)
{
    struct bb_ribbon_places places;
    bb_ribbon_system_places(system, &places);
    for (uint32_t i = 0; i < system->count; i++)
        order[places.next[system->groups[i]]++] = (uint16_t)i;
}

static inline uint64_t rotate_left(uint64_t word, uint32_t shift)
{
    return word << shift | word >> ((64 - shift) % 64);
}

/* --- Admission --- */

static inline pair equation_of(const struct bb_ribbon_system *system, uint32_t i, uint32_t shift)
{
    return (pair){rotate_left(system->coefficients[i], shift),
                  bb_ribbon_spread_fingerprint(system->fingerprints[i], system->fingerprint_bits)};
}

/* Moves new equations into the holes, starting with the last hole; the remaining holes are filled
 * from the end of the pool. Returns the number of new equations used. */
static uint32_t fill_holes(struct pool *pool, const struct bb_ribbon_system *system,
                           const uint16_t *order, uint32_t count, uint32_t shift)
{
    uint32_t used = 0;
    for (uint32_t word = HOLE_WORDS; word-- > 0;) {
        for (uint64_t holes = pool->holes[word]; holes != 0;) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(holes);
            holes ^= UINT64_C(1) << bit;
            pool->equations[word * 64 + bit] = used < count
                                                   ? equation_of(system, order[used++], shift)
                                                   : pool->equations[--pool->count];
        }
        pool->holes[word] = 0;
    }
    return used;
}

/* True if an equation without coefficients has a result. */
static bool has_contradiction(const struct pool *pool)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < pool->count; i++)
        wrong |= pool->equations[i][0] == 0 ? pool->equations[i][1] : 0;
    return wrong != 0;
}

/* Removes the equations without coefficients. False: there is still no space for that many, or an
 * equation without coefficients has a result. */
static bool make_space(struct pool *pool, uint32_t wanted)
{
    uint32_t kept = 0;
    if (has_contradiction(pool))
        return false;
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->equations[i][0] != 0)
            pool->equations[kept++] = pool->equations[i];
    memset(pool->equations + kept, 0, (pool->count - kept) * sizeof(pool->equations[0]));
    pool->count = kept;
    return wanted <= BB_RIBBON_POOL_MAX - kept;
}

/* False: there are too many, or there is a contradiction. */
static bool admit(struct pool *pool, const struct bb_ribbon_system *system, const uint16_t *order,
                  uint32_t count, uint32_t shift)
{
    uint32_t used = fill_holes(pool, system, order, count, shift);
    if (count - used > BB_RIBBON_POOL_MAX - pool->count && !make_space(pool, count - used))
        return false;
    while (used < count)
        pool->equations[pool->count++] = equation_of(system, order[used++], shift);
    /* At most this many equations were moved from the end into holes. */
    for (uint32_t i = pool->count; i < pool->count + GROUP_ROWS; i++)
        pool->equations[i] = (pair){0, 0};
    return true;
}

/* --- Pivots for the eight rows of a group --- */

static inline uint32_t byte_of(uint64_t word, uint32_t i)
{
    return word >> (8 * i) & 0xff;
}

/* The coefficients of an equation for the rows of the group. */
static inline uint32_t coefficients_of(const struct pool *pool, uint32_t i, uint32_t shift)
{
    return pool->equations[i][0] >> shift & 0xff;
}

/* Equations reduced to their coefficients for the group: one byte, and a second byte with the set
 * of chosen equations that have been added. Pivots are selected with only these, in a few words. */
struct reduced {
    uint64_t coefficients;
    uint64_t parts;
};

/* Adds an equation to all equations that have the row. */
static inline void add_to_all(struct reduced *to, uint32_t row, uint32_t coefficients,
                              uint32_t parts)
{
    uint64_t having = to->coefficients >> row & BB_EVERY_BYTE;
    to->coefficients ^= having * coefficients;
    to->parts ^= having * parts;
}

/* The coefficients after elimination of the pivots so far, and the chosen equations that were
 * added. */
static struct reduced without_pivots(const struct reduced *pivots, uint32_t coefficients)
{
    struct reduced left = {.coefficients = coefficients};
    for (uint32_t row = 0; row < GROUP_ROWS; row++)
        if ((coefficients >> row & 1) != 0) {
            left.coefficients ^= byte_of(pivots->coefficients, row);
            left.parts ^= byte_of(pivots->parts, row);
        }
    return left;
}

/* The equations of a group that become pivots. */
struct choice {
    /* Of the first equations: almost always, one of them has the requested row. */
    struct reduced front[FRONT_WORDS];
    struct reduced pivots;   /* byte i: of row i; 0: not a pivot */
    pair chosen[GROUP_ROWS]; /* unchanged from the pool */
};

static inline void choice_init(struct choice *choice, const struct pool *pool, uint32_t shift)
{
    *choice = (struct choice){.pivots = {0, 0}};
    for (uint32_t i = 0; i < FRONT; i++)
        choice->front[i / 8].coefficients |= (uint64_t)coefficients_of(pool, i, shift)
                                             << (8 * (i % 8));
}

/* The first equation that has the row after elimination of the pivots, and its reduced form; or
 * count. */
static inline uint32_t find(const struct choice *choice, const struct pool *pool, uint32_t row,
                            uint32_t shift, struct reduced *ret_found)
{
    for (uint32_t i = 0; i < FRONT_WORDS; i++) {
        const struct reduced *front = &choice->front[i];
        uint64_t having = front->coefficients >> row & BB_EVERY_BYTE;
        if (having != 0) {
            uint32_t j = (uint32_t)__builtin_ctzll(having) / 8;
            *ret_found =
                (struct reduced){byte_of(front->coefficients, j), byte_of(front->parts, j)};
            return i * 8 + j;
        }
    }
    for (uint32_t i = FRONT; i < pool->count; i++) {
        *ret_found = without_pivots(&choice->pivots, coefficients_of(pool, i, shift));
        if ((ret_found->coefficients >> row & 1) != 0)
            return i;
    }
    return BB_RIBBON_POOL_MAX;
}

static inline void choose(struct choice *choice, struct pool *pool, uint32_t row, uint32_t shift)
{
    struct reduced found;
    uint32_t i = find(choice, pool, row, shift, &found);
    if (i == BB_RIBBON_POOL_MAX)
        return;
    uint32_t coefficients = (uint32_t)found.coefficients;
    uint32_t parts = (uint32_t)found.parts | UINT32_C(1) << row;
    for (uint32_t j = 0; j < FRONT_WORDS; j++)
        add_to_all(&choice->front[j], row, coefficients, parts);
    add_to_all(&choice->pivots, row, coefficients, parts);
    choice->pivots.coefficients |= (uint64_t)coefficients << (8 * row);
    choice->pivots.parts |= (uint64_t)parts << (8 * row);
    choice->chosen[row] = pool->equations[i];
    pool->holes[i / 64] |= UINT64_C(1) << (i % 64);
}

/* --- Sums of up to eight equations, with two table accesses --- */

struct sums {
    pair halves[2][1 << HALF];
};

static inline void sums_init(struct sums *sums, const pair equations[GROUP_ROWS])
{
    for (uint32_t half = 0; half < 2; half++) {
        pair *sum = sums->halves[half];
        sum[0] = (pair){0, 0};
        for (uint32_t i = 0; i < HALF; i++)
            for (uint32_t j = 0; j < UINT32_C(1) << i; j++)
                sum[(UINT32_C(1) << i) + j] = sum[j] ^ equations[half * HALF + i];
    }
}

static inline pair sum_of(const struct sums *sums, uint32_t parts)
{
    return sums->halves[0][parts & 15] ^ sums->halves[1][parts >> HALF];
}

/* Eliminates the pivots from all equations: each row of the group is in exactly one pivot, so the
 * coefficients select the pivots. The chosen equations become 0. */
static inline void eliminate(struct pool *pool, const pair pivots[GROUP_ROWS], uint32_t shift)
{
    struct sums sums;
    sums_init(&sums, pivots);
    for (uint32_t i = 0; i < pool->count; i++)
        pool->equations[i] ^= sum_of(&sums, coefficients_of(pool, i, shift));
}

static void eliminate_group(struct pool *pool, uint32_t shift, uint64_t *coefficients,
                            uint64_t *results)
{
    struct choice choice;
    struct sums sums;
    pair pivots[GROUP_ROWS];
    choice_init(&choice, pool, shift);
    for (uint32_t row = 0; row < GROUP_ROWS; row++)
        choose(&choice, pool, row, shift);
    sums_init(&sums, choice.chosen);
    for (uint32_t row = 0; row < GROUP_ROWS; row++) {
        pivots[row] = sum_of(&sums, byte_of(choice.pivots.parts, row));
        coefficients[row] = rotate_left(pivots[row][0], (64 - shift) % 64);
        results[row] = pivots[row][1];
    }
    eliminate(pool, pivots, shift);
}

bool bb_ribbon_band_fill(struct bb_ribbon_band *band, const struct bb_ribbon_system *system)
{
    struct pool pool = {.count = 0};
    uint16_t order[BB_RIBBON_SLOTS_MAX];
    uint32_t group_count = bb_ribbon_system_group_count(system);
    const uint16_t *next = order;
    sort_by_group(system, order);
    for (uint32_t g = 0; g < group_count; g++) {
        uint32_t shift = g % 8 * GROUP_ROWS;
        uint32_t count = system->group_sizes[g];
        if (!admit(&pool, system, next, count, shift))
            return false;
        next += count;
        eliminate_group(&pool, shift, band->pivots + (size_t)g * GROUP_ROWS,
                        band->results + (size_t)g * GROUP_ROWS);
        if ((g % 4 == 3 || g + 1 == group_count) && has_contradiction(&pool))
            return false;
    }
    return true;
}
