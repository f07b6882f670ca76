/* A lookup in one table in steps, for batches of keys: first the part that needs no data block,
 * then the block if it is available without waiting, then with waiting. Together the steps are
 * equivalent to bb_table_get, including its counts.
 *
 * Call order: begin, then try at most once, then end. try and end are called only while the visit
 * has not ended.
 * Threads: any; a visit belongs to one thread.
 */
#ifndef BB_SSTABLE_TABLE_VISIT_H
#define BB_SSTABLE_TABLE_VISIT_H

#include "bb/table.h"

struct bb_index_page;
struct bb_summary;

struct bb_table_visit {
    struct bb_table *table;
    bool has_ended;
    enum bb_visit result;       /* set when the visit has ended */
    uint64_t found_sequence;    /* of the version, after PRESENT and TOMBSTONE */
    bool is_covered;            /* a range tombstone covers the key */
    uint64_t covering;          /* the highest covering sequence; 0 if is_covered is false */
    uint64_t block_offset;      /* if it has not ended: the block to read */
    struct bb_index_page *page; /* the page of that block, held until end */
    uint32_t ordinal;
    bool awaits;    /* try was called */
    bool is_wanted; /* result of try: insert the block into the cache */
};

/* The table filter for bb_summary_denies (summary.h), under the hash that the table is given. It is
 * set when no other check precedes it: it is pinned, has one part, and the table has no range
 * tombstones. NULL while it was not read yet, when the table filter can never be used this way, and
 * after filters are distrusted. Otherwise it stays the same until the table is closed. Probe it
 * only for a key within the table's bounds, when filters are in use and statistics of avoided work
 * are not needed. */
const struct bb_summary *bb_table_ready_summary(const struct bb_table *table);
/* Stops probing the filters of the table, because one denied a key that is present. Every omitted
 * probe counts as damaged_filters. The caller must drop any ready table filter that it got
 * before. */
void bb_table_distrust_filters(struct bb_table *table);
/* Continues bb_table_get for a key for which the table filter returned maybe, or
 * bb_table_get_pinned when pinned is not NULL. */
BB_MUST_CHECK enum bb_status bb_table_get_let_through(
    struct bb_table *table, const struct bb_read_options *options, struct bb_bytes key,
    uint64_t key_hash, uint64_t sequence, struct bb_read_stats *stats, struct bb_buf *value,
    struct bb_pinned *pinned, uint64_t *ret_sequence, enum bb_visit *ret_visit);
/* Parameters as for bb_table_get; stats must not be NULL. is_let_through: the ready table filter
 * returned maybe for the key. After a failure there is nothing to end. */
BB_MUST_CHECK enum bb_status
bb_table_visit_begin(struct bb_table *table, const struct bb_read_options *options,
                     struct bb_bytes key, uint64_t key_hash, uint64_t sequence, bool is_let_through,
                     struct bb_read_stats *stats, struct bb_table_visit *ret_visit);
/* If the block is in memory, including the system's page cache, searches it and ends the visit,
 * also on failure. Otherwise the visit continues, and the system starts to read the block ahead. */
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
