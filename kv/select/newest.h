/* Checks whether an entry of one run is the visible version of its key.
 *
 *     run 0       the active memtable       newest
 *     run 1 ...   frozen memtables
 *     then        the runs of the levels
 *
 * A newer version that does not match the condition may hide a matching record. Each match is
 * therefore looked up in all runs newer than its run. It is also looked up in its own run if that
 * has several versions of a key, or range tombstones. The filters make this cheap: they rule out
 * the key in nearly all runs without a read. Where matches are dense, a cursor follows the run
 * instead (run_cursor.h).
 *
 * Threads: one; the view is pinned.
 */
#ifndef BB_KV_SELECT_NEWEST_H
#define BB_KV_SELECT_NEWEST_H

#include "base/buf.h"
#include "kv/select/run_cursor.h"
#include "kv/view/view.h"

struct bb_newest {
    const struct bb_view *view;             /* borrowed */
    const struct bb_comparator *comparator; /* borrowed; NULL: bytewise */
    const struct bb_hash_secret *secret;    /* borrowed */
    uint64_t sequence;                      /* the reader's */
    struct bb_read_stats stats;             /* of the tables checked */
    uint64_t asked; /* memtables and runs checked; without a cursor, only runs that span the key */
    struct bb_run_cursor *cursors; /* owned: of each run of the levels; NULL: none yet */
    struct bb_buf last_key;        /* owned: the latest key checked since cursors exist */
};

/* An entry and where it was found. */
struct bb_found {
    size_t run;
    /* The run has only one version of each key, and no range tombstones. */
    bool is_only_version;
    struct bb_bytes key;
    uint64_t sequence; /* at most the reader's */
};

/* The caller sets the fields view to sequence; the others begin as zero. */
void bb_newest_deinit(struct bb_newest *newest);

/* Checks whether the entry found is the visible version of its key. */
BB_MUST_CHECK enum bb_status bb_newest_check(struct bb_newest *newest, const struct bb_found *found,
                                             bool *ret_is_newest);

#endif
