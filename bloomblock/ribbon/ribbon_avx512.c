/* Probing ribbons with vectors of 64 bytes.
 *
 * Byte-grouped. A window is divided into parts with an equal number of groups, each of at most 64
 * bytes: one part of 8 groups up to rank 8, two of 4 up to 16, four of 2 up to 32. In a part, the
 * bytes of one column are collected, a lane per column, masked with the part's coefficients and
 * added to the other parts; the parities of all lanes are the sums.
 *
 *     part       | group t: byte t * r + j | group t + 1: ... |       r bytes each
 *     lane j     | byte j of group t | byte j of group t + 1 | ...    8, 4 or 2 bytes
 *     result     bit j: parity of (lane j & coefficients)
 *
 * Loads are masked, and touch no byte outside the window, except in the forms that rely on a pad
 * (ribbon_probe.h), whose lanes ignore the bytes after the window.
 *
 * Bit-exact. Eight columns of m slots are m bytes, which fit into four vectors. A lane extracts the
 * eight bytes that contain its column's coefficients, shifted by a different amount per lane. (A
 * gather instruction does the same in one step, with 50 % more latency; on processors that must
 * hide gathered data from speculation it is slower than scalar code.) */
#include "bloomblock/ribbon/ribbon_avx512.h"

#include "bloomblock/cpu.h"
#include "bloomblock/ribbon/ribbon_question.h"

#if BB_CPU_X86
#include <immintrin.h>

/* The truth table of vpternlogq for: the first operand, and the second or the third. */
#define AND_OF_OR 0xe0

/* --- Byte-grouped --- */

/* Loads size bytes, at most 64, and zeros after them. */
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

/* The same for a whole window, lane j, step t: t * rank + j. Out of a table it is one load instead
 * of three steps. */
#define LANE(rank, j)                                                                              \
    j, (rank) + j, 2 * (rank) + j, 3 * (rank) + j, 4 * (rank) + j, 5 * (rank) + j, 6 * (rank) + j, \
        7 * (rank) + j
#define ORDER(rank)                                                                                \
    {                                                                                              \
        LANE(rank, 0), LANE(rank, 1), LANE(rank, 2), LANE(rank, 3), LANE(rank, 4), LANE(rank, 5),  \
            LANE(rank, 6), LANE(rank, 7)                                                           \
    }
static const struct window_constants {
    _Alignas(64) uint8_t orders[9][64];
    uint64_t one;
} window_constants = {.orders = {ORDER(0), ORDER(1), ORDER(2), ORDER(3), ORDER(4), ORDER(5),
                                 ORDER(6), ORDER(7), ORDER(8)},
                      .one = 1};

/* The sums of up to eight columns of a window. */
BB_CPU_TARGET_AVX512 static inline uint32_t sum_window(const uint8_t *window, uint32_t rank,
                                                       uint64_t coefficients)
{
    __m512i order = _mm512_load_si512(window_constants.orders[rank]);
    __m512i lanes = _mm512_permutexvar_epi8(order, load(window, 8 * rank));
    lanes = _mm512_and_si512(lanes, _mm512_set1_epi64((long long)coefficients));
    return parities(lanes);
}

