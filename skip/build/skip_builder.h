/* The inside of a builder of an index file (bb/skip.h). Threads: one. */
#ifndef BB_SKIP_BUILD_SKIP_BUILDER_H
#define BB_SKIP_BUILD_SKIP_BUILDER_H

#include "skip/layout/granule_table.h"
#include "skip/build/index_builder.h"

struct bb_skip_builder {
    struct bb_error failure; /* the first one, status BB_OK before */
    bool is_finished;
    struct bb_file_system *own_fs; /* owned; NULL when the options name one */
    struct bb_unit_writer writer;
    struct bb_index_directory directory; /* attributes; the rest is filled in by finish */
    struct bb_index_builder *indexes;    /* owned */
    size_t index_count;
    const struct bb_schema *schema;  /* borrowed */
    struct bb_record_reader *reader; /* owned: of the attributes with indexes */
    struct bb_attribute *attributes; /* owned: filled by the reader, for the whole schema */
    uint32_t *numbers;               /* owned: in the schema, of the file's attributes */
    uint32_t *counts;      /* owned: of the current granule, BB_GRANULE_STATES for each attribute */
    uint64_t record_count; /* of the current granule */
    struct bb_buf
        parts; /* owned: of the current granule, u32 records of each part that has ended */
    uint64_t part_records; /* of those, all together */
    struct bb_granule_table_builder granules;
    struct bb_buf spare; /* owned: for sorting, and for the last sections */
};

/* For indexes that represent the indexes of a file with `others` more of a kind with members: their
 * segments end where they would there, because all indexes of a file share the memory for pairs.
 * Before the first record. */
void bb_skip_builder_leave_space(struct bb_skip_builder *builder, size_t others);

#endif
