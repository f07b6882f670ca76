/* See bit_string.h. */
#include "redis/fingerprint/bit_string.h"

static uint64_t low_mask(uint64_t bits)
{
    return (UINT64_C(1) << bits) - 1;
}

uint64_t bb_bit_string_get(const uint64_t *words, uint64_t at, uint32_t count)
{
    uint64_t offset = at % 64;
    uint64_t value = words[at / 64] >> offset;
    if (offset + count > 64)
        value |= words[at / 64 + 1] << (64 - offset);
    return value & low_mask(count);
}

/* Sets bits that are 0. */
static void put(uint64_t *words, uint64_t at, uint32_t count, uint64_t value)
{
    uint64_t offset = at % 64;
    words[at / 64] |= value << offset;
    if (offset + count > 64)
        words[at / 64 + 1] |= value >> (64 - offset);
}

void bb_bit_string_insert(uint64_t *words, uint64_t size_bits, uint64_t at, uint32_t count,
                          uint64_t value)
{
    uint64_t first = at / 64;
    uint64_t kept = words[first] & low_mask(at % 64);
    for (uint64_t word = (size_bits + count - 1) / 64; word > first; word--)
        words[word] = words[word] << count | words[word - 1] >> (64 - count);
    words[first] <<= count;
    /* The bits moved from the first word begin at the place + count, perhaps in the next word. */
    uint64_t cleared = at % 64 + count;
    if (cleared < 64) {
        words[first] &= ~low_mask(cleared);
    } else {
        words[first] = 0;
        if (cleared > 64)
            words[first + 1] &= ~low_mask(cleared - 64);
    }
    words[first] |= kept;
    put(words, at, count, value);
}

void bb_bit_string_remove(uint64_t *words, uint64_t size_bits, uint64_t at, uint32_t count)
{
    uint64_t first = at / 64;
    uint64_t last = (size_bits - 1) / 64;
    uint64_t kept = words[first] & low_mask(at % 64);
    /* The bits before the place go, so that the rest of the string moves as a whole. */
    words[first] &= ~low_mask(at % 64);
    uint64_t from = at + count;
    if (from / 64 > first) {
        words[first] = 0;
        if (from / 64 <= last)
            words[from / 64] &= ~low_mask(from % 64);
    } else {
        words[first] &= ~low_mask(from % 64);
    }
    for (uint64_t word = first; word < last; word++)
        words[word] = words[word] >> count | words[word + 1] << (64 - count);
    words[last] >>= count;
    words[first] |= kept;
}

/* The place of the count-th one of a word, count from 1. */
static uint64_t select_one(uint64_t word, uint64_t count)
{
    uint64_t at = 0;
    for (uint64_t half = 32; half >= 8; half /= 2) {
        uint64_t ones = (uint64_t)__builtin_popcountll(word & low_mask(half));
        if (ones < count) {
            count -= ones;
            word >>= half;
            at += half;
        }
    }
    while (--count > 0)
        word &= word - 1;
    return at + (uint64_t)__builtin_ctzll(word);
}

uint64_t bb_bit_string_after_zeros(const uint64_t *words, uint64_t count)
{
    if (count == 0)
        return 0;
    for (uint64_t word = 0;; word++) {
        uint64_t zeros = (uint64_t)__builtin_popcountll(~words[word]);
        if (zeros >= count)
            return word * 64 + select_one(~words[word], count) + 1;
        count -= zeros;
    }
}

uint64_t bb_bit_string_ones(const uint64_t *words, uint64_t at)
{
    uint64_t rest = ~words[at / 64] >> (at % 64);
    if (rest != 0)
        return (uint64_t)__builtin_ctzll(rest);
    uint64_t count = 64 - at % 64;
    for (uint64_t word = at / 64 + 1;; word++) {
        if (words[word] != UINT64_MAX)
            return count + (uint64_t)__builtin_ctzll(~words[word]);
        count += 64;
    }
}
