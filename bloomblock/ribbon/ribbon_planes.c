/* Elimination over planes of bytes. See the picture in ribbon_planes.h.
 *
 * The product of bits, vgf2p8affineqb, of a matrix A of eight by eight bits and a byte x:
 *
 *     bit i of the product = parity of (byte 7 - i of A) & x
 *
 * So the rows of a matrix are stored from the last byte to the first. The product of A with a
 * constant whose bytes are single bits is the transpose of A. */
#include "bloomblock/ribbon/ribbon_planes.h"

#include "bloomblock/cpu.h"

#if BB_CPU_X86
#include <immintrin.h>

#define GROUP_ROWS   BB_RIBBON_SLAB_WIDTH
#define LANES        ((UINT64_C(1) << BB_RIBBON_PLANES_LANES) - 1)
#define UNITS        0x0102040810204080 /* byte 7 - i: bit i */
#define UNITS_UPWARD 0x8040201008040201 /* byte i: bit i */

/* --- The equations by group --- */

static void sort_by_group(struct bb_ribbon_planes *planes, const struct bb_ribbon_system *system)
{
    struct bb_ribbon_places places;
    bb_ribbon_system_places(system, &places);
    for (uint32_t i = 0; i < system->count; i++) {
        uint32_t place = places.next[system->groups[i]]++;
        planes->coefficients[place] = system->coefficients[i];
        planes->fingerprints[place] = system->fingerprints[i];
    }
}

/* --- The pool --- */

struct lanes {
    __m512i planes[8];
    __m512i results[BB_RIBBON_SLABS_MAX];
    __m512i parts;
};

struct pool {
    struct lanes first, second;
};

BB_CPU_TARGET_AVX512 static inline __m512i iota(void)
{
    return _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928,
                            0x2726252423222120, 0x1f1e1d1c1b1a1918, 0x1716151413121110,
                            0x0f0e0d0c0b0a0908, 0x0706050403020100);
}

/* Lanes without coefficients. */
BB_CPU_TARGET_AVX512 static inline __mmask64 free_lanes(const struct lanes *lanes)
{
    const __m512i *planes = lanes->planes;
    __m512i a = _mm512_or_si512(planes[0], planes[1]);
    __m512i b = _mm512_ternarylogic_epi64(planes[2], planes[3], planes[4], 0xfe);
    __m512i c = _mm512_or_si512(planes[5], planes[6]);
    __m512i any = _mm512_ternarylogic_epi64(a, b, c, 0xfe);
    return _mm512_testn_epi8_mask(any, any);
}

/* True if a lane of the mask has a result. */
BB_CPU_TARGET_AVX512 static inline bool has_result(const struct lanes *lanes, __mmask64 mask,
                                                   uint32_t slabs)
{
    __m512i any = lanes->results[0];
    for (uint32_t s = 1; s < slabs; s++)
        any = _mm512_or_si512(any, lanes->results[s]);
    return _mm512_mask_test_epi8_mask(mask, any, any) != 0;
}

/* The lowest count bits of a mask. */
BB_CPU_TARGET_AVX512 static inline __mmask64 lowest(__mmask64 mask, uint32_t count)
{
    return _pdep_u64(_bzhi_u64(UINT64_MAX, count), mask);
}

/* Copies bytes i, i + size, i + 2 size ... to the lanes of the mask. order: in these lanes 0, size,
 * 2 size ... */
BB_CPU_TARGET_AVX512 static inline __m512i deal(__m512i plane, __mmask64 mask, __m512i order, int i,
                                                __m512i bytes)
{
    return _mm512_mask_permutexvar_epi8(plane, mask,
                                        _mm512_add_epi8(order, _mm512_set1_epi8((char)i)), bytes);
}

/* Copies up to eight equations to the lanes of the mask. */
BB_CPU_TARGET_AVX512 static inline void admit_8(struct lanes *lanes, __mmask64 mask,
                                                const uint64_t *coefficients,
                                                const uint32_t *fingerprints, uint32_t slabs)
{
    __m512i order = _mm512_maskz_expand_epi8(mask, iota());
    __m512i by_4 = _mm512_slli_epi16(order, 2);
    __m512i by_8 = _mm512_slli_epi16(order, 3);
    __m512i bytes = _mm512_loadu_si512(coefficients);
    for (int t = 0; t < 8; t++)
        lanes->planes[t] = deal(lanes->planes[t], mask, by_8, t, bytes);
    bytes = _mm512_loadu_si512(fingerprints);
    for (uint32_t s = 0; s < slabs; s++)
        lanes->results[s] = deal(lanes->results[s], mask, by_4, (int)s, bytes);
}

