/* Numbers of up to four bits, 32 at a time. See truth_lookup.h.
 *
 * Eight numbers become eight bytes by one deposit of bits. A shuffle looks up all 32 bytes
 * together, and the highest bit of each answer is collected.
 */
#include <string.h>

#include "base/coding.h"
#include "skip/query/truth_lookup.h"

#if BB_CPU_X86
#include <immintrin.h>

#define STEP 32u

/* In the answer to a number: shifted left by none, one and two, each is a byte's highest bit. */
#define IS_TRUE    0x80u
#define IS_NULL    0x40u
#define IS_NOTHING 0x20u

struct answers {
    uint8_t bytes[16];
};

static struct answers answers_of(const struct bb_truth_table *table)
{
    struct answers answers;
    memset(answers.bytes, IS_NOTHING, sizeof(answers.bytes));
    for (size_t i = 0; i < table->count && i < sizeof(answers.bytes); i++)
        answers.bytes[i] =
            (uint8_t)((table->truths[i] & 1) * IS_TRUE | (table->truths[i] >> 1 & 1) * IS_NULL);
    return answers;
}

/* The next 32 numbers, a byte each. */
BB_CPU_TARGET_AVX2 static inline __m256i unpack(const uint8_t *at, uint32_t width, uint64_t places)
{
    return _mm256_set_epi64x((long long)_pdep_u64(bb_load64(at + 3 * (size_t)width), places),
                             (long long)_pdep_u64(bb_load64(at + 2 * (size_t)width), places),
                             (long long)_pdep_u64(bb_load64(at + width), places),
                             (long long)_pdep_u64(bb_load64(at), places));
}

BB_CPU_TARGET_AVX2 bool bb_truth_lookup_avx2(const struct bb_packed_numbers *numbers,
                                             const struct bb_truth_table *table, uint64_t *is_true,
                                             uint64_t *is_null, uint32_t *ret_done)
{
    struct answers answers = answers_of(table);
    __m256i truths = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)answers.bytes));
    uint64_t places = UINT64_C(0x0101010101010101) * ((UINT64_C(1) << numbers->width) - 1);
    __m256i any = _mm256_setzero_si256();
    uint32_t done = 0;
    for (; done + STEP <= numbers->count; done += STEP) {
        const uint8_t *at = numbers->bytes.data + (size_t)done / 8 * numbers->width;
        __m256i found = _mm256_shuffle_epi8(truths, unpack(at, numbers->width, places));
        uint64_t true_bits = (uint32_t)_mm256_movemask_epi8(found);
        uint64_t null_bits = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(found, 1));
        is_true[done / 64] |= true_bits << done % 64;
        is_null[done / 64] |= null_bits << done % 64;
        any = _mm256_or_si256(any, found);
    }
    *ret_done = done;
    return _mm256_movemask_epi8(_mm256_slli_epi16(any, 2)) == 0;
}
#endif
