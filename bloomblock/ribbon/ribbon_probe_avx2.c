/* Probing ribbons with vectors of 32 bytes.
 *
 * Byte-grouped, 9 to 16 fingerprint bits: ribbon_wide_avx2.h. Other windows are divided into parts
 * with an equal number of groups, each of at most 32 bytes: two parts of 4 groups up to 8
 * fingerprint bits, eight of 1 from 17 to 32. Each part is masked with its coefficients, spread to
 * their bytes, and added to the other parts. The result is one bit per byte, its parity; the bits
 * of the groups of a part are folded onto the first group.
 *
 *     part       | group t: byte t * r + j | group t + 1: ... |       r bytes each
 *     masked     byte p & coefficient byte t + p / r
 *     parities   bit p; result bit j: bits j, r + j, 2r + j, 3r + j together
 *
 * Loads are masked to whole words of 4 bytes: at most 3 bytes after the window are touched. Single
 * probes of 4 to 8 fingerprint bits, the usual case, need no masks (ribbon_window_avx2.h).
 *
 * Bit-exact. A lane of eight bytes per column, each loaded from a different offset and shifted by a
 * different amount; its parity is folded together with another lane's. (A gather instruction is no
 * faster, and much slower on processors that must hide gathered data from speculation.) */
#include "bloomblock/ribbon/ribbon_probe_avx2.h"

#include "bloomblock/cpu.h"
#include "bloomblock/ribbon/ribbon_question.h"
#include "bloomblock/ribbon/ribbon_wide_avx2.h"
#include "bloomblock/ribbon/ribbon_window_avx2.h"

#if BB_CPU_X86
#include <immintrin.h>

/* --- Byte-grouped --- */

/* Loads size bytes, rounded up to words, and zeros after them. */
BB_CPU_TARGET_AVX2 static inline __m256i load(const uint8_t *bytes, uint32_t size)
{
    __m256i places = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    __m256i present = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)size), places);
    return _mm256_maskload_epi32((const int *)(const void *)bytes, present);
}

/* The group of each byte of a part: byte p of groups[bits] is p / bits. */
#define GROUPS_4(bits, p) (p) / (bits), ((p) + 1) / (bits), ((p) + 2) / (bits), ((p) + 3) / (bits)
#define GROUPS_16(bits, p)                                                                         \
    GROUPS_4(bits, p), GROUPS_4(bits, p + 4), GROUPS_4(bits, p + 8), GROUPS_4(bits, p + 12)
#define GROUPS(bits)                                                                               \
    {                                                                                              \
        GROUPS_16(bits, 0), GROUPS_16(bits, 16)                                                    \
    }

BB_CPU_TARGET_AVX2 static inline __m256i groups_of_bytes(uint32_t fingerprint_bits)
{
    static const uint8_t groups[BB_RIBBON_FINGERPRINT_BITS_MAX + 1][32]
        __attribute__((aligned(32))) = {
            [1] = GROUPS(1),   GROUPS(2),  GROUPS(3),  GROUPS(4),  GROUPS(5),
            GROUPS(6),         GROUPS(7),  GROUPS(8), /* wider ones up to 16 are not here */
            [17] = GROUPS(17), GROUPS(18), GROUPS(19), GROUPS(20), GROUPS(21),
            GROUPS(22),        GROUPS(23), GROUPS(24), GROUPS(25)};
    return _mm256_load_si256((const __m256i *)(const void *)groups[fingerprint_bits]);
}

/* The highest bit of each byte: the parity of the byte. A table has the parities of nibbles. */
BB_CPU_TARGET_AVX2 static inline __m256i odd_bytes(__m256i bytes)
{
    __m256i odd = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0));
    bytes = _mm256_xor_si256(bytes, _mm256_srli_epi16(bytes, 4));
    return _mm256_shuffle_epi8(odd, _mm256_and_si256(bytes, _mm256_set1_epi8(15)));
}

/* groups: the number of groups of a part; a constant. */
BB_CPU_TARGET_AVX2 static inline uint32_t
sum_grouped(const uint8_t *window, uint32_t fingerprint_bits, uint64_t words, uint32_t groups)
{
    __m256i coefficients = _mm256_set1_epi64x((long long)words);
    __m256i order = groups_of_bytes(fingerprint_bits);
    __m256i sum = _mm256_setzero_si256();
    for (uint32_t i = 0; i < BB_RIBBON_WINDOW_GROUPS; i += groups) {
        __m256i places = _mm256_add_epi8(order, _mm256_set1_epi8((char)i));
        __m256i mask = _mm256_shuffle_epi8(coefficients, places);
        __m256i bytes = load(window + i * fingerprint_bits, groups * fingerprint_bits);
        sum = _mm256_xor_si256(sum, _mm256_and_si256(bytes, mask));
    }
    uint32_t sums = (uint32_t)_mm256_movemask_epi8(odd_bytes(sum));
    if (groups == 4) {
        sums ^= sums >> 2 * fingerprint_bits;
        sums ^= sums >> fingerprint_bits;
    }
    return sums;
}

