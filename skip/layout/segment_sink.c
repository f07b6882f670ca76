/* See segment_sink.h. */
#include "skip/layout/segment_sink.h"

#include "base/status.h"

enum bb_status bb_segment_sink_begin(struct bb_segment_sink *sink, uint32_t granule_count,
                                     enum bb_skip_form form)
{
    sink->segment_count++;
    sink->granule_count += granule_count;
    enum bb_status status = bb_append_u16(&sink->head, (uint16_t)granule_count);
    return status == BB_OK ? bb_append_u8(&sink->head, (uint8_t)form) : status;
}

enum bb_status bb_segment_sink_add_none(struct bb_segment_sink *sink, uint32_t granule_count)
{
    sink->unindexed_granules += granule_count;
    return bb_segment_sink_begin(sink, granule_count, BB_SKIP_FORM_NONE);
}

enum bb_status bb_segment_sink_add_unindexed(struct bb_segment_sink *sink,
                                             const struct bb_granule_bits *unindexed,
                                             uint32_t granule_count)
{
    uint16_t granules[BB_SEGMENT_GRANULES_MAX];
    uint32_t count = bb_granule_bits_list(unindexed, granules);
    enum bb_status status = bb_append_u8(&sink->head, count > 0);
    for (uint32_t first = 0; count > 0 && first < granule_count && status == BB_OK; first += 8)
        status = bb_append_u8(&sink->head, (uint8_t)(unindexed->words[first / 64] >> first % 64));
    sink->unindexed_granules += count;
    return status;
}

enum bb_status bb_segment_sink_add_unit(struct bb_segment_sink *sink, struct bb_bytes unit)
{
    uint64_t offset = 0;
    uint64_t size = unit.size + BB_SKIP_CHECKSUM_SIZE;
    enum bb_status status = bb_unit_writer_append(sink->writer, BB_SKIP_UNIT_DATA, unit, &offset);
    sink->data_bytes += size;
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, offset);
    return status == BB_OK ? bb_append_varint(&sink->head, size) : status;
}
