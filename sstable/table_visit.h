/* A look-up in one table in steps, for many keys at once: first what can be told without a data
 * block, then the block, if it takes no waiting, then with waiting. Together they are bb_table_get,
 * its counts included.
 *
 * Call order: begin, then try at most once, then end; each of the latter two only if the visit has
 * not ended. Threads: any; a visit is for one.
 */
#ifndef BB_SSTABLE_TABLE_VISIT_H
#define BB_SSTABLE_TABLE_VISIT_H

#include "bb/table.h"

struct bb_index_page;
struct bb_summary;

struct bb_table_visit {
    struct bb_table *table;
    bool has_ended;
    enum bb_visit result;       /* when it has ended */
    uint64_t found_sequence;    /* of the version, after PRESENT and TOMBSTONE */
    bool is_covered;            /* by a range tombstone, */
    uint64_t covering;          /* whose sequence is this, the greatest of any; else 0 */
    uint64_t block_offset;      /* else: the block that is to be asked for */
    struct bb_index_page *page; /* and where it was found, held until end */
    uint32_t ordinal;
    bool awaits;    /* was tried, */
    bool is_wanted; /* and whether the cache is to have the block */
};

/* What bb_summary_denies can be asked of (summary.h), with the hash that the table is given, where
 * nothing comes before it: pinned, of one part, in a table without range tombstones. NULL while it
 * was not read yet, where it never will be so, and once the filters are distrusted; else the same
 * until the table is closed. To be
 * asked for a key within the table's bounds, with filters and without account of what is avoided. */
const struct bb_summary *bb_table_ready_summary(const struct bb_table *table);
/* From now on neither the summary nor the filters of the table are asked: one has denied a key that is
 * there. What is not asked counts as damaged_filters. A ready summary that was given out before is to
 * be forgotten. */
void bb_table_distrust_filters(struct bb_table *table);
/* The rest of bb_table_get for a key that it let through; of bb_table_get_pinned, when pinned is not
 * NULL. */
BB_MUST_CHECK enum bb_status bb_table_get_let_through(
    struct bb_table *table, const struct bb_read_options *options, struct bb_bytes key,
    uint64_t key_hash, uint64_t sequence, struct bb_read_stats *stats, struct bb_buf *value,
    struct bb_pinned *pinned, uint64_t *ret_sequence, enum bb_visit *ret_visit);
/* Parameters as of bb_table_get; stats may not be NULL. is_let_through: the ready summary has let the
 * key through. After a failure there is nothing to end. */
BB_MUST_CHECK enum bb_status
bb_table_visit_begin(struct bb_table *table, const struct bb_read_options *options,
                     struct bb_bytes key, uint64_t key_hash, uint64_t sequence, bool is_let_through,
                     struct bb_read_stats *stats, struct bb_table_visit *ret_visit);
/* Asks the block, if it is in memory, the system's included, and ends the visit, also on failure.
 * Else the visit has not ended, and the system begins to fetch the block. */
BB_MUST_CHECK enum bb_status bb_table_visit_try(struct bb_table_visit *visit,
                                                const struct bb_read_options *options,
                                                struct bb_bytes key, uint64_t sequence,
                                                struct bb_read_stats *stats, struct bb_buf *value);
/* Reads the block and ends the visit, also on failure. */
BB_MUST_CHECK enum bb_status bb_table_visit_end(struct bb_table_visit *visit,
                                                const struct bb_read_options *options,
                                                struct bb_bytes key, uint64_t sequence,
                                                struct bb_read_stats *stats, struct bb_buf *value);

#endif