BB_CPU_TARGET_AVX2 static inline bool answer_grouped(const struct bb_ribbon_question *question,
                                                     uint32_t groups)
{
    uint32_t sums =
        sum_grouped(question->bytes, question->fingerprint_bits, question->coefficients, groups);
    return bb_ribbon_question_agrees(question, sums);
}

/* --- Bit-exact --- */

/* Up to eight columns. */
struct columns {
    const uint8_t *bytes;
    uint32_t count;
    uint32_t exist; /* a constant: this many columns are known to exist */
    uint32_t slots; /* bits of a column */
    uint32_t start; /* the first bit of the window in each */
};

/* The byte in which the used bits of a column begin; of the first column, if column i does not
 * exist. */
static inline const uint8_t *column_place(struct columns columns, uint32_t i)
{
    uint32_t there = i < columns.exist ? UINT32_MAX : 0 - (uint32_t)(i < columns.count);
    return columns.bytes + (columns.start + (i * columns.slots & there)) / 8;
}

BB_CPU_TARGET_AVX2 static inline __m128i load_two(struct columns columns, uint32_t i)
{
    const void *first = column_place(columns, i);
    const void *second = column_place(columns, i + 2);
    __m128i low = _mm_loadl_epi64((const __m128i *)first);
    return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), (const double *)second));
}

/* Columns i, i + 2, i + 4 and i + 6. */
BB_CPU_TARGET_AVX2 static inline __m256i load_four(struct columns columns, uint32_t i)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_two(columns, i)),
                                   load_two(columns, i + 4), 1);
}

BB_CPU_TARGET_AVX2 static inline __m256i shift(__m256i words, __m256i positions)
{
    return _mm256_srlv_epi64(words, _mm256_and_si256(positions, _mm256_set1_epi64x(7)));
}

/* Bit 2j: the parity of lane j of `even`; bit 2j + 1: of lane j of `odd`. */
BB_CPU_TARGET_AVX2 static inline uint32_t word_parities(__m256i even, __m256i odd)
{
    even = _mm256_xor_si256(even, _mm256_srli_epi64(even, 32));
    odd = _mm256_xor_si256(odd, _mm256_slli_epi64(odd, 32));
    __m256i words = _mm256_blend_epi32(even, odd, 0xaa);
    words = _mm256_xor_si256(words, _mm256_slli_epi32(words, 16));
    words = _mm256_xor_si256(words, _mm256_slli_epi32(words, 8));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(odd_bytes(words)));
}

BB_CPU_TARGET_AVX2 static inline uint32_t sum_columns(struct columns columns, uint64_t coefficients)
{
    __m256i slots = _mm256_set1_epi64x(columns.slots);
    __m256i even = _mm256_add_epi64(_mm256_mul_epu32(_mm256_setr_epi64x(0, 2, 4, 6), slots),
                                    _mm256_set1_epi64x(columns.start));
    __m256i odd = _mm256_add_epi64(even, slots);
    __m256i mask = _mm256_set1_epi64x((long long)coefficients);
    even = _mm256_and_si256(shift(load_four(columns, 0), even), mask);
    odd = _mm256_and_si256(shift(load_four(columns, 1), odd), mask);
    return word_parities(even, odd);
}

/* 6, 7 and 8 fingerprint bits. */
BB_CPU_TARGET_AVX2 static inline bool answer_bits_7(const struct bb_ribbon_question *question)
{
    struct columns columns = {question->bytes, question->fingerprint_bits, 6, question->slots,
                              question->start};
    return bb_ribbon_question_agrees(question, sum_columns(columns, question->coefficients));
}

/* Eight columns take as many bytes as there are slots. column_limit: at least the fingerprint
 * bits. If the last turn of eight columns has no column, it reads the first eight again, and their
 * bits are not used. */
BB_CPU_TARGET_AVX2 static inline bool answer_bits(const struct bb_ribbon_question *question,
                                                  uint32_t column_limit)
{
    uint32_t sums = 0;
    for (uint32_t column = 0; column < column_limit; column += 8) {
        size_t there = 0 - (size_t)(column < question->fingerprint_bits);
        const uint8_t *bytes = question->bytes + ((size_t)(column / 8) * question->slots & there);
        struct columns columns = {bytes, question->fingerprint_bits - column, 1, question->slots,
                                  question->start};
        sums |= sum_columns(columns, question->coefficients) << column;
    }
    return bb_ribbon_question_agrees(question, sums);
}

