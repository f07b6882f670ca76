/* Windows of stand-alone ribbons, loaded without a mask (kind_ribbon_window.h).
 *
 * One probe: one vector, a lane per column, as in ribbon_avx512.c.
 *
 * Eight probes: one lane each until their windows are known. Each window then becomes a vector with
 * one group per lane. Such a lane is a matrix of 8 x 8 bits, with a row for each column of the
 * filter. Its product with the group's byte of the coefficients is the group's part of the sums.
 * Byte q of all lanes belongs to probe q:
 *
 *     coefficients       lane q:  | byte 0 | byte 1 | ... | byte 7 |     of probe q
 *     transposed         lane t:  | byte t of probe 0 | byte t of probe 1 | ...
 *     window of q        lane t:  | group t, the last column first |
 *     parts              lane t:  | part t of probe 0 | part t of probe 1 | ...
 *     transposed         lane q:  | part 0 | part 1 | ... | part 7 |     together the sums of q
 *
 * The limit is the latency of dependent instructions rather than their number: a processor stalls
 * when some hundred instructions wait. Therefore products are composed of 32-bit products (vpmullq
 * takes three times as long as one of them), and shards are found without vectors.
 */
#include "standalone/kind/kind_ribbon_avx512.h"

#include "standalone/kind/kind_ribbon_window.h"

#if BB_CPU_X86
#include <immintrin.h>
#include <string.h>

#define EIGHT 8

/* The truth table of vpternlogq for three operands. */
#define EXCLUSIVE_OR  0x96
#define AND_OF_OR     0xe0 /* the first, and the second or the third */
#define THIRD_CHOOSES 0xd8 /* between the second, where it is set, and the first */

/* --- One --- */

/* Lane j, step t: byte j of group t of the window, 64 - 8 rank + t * rank + j. */
#define LANE(rank, j)                                                                              \
    64 - 8 * (rank) + (j), 64 - 7 * (rank) + (j), 64 - 6 * (rank) + (j), 64 - 5 * (rank) + (j),    \
        64 - 4 * (rank) + (j), 64 - 3 * (rank) + (j), 64 - 2 * (rank) + (j), 64 - (rank) + (j)
#define ORDER(rank)                                                                                \
    {                                                                                              \
        LANE(rank, 0), LANE(rank, 1), LANE(rank, 2), LANE(rank, 3), LANE(rank, 4), LANE(rank, 5),  \
            LANE(rank, 6), LANE(rank, 7)                                                           \
    }
/* In memory they are operands of the instructions that use them; otherwise compilers compose them
 * first. */
static const struct one_constants {
    _Alignas(64) uint8_t orders[9][64]; /* of bytes, by rank */
    uint64_t one;
} one_constants = {.orders = {ORDER(0), ORDER(1), ORDER(2), ORDER(3), ORDER(4), ORDER(5), ORDER(6),
                              ORDER(7), ORDER(8)},
                   .one = 1};

/* They, unknown to the compiler. */
static inline const struct one_constants *constants_of_one(void)
{
    const struct one_constants *known = &one_constants;
    __asm__("" : "+r"(known));
    return known;
}

/* Bit j: the sum of column j. */
BB_CPU_TARGET_AVX512 static inline __mmask8 sum_window(const struct one_constants *known,
                                                       const struct bb_kind_ribbon_window *window)
{
    const __m512i one = _mm512_set1_epi64((long long)known->one);
    __m512i lanes =
        _mm512_permutexvar_epi8(_mm512_load_si512(known->orders[window->rank]),
                                _mm512_loadu_si512(window->bytes + 8 * window->rank - 64));
    __m512i coefficients = _mm512_set1_epi64((long long)window->coefficients);
    lanes = _mm512_ternarylogic_epi64(lanes, coefficients, one, AND_OF_OR);
    return _mm512_test_epi64_mask(_mm512_popcnt_epi64(lanes), one);
}

BB_CPU_TARGET_AVX512 static inline bool agrees(const struct bb_kind_ribbon_window *window,
                                               __mmask8 sums)
{
    uint32_t difference = _cvtmask8_u32(sums) ^ window->fingerprint;
    return _bzhi_u32(difference, (uint32_t)window->rank) == 0;
}

