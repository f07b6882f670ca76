/* Strings of bits that grow and shrink in the middle. Bit b is bit b mod 64 of word b / 64. The
 * owner's words cover the string after the change; all bits after the string are 0. */
#ifndef BB_REDIS_FINGERPRINT_BIT_STRING_H
#define BB_REDIS_FINGERPRINT_BIT_STRING_H

#include <stddef.h>
#include <stdint.h>

/* Bits that one call reads, inserts or removes. */
#define BB_BIT_STRING_FIELD_MAX 48

static inline size_t bb_bit_string_words(uint64_t size_bits)
{
    return (size_t)((size_bits + 63) / 64);
}

/* count bits from at on, 1 ... BB_BIT_STRING_FIELD_MAX, all within the words. */
uint64_t bb_bit_string_get(const uint64_t *words, uint64_t at, uint32_t count);

/* Makes space for count bits at a place of a string of size_bits, and sets them. */
void bb_bit_string_insert(uint64_t *words, uint64_t size_bits, uint64_t at, uint32_t count,
                          uint64_t value);

/* Removes count bits at a place of a string of size_bits. */
void bb_bit_string_remove(uint64_t *words, uint64_t size_bits, uint64_t at, uint32_t count);

/* The place after the count-th zero, which the words contain. 0 for count 0. */
uint64_t bb_bit_string_after_zeros(const uint64_t *words, uint64_t count);

/* The number of ones from at on, before the next zero, which the words contain. */
uint64_t bb_bit_string_ones(const uint64_t *words, uint64_t at);

#endif
