/* See number_set.h. Recursion is as deep as the count has bits: each level halves it. Any
 * thread. */
#include "skip/bits/number_set.h"

#include "base/assert.h"

static void write_between(struct bb_bit_writer *writer, const uint64_t *numbers, size_t count,
                          uint64_t low, uint64_t end)
{
    while (count > 1 && end - low != count) {
        size_t middle = count / 2;
        uint64_t number = numbers[middle];
        bb_bit_writer_put_bounded(writer, number - low - middle, end - low - count + 1);
        write_between(writer, numbers, middle, low, number);
        numbers += middle + 1;
        count -= middle + 1;
        low = number + 1;
    }
    if (count == 1)
        bb_bit_writer_put_bounded(writer, *numbers - low, end - low);
}

static void write_gaps(struct bb_bit_writer *writer, const uint64_t *numbers, size_t count,
                       uint32_t shift)
{
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        bb_bit_writer_put_rice(writer, numbers[i] - next, shift);
        next = numbers[i] + 1;
    }
}

uint64_t bb_number_set_gap_bits(const uint64_t *numbers, size_t count, uint32_t shift)
{
    uint64_t next = 0;
    uint64_t bits = count * (UINT64_C(1) + shift);
    for (size_t i = 0; i < count; i++) {
        bits += (numbers[i] - next) >> shift;
        next = numbers[i] + 1;
    }
    return bits;
}

void bb_number_set_write(struct bb_bit_writer *writer, const uint64_t *numbers, size_t count,
                         uint64_t end, uint32_t shift)
{
    if (shift == BB_NUMBER_SET_INTERPOLATED)
        write_between(writer, numbers, count, 0, end);
    else
        write_gaps(writer, numbers, count, shift);
}

/* The searched numbers: from ... to - 1. */
struct search {
    uint64_t from;
    uint64_t to;
    struct bb_granule_bits *bits;
};

/* All of low ... end - 1 are in the set. */
static void add_run(const struct search *search, uint64_t low, uint64_t end)
{
    uint64_t first = low > search->from ? low : search->from;
    uint64_t last = end < search->to ? end : search->to;
    for (uint64_t number = first; number < last; number++)
        bb_granule_bits_set(search->bits, (uint32_t)(number - search->from));
}

/* False: later numbers are outside of the search, or the bits have ended. */
static bool find_between(struct bb_bit_reader *reader, uint64_t count, uint64_t low, uint64_t end,
                         const struct search *search)
{
    while (count > 0) {
        if (low >= search->to || reader->is_past_end)
            return false;
        if (end - low == count) {
            add_run(search, low, end);
            return true;
        }
        uint64_t middle = count / 2;
        uint64_t number = low + middle + bb_bit_reader_take_bounded(reader, end - low - count + 1);
        if (number >= search->from && number < search->to)
            bb_granule_bits_set(search->bits, (uint32_t)(number - search->from));
        if (!find_between(reader, middle, low, number, search))
            return false;
        count -= middle + 1;
        low = number + 1;
    }
    return true;
}

static void find_gaps(struct bb_bit_reader *reader, uint64_t count, uint32_t shift,
                      const struct search *search)
{
    uint64_t next = 0;
    for (uint64_t i = 0; i < count && !reader->is_past_end; i++) {
        uint64_t number = next + bb_bit_reader_take_rice(reader, shift);
        if (number >= search->to || reader->is_past_end)
            return;
        if (number >= search->from)
            bb_granule_bits_set(search->bits, (uint32_t)(number - search->from));
        next = number + 1;
    }
}

void bb_number_set_find(struct bb_bit_reader *reader, uint64_t count, uint64_t end, uint32_t shift,
                        uint64_t from, uint32_t granule_count, struct bb_granule_bits *bits)
{
    BB_DEBUG_ASSERT(count <= end && end <= BB_NUMBER_SET_END_MAX);
    BB_DEBUG_ASSERT(granule_count <= BB_SEGMENT_GRANULES_MAX);
    struct search search = {.from = from, .to = from + granule_count, .bits = bits};
    if (shift == BB_NUMBER_SET_INTERPOLATED)
        (void)find_between(reader, count, 0, end, &search);
    else
        find_gaps(reader, count, shift, &search);
}

static void skip_between(struct bb_bit_reader *reader, uint64_t count, uint64_t low, uint64_t end)
{
    while (count > 0 && end - low != count && !reader->is_past_end) {
        uint64_t middle = count / 2;
        uint64_t number = low + middle + bb_bit_reader_take_bounded(reader, end - low - count + 1);
        skip_between(reader, middle, low, number);
        count -= middle + 1;
        low = number + 1;
    }
}

void bb_number_set_skip(struct bb_bit_reader *reader, uint64_t count, uint64_t end, uint32_t shift)
{
    if (shift == BB_NUMBER_SET_INTERPOLATED) {
        skip_between(reader, count, 0, end);
        return;
    }
    for (uint64_t i = 0; i < count && !reader->is_past_end; i++)
        (void)bb_bit_reader_take_rice(reader, shift);
}