BB_CPU_TARGET_AVX512 bool bb_kind_ribbon_avx512(const struct bb_filter_view *view,
                                                uint64_t key_hash)
{
    struct bb_kind_ribbon_window window = bb_kind_ribbon_find_window(view, key_hash);
    return agrees(&window, sum_window(constants_of_one(), &window));
}

BB_CPU_TARGET_AVX512 uint64_t
bb_kind_ribbon_avx512_agree(const struct bb_kind_ribbon_window *windows, size_t count)
{
    const struct one_constants *known = constants_of_one();
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits * 2 + agrees(&windows[i], sum_window(known, &windows[i]));
    return bits;
}

/* --- Constants of eight --- */

/* Lane t, byte 7 - j: byte j of group t of the window. Columns that there are not are anything. */
#define PLACE(rank, t, j) (j) < (rank) ? 64 - (8 - (t)) * (rank) + (j) : 0
#define GROUP(rank, t)                                                                             \
    PLACE(rank, t, 7), PLACE(rank, t, 6), PLACE(rank, t, 5), PLACE(rank, t, 4), PLACE(rank, t, 3), \
        PLACE(rank, t, 2), PLACE(rank, t, 1), PLACE(rank, t, 0)
#define MATRICES(rank)                                                                             \
    {                                                                                              \
        GROUP(rank, 0), GROUP(rank, 1), GROUP(rank, 2), GROUP(rank, 3), GROUP(rank, 4),            \
            GROUP(rank, 5), GROUP(rank, 6), GROUP(rank, 7)                                         \
    }
/* Byte t of every lane. */
#define BYTES(t) t, 8 + (t), 16 + (t), 24 + (t), 32 + (t), 40 + (t), 48 + (t), 56 + (t)

/* In memory they are operands of the instruction that uses them. Constants that a compiler composes
 * go through the port that moves bytes across lanes, which is the busiest one. */
static const struct eight_constants {
    _Alignas(64) uint8_t matrices[9][64]; /* orders of bytes, by rank */
    uint8_t transposition[64];
    uint64_t byte_of[EIGHT]; /* of question q, in every lane */
    uint64_t descriptor;     /* the bits of an entry that are it */
    uint64_t size;
    uint64_t tweak, tweak_high;
    uint64_t start, start_high;
    uint64_t coefficient, coefficient_high; /* 52 bits and the rest */
    uint64_t one, lead, window_groups, word_bits;
} constants = {
    .matrices = {MATRICES(0), MATRICES(1), MATRICES(2), MATRICES(3), MATRICES(4), MATRICES(5),
                 MATRICES(6), MATRICES(7), MATRICES(8)},
    .transposition = {BYTES(0), BYTES(1), BYTES(2), BYTES(3), BYTES(4), BYTES(5), BYTES(6),
                      BYTES(7)},
    .byte_of = {UINT64_C(0xff), UINT64_C(0xff) << 8, UINT64_C(0xff) << 16, UINT64_C(0xff) << 24,
                UINT64_C(0xff) << 32, UINT64_C(0xff) << 40, UINT64_C(0xff) << 48,
                UINT64_C(0xff) << 56},
    .descriptor = 0xffff,
    .size = 0xff,
    .tweak = BB_RIBBON_TWEAK_FACTOR,
    .tweak_high = BB_RIBBON_TWEAK_FACTOR >> 32,
    .start = BB_RIBBON_START_FACTOR,
    .start_high = BB_RIBBON_START_FACTOR >> 32,
    .coefficient = BB_RIBBON_COEFFICIENT_FACTOR & ((UINT64_C(1) << 52) - 1),
    .coefficient_high = BB_RIBBON_COEFFICIENT_FACTOR >> 52,
    .one = 1,
    .lead = BB_RIBBON_WINDOW_GROUPS - BB_RIBBON_OVERHANG_GROUPS,
    .window_groups = BB_RIBBON_WINDOW_GROUPS,
    .word_bits = 64,
};

