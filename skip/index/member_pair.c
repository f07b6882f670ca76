/* Radix sort of pairs by the hash: once by the high bits, into parts that fit the first-level cache, and
 * each part by the others, lowest digit first. Passes over everything, one for each digit, took three
 * times as long: they miss the caches. See member_pair.h. */
#include "skip/index/member_pair.h"

#include <string.h>

#define PART_BITS   10
#define PART_COUNT  (1 << PART_BITS)
#define DIGIT_COUNT 256
#define PASSES      4 /* even: the last one ends where the first began */
#define SMALL       48

/* The digits of a part: what its pairs differ in, above the granule. */
#define REST_BITS  (BB_MEMBER_HASH_BITS - PART_BITS)
#define DIGIT_BITS ((REST_BITS + PASSES - 1) / PASSES)

static inline size_t part_of(uint64_t pair)
{
    return pair >> (BB_MEMBER_GRANULE_BITS + REST_BITS);
}

static inline size_t digit_of(uint64_t pair, uint32_t pass)
{
    return pair >> (BB_MEMBER_GRANULE_BITS + pass * DIGIT_BITS) & (DIGIT_COUNT - 1);
}

/* Pairs are words that order as wanted. */
static void sort_small(uint64_t *pairs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t pair = pairs[i];
        size_t at = i;
        for (; at > 0 && pairs[at - 1] > pair; at--)
            pairs[at] = pairs[at - 1];
        pairs[at] = pair;
    }
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

static void sort_part(uint64_t *pairs, uint64_t *spare, size_t count)
{
    if (count <= SMALL) {
        sort_small(pairs, count);
        return;
    }
    for (uint32_t pass = 0; pass < PASSES; pass += 2) {
        sort_digit(pairs, spare, count, pass);
        sort_digit(spare, pairs, count, pass + 1);
    }
}

void bb_member_pairs_sort(uint64_t *pairs, uint64_t *spare, size_t count)
{
    uint32_t ends[PART_COUNT] = {0};
    for (size_t i = 0; i < count; i++)
        ends[part_of(pairs[i])]++;
    uint32_t place = 0;
    for (size_t part = 0; part < PART_COUNT; part++) {
        uint32_t size = ends[part];
        ends[part] = place;
        place += size;
    }
    for (size_t i = 0; i < count; i++)
        spare[ends[part_of(pairs[i])]++] = pairs[i];
    uint32_t begin = 0;
    for (size_t part = 0; part < PART_COUNT; part++) {
        sort_part(spare + begin, pairs + begin, ends[part] - begin);
        begin = ends[part];
    }
    if (count > 0)
        memcpy(pairs, spare, count * sizeof(pairs[0]));
}
