/* Builds one index of a file: the interface of all kinds for the builder of the file.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_BUILD_INDEX_BUILDER_H
#define BB_SKIP_BUILD_INDEX_BUILDER_H

#include "skip/kind/column.h"
#include "skip/layout/index_directory.h"
#include "skip/kind/member_index.h"
#include "skip/kind/min_max.h"
#include "skip/kind/text_index.h"
#include "skip/kind/value_set.h"

struct bb_index_builder {
    struct bb_skip_spec spec;
    uint32_t granule_count;  /* of the current segment */
    bool is_full;            /* the segment has to end */
    uint64_t taken_granules; /* the first ones of the file, whose segments are another file's */
    struct bb_segment_sink sink;
    union {
        struct bb_min_max_builder min_max;
        struct bb_value_set_builder set;
        struct bb_column_builder column;
        struct bb_member_index_builder members;
        struct bb_text_index_builder text;
    } as;
};

/* type: of the attribute. pairs_max: of a segment of a kind with members. */
BB_MUST_CHECK enum bb_status bb_index_builder_init(struct bb_index_builder *builder,
                                                   const struct bb_skip_spec *spec,
                                                   enum bb_attribute_type type,
                                                   const struct bb_hash_secret *secret,
                                                   size_t pairs_max, struct bb_unit_writer *writer);
/* The same for the records that follow. */
void bb_index_builder_set_pairs_max(struct bb_index_builder *builder, size_t pairs_max);
void bb_index_builder_deinit(struct bb_index_builder *builder);
/* attribute: of the index's attribute, in any state. */
void bb_index_builder_add(struct bb_index_builder *builder, const struct bb_attribute *attribute);
/* parts: u32 records of each part of the granule, or nothing. spare:
 * bb_member_index_builder_end_segment. */
BB_MUST_CHECK enum bb_status bb_index_builder_end_granule(struct bb_index_builder *builder,
                                                          struct bb_bytes parts,
                                                          struct bb_buf *spare);
/* Ends the last segment and writes the head. */
BB_MUST_CHECK enum bb_status bb_index_builder_finish(struct bb_index_builder *builder,
                                                     struct bb_buf *spare,
                                                     struct bb_directory_entry *ret_index);

#endif