/* They, unknown to the compiler. */
static inline const struct eight_constants *eight_constants(void)
{
    const struct eight_constants *known = &constants;
    __asm__("" : "+r"(known));
    return known;
}

BB_CPU_TARGET_AVX512 static inline __m512i words(uint64_t word)
{
    return _mm512_set1_epi64((long long)word);
}

/* --- Eight windows --- */

/* The inputs of eight probes, a lane each. */
struct eight_questions {
    __m512i hashes;  /* in the domains of the views */
    __m512i entries; /* of the shards' directories */
    __m512i ranks;   /* of the views */
    __m512i shards;  /* addresses of the first of them */
};

/* The coefficients and fingerprints for their windows. */
struct eight_windows {
    const uint8_t *ends[EIGHT];
    uint64_t matrices[EIGHT]; /* offsets of the orders */
    __m512i coefficients;     /* transposed */
    __m512i fingerprints;
    __m512i ranks;
};

/* Two halves: a word out of the upper half of a vector is not there before the vector has reached
 * the cache. */
BB_CPU_TARGET_AVX512 static inline void store_halves(void *words, __m512i lanes)
{
    __m256i low = _mm512_castsi512_si256(lanes);
    __asm__("" : "+x"(low)); /* else clang makes one of them */
    _mm256_storeu_si256(words, low);
    _mm256_storeu_si256((__m256i *)words + 1, _mm512_extracti64x4_epi64(lanes, 1));
}

/* The product of the lower halves. clang computes 64-bit products where only a half is used. */
BB_CPU_TARGET_AVX512 static inline __m512i product(__m512i a, __m512i b)
{
    __m512i words = _mm512_mul_epu32(a, b);
    __asm__("" : "+v"(words));
    return words;
}

/* See bb_ribbon_tweaked. */
BB_CPU_TARGET_AVX512 static inline __m512i tweaked(const struct eight_constants *known,
                                                   __m512i hashes, __m512i descriptors)
{
    __m512i low = product(descriptors, words(known->tweak));
    __m512i high = product(descriptors, words(known->tweak_high));
    return _mm512_xor_si512(hashes, _mm512_add_epi64(low, _mm512_slli_epi64(high, 32)));
}

/* See bb_ribbon_start_hash; with anything in the upper half. */
BB_CPU_TARGET_AVX512 static inline __m512i start_hashes(const struct eight_constants *known,
                                                        __m512i tweaked)
{
    __m512i low = product(tweaked, words(known->start));
    __m512i cross = product(tweaked, words(known->start_high));
    __m512i across = product(_mm512_srli_epi64(tweaked, 32), words(known->start));
    return _mm512_add_epi64(_mm512_srli_epi64(low, 32), _mm512_add_epi64(cross, across));
}

/* See bb_ribbon_coefficients. The product of 128 bits in parts of 52:
 *
 *     top << 104 + middle << 52 + low
 */
BB_CPU_TARGET_AVX512 static inline __m512i coefficients_of(const struct eight_constants *known,
                                                           __m512i tweaked)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i factor = words(known->coefficient), rest = words(known->coefficient_high);
    __m512i upper = _mm512_srli_epi64(tweaked, 52);
    __m512i low = _mm512_madd52lo_epu64(zero, tweaked, factor);
    __m512i middle = _mm512_madd52hi_epu64(zero, tweaked, factor);
    middle = _mm512_madd52lo_epu64(middle, tweaked, rest);
    middle = _mm512_add_epi64(middle, _mm512_madd52lo_epu64(zero, upper, factor));
    __m512i top = _mm512_madd52lo_epu64(zero, upper, rest);
    top = _mm512_madd52hi_epu64(top, tweaked, rest);
    top = _mm512_madd52hi_epu64(top, upper, factor);
    __m512i high = _mm512_add_epi64(_mm512_srli_epi64(middle, 12), _mm512_slli_epi64(top, 40));
    low = _mm512_ternarylogic_epi64(low, _mm512_slli_epi64(middle, 52), high, EXCLUSIVE_OR);
    return _mm512_or_si512(low, words(known->one));
}

