/* Probing ribbons with vectors of 64 bytes.
 *
 * Byte-grouped, up to 8 fingerprint bits: ribbon_window_avx512.h. A larger window is divided into
 * parts with an equal number of groups, each of at most 64 bytes: two parts of 4 groups up to 16
 * bits, four of 2 up to 32. In a part, the bytes of one column are collected, a lane per column,
 * masked with the part's coefficients and added to the other parts; the parities of all lanes are
 * the sums.
 *
 *     part       | group t: byte t * r + j | group t + 1: ... |       r bytes each
 *     lane j     | byte j of group t | byte j of group t + 1 | ...    4 or 2 bytes
 *     result     bit j: parity of (lane j & coefficients)
 *
 * Their loads are masked, and touch no byte outside the window.
 *
 * Bit-exact. Eight columns of m slots are m bytes, which fit into four vectors. A lane extracts the
 * eight bytes that contain its column's coefficients, shifted by a different amount per lane. (A
 * gather instruction does the same in one step, with 50 % more latency; on processors that must
 * hide gathered data from speculation it is slower than scalar code.) */
#include "bloomblock/ribbon/ribbon_probe_avx512.h"

#include "bloomblock/ribbon/ribbon_eight.h"
#include "bloomblock/ribbon/ribbon_question.h"

#if BB_CPU_X86
#include <immintrin.h>

/* --- Byte-grouped --- */

/* Loads size bytes, at most 64, and zeros after them. */
BB_CPU_TARGET_AVX512 static inline __m512i load(const uint8_t *bytes, uint32_t size)
{
    return _mm512_maskz_loadu_epi8(_bzhi_u64(UINT64_MAX, size), bytes);
}

/* Byte i: steps[i] * fingerprint_bits + columns[i]. The steps are below 8, so that the products of
 * pairs of them stay apart in words. */
BB_CPU_TARGET_AVX512 static inline __m512i places(__m512i steps, __m512i columns,
                                                  uint32_t fingerprint_bits)
{
    return _mm512_add_epi8(_mm512_mullo_epi16(steps, _mm512_set1_epi16((short)fingerprint_bits)),
                           columns);
}

/* Bit j: the parity of lane j. A mask of signs needs no constant. */
BB_CPU_TARGET_AVX512 static inline uint32_t parities(__m512i lanes)
{
    return _mm512_movepi64_mask(_mm512_slli_epi64(_mm512_popcnt_epi64(lanes), 63));
}

/* sum ^ (bytes & coefficients) */
BB_CPU_TARGET_AVX512 static inline __m512i add(__m512i sum, __m512i bytes, __m512i coefficients)
{
    return _mm512_ternarylogic_epi64(sum, bytes, coefficients, 0x78);
}

BB_CPU_TARGET_AVX512 static inline bool answer_8(const struct bb_ribbon_question *question)
{
    return bb_ribbon_window_avx512_agrees(bb_ribbon_window_avx512_known(),
                                          bb_ribbon_question_window(question));
}

BB_CPU_TARGET_AVX512 static inline bool answer_16(const struct bb_ribbon_question *question)
{
    uint32_t part_size = 4 * question->fingerprint_bits;
    __m512i columns =
        _mm512_set_epi32(0x0f0f0f0f, 0x0e0e0e0e, 0x0d0d0d0d, 0x0c0c0c0c, 0x0b0b0b0b, 0x0a0a0a0a,
                         0x09090909, 0x08080808, 0x07070707, 0x06060606, 0x05050505, 0x04040404,
                         0x03030303, 0x02020202, 0x01010101, 0);
    __m512i order = places(_mm512_set1_epi32(0x03020100), columns, question->fingerprint_bits);
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
    uint32_t part_size = 2 * question->fingerprint_bits;
    __m512i order = places(_mm512_set1_epi16(0x0100), column_pairs(), question->fingerprint_bits);
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

/* Lane j: the eight bytes from places[j] on. All places are below 256, and bytes at or after size
 * are undefined. */
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

/* The sums of up to eight columns of `slots` bits each. The window begins at bit `start` of each
 * column. */
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
    return parities(lanes);
}

static inline uint32_t at_most_8(uint32_t count)
{
    return count < 8 ? count : 8;
}

/* Eight columns take as many bytes as a column has slots. The loop covers column_limit columns in
 * steps of eight; the last step may have none. */
