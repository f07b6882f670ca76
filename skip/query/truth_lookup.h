/* The truth of each record of a granule, by the number of its value.
 *
 *     truths    of value 0: false    1: true    2: false    3: unknown
 *     numbers   1  1  0  3  2  1                                        packed, width bits each
 *     true      1  1  0  0  0  1
 *     null      0  0  0  1  0  0
 *
 * Numbers of up to four bits are looked up 64 at a time, because this lookup is most of the time of
 * counting a frequent value. Both forms give the same answers; the tests compare them.
 *
 * Threads: any.
 */
#ifndef BB_SKIP_QUERY_TRUTH_LOOKUP_H
#define BB_SKIP_QUERY_TRUTH_LOOKUP_H

#include "bb/base.h"
#include "bloomblock/cpu.h"

struct bb_packed_numbers {
    struct bb_bytes bytes; /* borrowed; BB_BIT_READER_PAD bytes after them are readable */
    uint32_t width;        /* bits of a number */
    uint32_t count;
};

#define BB_TRUTH_TABLE_SPACE 16

/* The truth of each number: enum bb_truth. Numbers from count on have no truth. */
struct bb_truth_table {
    /* Borrowed; BB_TRUTH_TABLE_SPACE bytes are readable, with any contents. */
    const uint8_t *truths;
    size_t count; /* at least 1 */
};

/* Sets bits in *is_true and *is_null, which the caller zeroes. Bit i % 64 of word i / 64 belongs to
 * the i-th number. False: a number has no truth, or the bytes end early; some bits may then be
 * set. */
BB_MUST_CHECK bool bb_truth_lookup(const struct bb_packed_numbers *numbers,
                                   const struct bb_truth_table *table, enum bb_cpu cpu,
                                   uint64_t *is_true, uint64_t *is_null);

#if BB_CPU_X86
/* The same, 64 numbers at a time. REQUIRES: width <= 4, and the bytes hold all numbers. */
BB_MUST_CHECK bool bb_truth_lookup_avx2(const struct bb_packed_numbers *numbers,
                                        const struct bb_truth_table *table, uint64_t *is_true,
                                        uint64_t *is_null);
#endif

#endif
