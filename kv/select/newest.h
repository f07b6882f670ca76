/* Is an entry of one run the version of its key that a reader sees?
 *
 *     run 0       the active memtable       newest
 *     run 1 ...   frozen memtables
 *     then        the runs of the levels
 *
 * A record that matches a condition may be hidden by a newer version that does not, so that each match
 * is looked up in all that is newer than its run, and in its own run where that has several versions
 * of a key, or deleted ranges. The key filters make it cheap: nearly all runs are asked in memory.
 *
 * Threads: one; the view is pinned.
 */
#ifndef BB_KV_SELECT_NEWEST_H
#define BB_KV_SELECT_NEWEST_H

#include "bb/table.h"
#include "kv/view.h"

struct bb_newest {
    const struct bb_view *view;             /* borrowed */
    const struct bb_comparator *comparator; /* borrowed; NULL: bytewise */
    const struct bb_hash_secret *secret;    /* borrowed */
    uint64_t sequence;                      /* that the reader reads as of */
    struct bb_read_stats stats;             /* of tables asked */
    uint64_t asked;                         /* memtables and tables asked */
};

/* An entry and where it was found. */
struct bb_found {
    size_t run;
    bool is_only_version; /* the run has no other version of any key, and no deleted ranges */
    struct bb_bytes key;
    uint64_t sequence; /* at most the reader's */
};

BB_MUST_CHECK enum bb_status bb_newest_check(struct bb_newest *newest, const struct bb_found *found,
                                             bool *ret_is_newest);

#endif
