/* Checks whether an entry of one run is the visible version of its key.
 *
 *     run 0       the active memtable       newest
 *     run 1 ...   frozen memtables
 *     then        the runs of the levels
 *
 * A newer version that does not match the condition may hide a matching record. Each match is
 * therefore looked up in all runs newer than its run, and in its run if that has several versions
 * of a key, or deleted ranges. The filters make this cheap: nearly all runs are ruled out in
 * memory.
 *
 * Threads: one; the view is pinned.
 */
#ifndef BB_KV_SELECT_NEWEST_H
#define BB_KV_SELECT_NEWEST_H

#include "bb/table.h"
#include "kv/view/view.h"

struct bb_newest {
    const struct bb_view *view;             /* borrowed */
    const struct bb_comparator *comparator; /* borrowed; NULL: bytewise */
    const struct bb_hash_secret *secret;    /* borrowed */
    uint64_t sequence;                      /* the reader's */
    struct bb_read_stats stats;             /* of the tables checked */
    uint64_t asked;                         /* number of memtables and tables checked */
};

/* An entry and where it was found. */
struct bb_found {
    size_t run;
    /* The run has no other version of any key, and no deleted ranges. */
    bool is_only_version;
    struct bb_bytes key;
    uint64_t sequence; /* at most the reader's */
};

BB_MUST_CHECK enum bb_status bb_newest_check(struct bb_newest *newest, const struct bb_found *found,
                                             bool *ret_is_newest);

#endif
