/* A posting: the granules of a segment that hold a member, as binary interpolative code (Moffat and
 * Stuiver, 2000).
 *
 * Of several granules between low and high, the middle one is written first. Its possible values
 * are those that leave space for the granules on both sides. Then the left half is written, then
 * the right half. If there are as many granules as places, no bits are written. Scattered granules
 * take close to their entropy, and runs take almost no bits. Every string of bits is a valid
 * posting, so a reader need not check values.
 */
#ifndef BB_SKIP_BITS_POSTING_H
#define BB_SKIP_BITS_POSTING_H

#include <string.h>

#include "skip/bits/bit_reader.h"

#define BB_SEGMENT_GRANULES_MAX 1024 /* ON DISK */
#define BB_SEGMENT_WORDS        (BB_SEGMENT_GRANULES_MAX / 64)

/* The granules of a segment, a bit each. */
struct bb_granule_bits {
    uint64_t words[BB_SEGMENT_WORDS];
};

static inline void bb_granule_bits_set(struct bb_granule_bits *bits, uint32_t granule)
{
    bits->words[granule / 64] |= UINT64_C(1) << granule % 64;
}

/* Also sets the bits after the last granule of the segment. */
static inline void bb_granule_bits_set_all(struct bb_granule_bits *bits)
{
    memset(bits, 0xff, sizeof(*bits));
}

/* begin ... end - 1. */
static inline void bb_granule_bits_set_run(struct bb_granule_bits *bits, uint32_t begin,
                                           uint32_t end)
{
    while (begin < end) {
        uint32_t left = 64 - begin % 64;
        uint32_t count = end - begin < left ? end - begin : left;
        bits->words[begin / 64] |= UINT64_MAX >> (64 - count) << begin % 64;
        begin += count;
    }
}

static inline bool bb_granule_bits_has(const struct bb_granule_bits *bits, uint32_t granule)
{
    return (bits->words[granule / 64] >> granule % 64 & 1) != 0;
}

static inline void bb_granule_bits_add(struct bb_granule_bits *bits,
                                       const struct bb_granule_bits *more)
{
    for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
        bits->words[word] |= more->words[word];
}

/* Keeps only the granules that are in both sets. False: no granule remains. */
static inline bool bb_granule_bits_restrict(struct bb_granule_bits *bits,
                                            const struct bb_granule_bits *other)
{
    uint64_t any = 0;
    for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
        any |= bits->words[word] &= other->words[word];
    return any != 0;
}

/* Lists the granules in ascending order. ret_granules: space for all. Returns their number. */
static inline uint32_t bb_granule_bits_list(const struct bb_granule_bits *bits,
                                            uint16_t *ret_granules)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
        for (uint64_t left = bits->words[word]; left != 0; left &= left - 1)
            ret_granules[count++] = (uint16_t)(word * 64 + (uint32_t)__builtin_ctzll(left));
    return count;
}

/* granules: ascending, below granule_count, count of them. */
void bb_posting_write(struct bb_bit_writer *writer, const uint16_t *granules, uint32_t count,
                      uint32_t granule_count);
/* Adds the granules to *bits. REQUIRES: count <= granule_count <= BB_SEGMENT_GRANULES_MAX. */
void bb_posting_read(struct bb_bit_reader *reader, uint32_t count, uint32_t granule_count,
                     struct bb_granule_bits *bits);
void bb_posting_skip(struct bb_bit_reader *reader, uint32_t count, uint32_t granule_count);

#endif
