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
#include "bloomblock/ribbon_question.h"

#if BB_CPU_X86
#include <immintrin.h>

/* --- Byte-grouped --- */

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

BB_CPU_TARGET_AVX512 static inline bool answer_8(const struct bb_ribbon_question *question)
{
    __m512i steps = _mm512_set1_epi64(0x0706050403020100);
    __m512i columns = _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505,
                                       0x0404040404040404, 0x0303030303030303, 0x0202020202020202,
                                       0x0101010101010101, 0);
    __m512i lanes = _mm512_permutexvar_epi8(places(steps, columns, question->rank),
                                            load(question->bytes, 8 * question->rank));
    lanes = _mm512_and_si512(lanes, _mm512_set1_epi64((long long)question->coefficients));
    uint32_t sums = _mm512_test_epi64_mask(_mm512_popcnt_epi64(lanes), _mm512_set1_epi64(1));
    return bb_ribbon_question_agrees(question, sums);
}

BB_CPU_TARGET_AVX512 static inline bool answer_16(const struct bb_ribbon_question *question)
{
    uint32_t part_size = 4 * question->rank;
    __m512i columns =
        _mm512_set_epi32(0x0f0f0f0f, 0x0e0e0e0e, 0x0d0d0d0d, 0x0c0c0c0c, 0x0b0b0b0b, 0x0a0a0a0a,
                         0x09090909, 0x08080808, 0x07070707, 0x06060606, 0x05050505, 0x04040404,
                         0x03030303, 0x02020202, 0x01010101, 0);
    __m512i order = places(_mm512_set1_epi32(0x03020100), columns, question->rank);
    __m512i lanes = _mm512_setzero_si512();
    for (uint32_t i = 0; i < 2; i++) {
        __m512i bytes =
            _mm512_permutexvar_epi8(order, load(question->bytes + i * part_size, part_size));
        lanes = add(lanes, bytes, _mm512_set1_epi32((int)(question->coefficients >> (32 * i))));
    }
    uint32_t sums = _mm512_test_epi32_mask(_mm512_popcnt_epi32(lanes), _mm512_set1_epi32(1));
    return bb_ribbon_question_agrees(question, sums);
}

/* Byte 2j and 2j + 1: j. */
BB_CPU_TARGET_AVX512 static inline __m512i column_pairs(void)
{
    __m512i bytes = _mm512_cvtepu8_epi16(_mm256_set_epi8(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21,
                                                         20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10,
                                                         9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    return _mm512_or_si512(bytes, _mm512_slli_epi16(bytes, 8));
}

BB_CPU_TARGET_AVX512 static inline bool answer_32(const struct bb_ribbon_question *question)
{
    uint32_t part_size = 2 * question->rank;
    __m512i order = places(_mm512_set1_epi16(0x0100), column_pairs(), question->rank);
    __m512i lanes = _mm512_setzero_si512();
    for (uint32_t i = 0; i < 4; i++) {
        __m512i bytes =
            _mm512_permutexvar_epi8(order, load(question->bytes + i * part_size, part_size));
        lanes = add(lanes, bytes, _mm512_set1_epi16((short)(question->coefficients >> (16 * i))));
    }
    uint32_t sums = _mm512_test_epi16_mask(_mm512_popcnt_epi16(lanes), _mm512_set1_epi16(1));
    return bb_ribbon_question_agrees(question, sums);
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

static inline uint32_t at_most_8(uint32_t count)
{
    return count < 8 ? count : 8;
}

/* Eight columns are as many bytes as slots. column_limit: turns of eight columns cover it; the last
 * one may find none. */
BB_CPU_TARGET_AVX512 static inline bool answer_bits(const struct bb_ribbon_question *question,
                                                    uint32_t column_limit)
{
    uint32_t sums = 0;
    for (uint32_t column = 0; column < column_limit; column += 8) {
        const uint8_t *columns = question->bytes + (size_t)(column / 8) * question->slots;
        sums |= sum_columns(columns, question->slots, at_most_8(question->rank - column),
                            question->start, question->coefficients)
                << column;
    }
    return bb_ribbon_question_agrees(question, sums);
}

/* --- Alone --- */

#define GROUPED_PROBE(name, answer)                                                                \
    BB_CPU_TARGET_AVX512 bool name(const uint8_t *payload, uint16_t descriptor, uint32_t rank,     \
                                   uint64_t hash)                                                  \
    {                                                                                              \
        struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);               \
        if (parts.size < BB_RIBBON_GROUPS_MIN)                                                     \
            return true;                                                                           \
        struct bb_ribbon_question question =                                                       \
            bb_ribbon_grouped_question(payload, parts, rank, hash);                                \
        return answer(&question);                                                                  \
    }

GROUPED_PROBE(bb_ribbon_avx512_8, answer_8)
GROUPED_PROBE(bb_ribbon_avx512_16, answer_16)
GROUPED_PROBE(bb_ribbon_avx512_32, answer_32)

BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_bits_8(const uint8_t *payload, uint16_t descriptor,
                                                  uint32_t rank, uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size == 0)
        return true;
    struct bb_ribbon_question question = bb_ribbon_bits_question(payload, parts, rank, hash);
    return answer_bits(&question, 8);
}

/* The number of turns is the table's, not the filter's: it is predicted. */
BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_bits(const uint8_t *payload, uint16_t descriptor,
                                                uint32_t rank, uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size == 0)
        return true;
    struct bb_ribbon_question question = bb_ribbon_bits_question(payload, parts, rank, hash);
    return answer_bits(&question, rank + 1);
}

/* --- Batches --- */

BB_CPU_TARGET_AVX512 static inline bool answer(const struct bb_ribbon_question *question)
{
    if (question->slots > 0)
        return question->rank <= 8 ? answer_bits(question, 8)
                                   : answer_bits(question, question->rank);
    if (question->rank <= 8)
        return answer_8(question);
    return question->rank <= 16 ? answer_16(question) : answer_32(question);
}

BB_CPU_TARGET_AVX512 uint64_t bb_ribbon_avx512_many(const struct bb_ribbon_question *questions,
                                                    size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)answer(&questions[i]) << i;
    return bits;
}
#endif