/* Copies as many equations as the mask has lanes. Returns their number. */
BB_CPU_TARGET_AVX512 static inline uint32_t admit(struct lanes *lanes, __mmask64 mask,
                                                  const uint64_t *coefficients,
                                                  const uint32_t *fingerprints, uint32_t count,
                                                  uint32_t slabs)
{
    uint32_t used = 0;
    while (used < count && mask != 0) {
        uint32_t free_lanes = (uint32_t)__builtin_popcountll(mask);
        uint32_t some = count - used < 8 ? count - used : 8;
        some = some < free_lanes ? some : free_lanes;
        __mmask64 taken = lowest(mask, some);
        admit_8(lanes, taken, coefficients + used, fingerprints + used, slabs);
        mask &= ~taken;
        used += some;
    }
    return used;
}

/* Moves equations from the second set of lanes to free lanes of the first. */
BB_CPU_TARGET_AVX512 static inline void move_up(struct pool *pool, __mmask64 *free_first,
                                                __mmask64 *free_second, uint32_t slabs)
{
    uint32_t free_lanes = (uint32_t)__builtin_popcountll(*free_first);
    uint32_t waiting = (uint32_t)__builtin_popcountll(~*free_second);
    uint32_t count = waiting < free_lanes ? waiting : free_lanes;
    __mmask64 from = lowest(~*free_second, count), to = lowest(*free_first, count);
    __m512i order = _mm512_maskz_expand_epi8(to, _mm512_maskz_compress_epi8(from, iota()));
    for (uint32_t t = 0; t < 7; t++) {
        __m512i *second = &pool->second.planes[t];
        pool->first.planes[t] =
            _mm512_mask_permutexvar_epi8(pool->first.planes[t], to, order, *second);
        *second = _mm512_maskz_mov_epi8(~from, *second);
    }
    for (uint32_t s = 0; s < slabs; s++) {
        __m512i *second = &pool->second.results[s];
        pool->first.results[s] =
            _mm512_mask_permutexvar_epi8(pool->first.results[s], to, order, *second);
        *second = _mm512_maskz_mov_epi8(~from, *second);
    }
    *free_first &= ~to;
    *free_second |= from;
}

/* --- Pivots for the eight rows of a group --- */

/* Adds a pivot, the same byte everywhere, to the lanes that have its row. */
BB_CPU_TARGET_AVX512 static inline __m512i add_to(__m512i bytes, __mmask64 having, __m512i pivot)
{
    return _mm512_xor_si512(bytes, _mm512_maskz_mov_epi8(having, pivot));
}

/* Chooses a lane of the first set for each row: byte 7 - i of *ret_chosen for row i. Fills the
 * parts of both sets. False: some row occurs only in lanes of the second set. */
BB_CPU_TARGET_AVX512 static inline bool choose(struct pool *pool, bool both, uint64_t *ret_chosen)
{
    __m512i first = _mm512_mask_set1_epi64(pool->first.planes[0], 0x80, (long long)UNITS);
    __m512i second = pool->second.planes[0];
    __m512i parts = _mm512_setzero_si512(), second_parts = _mm512_setzero_si512();
    uint64_t chosen = 0;
    for (uint32_t row = 0; row < GROUP_ROWS; row++) {
        __m512i unit = _mm512_set1_epi8((char)(1 << row));
        __mmask64 having = _mm512_test_epi8_mask(first, unit);
        uint32_t lane = (uint32_t)_tzcnt_u64(having);
        __m512i from = _mm512_set1_epi8((char)lane);
        __m512i pivot = _mm512_permutexvar_epi8(from, first);
        /* A lane's own parts do not have the row yet. */
        __m512i pivot_parts = _mm512_or_si512(_mm512_permutexvar_epi8(from, parts), unit);
        first = add_to(first, having, pivot);
        parts = add_to(parts, having, pivot_parts);
        chosen = chosen << 8 | lane;
        if (!both)
            continue;
        having = _mm512_test_epi8_mask(second, unit);
        if (lane >= BB_RIBBON_PLANES_LANES && having != 0)
            return false;
        second = add_to(second, having, pivot);
        second_parts = add_to(second_parts, having, pivot_parts);
    }
    pool->first.parts = parts;
    pool->second.parts = second_parts;
    *ret_chosen = chosen;
    return true;
}

BB_CPU_TARGET_AVX512 static inline __m512i product(__m512i bytes, __m512i matrix)
{
    return _mm512_gf2p8affine_epi64_epi8(bytes, matrix, 0);
}

BB_CPU_TARGET_AVX512 static inline __m512i transposed(__m512i matrix)
{
    return product(_mm512_set1_epi64((long long)UNITS), matrix);
}

