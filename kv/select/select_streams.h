/* The candidates of all runs of a view, merged in key order: one stream for each memtable and each
 * run of the levels. Each candidate is returned with its run, for newest.h.
 *
 * Call order: init (first next*)? deinit. Threads: one.
 */
#ifndef BB_KV_SELECT_SELECT_STREAMS_H
#define BB_KV_SELECT_SELECT_STREAMS_H

#include "kv/select/candidates.h"
#include "kv/select/newest.h"

struct bb_select_stream {
    const struct bb_select_streams *all; /* that it belongs to */
    struct bb_iter *iter;                /* owned */
    size_t run;
    bool is_only_version; /* as in struct bb_found */
};

struct bb_select_streams {
    struct bb_candidate_source *source; /* borrowed */
    const struct bb_view *view;         /* borrowed */
    struct bb_select_stream *streams;   /* owned */
    size_t count;
    bool is_backward;
    struct bb_select_stream *current; /* with the current candidate; NULL at the end */
};

/* Opens streams over the source's range. The view must outlive them, and *streams must not move. */
BB_MUST_CHECK enum bb_status bb_select_streams_init(struct bb_select_streams *streams,
                                                    struct bb_candidate_source *source,
                                                    const struct bb_view *view, bool is_backward);
void bb_select_streams_deinit(struct bb_select_streams *streams);

/* Moves to the first candidate in the direction, or to the next one. With BB_OK `current` is its
 * stream, or NULL at the end. */
BB_MUST_CHECK enum bb_status bb_select_streams_first(struct bb_select_streams *streams);
BB_MUST_CHECK enum bb_status bb_select_streams_next(struct bb_select_streams *streams);

#endif