BB_CPU_TARGET_AVX512 static inline bool answer_8(const struct bb_ribbon_question *question)
{
    return bb_ribbon_question_agrees(
        question, sum_window(question->bytes, question->rank, question->coefficients));
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
    return parities(lanes);
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

/* --- Single probes --- */

#define GROUPED_PROBE(name, answer)                                                                \
    BB_CPU_TARGET_AVX512 bool name(const uint8_t *payload, uint64_t descriptor, uint64_t rank,     \
                                   uint64_t hash)                                                  \
    {                                                                                              \
        if (!bb_ribbon_has_window(descriptor))                                                     \
            return true;                                                                           \
        struct bb_ribbon_question question =                                                       \
            bb_ribbon_grouped_question(payload, descriptor, rank, hash);                           \
        return answer(&question);                                                                  \
    }

/* The usual ranks, without a question between: its narrow fields take an eighth of the time. */
BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_8(const uint8_t *payload, uint64_t descriptor,
                                             uint64_t rank, uint64_t hash)
{
    if (!bb_ribbon_has_window(descriptor))
        return true;
    struct bb_ribbon_window window = bb_ribbon_window(payload, descriptor, rank, hash);
    uint32_t sums = sum_window(window.bytes, (uint32_t)window.rank, window.coefficients | 1);
    return _bzhi_u32(sums ^ window.fingerprint, (uint32_t)window.rank) == 0;
}

/* They, unknown to the compiler, which would make them instead of loading them. */
static inline const struct window_constants *known_constants(void)
{
    const struct window_constants *known = &window_constants;
    __asm__("" : "+r"(known));
    return known;
}

/* lanes: the window's columns. */
BB_CPU_TARGET_AVX512 static inline bool agrees(const struct window_constants *known,
                                               struct bb_ribbon_window window, __m512i lanes)
{
    const __m512i one = _mm512_set1_epi64((long long)known->one);
    __m512i coefficients = _mm512_set1_epi64((long long)window.coefficients);
    lanes = _mm512_ternarylogic_epi64(lanes, coefficients, one, AND_OF_OR);
    uint32_t sums = _cvtmask8_u32(_mm512_test_epi64_mask(_mm512_popcnt_epi64(lanes), one));
    return _bzhi_u32(sums ^ window.fingerprint, (uint32_t)window.rank) == 0;
}

/* Loaded without a mask. */
BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_8_padded(const uint8_t *payload, uint64_t descriptor,
                                                    uint64_t rank, uint64_t hash)
{
    const struct window_constants *known = known_constants();
    if (!bb_ribbon_has_window(descriptor))
        return true;
    struct bb_ribbon_window window = bb_ribbon_window(payload, descriptor, rank, hash);
    __m512i order = _mm512_load_si512(known->orders[window.rank]);
    __m512i lanes = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(window.bytes));
    return agrees(known, window, lanes);
}

/* Builds a window from two vectors of 32 bytes: a load of 64 bytes usually touches one cache line
 * more than the window, and fetches it even if it is masked. Up to rank 4 the first vector contains
 * the whole window; for larger ranks the second is its last 32 bytes. */
#define SPLIT_PLACE(rank, at) ((at) < 32 || (rank) <= 4 ? (at) : (at) + 64 - 8 * (rank))
#define SPLIT_LANE(rank, j)                                                                        \
    SPLIT_PLACE(rank, j), SPLIT_PLACE(rank, (rank) + (j)), SPLIT_PLACE(rank, 2 * (rank) + (j)),    \
        SPLIT_PLACE(rank, 3 * (rank) + (j)), SPLIT_PLACE(rank, 4 * (rank) + (j)),                  \
        SPLIT_PLACE(rank, 5 * (rank) + (j)), SPLIT_PLACE(rank, 6 * (rank) + (j)),                  \
        SPLIT_PLACE(rank, 7 * (rank) + (j))
#define SPLIT_ORDER(rank)                                                                          \
    {                                                                                              \
        SPLIT_LANE(rank, 0), SPLIT_LANE(rank, 1), SPLIT_LANE(rank, 2), SPLIT_LANE(rank, 3),        \
            SPLIT_LANE(rank, 4), SPLIT_LANE(rank, 5), SPLIT_LANE(rank, 6), SPLIT_LANE(rank, 7)     \
    }
static const _Alignas(64) uint8_t split_orders[9][64] = {
    SPLIT_ORDER(0), SPLIT_ORDER(1), SPLIT_ORDER(2), SPLIT_ORDER(3), SPLIT_ORDER(4),
    SPLIT_ORDER(5), SPLIT_ORDER(6), SPLIT_ORDER(7), SPLIT_ORDER(8)};