/* The bytes of the chosen lanes: word 0 of the results, word t of plane t. */
BB_CPU_TARGET_AVX512 static inline __m512i gather(const struct lanes *lanes, __m512i chosen)
{
    __m512i even = _mm512_maskz_permutexvar_epi8(0xff, chosen, lanes->results[0]);
    __m512i odd = _mm512_maskz_permutexvar_epi8(0xff00, chosen, lanes->planes[1]);
    for (uint32_t t = 2; t < 8; t += 2) {
        even =
            _mm512_mask_permutexvar_epi8(even, UINT64_C(0xff) << (8 * t), chosen, lanes->planes[t]);
        odd = _mm512_mask_permutexvar_epi8(odd, UINT64_C(0xff00) << (8 * t), chosen,
                                           lanes->planes[t + 1]);
    }
    return _mm512_or_si512(even, odd);
}

BB_CPU_TARGET_AVX512 static inline __m512i word_of(__m512i words, uint32_t i)
{
    return _mm512_permutexvar_epi64(_mm512_set1_epi64(i), words);
}

/* Adds to each lane the pivots in its part, which clears its coefficients for the group, and moves
 * the planes to the next group. */
BB_CPU_TARGET_AVX512 static inline void eliminate(struct lanes *lanes, __m512i parts,
                                                  __m512i matrices, const __m512i *result_matrices,
                                                  uint32_t slabs)
{
    for (uint32_t t = 1; t < 8; t++)
        lanes->planes[t - 1] =
            _mm512_xor_si512(lanes->planes[t], product(parts, word_of(matrices, t)));
    lanes->planes[7] = _mm512_setzero_si512();
    lanes->results[0] = _mm512_xor_si512(lanes->results[0], product(parts, word_of(matrices, 0)));
    for (uint32_t s = 1; s < slabs; s++)
        lanes->results[s] = _mm512_xor_si512(lanes->results[s], product(parts, result_matrices[s]));
}

/* Chooses the pivots of a group, stores them in the arrays, and eliminates them from all lanes. */
BB_CPU_TARGET_AVX512 static inline bool
eliminate_group(struct pool *pool, uint64_t *pivots, uint64_t *results, uint32_t slabs, bool both)
{
    uint64_t lanes = 0;
    if (!choose(pool, both, &lanes))
        return false;
    __m512i chosen = _mm512_set1_epi64((long long)lanes);
    __m512i matrices = transposed(gather(&pool->first, chosen));
    __m512i result_matrices[BB_RIBBON_SLABS_MAX];
    __m512i own_parts = word_of(pool->first.parts, 7);
    _mm512_storeu_si512(pivots, product(own_parts, matrices));
    for (uint32_t s = 1; s < slabs; s++) {
        result_matrices[s] = transposed(_mm512_permutexvar_epi8(chosen, pool->first.results[s]));
        results[s] = (uint64_t)_mm_cvtsi128_si64(
            _mm512_castsi512_si128(product(own_parts, result_matrices[s])));
    }
    eliminate(&pool->first, _mm512_maskz_mov_epi8(LANES, pool->first.parts), matrices,
              result_matrices, slabs);
    if (both)
        eliminate(&pool->second, pool->second.parts, matrices, result_matrices, slabs);
    return true;
}

/* --- Group after group --- */

/* The state of the elimination between two groups. */
struct progress {
    uint32_t group;
    uint32_t next; /* equation */
    struct pool pool;
};

/* Copies count equations, beginning with `next`, to the first set of lanes, and to the second when
 * the first is full. False: both are full. */
BB_CPU_TARGET_AVX512 static inline bool
admit_group(struct pool *pool, const struct bb_ribbon_planes *planes, uint32_t next, uint32_t count,
            __mmask64 free_first, __mmask64 free_second, uint32_t slabs, bool both)
{
    uint32_t used = admit(&pool->first, free_first, planes->coefficients + next,
                          planes->fingerprints + next, count, slabs);
    if (both && used < count)
        used += admit(&pool->second, free_second, planes->coefficients + next + used,
                      planes->fingerprints + next + used, count - used, slabs);
    return used == count;
}

BB_CPU_TARGET_AVX512 static inline bool contradicts(const struct pool *pool, __mmask64 free_first,
                                                    __mmask64 free_second, uint32_t slabs,
                                                    bool both)
{
    return has_result(&pool->first, free_first, slabs) ||
           (both && has_result(&pool->second, free_second, slabs));
}

