/* See posting.h. Recursion is at most as deep as BB_SEGMENT_GRANULES_MAX has bits. Any thread. */
#include "skip/bits/posting.h"

#include "base/assert.h"

static void write_between(struct bb_bit_writer *writer, const uint16_t *granules, uint32_t count,
                          uint32_t low, uint32_t end)
{
    while (count > 1 && end - low != count) {
        uint32_t middle = count / 2;
        uint32_t first = low + middle;
        uint32_t value = granules[middle];
        bb_bit_writer_put_bounded(writer, value - first, end - low - count + 1);
        write_between(writer, granules, middle, low, value);
        granules += middle + 1;
        count -= middle + 1;
        low = value + 1;
    }
    if (count == 1)
        bb_bit_writer_put_bounded(writer, *granules - low, end - low);
}

void bb_posting_write(struct bb_bit_writer *writer, const uint16_t *granules, uint32_t count,
                      uint32_t granule_count)
{
    write_between(writer, granules, count, 0, granule_count);
}

static void read_between(struct bb_bit_reader *reader, uint32_t count, uint32_t low, uint32_t end,
                         struct bb_granule_bits *bits)
{
    while (count > 0 && end - low != count) {
        uint32_t middle = count / 2;
        uint32_t value = low + middle;
        value += (uint32_t)bb_bit_reader_take_bounded(reader, end - low - count + 1);
        bb_granule_bits_set(bits, value);
        read_between(reader, middle, low, value, bits);
        count -= middle + 1;
        low = value + 1;
    }
    bb_granule_bits_set_run(bits, low, low + count);
}

void bb_posting_read(struct bb_bit_reader *reader, uint32_t count, uint32_t granule_count,
                     struct bb_granule_bits *bits)
{
    BB_ASSERT(count <= granule_count && granule_count <= BB_SEGMENT_GRANULES_MAX);
    read_between(reader, count, 0, granule_count, bits);
}

static void skip_between(struct bb_bit_reader *reader, uint32_t count, uint32_t low, uint32_t end)
{
    while (count > 0 && end - low != count) {
        uint32_t middle = count / 2;
        uint32_t value = low + middle;
        value += (uint32_t)bb_bit_reader_take_bounded(reader, end - low - count + 1);
        skip_between(reader, middle, low, value);
        count -= middle + 1;
        low = value + 1;
    }
}

void bb_posting_skip(struct bb_bit_reader *reader, uint32_t count, uint32_t granule_count)
{
    if (count == 1)
        (void)bb_bit_reader_take_bounded(reader, granule_count);
    else
        skip_between(reader, count, 0, granule_count);
}