/* The groups after the windows; see bb_ribbon_group. */
BB_CPU_TARGET_AVX512 static inline __m512i end_groups(const struct eight_constants *known,
                                                      __m512i drawn, __m512i sizes)
{
    __m512i ends = _mm512_add_epi64(_mm512_srli_epi64(drawn, 32), words(known->lead));
    ends = _mm512_max_epu32(ends, words(known->window_groups));
    return _mm512_min_epu32(ends, sizes);
}

/* See bb_kind_ribbon_find_window. */
BB_CPU_TARGET_AVX512 static inline void find_eight(const struct eight_constants *known,
                                                   const struct eight_questions *questions,
                                                   struct eight_windows *windows)
{
    __m512i descriptors = _mm512_and_si512(questions->entries, words(known->descriptor));
    __m512i sizes = _mm512_and_si512(questions->entries, words(known->size));
    __m512i ranks = _mm512_add_epi64(questions->ranks, _mm512_srli_epi64(descriptors, 14));
    __m512i hashes = tweaked(known, questions->hashes, descriptors);
    __m512i drawn =
        _mm512_mul_epu32(start_hashes(known, hashes), _mm512_sub_epi64(sizes, words(known->one)));
    __m512i payloads =
        _mm512_add_epi64(questions->shards, _mm512_srli_epi64(questions->entries, 16));
    store_halves(windows->ends,
                 _mm512_madd52lo_epu64(payloads, end_groups(known, drawn, sizes), ranks));
    store_halves(windows->matrices, _mm512_slli_epi64(ranks, 6));
    __asm__("" : "+m"(windows->ends), "+m"(windows->matrices)); /* else gcc takes vectors apart */
    windows->coefficients = _mm512_permutexvar_epi8(_mm512_load_si512(known->transposition),
                                                    coefficients_of(known, hashes));
    windows->fingerprints = _mm512_srli_epi64(drawn, BB_RIBBON_FINGERPRINT_SHIFT);
    windows->ranks = ranks;
}

/* A vector spans two cache lines, which a load fetches one after the other. */
static inline __attribute__((always_inline)) void
prefetch_windows(const struct eight_windows *windows, size_t count)
{
#pragma GCC unroll 8
    for (size_t q = 0; q < count; q++) {
        __builtin_prefetch(windows->ends[q] - 64);
        __builtin_prefetch(windows->ends[q] - 1);
    }
}

/* Lane t, byte q: the part of group t in the sums of probe q. Other bytes are undefined. */
BB_CPU_TARGET_AVX512 static inline __m512i parts_of(const struct eight_constants *known,
                                                    const struct eight_windows *windows, size_t q)
{
    const void *order = (const uint8_t *)known->matrices + windows->matrices[q];
    __m512i window = _mm512_loadu_si512(windows->ends[q] - 64);
    __m512i matrices = _mm512_permutexvar_epi8(_mm512_load_si512(order), window);
    return _mm512_gf2p8affine_epi64_epi8(windows->coefficients, matrices, 0);
}

/* Of the first count of them; a constant. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) __m512i
all_parts(const struct eight_constants *known, const struct eight_windows *windows, size_t count)
{
    __m512i parts = parts_of(known, windows, 0);
#pragma GCC unroll 8
    for (size_t q = 1; q < count; q++)
        parts = _mm512_ternarylogic_epi64(parts, parts_of(known, windows, q),
                                          words(known->byte_of[q]), THIRD_CHOOSES);
    return parts;
}

/* Bit q is the answer to question q, of the first count; a constant. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) uint64_t
agree_eight(const struct eight_constants *known, const struct eight_windows *windows, size_t count)
{
    __m512i sums = _mm512_permutexvar_epi8(_mm512_load_si512(known->transposition),
                                           all_parts(known, windows, count));
    sums = _mm512_xor_si512(sums, _mm512_srli_epi64(sums, 32));
    sums = _mm512_xor_si512(sums, _mm512_srli_epi64(sums, 16));
    __m512i differences = _mm512_ternarylogic_epi64(sums, _mm512_srli_epi64(sums, 8),
                                                    windows->fingerprints, EXCLUSIVE_OR);
    __m512i above = _mm512_sub_epi64(words(known->word_bits), windows->ranks);
    differences = _mm512_sllv_epi64(differences, above);
    return _cvtmask8_u32(_mm512_testn_epi64_mask(differences, differences));
}

/* --- One hash, eight views --- */

