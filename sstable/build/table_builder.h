/* Internals of the table builder. table_builder.c takes entries and cuts blocks;
 * table_builder_page.c cuts pages; table_builder_end.c writes all that follows the last page. */
#ifndef BB_SSTABLE_BUILD_TABLE_BUILDER_H
#define BB_SSTABLE_BUILD_TABLE_BUILDER_H

#include "sstable/block/block_builder.h"
#include "sstable/build/table_observer.h"
#include "sstable/build/table_ranges.h"
#include "sstable/build/table_writer.h"
#include "sstable/filter/table_filter_builder.h"
#include "sstable/index/index_page_builder.h"
#include "sstable/index/root.h"
#include "sstable/meta/properties.h"

/* By how much the filters of a run's tables are below their target so far. Each kind as its shard
 * builder counts it (bloomblock/table/shard.h): <= 0. */
struct bb_filter_excess {
    double block_filters;
    double table_filter;
};

struct bb_table_builder {
    struct bb_error failure; /* the first failure; status BB_OK until then */
    bool is_finished;
    struct bb_file_system *own_fs; /* owned; NULL when the options name one */
    struct bb_table_options options;
    struct bb_hash_secret secret;
    struct bb_table_id id;
    struct bb_table_writer writer;
    struct bb_properties properties; /* counts are kept up to date */

    struct bb_block_builder block; /* its last_key is the last entry's */
    uint64_t last_sequence;
    uint32_t last_value_size;
    uint64_t last_hash; /* of the last key; set when there is any filter */
    struct bb_index_page_builder page;
    struct bb_buf pages;     /* finished pages of the open group, without checksums */
    size_t page_group_bytes; /* of its pages, at which the group ends */
    struct bb_root_builder root;
    struct bb_block_filter_builder *filters;      /* of the open group; NULL without filters */
    uint32_t group_blocks;                        /* closed blocks of the open group */
    struct bb_table_filter_builder *table_filter; /* builder of the table filter; NULL if none */
    size_t table_filter_part_keys; /* keys after which a part of the table filter ends */
    struct bb_table_ranges ranges;
    struct bb_buf stored;              /* a block, page or section in its stored form */
    struct bb_table_observer observer; /* add is NULL if none */
};

/* Registers an observer for data that is built along with the table. Call before the first entry.
 * The observer is copied; its context must outlive the builder. */
static inline void bb_table_builder_observe(struct bb_table_builder *builder,
                                            const struct bb_table_observer *observer)
{
    builder->observer = *observer;
}

/* Continues the mean rate of the tables before this one in its run, so that it is near the target
 * even if each of them has few keys. Call before the first entry. */
void bb_table_builder_set_excess(struct bb_table_builder *builder, struct bb_filter_excess excess);
/* Like bb_table_builder_finish. ret_file as for bb_table_writer_finish. */
BB_MUST_CHECK enum bb_status bb_table_builder_finish_file(struct bb_table_builder *builder,
                                                          struct bb_table_meta *ret_meta,
                                                          struct bb_file **ret_file);
/* For the next table. REQUIRES: the table is finished. */
struct bb_filter_excess bb_table_builder_excess(const struct bb_table_builder *builder);

/* The id that the table will have: 16 bytes, borrowed from the builder. */
static inline struct bb_bytes bb_table_builder_id(const struct bb_table_builder *builder)
{
    return bb_buf_bytes(&builder->properties.table_id);
}

/* For tests: parts of the table filter smaller than BB_TABLE_FILTER_PART_KEYS. Call before the
 * first entry. */
static inline void bb_table_builder_set_filter_part(struct bb_table_builder *builder,
                                                    size_t key_count)
{
    builder->table_filter_part_keys = key_count;
}

/* For tests: groups of pages smaller than BB_PAGE_GROUP_SIZE. Call before the first entry. */
static inline void bb_table_builder_set_page_group(struct bb_table_builder *builder, size_t bytes)
{
    builder->page_group_bytes = bytes;
}

/* table_builder_page.c. finish_group ends the open filter group. finish_page ends the open page,
 * and its group of pages if that is full. write_pages ends the open group of pages, if any.
 * is_page_cut: the page should end before a block with this fence. */
BB_MUST_CHECK enum bb_status bb_table_builder_finish_group(struct bb_table_builder *builder);
BB_MUST_CHECK enum bb_status bb_table_builder_finish_page(struct bb_table_builder *builder);
BB_MUST_CHECK enum bb_status bb_table_builder_write_pages(struct bb_table_builder *builder);
bool bb_table_builder_is_page_cut(const struct bb_table_builder *builder,
                                  const struct bb_fence *fence);

/* table_builder_end.c: table filter, root, properties, directory, footer. */
BB_MUST_CHECK enum bb_status bb_table_builder_write_end(struct bb_table_builder *builder);

#endif
