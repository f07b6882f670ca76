/* Ribbons asked with vectors of 64 bytes.
 *
 * Byte-grouped. A window is cut into parts of equally many groups, each of at most 64 bytes: one
 * part of 8 groups up to rank 8, two of 4 up to 16, four of 2 up to 32. In a part, the bytes of one
 * column are brought together, a lane per column, masked with the part's coefficients and added to
 * the other parts'; the parities of all lanes are then the sums.
 *
 *     part       | group t: byte t * r + j | group t + 1: ... |       r bytes each
 *     lane j     | byte j of group t | byte j of group t + 1 | ...    8, 4 or 2 bytes
 *     answer     bit j: parity of (lane j & coefficients)
 *
 * Loads are masked: they touch no byte outside the window.
 *
 * Bit-exact. Eight columns of m slots are m bytes, which fit into four vectors. A lane takes the
 * eight bytes in which its column's coefficients lie out of them, shifted by its own amount. (A
 * gather instruction does the same in one step, with half as long again of a latency; on processors
 * that must hide what gathers load from speculation it is slower than no vectors at all.)
 */
#include "bloomblock/ribbon_avx512.h"

#include "bloomblock/cpu.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon.h"
#include "bloomblock/ribbon_bits.h"

#if BB_CPU_X86
#include <immintrin.h>

/* What a key asks of one byte-grouped filter. */
struct question {
    uint32_t rank;
    uint32_t start; /* a group */
    uint64_t coefficients;
};

static inline bool agrees(uint32_t sums, uint64_t hash, uint32_t rank)
{
    return ((sums ^ (uint32_t)hash) & bb_ribbon_rank_mask(rank)) == 0;
}

/* --- Byte-grouped --- */

static inline struct question grouped_question(struct bb_ribbon_descriptor parts, uint32_t rank,
                                               uint64_t hash)
{
    return (struct question){.rank = rank + parts.step,
                             .start = bb_ribbon_group(hash, parts.seed, parts.size),
                             .coefficients = bb_ribbon_coefficients(hash, parts.seed)};
}

/* size bytes, at most 64 of them, zeros behind them. */
BB_CPU_TARGET_AVX512 static inline __m512i load(const uint8_t *bytes, uint32_t size)
{
    return _mm512_maskz_loadu_epi8(_bzhi_u64(UINT64_MAX, size), bytes);
}

/* Byte i: steps[i] * rank + columns[i]. The steps are below 8, so that the products of pairs of
 * them stay apart in words. */
BB_CPU_TARGET_AVX512 static inline __m512i places(__m512i steps, __m512i columns, uint32_t rank)
{
    return _mm512_add_epi8(_mm512_mullo_epi16(steps, _mm512_set1_epi16((short)rank)), columns);
}

/* sum ^ (bytes & coefficients) */
BB_CPU_TARGET_AVX512 static inline __m512i add(__m512i sum, __m512i bytes, __m512i coefficients)
{
    return _mm512_ternarylogic_epi64(sum, bytes, coefficients, 0x78);
}

BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_8(const uint8_t *payload, uint16_t descriptor,
                                             uint32_t rank, uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size < BB_RIBBON_GROUPS_MIN)
        return true;
    struct question question = grouped_question(parts, rank, hash);
    const uint8_t *window = payload + (size_t)question.start * question.rank;
    __m512i steps = _mm512_set1_epi64(0x0706050403020100);
    __m512i columns = _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505,
                                       0x0404040404040404, 0x0303030303030303, 0x0202020202020202,
                                       0x0101010101010101, 0);
    __m512i lanes = _mm512_permutexvar_epi8(places(steps, columns, question.rank),
                                            load(window, 8 * question.rank));
    lanes = _mm512_and_si512(lanes, _mm512_set1_epi64((long long)question.coefficients));
    uint32_t sums = _mm512_test_epi64_mask(_mm512_popcnt_epi64(lanes), _mm512_set1_epi64(1));
    return agrees(sums, hash, question.rank);
}

BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_16(const uint8_t *payload, uint16_t descriptor,
                                              uint32_t rank, uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size < BB_RIBBON_GROUPS_MIN)
        return true;
    struct question question = grouped_question(parts, rank, hash);
    const uint8_t *window = payload + (size_t)question.start * question.rank;
    uint32_t part_size = 4 * question.rank;
    __m512i columns =
        _mm512_set_epi32(0x0f0f0f0f, 0x0e0e0e0e, 0x0d0d0d0d, 0x0c0c0c0c, 0x0b0b0b0b, 0x0a0a0a0a,
                         0x09090909, 0x08080808, 0x07070707, 0x06060606, 0x05050505, 0x04040404,
                         0x03030303, 0x02020202, 0x01010101, 0);
    __m512i order = places(_mm512_set1_epi32(0x03020100), columns, question.rank);
    __m512i lanes = _mm512_setzero_si512();
    for (uint32_t i = 0; i < 2; i++) {
        __m512i bytes = _mm512_permutexvar_epi8(order, load(window + i * part_size, part_size));
        lanes = add(lanes, bytes, _mm512_set1_epi32((int)(question.coefficients >> (32 * i))));
    }
    uint32_t sums = _mm512_test_epi32_mask(_mm512_popcnt_epi32(lanes), _mm512_set1_epi32(1));
    return agrees(sums, hash, question.rank);
}

