/* A set of numbers, which a query searches without decoding all of it. It has one of two codes. The
 * binary interpolative code of posting.h takes fewer bits for clusters of numbers. Gaps in Rice
 * code take a third of a bit less for each number if the numbers are scattered. */
#ifndef BB_SKIP_BITS_NUMBER_SET_H
#define BB_SKIP_BITS_NUMBER_SET_H

#include "skip/bits/posting.h"

/* ON DISK: the value that replaces a shift. */
#define BB_NUMBER_SET_INTERPOLATED 255u

#define BB_NUMBER_SET_END_MAX (UINT64_C(1) << 50)

/* numbers: ascending, below end, count of them. shift: of the Rice code of gaps, 0 ... 50, or
 * BB_NUMBER_SET_INTERPOLATED. */
void bb_number_set_write(struct bb_bit_writer *writer, const uint64_t *numbers, size_t count,
                         uint64_t end, uint32_t shift);
/* Bits that gaps take. */
uint64_t bb_number_set_gap_bits(const uint64_t *numbers, size_t count, uint32_t shift);
/* Sets the bit of number - from in *bits, for each number in from ... from + granule_count - 1.
 * Does not read later numbers, so the position of the reader is then unspecified. REQUIRES: count
 * <= end <= BB_NUMBER_SET_END_MAX, granule_count <= BB_SEGMENT_GRANULES_MAX. */
void bb_number_set_find(struct bb_bit_reader *reader, uint64_t count, uint64_t end, uint32_t shift,
                        uint64_t from, uint32_t granule_count, struct bb_granule_bits *bits);
/* Passes all of them. */
void bb_number_set_skip(struct bb_bit_reader *reader, uint64_t count, uint64_t end, uint32_t shift);

#endif
