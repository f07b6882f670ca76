/* Numbers of up to four bits, 64 at a time. See truth_lookup.h.
 *
 * One deposit of bits (pdep) unpacks eight numbers into eight bytes. A shuffle looks up 32 bytes
 * together, and a mask collects the highest bit of each answer.
 */
#include <string.h>

#include "base/coding.h"
#include "skip/query/truth_lookup.h"

#if BB_CPU_X86
#include <immintrin.h>

/* Bits of the answer to a number. Shifted left by 0, 1 and 2, each becomes its byte's highest bit.
 * IS_NOTHING: the number has no truth. */
#define IS_TRUE    0x80
#define IS_NULL    0x40
#define IS_NOTHING 0x20

/* The table of 16 answers, in both halves of a vector. */
BB_CPU_TARGET_AVX2 static inline __m256i answers_of(const struct bb_truth_table *table)
{
    __m128i truths = _mm_loadu_si128((const __m128i *)(const void *)table->truths);
    __m128i is_true = _mm_and_si128(_mm_slli_epi16(truths, 7), _mm_set1_epi8((char)IS_TRUE));
    __m128i is_null = _mm_and_si128(_mm_slli_epi16(truths, 5), _mm_set1_epi8(IS_NULL));
    __m128i numbers = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m128i has_meaning = _mm_cmpgt_epi8(
        _mm_set1_epi8(
            (char)(table->count < BB_TRUTH_TABLE_SPACE ? table->count : BB_TRUTH_TABLE_SPACE)),
        numbers);
    __m128i answers =
        _mm_blendv_epi8(_mm_set1_epi8(IS_NOTHING), _mm_or_si128(is_true, is_null), has_meaning);
    return _mm256_broadcastsi128_si256(answers);
}

/* Packed numbers, and the mask that unpacks eight of them. */
struct source {
    const uint8_t *bytes;
    size_t size;
    size_t width;    /* bits of a number, which are as many as the bytes of eight numbers */
    uint64_t places; /* the lowest `width` bits of each byte */
};

/* Eight numbers, a byte each. Numbers past the end have any bits, because the caller masks them. */
BB_CPU_TARGET_AVX2 static inline long long unpack_eight(const struct source *source, size_t at)
{
    size_t offset = at < source->size ? at : source->size;
    return (long long)_pdep_u64(bb_load64(source->bytes + offset), source->places);
}

/* The 32 numbers from a place on. */
BB_CPU_TARGET_AVX2 static inline __m256i unpack(const struct source *source, size_t at)
{
    return _mm256_set_epi64x(unpack_eight(source, at + 3 * source->width),
                             unpack_eight(source, at + 2 * source->width),
                             unpack_eight(source, at + source->width), unpack_eight(source, at));
}

/* The highest bit of each byte, of both halves of a word. */
BB_CPU_TARGET_AVX2 static inline uint64_t collect(__m256i low, __m256i high)
{
    uint32_t low_bits = (uint32_t)_mm256_movemask_epi8(low);
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 | low_bits;
}

BB_CPU_TARGET_AVX2 bool bb_truth_lookup_avx2(const struct bb_packed_numbers *numbers,
                                             const struct bb_truth_table *table, uint64_t *is_true,
                                             uint64_t *is_null)
{
    __m256i answers = answers_of(table);
    struct source source = {.bytes = numbers->bytes.data,
                            .size = numbers->bytes.size,
                            .width = numbers->width,
                            .places = UINT64_C(0x0101010101010101) *
                                      ((UINT64_C(1) << numbers->width) - 1)};
    uint64_t nothing = 0;
    for (uint32_t done = 0; done < numbers->count; done += 64) {
        uint32_t left = numbers->count - done;
        uint64_t wanted = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
        size_t at = (size_t)done / 8 * source.width;
        __m256i low = _mm256_shuffle_epi8(answers, unpack(&source, at));
        __m256i high = _mm256_shuffle_epi8(answers, unpack(&source, at + 4 * source.width));
        is_true[done / 64] = collect(low, high) & wanted;
        is_null[done / 64] =
            collect(_mm256_slli_epi16(low, 1), _mm256_slli_epi16(high, 1)) & wanted;
        nothing |= collect(_mm256_slli_epi16(low, 2), _mm256_slli_epi16(high, 2)) & wanted;
    }
    return nothing == 0;
}
#endif
