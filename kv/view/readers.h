/* The published view and its current readers.
 *
 * A reader needs the current view (kv/view/view.h) without a lock and without writing a counter
 * that other readers write. It announces the view in a free slot, which claims the slot (a hazard
 * pointer: Michael, "Hazard Pointers", IEEE TPDS 2004), and then checks that the view is still
 * current. The store retires an old view and frees it when no slot announces it and no iterator has
 * a reference to it.
 *
 * A slot also holds lookup counters. The thread that has claimed the slot owns them, so counting
 * needs no atomic addition (base/counter.h). A sum reads them without a claim: it does not wait for
 * a reader whose device hangs.
 *
 * Threads: enter, leave and sum from any thread; publish and is_used under the store's mutex.
 */
#ifndef BB_KV_VIEW_READERS_H
#define BB_KV_VIEW_READERS_H

#include <stdatomic.h>

#include "bb/db.h"

struct bb_view;

/* If more lookups run at the same time than there are slots, the rest wait. */
#define BB_READER_COUNT 128

struct bb_reader_counts {
    uint64_t gets;
    uint64_t gets_found;
    uint64_t memtable_visits;
    uint64_t memtable_hits;
    uint64_t shadow_checks;
    uint64_t shadow_contradictions;
    struct bb_read_stats level_reads[BB_LEVEL_COUNT];
    struct bb_read_stats scan_reads;
};

struct bb_reader {
    /* The announced view; NULL: the slot is free. */
    _Alignas(128) _Atomic(struct bb_view *) view;
    /* Values returned through this slot that are not released yet. */
    _Atomic int64_t pinned_values;
    /* The last lookup found its key in a memtable: a guess for the next one. Of the thread that has
     * claimed the slot. */
    bool was_in_memtable;
    struct bb_reader_counts counts;
};

struct bb_readers {
    _Atomic(struct bb_view *) current;
    struct bb_reader *slots; /* BB_READER_COUNT of them; owned */
};

BB_MUST_CHECK enum bb_status bb_readers_init(struct bb_readers *readers);
/* REQUIRES: no reader is inside. The caller owns the current view. */
void bb_readers_deinit(struct bb_readers *readers);

/* Claims a slot and pins the current view until bb_reader_leave. REQUIRES: a view is published. */
struct bb_reader *bb_readers_enter(struct bb_readers *readers, struct bb_view **ret_view);
void bb_reader_leave(struct bb_reader *reader);

/* Makes view the current one. Present readers keep theirs. */
void bb_readers_publish(struct bb_readers *readers, struct bb_view *view);
/* True when a reader announces the view. False is final once the view is not current any more. */
bool bb_readers_is_used(const struct bb_readers *readers, const struct bb_view *view);

/* True when every slot is free. For a child process that inherited them: final, because no reader
 * exists there. */
bool bb_readers_are_gone(const struct bb_readers *readers);

/* The number of currently pinned values. */
int64_t bb_readers_pinned_values(const struct bb_readers *readers);

/* Adds the counts of a lookup to the counts of the slot that its thread has claimed. */
void bb_reader_add_counts(struct bb_reader *reader, const struct bb_reader_counts *counts);
/* Adds an iterator's counts to the totals. REQUIRES: a view is published. */
void bb_readers_add_scan(struct bb_readers *readers, const struct bb_read_stats *stats);
/* The sum over all slots. Of a lookup in progress it may include some counts and not others. */
void bb_readers_sum(const struct bb_readers *readers, struct bb_reader_counts *ret_counts);

/* sum += part, field by field. The caller owns sum; another thread may add to part. */
void bb_readers_add_stats(struct bb_read_stats *sum, const struct bb_read_stats *part);

#endif
