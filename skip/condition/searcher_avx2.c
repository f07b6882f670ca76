/* Searches 32 places at a time. See searcher.h. */
#include "skip/condition/searcher.h"

#if BB_CPU_X86
#include <immintrin.h>

#define PLACES 32

/* The two or three bytes that the search compares, each in 32 lanes. */
struct lanes {
    const uint8_t *text[3]; /* the first place of each byte */
    __m256i byte[3];
    __m256i of_case[3];
};

BB_CPU_TARGET_AVX2 static inline void set_lanes(struct lanes *lanes, size_t i, const uint8_t *text,
                                                uint8_t byte, uint8_t of_case)
{
    lanes->text[i] = text;
    lanes->byte[i] = _mm256_set1_epi8((char)byte);
    lanes->of_case[i] = _mm256_set1_epi8((char)of_case);
}

/* WHY two forms: without the OR for the case, a step takes two operations instead of three. */
BB_CPU_TARGET_AVX2 static inline __m256i equal_at(const struct lanes *lanes, size_t i, size_t from,
                                                  bool ignores_case)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(lanes->text[i] + from));
    if (ignores_case)
        bytes = _mm256_or_si256(bytes, lanes->of_case[i]);
    return _mm256_cmpeq_epi8(bytes, lanes->byte[i]);
}

/* A bit for each of the 32 places from `from` on at which the bytes match. WHY a third byte: if two
 * frequent bytes match often, leaving the loop each time takes longer than a third comparison. */
BB_CPU_TARGET_AVX2 static inline uint32_t places_of(const struct lanes *lanes, size_t from,
                                                    size_t count, bool ignores_case)
{
    __m256i equal = _mm256_and_si256(equal_at(lanes, 0, from, ignores_case),
                                     equal_at(lanes, 1, from, ignores_case));
    if (count == 3)
        equal = _mm256_and_si256(equal, equal_at(lanes, 2, from, ignores_case));
    return (uint32_t)_mm256_movemask_epi8(equal);
}

BB_CPU_TARGET_AVX2 static inline bool step(const struct lanes *lanes, size_t from, size_t end,
                                           size_t count, bool ignores_case, size_t *ret_at)
{
    uint32_t places = 0;
    for (; from + PLACES <= end; from += PLACES) {
        places = places_of(lanes, from, count, ignores_case);
        if (places == 0)
            continue;
        *ret_at = from + (size_t)__builtin_ctz(places);
        return true;
    }
    if (from == end)
        return false;
    /* The last 32 places. The first `known` of them were searched already. */
    size_t known = from - (end - PLACES);
    places = places_of(lanes, end - PLACES, count, ignores_case) >> known;
    if (places == 0)
        return false;
    *ret_at = from + (size_t)__builtin_ctz(places);
    return true;
}

BB_CPU_TARGET_AVX2 bool bb_searcher_step_avx2(const struct bb_searcher *searcher,
                                              const uint8_t *text, size_t from, size_t end,
                                              size_t *ret_at)
{
    const uint8_t *wanted = searcher->wanted.data;
    struct lanes lanes;
    if (end < PLACES || from == end)
        return bb_searcher_step_portable(searcher, text, from, end, ret_at);
    set_lanes(&lanes, 0, text + searcher->first, wanted[searcher->first], searcher->first_case);
    set_lanes(&lanes, 1, text + searcher->second, wanted[searcher->second], searcher->second_case);
    set_lanes(&lanes, 2, text + searcher->third, wanted[searcher->third], searcher->third_case);
    if (searcher->ignores_case)
        return step(&lanes, from, end, 3, true, ret_at);
    return searcher->is_frequent ? step(&lanes, from, end, 3, false, ret_at)
                                 : step(&lanes, from, end, 2, false, ret_at);
}
#endif
