/* Radix sort of pairs by the hash, lowest digit first. See member_pair.h. */
#include "skip/index/member_pair.h"

#include <string.h>

#define DIGIT_BITS  10
#define DIGIT_COUNT (1 << DIGIT_BITS)
#define PASSES      (BB_MEMBER_HASH_BITS / DIGIT_BITS) /* even: the last pass ends in pairs */

static inline size_t digit_of(uint64_t pair, uint32_t pass)
{
    return pair >> (BB_MEMBER_GRANULE_BITS + pass * DIGIT_BITS) & (DIGIT_COUNT - 1);
}

static void sort_digit(const uint64_t *from, uint64_t *to, size_t count, uint32_t pass)
{
    uint32_t places[DIGIT_COUNT] = {0};
    for (size_t i = 0; i < count; i++)
        places[digit_of(from[i], pass)]++;
    uint32_t place = 0;
    for (size_t i = 0; i < DIGIT_COUNT; i++) {
        uint32_t size = places[i];
        places[i] = place;
        place += size;
    }
    for (size_t i = 0; i < count; i++)
        to[places[digit_of(from[i], pass)]++] = from[i];
}

void bb_member_pairs_sort(uint64_t *pairs, uint64_t *spare, size_t count)
{
    for (uint32_t pass = 0; pass < PASSES; pass += 2) {
        sort_digit(pairs, spare, count, pass);
        sort_digit(spare, pairs, count, pass + 1);
    }
}