/* Eliminates groups as long as `both` is right for them: false if the first set of lanes suffices,
 * true if it does not. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) enum bb_ribbon_outcome
go_on(struct bb_ribbon_planes *planes, const struct bb_ribbon_system *system, uint32_t slabs,
      bool both, struct progress *progress)
{
    struct pool pool = progress->pool;
    uint32_t group_count = bb_ribbon_system_group_count(system);
    uint32_t g = progress->group, next = progress->next;
    for (;; g++) {
        __mmask64 free_first = free_lanes(&pool.first) & LANES;
        __mmask64 free_second = both ? free_lanes(&pool.second) : UINT64_MAX;
        if (contradicts(&pool, free_first, free_second, slabs, both))
            return BB_RIBBON_CONTRADICTS;
        if (g == group_count)
            break;
        uint32_t count = system->group_sizes[g];
        if (both)
            move_up(&pool, &free_first, &free_second, slabs);
        bool fits = free_second == UINT64_MAX && count <= (uint32_t)_mm_popcnt_u64(free_first);
        if (fits == both)
            break;
        if (!admit_group(&pool, planes, next, count, free_first, free_second, slabs, both) ||
            !eliminate_group(&pool, planes->pivots[g], planes->results[g], slabs, both))
            return BB_RIBBON_TOO_WIDE;
        next += count;
    }
    *progress = (struct progress){.group = g, .next = next, .pool = pool};
    return BB_RIBBON_SOLVED;
}

BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) enum bb_ribbon_outcome
eliminate_all(struct bb_ribbon_planes *planes, const struct bb_ribbon_system *system,
              uint32_t slabs)
{
    struct progress progress = {0};
    enum bb_ribbon_outcome outcome = BB_RIBBON_SOLVED;
    for (bool both = false;
         outcome == BB_RIBBON_SOLVED && progress.group < bb_ribbon_system_group_count(system);
         both = !both)
        outcome = both ? go_on(planes, system, slabs, true, &progress)
                       : go_on(planes, system, slabs, false, &progress);
    return outcome;
}

/* --- Back substitution --- */

/* Every word: the sum of all eight words. */
BB_CPU_TARGET_AVX512 static inline __m512i sum_of_words(__m512i words)
{
    words = _mm512_xor_si512(words, _mm512_shuffle_i64x2(words, words, 0x4e));
    words = _mm512_xor_si512(words, _mm512_shuffle_i64x2(words, words, 0xb1));
    return _mm512_xor_si512(words, _mm512_shuffle_epi32(words, _MM_PERM_BADC));
}

/* Word 0 of the window turns the results into rows; word t has the rows of the t-th later group. */
BB_CPU_TARGET_AVX512 static inline void substitute(const struct bb_ribbon_planes *planes,
                                                   uint32_t group_count, uint32_t slab,
                                                   uint64_t *words)
{
    __m512i window = _mm512_maskz_set1_epi64(1, (long long)UNITS_UPWARD);
    __m512i moved = _mm512_set_epi64(6, 5, 4, 3, 2, 1, 0, 0);
    for (uint32_t g = group_count; g-- > 0;) {
        __m512i matrices = _mm512_loadu_si512(planes->pivots[g]);
        if (slab > 0)
            matrices = _mm512_mask_set1_epi64(matrices, 1, (long long)planes->results[g][slab]);
        __m512i rows = sum_of_words(product(window, matrices));
        words[g] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(rows));
        window = _mm512_mask_mov_epi64(_mm512_permutexvar_epi64(moved, window), 2, rows);
    }
}

/* slabs: a constant, so that the planes are in registers. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) enum bb_ribbon_outcome
solve(struct bb_ribbon_planes *planes, const struct bb_ribbon_system *system, uint32_t slabs,
      struct bb_ribbon_rows *ret_rows)
{
    enum bb_ribbon_outcome outcome = eliminate_all(planes, system, slabs);
    if (outcome != BB_RIBBON_SOLVED)
        return outcome;
    uint32_t group_count = bb_ribbon_system_group_count(system);
    for (uint32_t slab = 0; slab < slabs; slab++)
        substitute(planes, group_count, slab, ret_rows->slabs[slab]);
    return BB_RIBBON_SOLVED;
}

BB_CPU_TARGET_AVX512 enum bb_ribbon_outcome
bb_ribbon_planes_solve(struct bb_ribbon_planes *planes, const struct bb_ribbon_system *system,
                       struct bb_ribbon_rows *ret_rows)
{
    sort_by_group(planes, system);
    switch (bb_ribbon_rows_slab_count(system->fingerprint_bits)) {
    case 1:
        return solve(planes, system, 1, ret_rows);
    case 2:
        return solve(planes, system, 2, ret_rows);
    default:
        return solve(planes, system, BB_RIBBON_SLABS_MAX, ret_rows);
    }
}

#endif