/* --- Single probes --- */

BB_CPU_TARGET_AVX2 static inline bool ask_grouped(const uint8_t *payload, uint64_t descriptor,
                                                  uint64_t fingerprint_bits, uint64_t hash,
                                                  uint32_t groups)
{
    if (!bb_ribbon_window_exists(descriptor))
        return true;
    struct bb_ribbon_question question =
        bb_ribbon_question_grouped(payload, descriptor, fingerprint_bits, hash);
    return answer_grouped(&question, groups);
}

BB_CPU_TARGET_AVX2 bool bb_ribbon_probe_avx2_4(const uint8_t *payload, uint64_t descriptor,
                                               uint64_t fingerprint_bits, uint64_t hash)
{
    return ask_grouped(payload, descriptor, fingerprint_bits, hash, 4);
}

BB_CPU_TARGET_AVX2 bool bb_ribbon_probe_avx2_8(const uint8_t *payload, uint64_t descriptor,
                                               uint64_t fingerprint_bits, uint64_t hash)
{
    if (!bb_ribbon_window_exists(descriptor))
        return true;
    return bb_ribbon_window_avx2_agrees(
        bb_ribbon_window(payload, descriptor, fingerprint_bits, hash));
}

BB_CPU_TARGET_AVX2 bool bb_ribbon_probe_avx2_shards(const struct bb_filter_shards *shards,
                                                    uint64_t key_hash)
{
    return bb_ribbon_window_avx2_agrees(bb_ribbon_window_of_shards(shards, key_hash));
}

BB_CPU_TARGET_AVX2 bool bb_ribbon_probe_avx2_16(const uint8_t *payload, uint64_t descriptor,
                                                uint64_t fingerprint_bits, uint64_t hash)
{
    if (!bb_ribbon_window_exists(descriptor))
        return true;
    return bb_ribbon_wide_avx2_agrees(
        bb_ribbon_window(payload, descriptor, fingerprint_bits, hash));
}

BB_CPU_TARGET_AVX2 bool bb_ribbon_probe_avx2_wide_shards(const struct bb_filter_shards *shards,
                                                         uint64_t key_hash)
{
    return bb_ribbon_wide_avx2_agrees(bb_ribbon_window_of_shards(shards, key_hash));
}

BB_CPU_TARGET_AVX2 bool bb_ribbon_probe_avx2_32(const uint8_t *payload, uint64_t descriptor,
                                                uint64_t fingerprint_bits, uint64_t hash)
{
    return ask_grouped(payload, descriptor, fingerprint_bits, hash, 1);
}

BB_CPU_TARGET_AVX2 bool bb_ribbon_probe_avx2_bits_7(const uint8_t *payload, uint64_t descriptor,
                                                    uint64_t fingerprint_bits, uint64_t hash)
{
    if (!bb_ribbon_question_has_columns(descriptor))
        return true;
    struct bb_ribbon_question question =
        bb_ribbon_question_bits(payload, descriptor, fingerprint_bits, hash);
    return answer_bits_7(&question);
}

/* The number of turns follows from the table's fingerprint bits, not from the filter's, so that the
 * processor predicts the end of the loop. */
BB_CPU_TARGET_AVX2 bool bb_ribbon_probe_avx2_bits(const uint8_t *payload, uint64_t descriptor,
                                                  uint64_t fingerprint_bits, uint64_t hash)
{
    if (!bb_ribbon_question_has_columns(descriptor))
        return true;
    struct bb_ribbon_question question =
        bb_ribbon_question_bits(payload, descriptor, fingerprint_bits, hash);
    return answer_bits(&question, (uint32_t)fingerprint_bits + 1);
}

/* --- Batches --- */

BB_CPU_TARGET_AVX2 static inline bool answer(const struct bb_ribbon_question *question)
{
    if (question->slots > 0)
        return question->fingerprint_bits - 6u <= 2
                   ? answer_bits_7(question)
                   : answer_bits(question, question->fingerprint_bits);
    if (question->fingerprint_bits <= 8)
        return answer_grouped(question, 4);
    return question->fingerprint_bits <= BB_RIBBON_WIDE_AVX2_FINGERPRINT_BITS_MAX
               ? bb_ribbon_wide_avx2_agrees(bb_ribbon_question_window(question))
               : answer_grouped(question, 1);
}

BB_CPU_TARGET_AVX2 uint64_t bb_ribbon_probe_avx2_batch(const struct bb_filter_batch *batch,
                                                       size_t count)
{
    struct bb_ribbon_question questions[BB_FILTER_BATCH];
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        bb_ribbon_question_init(&questions[i], batch, i);
        bb_ribbon_question_prefetch(&questions[i]);
    }
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)answer(&questions[i]) << i;
    return bits;
}
#endif