/* Byte 2j and 2j + 1: j. */
BB_CPU_TARGET_AVX512 static inline __m512i column_pairs(void)
{
    __m512i bytes = _mm512_cvtepu8_epi16(_mm256_set_epi8(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21,
                                                         20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10,
                                                         9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    return _mm512_or_si512(bytes, _mm512_slli_epi16(bytes, 8));
}

BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_32(const uint8_t *payload, uint16_t descriptor,
                                              uint32_t rank, uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size < BB_RIBBON_GROUPS_MIN)
        return true;
    struct question question = grouped_question(parts, rank, hash);
    const uint8_t *window = payload + (size_t)question.start * question.rank;
    uint32_t part_size = 2 * question.rank;
    __m512i order = places(_mm512_set1_epi16(0x0100), column_pairs(), question.rank);
    __m512i lanes = _mm512_setzero_si512();
    for (uint32_t i = 0; i < 4; i++) {
        __m512i bytes = _mm512_permutexvar_epi8(order, load(window + i * part_size, part_size));
        lanes = add(lanes, bytes, _mm512_set1_epi16((short)(question.coefficients >> (16 * i))));
    }
    uint32_t sums = _mm512_test_epi16_mask(_mm512_popcnt_epi16(lanes), _mm512_set1_epi16(1));
    return agrees(sums, hash, question.rank);
}

/* --- Bit-exact --- */

/* Lane j: eight of the size bytes, from byte places[j] on, all of them below 256. Bytes that there
 * are not are anything. */
BB_CPU_TARGET_AVX512 static inline __m512i load_lanes(const uint8_t *bytes, uint32_t size,
                                                      __m512i places)
{
    const long long first = 0, second = 0x0808080808080808; /* byte 0 of each lane, eight times */
    __m512i spread = _mm512_set_epi64(second, first, second, first, second, first, second, first);
    __m512i order =
        _mm512_add_epi8(_mm512_shuffle_epi8(places, spread), _mm512_set1_epi64(0x0706050403020100));
    if (size <= 64)
        return _mm512_permutexvar_epi8(order, load(bytes, size));
    __m512i low = _mm512_loadu_si512(bytes);
    if (size <= 128)
        return _mm512_permutex2var_epi8(low, order, load(bytes + 64, size - 64));
    low = _mm512_permutex2var_epi8(low, order, _mm512_loadu_si512(bytes + 64));
    __m512i high = _mm512_permutex2var_epi8(load(bytes + 128, size - 128), order,
                                            load(bytes + 192, size > 192 ? size - 192 : 0));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(order), low, high);
}

/* The sums of up to eight columns: slots bits each, start among them the first that counts. */
BB_CPU_TARGET_AVX512 static inline uint32_t sum_columns(const uint8_t *columns, uint32_t slots,
                                                        uint32_t column_count, uint32_t start,
                                                        uint64_t coefficients)
{
    __m512i numbers = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    __m512i positions = _mm512_add_epi64(_mm512_mul_epu32(numbers, _mm512_set1_epi64(slots)),
                                         _mm512_set1_epi64(start));
    __m512i words =
        load_lanes(columns, (slots * column_count + 7) / 8, _mm512_srli_epi64(positions, 3));
    __m512i shifts = _mm512_and_si512(positions, _mm512_set1_epi64(7));
    __m512i lanes = _mm512_and_si512(_mm512_srlv_epi64(words, shifts),
                                     _mm512_set1_epi64((long long)coefficients));
    return _mm512_test_epi64_mask(_mm512_popcnt_epi64(lanes), _mm512_set1_epi64(1));
}

BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_bits_8(const uint8_t *payload, uint16_t descriptor,
                                                  uint32_t rank, uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size == 0)
        return true;
    struct bb_ribbon_equation equation = bb_ribbon_bits_equation(hash, parts.seed, parts.size);
    rank += parts.step;
    uint32_t sums = sum_columns(payload, parts.size, rank, equation.start, equation.coefficients);
    return agrees(sums, hash, rank);
}

static inline uint32_t at_most_8(uint32_t count)
{
    return count < 8 ? count : 8;
}

/* Eight columns are as many bytes as slots. The number of turns is the table's, not the filter's:
 * it is predicted; the last one may find no columns. */
BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_bits(const uint8_t *payload, uint16_t descriptor,
                                                uint32_t rank, uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size == 0)
        return true;
    struct bb_ribbon_equation equation = bb_ribbon_bits_equation(hash, parts.seed, parts.size);
    uint32_t own_rank = rank + parts.step;
    uint32_t sums = 0;
    for (uint32_t column = 0; column <= rank; column += 8) {
        uint32_t eight =
            sum_columns(payload + (size_t)(column / 8) * parts.size, parts.size,
                        at_most_8(own_rank - column), equation.start, equation.coefficients);
        sums |= eight << column;
    }
    return agrees(sums, hash, own_rank);
}
#endif