/* Fields of up to four views, in the order of the views. */
struct four_views {
    __m512i first;  /* two words of the first parameter, two of the third, twice */
    __m512i second; /* of the second and the fourth */
    __m256i entries;
};

BB_CPU_TARGET_AVX512 static inline __m512i parameters_of(const struct bb_filter_view *view)
{
    return _mm512_castsi256_si512(_mm256_loadu_si256((const void *)view->parameters));
}

BB_CPU_TARGET_AVX512 static inline __m512i parameters_of_two(const struct bb_filter_view *view,
                                                             const struct bb_filter_view *other)
{
    return _mm512_inserti64x4(parameters_of(view),
                              _mm256_loadu_si256((const void *)other->parameters), 1);
}

/* As one word: clang splits bb_load64 if the same load is in two branches. */
static inline long long entry_at(const struct bb_filter_view *view, uint64_t shard)
{
    long long entry;
    memcpy(&entry, view->payload.data + shard * BB_SHARD_ENTRY_SIZE, sizeof(entry));
    return entry;
}

static inline long long entry_of(const struct bb_filter_view *view, uint64_t key_hash)
{
    uint64_t hash = bb_kind_ribbon_hash(view, key_hash);
    return entry_at(view, bb_shard_of(hash, view->parameters[BB_VIEW_SIZE]));
}

BB_CPU_TARGET_AVX512 static inline __m128i entries_of_two(const struct bb_filter_view *const *views,
                                                          uint64_t key_hash)
{
    return _mm_set_epi64x(entry_of(views[1], key_hash), entry_of(views[0], key_hash));
}

/* has_four: a constant; else there are two. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) struct four_views
load_four(const struct bb_filter_view *const *views, bool has_four, uint64_t key_hash)
{
    __m512i even = has_four ? parameters_of_two(views[0], views[2]) : parameters_of(views[0]);
    __m512i odd = has_four ? parameters_of_two(views[1], views[3]) : parameters_of(views[1]);
    __m256i entries = _mm256_castsi128_si256(entries_of_two(views, key_hash));
    if (has_four)
        entries = _mm256_inserti128_si256(entries, entries_of_two(views + 2, key_hash), 1);
    return (struct four_views){.first = _mm512_unpacklo_epi64(even, odd),
                               .second = _mm512_unpackhi_epi64(even, odd),
                               .entries = entries};
}

/* count: a constant, 6 or 8. The last lane probes views[last] instead. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) struct eight_questions
load_views(const struct bb_filter_view *views, size_t count, size_t last, uint64_t key_hash)
{
    const struct bb_filter_view *each[EIGHT];
#pragma GCC unroll 8
    for (size_t i = 0; i < EIGHT; i++)
        each[i] = i + 1 < count ? views + i : views + last;
    struct four_views low = load_four(each, true, key_hash);
    struct four_views high = load_four(each + 4, count > 6, key_hash);
    __m512i domains = _mm512_shuffle_i64x2(low.first, high.first, 0xdd);
    return (struct eight_questions){
        .hashes = _mm512_xor_si512(words(key_hash), domains),
        .entries = _mm512_inserti64x4(_mm512_castsi256_si512(low.entries), high.entries, 1),
        .ranks = _mm512_shuffle_i64x2(low.second, high.second, 0x88),
        .shards = _mm512_shuffle_i64x2(low.second, high.second, 0xdd)};
}

BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) uint64_t
ask_views(const struct bb_filter_view *views, size_t count, size_t last, uint64_t key_hash)
{
    const struct eight_constants *known = eight_constants();
    struct eight_questions questions = load_views(views, count, last, key_hash);
    struct eight_windows windows;
    find_eight(known, &questions, &windows);
    prefetch_windows(&windows, count);
    return agree_eight(known, &windows, count);
}

/* More than eight of them. The last eight are probed together, although some were probed before. */
BB_CPU_TARGET_AVX512 static __attribute__((noinline)) uint64_t
ask_eights(const struct bb_filter_view *views, size_t count, uint64_t key_hash)
{
    const struct eight_constants *known = eight_constants();
    struct eight_windows windows[BB_KIND_BATCH / EIGHT];
    const size_t last = count - EIGHT;
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i += EIGHT) {
        const struct bb_filter_view *first = views + (i < last ? i : last);
        struct eight_questions questions = load_views(first, EIGHT, EIGHT - 1, key_hash);
        find_eight(known, &questions, &windows[i / EIGHT]);
        prefetch_windows(&windows[i / EIGHT], EIGHT);
    }
    for (size_t i = 0; i < count; i += EIGHT)
        bits |= agree_eight(known, &windows[i / EIGHT], EIGHT) << (i < last ? i : last);
    return bits;
}