BB_CPU_TARGET_AVX512 static inline bool answer_bits(const struct bb_ribbon_question *question,
                                                    uint32_t column_limit)
{
    uint32_t sums = 0;
    for (uint32_t column = 0; column < column_limit; column += 8) {
        const uint8_t *columns = question->bytes + (size_t)(column / 8) * question->slots;
        sums |=
            sum_columns(columns, question->slots, at_most_8(question->fingerprint_bits - column),
                        question->start, question->coefficients)
            << column;
    }
    return bb_ribbon_question_agrees(question, sums);
}

/* --- Single probes --- */

#define GROUPED_PROBE(name, answer)                                                                \
    BB_CPU_TARGET_AVX512 bool name(const uint8_t *payload, uint64_t descriptor,                    \
                                   uint64_t fingerprint_bits, uint64_t hash)                       \
    {                                                                                              \
        if (!bb_ribbon_window_exists(descriptor))                                                  \
            return true;                                                                           \
        struct bb_ribbon_question question =                                                       \
            bb_ribbon_question_grouped(payload, descriptor, fingerprint_bits, hash);               \
        return answer(&question);                                                                  \
    }

/* The usual fingerprint bits, without a struct bb_ribbon_question: its narrow fields cost an
 * eighth of the time. */
BB_CPU_TARGET_AVX512 bool bb_ribbon_probe_avx512_8(const uint8_t *payload, uint64_t descriptor,
                                                   uint64_t fingerprint_bits, uint64_t hash)
{
    const struct bb_ribbon_window_avx512 *known = bb_ribbon_window_avx512_known();
    if (!bb_ribbon_window_exists(descriptor))
        return true;
    return bb_ribbon_window_avx512_agrees(
        known, bb_ribbon_window(payload, descriptor, fingerprint_bits, hash));
}

BB_CPU_TARGET_AVX512 bool bb_ribbon_probe_avx512_shards(const struct bb_filter_shards *shards,
                                                        uint64_t key_hash)
{
    return bb_ribbon_window_avx512_agrees(bb_ribbon_window_avx512_known(),
                                          bb_ribbon_window_of_shards(shards, key_hash));
}

GROUPED_PROBE(bb_ribbon_probe_avx512_16, answer_16)
GROUPED_PROBE(bb_ribbon_probe_avx512_32, answer_32)

BB_CPU_TARGET_AVX512 bool bb_ribbon_probe_avx512_bits_8(const uint8_t *payload, uint64_t descriptor,
                                                        uint64_t fingerprint_bits, uint64_t hash)
{
    if (!bb_ribbon_question_has_columns(descriptor))
        return true;
    struct bb_ribbon_question question =
        bb_ribbon_question_bits(payload, descriptor, fingerprint_bits, hash);
    return answer_bits(&question, 8);
}

/* The number of iterations is the same for all filters of a table, so its branch is predicted. */
BB_CPU_TARGET_AVX512 bool bb_ribbon_probe_avx512_bits(const uint8_t *payload, uint64_t descriptor,
                                                      uint64_t fingerprint_bits, uint64_t hash)
{
    if (!bb_ribbon_question_has_columns(descriptor))
        return true;
    struct bb_ribbon_question question =
        bb_ribbon_question_bits(payload, descriptor, fingerprint_bits, hash);
    return answer_bits(&question, (uint32_t)fingerprint_bits + 1);
}

/* --- Batches ---
 *
 * Byte-grouped ribbons of up to 8 fingerprint bits are probed eight at a time, all others one at a
 * time. */

#define FEW 12 /* with fewer probes, vectors do not pay */

BB_CPU_TARGET_AVX512 static inline bool answer(const struct bb_ribbon_question *question)
{
    if (question->slots > 0)
        return question->fingerprint_bits <= 8 ? answer_bits(question, 8)
                                               : answer_bits(question, question->fingerprint_bits);
    if (question->fingerprint_bits <= 8)
        return answer_8(question);
    return question->fingerprint_bits <= 16 ? answer_16(question) : answer_32(question);
}

BB_CPU_TARGET_AVX512 uint64_t bb_ribbon_probe_avx512_batch_wide(const struct bb_filter_batch *batch,
                                                                size_t count)
{
    struct bb_ribbon_question questions[BB_FILTER_BATCH];
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bb_ribbon_question_init(&questions[i], batch, i);
    for (size_t i = 0; i < count; i++)
        bb_ribbon_question_prefetch(&questions[i]);
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)answer(&questions[i]) << i;
    return bits;
}

BB_CPU_TARGET_AVX512 static bool answer_alone(const struct bb_filter_batch *batch, size_t i)
{
    struct bb_ribbon_question question;
    bb_ribbon_question_init(&question, batch, i);
    return answer(&question);
}

