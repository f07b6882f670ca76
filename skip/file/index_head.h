/* The decoded head of an index, which describes its segments. segment_sink.h draws the bytes.
 * Constant. */
#ifndef BB_SKIP_FILE_INDEX_HEAD_H
#define BB_SKIP_FILE_INDEX_HEAD_H

#include "skip/layout/index_directory.h"
#include "skip/kind/min_max.h"

/* Some granules of a column, in one unit. */
struct bb_head_chunk {
    uint32_t first_granule; /* of the segment */
    uint32_t granule_count;
    struct bb_skip_section data;
};

/* A block of a dictionary. */
struct bb_head_block {
    struct bb_bytes fence; /* of the head's bytes */
    struct bb_skip_section data;
};

struct bb_head_segment {
    uint64_t first_granule;
    uint32_t granule_count; /* 1 ... BB_SEGMENT_GRANULES_MAX */
    enum bb_skip_form form;
    struct bb_skip_section data;  /* BOUNDS, VALUES: a unit; others: all data */
    struct bb_read_bounds bounds; /* BOUNDS: of the segment */
    struct bb_segment inverted;   /* INVERTED, RIBBONS */
    /* A bit for each granule that the segment does not index; NULL: it indexes all. See
     * bb_head_segment_indexes. */
    const uint8_t *unindexed;
    struct bb_head_chunk *chunks; /* COLUMN; owned */
    uint32_t chunk_count;
    struct bb_head_block *blocks; /* DICTIONARY; owned */
    uint32_t block_count;
    uint64_t token_count; /* DICTIONARY */
    uint64_t pair_count;  /* DICTIONARY */
    /* The fields in the head: before the offset of the data, and after it. NONE and COLUMN have no
     * such offset: all is before it. */
    struct bb_bytes before;
    struct bb_bytes after;
};

/* False when the segment excludes no member from the granule, because the granule had too many.
 * granule: counted from the first one of the segment. */
static inline bool bb_head_segment_indexes(const struct bb_head_segment *segment, uint32_t granule)
{
    return segment->unindexed == NULL || (segment->unindexed[granule / 8] >> granule % 8 & 1) == 0;
}

struct bb_index_head {
    struct bb_buf bytes;              /* owned: memory that segments point to */
    struct bb_head_segment *segments; /* owned */
    size_t segment_count;
};

/* Takes ownership of the bytes, the head without its checksum, also on failure. BB_CORRUPT,
 * BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_index_head_decode(struct bb_buf *bytes,
                                                  const struct bb_index_directory *directory,
                                                  const struct bb_directory_entry *index,
                                                  uint64_t file_size, struct bb_place place,
                                                  struct bb_index_head *ret_head);
void bb_index_head_deinit(struct bb_index_head *head);

/* The number of the segment that has a granule of the file. */
size_t bb_index_head_find(const struct bb_index_head *head, size_t granule);

#endif
