/* One lookup in one table. This is the only place of its rule:
 *
 *     NEW           bounds, range tombstones, table filter
 *      |  begin
 *     LET_THROUGH   root, index page, block filter
 *      |  begin
 *     BLOCK         the block, if it is in memory
 *      |  try
 *     AWAITED       the block, which the system reads ahead
 *      |  end
 *     ENDED         `visit` is the result
 *
 * Every step can end the lookup; then the later ones are not taken. The drivers differ in the steps
 * that they call one by one: a get and a pinned get call run, a get of many keys calls begin for
 * many keys, then try, then end, and explain calls begin and end and looks at the state between.
 * For most absent keys a store does not start a lookup at all: see kv/read/denials.h.
 *
 * Threads: any; a lookup belongs to one thread.
 */
#ifndef BB_SSTABLE_TABLE_TABLE_LOOKUP_H
#define BB_SSTABLE_TABLE_TABLE_LOOKUP_H

#include "base/counter.h"
#include "bb/table.h"

struct bb_index_page;
struct bb_table_filter;

enum bb_table_lookup_state {
    BB_LOOKUP_NEW,
    /* A caller starts here when the ready table filter returned maybe for the key. */
    BB_LOOKUP_LET_THROUGH,
    BB_LOOKUP_BLOCK,
    BB_LOOKUP_AWAITED,
    BB_LOOKUP_ENDED,
};

/* The same for all tables in which a key is looked up. All is borrowed. */
struct bb_table_question {
    struct bb_read_options options;
    struct bb_bytes key;
    uint64_t key_hash; /* under the secret of the tables' options */
    uint64_t sequence;
    struct bb_buf *value;     /* receives a copy */
    struct bb_pinned *pinned; /* if not NULL, the value stays in its block instead */
    /* The lookup fails with BB_WOULD_WAIT instead of waiting for the file. pinned is NULL. */
    bool is_immediate;
};

struct bb_table_lookup {
    /* Set by init; state is NEW or LET_THROUGH. */
    struct bb_table *table;
    const struct bb_table_question *question;
    struct bb_read_stats *stats; /* counts are added to it */
    enum bb_table_lookup_state state;

    /* The result, once the lookup has ended without a failure. */
    enum bb_visit visit;
    uint64_t found_sequence; /* after PRESENT and TOMBSTONE */

    /* Set by begin. */
    uint64_t table_hash; /* under the table's secret */
    uint64_t covering;   /* the highest covering sequence; 0 if is_covered is false */
    bool is_covered;     /* a range tombstone covers the key */

    /* The block, once the index was searched. */
    bool is_wanted; /* in the state AWAITED: insert the block into the cache */
    uint32_t ordinal;
    struct bb_index_page *page; /* held in the states BLOCK and AWAITED; NULL before */
    uint64_t block_offset;
};

/* -> NEW or LET_THROUGH. WHY the other fields are not cleared: the steps set each of them before it
 * is read, and a lookup in memory is as short as 70 ns. */
static inline void bb_table_lookup_init(struct bb_table_lookup *lookup, struct bb_table *table,
                                        const struct bb_table_question *question,
                                        struct bb_read_stats *stats,
                                        enum bb_table_lookup_state state)
{
    lookup->table = table;
    lookup->question = question;
    lookup->stats = stats;
    lookup->state = state;
}

/* NEW or LET_THROUGH -> BLOCK or ENDED. Reads no data block. */
BB_MUST_CHECK enum bb_status bb_table_lookup_begin(struct bb_table_lookup *lookup);
/* BLOCK -> AWAITED or ENDED. Searches the block if it is in memory, including the system's page
 * cache; otherwise the system starts to read it ahead. REQUIRES: the question has no pin. */
BB_MUST_CHECK enum bb_status bb_table_lookup_try(struct bb_table_lookup *lookup);
/* BLOCK or AWAITED -> ENDED. Reads the block and searches it. */
BB_MUST_CHECK enum bb_status bb_table_lookup_end(struct bb_table_lookup *lookup);
/* NEW or LET_THROUGH -> ENDED. All steps.
 *
 * For each of the four: after a failure the lookup has ended, without a result. */
BB_MUST_CHECK enum bb_status bb_table_lookup_run(struct bb_table_lookup *lookup);

/* Counts a lookup that ended before it started, because the table filter rules out the key. */
static inline void bb_read_stats_add_denial(struct bb_read_stats *stats)
{
    bb_counter_add(&stats->avoided_requests, 1);
    bb_counter_add(&stats->visits[BB_VISIT_TABLE_FILTER_NEGATIVE], 1);
}

/* The table filter for bb_table_filter_denies (table_filter.h), under the hash that the table is
 * given. It is set when no other check precedes it: it is pinned, has one part, and the table has
 * no range tombstones. NULL while it was not read yet, when the table filter can never be used this
 * way, and after filters are distrusted. Otherwise it stays the same until the table is closed.
 * Probe it only for a key within the table's bounds, with bb_read_options_permit_denials. */
const struct bb_table_filter *bb_table_lookup_ready_filter(const struct bb_table *table);
/* Stops probing the filters of the table, because one ruled out a key that is present. Every
 * omitted probe counts as damaged_filters. The caller must drop any ready table filter that it got
 * before. */
void bb_table_distrust_filters(struct bb_table *table);

#endif