/* The lanes that have windows of up to 8 fingerprint bits. */
BB_CPU_TARGET_AVX512 static inline __mmask8 lanes_with_windows(const struct bb_ribbon_eight *eight)
{
    const __m512i layout = bb_ribbon_eight_words(1 << 15), step = bb_ribbon_eight_words(1 << 14);
    __m512i sizes = _mm512_and_si512(eight->places, bb_ribbon_eight_words(255));
    __mmask8 steps = _mm512_test_epi64_mask(eight->places, step);
    __m512i fingerprint_bits = _mm512_mask_add_epi64(
        eight->fingerprint_bits, steps, eight->fingerprint_bits, bb_ribbon_eight_words(1));
    __mmask8 there = _mm512_testn_epi64_mask(eight->places, layout);
    there = _mm512_mask_cmpge_epu64_mask(there, sizes, bb_ribbon_eight_words(BB_RIBBON_GROUPS_MIN));
    return _mm512_mask_cmple_epu64_mask(
        there, fingerprint_bits, bb_ribbon_eight_words(BB_RIBBON_WINDOW_FINGERPRINT_BITS_MAX));
}

/* Loads the lanes set in there. Lanes without a window get one of 1 fingerprint bit in
 * zeros. */
BB_CPU_TARGET_AVX512 static inline __mmask8 load_eight(const struct bb_filter_batch *batch,
                                                       size_t first, __mmask8 there,
                                                       struct bb_ribbon_eight *ret_eight)
{
    static const uint8_t zeros[64];
    const uint8_t *nothing = zeros + BB_FILTER_LEAD_BYTES;
    struct bb_ribbon_eight eight = {
        .hashes = _mm512_maskz_loadu_epi64(there, batch->hashes + first),
        .places = _mm512_maskz_loadu_epi64(there, batch->places + first),
        .fingerprint_bits = _mm512_maskz_loadu_epi64(there, batch->fingerprint_bits + first),
        .payloads = _mm512_maskz_loadu_epi64(there, batch->payloads + first)};
    __mmask8 lanes = lanes_with_windows(&eight);
    eight.places =
        _mm512_mask_mov_epi64(bb_ribbon_eight_words(BB_RIBBON_GROUPS_MIN), lanes, eight.places);
    eight.fingerprint_bits =
        _mm512_mask_mov_epi64(bb_ribbon_eight_words(1), lanes, eight.fingerprint_bits);
    eight.payloads =
        _mm512_mask_mov_epi64(bb_ribbon_eight_words((uintptr_t)nothing), lanes, eight.payloads);
    *ret_eight = eight;
    return lanes;
}

BB_CPU_TARGET_AVX512 static inline uint64_t answer_many(const struct bb_filter_batch *batch,
                                                        size_t count)
{
    const struct bb_ribbon_eight_constants *known = bb_ribbon_eight_known();
    struct bb_ribbon_eight_windows windows[BB_FILTER_BATCH / BB_RIBBON_EIGHT];
    const uint64_t there = _bzhi_u64(UINT64_MAX, (uint32_t)count);
    uint64_t found = 0, bits = 0;
    for (size_t i = 0; i < count; i += BB_RIBBON_EIGHT) {
        struct bb_ribbon_eight eight;
        found |= (uint64_t)load_eight(batch, i, (__mmask8)(there >> i), &eight) << i;
        bb_ribbon_eight_find(known, &eight, &windows[i / BB_RIBBON_EIGHT]);
        bb_ribbon_eight_prefetch(&windows[i / BB_RIBBON_EIGHT], BB_RIBBON_EIGHT);
    }
    for (size_t i = 0; i < count; i += BB_RIBBON_EIGHT)
        bits |= bb_ribbon_eight_agree(known, &windows[i / BB_RIBBON_EIGHT], BB_RIBBON_EIGHT) << i;
    bits &= found;
    for (uint64_t left = there & ~found; left != 0; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        bits |= (uint64_t)answer_alone(batch, i) << i;
    }
    return bits;
}

BB_CPU_TARGET_AVX512 uint64_t bb_ribbon_probe_avx512_batch(const struct bb_filter_batch *batch,
                                                           size_t count)
{
    /* Words that were just stored cannot be loaded as one vector before they reach the cache, so a
     * few probes are faster one at a time. */
    return count <= FEW ? bb_ribbon_probe_avx512_batch_wide(batch, count)
                        : answer_many(batch, count);
}
#endif