/* Of an odd number the last view is probed twice. */
BB_CPU_TARGET_AVX512 uint64_t bb_kind_ribbon_avx512_each(const struct bb_filter_view *views,
                                                         size_t count, uint64_t key_hash)
{
    uint64_t bits;
    if (count > EIGHT)
        return ask_eights(views, count, key_hash);
    if (count > 6)
        bits = ask_views(views, 8, count - 1, key_hash);
    else
        bits = ask_views(views, 6, count - 1, key_hash);
    return _bzhi_u64(bits, (uint32_t)count);
}

/* --- Eight hashes, one view --- */

/* Word by word: gathers are slower on a processor with a mitigation for gather data sampling.
 */
BB_CPU_TARGET_AVX512 static inline __m512i entries_of(const struct bb_filter_view *view,
                                                      __m512i hashes)
{
    uint64_t shards[EIGHT];
    long long entries[EIGHT];
    __m512i products =
        _mm512_mul_epu32(_mm512_srli_epi64(hashes, 32), words(view->parameters[BB_VIEW_SIZE]));
    store_halves(shards, _mm512_srli_epi64(products, 32));
    __asm__("" : "+m"(shards));
#pragma GCC unroll 8
    for (size_t i = 0; i < EIGHT; i++)
        entries[i] = entry_at(view, shards[i]);
    return _mm512_set_epi64(entries[7], entries[6], entries[5], entries[4], entries[3], entries[2],
                            entries[1], entries[0]);
}

/* Loads the lanes set in `there`; the others are zeros. */
BB_CPU_TARGET_AVX512 static inline struct eight_questions
load_hashes(const struct bb_filter_view *view, const uint64_t *hashes, __mmask8 there)
{
    __m512i own = _mm512_xor_si512(_mm512_maskz_loadu_epi64(there, hashes),
                                   words(view->parameters[BB_VIEW_DOMAIN]));
    return (struct eight_questions){.hashes = own,
                                    .entries = entries_of(view, own),
                                    .ranks = words(view->parameters[BB_VIEW_PROBES]),
                                    .shards = words(view->parameters[BB_VIEW_OWN])};
}

BB_CPU_TARGET_AVX512 uint64_t bb_kind_ribbon_avx512_many(const struct bb_filter_view *view,
                                                         const uint64_t *hashes, size_t count)
{
    const struct eight_constants *known = eight_constants();
    struct eight_windows windows[BB_KIND_BATCH / EIGHT];
    const uint64_t there = _bzhi_u64(UINT64_MAX, (uint32_t)count);
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i += EIGHT) {
        struct eight_questions questions = load_hashes(view, hashes + i, (__mmask8)(there >> i));
        find_eight(known, &questions, &windows[i / EIGHT]);
        prefetch_windows(&windows[i / EIGHT], EIGHT);
    }
    for (size_t i = 0; i < count; i += EIGHT)
        bits |= agree_eight(known, &windows[i / EIGHT], EIGHT) << i;
    return bits & there;
}
#endif
