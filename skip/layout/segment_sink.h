/* Where the segments of one index go: their data into the file, the description of each into the
 * head.
 *
 *     head    := segment*
 *     segment := u16 granules | u8 form | fields of the form
 *
 * Threads: one.
 */
#ifndef BB_SKIP_LAYOUT_SEGMENT_SINK_H
#define BB_SKIP_LAYOUT_SEGMENT_SINK_H

#include "skip/bits/posting.h"
#include "skip/layout/unit_writer.h"

struct bb_segment_sink {
    struct bb_unit_writer *writer; /* borrowed */
    struct bb_buf head;            /* owned */
    uint64_t segment_count;
    uint64_t granule_count; /* of the segments */
    uint64_t unindexed_granules;
    uint64_t pair_count;
    uint64_t data_bytes;
    double false_granules; /* that an absent member is expected in */
};

/* Begins a segment's fields in the head. */
BB_MUST_CHECK enum bb_status bb_segment_sink_begin(struct bb_segment_sink *sink,
                                                   uint32_t granule_count, enum bb_skip_form form);
/* A segment that is not indexed. */
BB_MUST_CHECK enum bb_status bb_segment_sink_add_none(struct bb_segment_sink *sink,
                                                      uint32_t granule_count);
/* Which granules of a segment are not indexed, as fields. */
BB_MUST_CHECK enum bb_status bb_segment_sink_add_unindexed(struct bb_segment_sink *sink,
                                                           const struct bb_granule_bits *unindexed,
                                                           uint32_t granule_count);
/* Writes one unit of data, and its offset and size, the checksum included, as fields. */
BB_MUST_CHECK enum bb_status bb_segment_sink_add_unit(struct bb_segment_sink *sink,
                                                      struct bb_bytes unit);

#endif
