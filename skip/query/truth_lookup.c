/* See truth_lookup.h. */
#include "skip/query/truth_lookup.h"

#include <assert.h>

#include "bb/condition.h"
#include "skip/bits/bit_reader.h"

static_assert(BB_TRUTH_FALSE == 0 && BB_TRUTH_TRUE == 1 && BB_TRUTH_UNKNOWN == 2,
              "the bits of a truth are true and null");

#define WIDE_WIDTH_MAX 4

/* One number after the other. */
static bool look_up(const struct bb_packed_numbers *numbers, const struct bb_truth_table *table,
                    uint64_t *is_true, uint64_t *is_null)
{
    struct bb_bit_reader reader = bb_bit_reader_of(numbers->bytes);
    for (uint32_t i = 0; i < numbers->count; i++) {
        uint64_t number = bb_bit_reader_take(&reader, numbers->width);
        if (number >= table->count)
            return false;
        uint64_t truth = table->truths[number];
        is_true[i / 64] |= (truth & 1) << i % 64;
        is_null[i / 64] |= (truth >> 1) << i % 64;
    }
    return true;
}

bool bb_truth_lookup(const struct bb_packed_numbers *numbers, const struct bb_truth_table *table,
                     enum bb_cpu cpu, uint64_t *is_true, uint64_t *is_null)
{
    if (numbers->bytes.size < ((uint64_t)numbers->count * numbers->width + 7) / 8)
        return false;
#if BB_CPU_X86
    if (cpu >= BB_CPU_AVX2 && numbers->width <= WIDE_WIDTH_MAX)
        return bb_truth_lookup_avx2(numbers, table, is_true, is_null);
#endif
    (void)cpu;
    return look_up(numbers, table, is_true, is_null);
}