static const uint64_t split_seconds[9] = {0, 0, 0, 0, 0, 8, 16, 24, 32};

BB_CPU_TARGET_AVX512 static inline __m512i load_split(const uint8_t *window, uint64_t rank)
{
    const __m256i *second = (const __m256i *)(const void *)(window + split_seconds[rank]);
    __m256i first = _mm256_loadu_si256((const __m256i *)(const void *)window);
    return _mm512_inserti64x4(_mm512_castsi256_si512(first), _mm256_loadu_si256(second), 1);
}

BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_shards(const struct bb_ribbon_shards *shards,
                                                  uint64_t key_hash)
{
    struct bb_ribbon_window window = bb_ribbon_shards_window(shards, key_hash);
    __m512i order = _mm512_load_si512(split_orders[window.rank]);
    __m512i lanes = _mm512_permutexvar_epi8(order, load_split(window.bytes, window.rank));
    return agrees(known_constants(), window, lanes);
}

GROUPED_PROBE(bb_ribbon_avx512_16, answer_16)
GROUPED_PROBE(bb_ribbon_avx512_32, answer_32)

BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_bits_8(const uint8_t *payload, uint64_t descriptor,
                                                  uint64_t rank, uint64_t hash)
{
    if (!bb_ribbon_has_columns(descriptor))
        return true;
    struct bb_ribbon_question question = bb_ribbon_bits_question(payload, descriptor, rank, hash);
    return answer_bits(&question, 8);
}

/* The number of turns is the table's, not the filter's: it is predicted. */
BB_CPU_TARGET_AVX512 bool bb_ribbon_avx512_bits(const uint8_t *payload, uint64_t descriptor,
                                                uint64_t rank, uint64_t hash)
{
    if (!bb_ribbon_has_columns(descriptor))
        return true;
    struct bb_ribbon_question question = bb_ribbon_bits_question(payload, descriptor, rank, hash);
    return answer_bits(&question, (uint32_t)rank + 1);
}

/* --- Batches ---
 *
 * The parameters of eight probes are computed in vectors, a lane for each. Then each window is
 * loaded separately, and the sums of eight probes are compared together. This supports byte-grouped
 * ribbons of rank up to 8; other ribbons are probed one at a time. */

#define FEW 12 /* questions for which vectors do not pay */

/* Eight questions of a batch, a lane each. */
struct eight {
    __m512i hashes;
    __m512i payloads; /* addresses */
    __m512i descriptors;
    __m512i ranks;
};

/* They, worked out. */
struct windows {
    const uint8_t *places[8];
    uint64_t coefficients[8];
    uint64_t ranks[8]; /* of the filter */
    __mmask8 found;    /* the lanes for which this is so */
    __m512i fingerprints;
};

BB_CPU_TARGET_AVX512 static inline __m512i words(uint64_t word)
{
    return _mm512_set1_epi64((long long)word);
}

/* The halves of the products of 128 bits, added without carries. */
BB_CPU_TARGET_AVX512 static inline __m512i folded_products(__m512i a, uint64_t factor)
{
    __m512i low_half = words(UINT32_MAX);
    __m512i factor_low = words(factor), factor_high = words(factor >> 32);
    __m512i a_high = _mm512_srli_epi64(a, 32);
    __m512i low = _mm512_mul_epu32(a, factor_low);
    __m512i cross = _mm512_mul_epu32(a, factor_high);
    __m512i across = _mm512_mul_epu32(a_high, factor_low);
    __m512i middle = _mm512_add_epi64(
        _mm512_srli_epi64(low, 32),
        _mm512_add_epi64(_mm512_and_si512(cross, low_half), _mm512_and_si512(across, low_half)));
    __m512i high = _mm512_add_epi64(
        _mm512_add_epi64(_mm512_mul_epu32(a_high, factor_high), _mm512_srli_epi64(middle, 32)),
        _mm512_add_epi64(_mm512_srli_epi64(cross, 32), _mm512_srli_epi64(across, 32)));
    low = _mm512_mask_blend_epi32(0xaaaa, low, _mm512_slli_epi64(middle, 32));
    return _mm512_xor_si512(low, high);
}

/* See bb_ribbon_draw_group. */
BB_CPU_TARGET_AVX512 static inline __m512i draw_groups(__m512i tweaked, __m512i sizes)
{
    const int more = 2 * BB_RIBBON_OVERHANG_GROUPS - (BB_RIBBON_WINDOW_GROUPS - 1);
    __m512i hashes =
        _mm512_srli_epi64(_mm512_mullo_epi64(tweaked, words(BB_RIBBON_START_FACTOR)), 32);
    return _mm512_mul_epu32(hashes, _mm512_add_epi64(sizes, words((uint64_t)more)));
}

/* The first groups of the windows. */
BB_CPU_TARGET_AVX512 static inline __m512i groups_of(__m512i drawn, __m512i sizes)
{
    __m512i counts = _mm512_sub_epi64(sizes, words(BB_RIBBON_WINDOW_GROUPS - 1));
    __m512i shifted =
        _mm512_sub_epi64(_mm512_srli_epi64(drawn, 32), words(BB_RIBBON_OVERHANG_GROUPS));
    shifted = _mm512_max_epi64(shifted, _mm512_setzero_si512());
    return _mm512_min_epi64(shifted, _mm512_sub_epi64(counts, words(1)));
}

/* Computes the windows of the valid probes among eight, if this form supports them. */
BB_CPU_TARGET_AVX512 static inline void find_windows(struct windows *windows, __mmask8 there,
                                                     struct eight eight)
{
    __m512i sizes = _mm512_and_si512(eight.descriptors, words(255));
    __m512i steps = _mm512_and_si512(_mm512_srli_epi64(eight.descriptors, 14), words(1));
    __m512i ranks = _mm512_add_epi64(eight.ranks, steps);
    there = _mm512_mask_cmpge_epu64_mask(there, sizes, words(BB_RIBBON_GROUPS_MIN));
    there = _mm512_mask_cmple_epu64_mask(there, ranks, words(8));
    there = _mm512_mask_cmplt_epu64_mask(there, eight.descriptors, words(1 << 15));
    __m512i tweaked = _mm512_xor_si512(
        eight.hashes, _mm512_mullo_epi64(eight.descriptors, words(BB_RIBBON_TWEAK_FACTOR)));
    __m512i drawn = draw_groups(tweaked, sizes);
    __m512i offsets = _mm512_mul_epu32(groups_of(drawn, sizes), ranks);
    __m512i folded = folded_products(tweaked, BB_RIBBON_COEFFICIENT_FACTOR);
    _mm512_storeu_si512(windows->places, _mm512_add_epi64(eight.payloads, offsets));
    _mm512_storeu_si512(windows->ranks, ranks);
    _mm512_storeu_si512(windows->coefficients, _mm512_or_si512(folded, words(1)));
    windows->found = there;
    windows->fingerprints = _mm512_srli_epi64(drawn, BB_RIBBON_FINGERPRINT_SHIFT);
}

BB_CPU_TARGET_AVX512 static inline void prefetch_windows(const struct windows *windows)
{
    for (uint32_t left = windows->found; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        __builtin_prefetch(windows->places[i]);
        __builtin_prefetch(windows->places[i] + 8 * windows->ranks[i] - 1);
    }
    __asm__ volatile("" : : "r"(windows)); /* else gcc drops calls of it as without effects */
}

/* Looks at the windows that were found, and compares the sums with the fingerprints. The sums are
 * brought together in a register: eight stored bytes are not one word before they have reached the
 * cache. */
BB_CPU_TARGET_AVX512 static inline uint32_t answer_windows(const struct windows *windows)
{
    uint64_t eight_sums = 0;
    for (uint32_t left = windows->found; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        uint64_t sums =
            sum_window(windows->places[i], (uint32_t)windows->ranks[i], windows->coefficients[i]);
        eight_sums |= sums << (8 * i);
    }
    __m512i sums = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128((long long)eight_sums));
    __m512i differences = _mm512_xor_si512(sums, windows->fingerprints);
    __m512i ranks = _mm512_loadu_si512(windows->ranks);
    __m512i columns = _mm512_sub_epi64(_mm512_sllv_epi64(words(1), ranks), words(1));
    return _mm512_mask_testn_epi64_mask(windows->found, differences, columns);
}

static bool ask_alone(const struct bb_ribbon_batch *batch, size_t i)
{
    const uint8_t *payload = batch->payloads[i];
    uint16_t descriptor = (uint16_t)batch->descriptors[i];
    uint32_t rank = (uint32_t)batch->ranks[i];
    uint64_t hash = batch->hashes[i];
    if (bb_ribbon_descriptor_is_bit_exact(descriptor))
        return rank <= 7 ? bb_ribbon_avx512_bits_8(payload, descriptor, rank, hash)
                         : bb_ribbon_avx512_bits(payload, descriptor, rank, hash);
    return rank <= 15 ? bb_ribbon_avx512_16(payload, descriptor, rank, hash)
                      : bb_ribbon_avx512_32(payload, descriptor, rank, hash);
}

BB_CPU_TARGET_AVX512 static inline struct eight load_questions(const struct bb_ribbon_batch *batch,
                                                               size_t first, __mmask8 there)
{
    return (struct eight){.hashes = _mm512_maskz_loadu_epi64(there, batch->hashes + first),
                          .payloads = _mm512_maskz_loadu_epi64(there, batch->payloads + first),
                          .descriptors =
                              _mm512_maskz_loadu_epi64(there, batch->descriptors + first),
                          .ranks = _mm512_maskz_loadu_epi64(there, batch->ranks + first)};
}

BB_CPU_TARGET_AVX512 static inline bool answer(const struct bb_ribbon_question *question)
{
    if (question->slots > 0)
        return question->rank <= 8 ? answer_bits(question, 8)
                                   : answer_bits(question, question->rank);
    if (question->rank <= 8)
        return answer_8(question);
    return question->rank <= 16 ? answer_16(question) : answer_32(question);
}

/* Words that were just stored cannot be loaded as one vector before they reach the cache, so a few
 * probes are faster one at a time. */
BB_CPU_TARGET_AVX512 static uint64_t answer_few(const struct bb_ribbon_batch *batch, size_t count)
{
    struct bb_ribbon_question questions[FEW];
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bb_ribbon_question_init(&questions[i], batch, i);
    for (size_t i = 0; i < count; i++)
        bb_ribbon_question_prefetch(&questions[i]);
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)answer(&questions[i]) << i;
    return bits;
}

BB_CPU_TARGET_AVX512 static inline uint64_t answer_many(const struct bb_ribbon_batch *batch,
                                                        size_t count)
{
    struct windows windows[BB_RIBBON_BATCH / 8];
    uint64_t there = _bzhi_u64(UINT64_MAX, (uint32_t)count);
    uint64_t found = 0, bits = 0;
    for (size_t i = 0; i < count; i += 8) {
        __mmask8 lanes = (__mmask8)(there >> i);
        find_windows(&windows[i / 8], lanes, load_questions(batch, i, lanes));
        prefetch_windows(&windows[i / 8]);
        found |= (uint64_t)windows[i / 8].found << i;
    }
    for (uint64_t left = there & ~found; left != 0; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        bits |= (uint64_t)ask_alone(batch, i) << i;
    }
    for (size_t i = 0; i < count; i += 8)
        bits |= (uint64_t)answer_windows(&windows[i / 8]) << i;
    return bits;
}
BB_CPU_TARGET_AVX512 uint64_t bb_ribbon_avx512_many(const struct bb_ribbon_batch *batch,
                                                    size_t count)
{
    return count <= FEW ? answer_few(batch, count) : answer_many(batch, count);
}
#endif
