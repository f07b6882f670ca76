/* Compaction as background work: picks a compaction, merges in steps, and installs the result.
 * Called by the compacting worker. */
#ifndef BB_KV_BACKGROUND_COMPACTION_WORK_H
#define BB_KV_BACKGROUND_COMPACTION_WORK_H

#include "kv/store/store.h"

/* Runs a step of the current compaction, or begins the next due compaction. *ret_did is false when
 * there is no work. */
BB_MUST_CHECK enum bb_status bb_compaction_work_do_some(struct bb_db *db, bool *ret_did);

/* Cancels the current compaction: removes its outputs and keeps its inputs. */
void bb_compaction_work_abandon(struct bb_db *db);

/* When level 0 has this many times level0_run_count_stop runs, merges no longer yield to flushes
 * and writes that need space. Each yield adds a run, often a small one, and only merges remove
 * runs. Merges never yield to ingests: a failed ingest adds no run, so repeated calls could cancel
 * every merge, even one that would free space. While there is space, bb_db_flush and ingests add
 * runs without a limit. */
#define BB_LEVEL0_STOPS_MAX 2

/* The run of level 0 that needs the space. A frozen memtable becomes a run of level 0. */
enum bb_new_run {
    BB_NEW_RUN_FROZEN,  /* the run is of a memtable that is already frozen */
    BB_NEW_RUN_UNFROZEN /* the run comes after the runs of all frozen memtables */
};

/* True if level 0 has level0_run_count_stop runs. The mutex is held. */
bool bb_compaction_work_is_level0_stopped(const struct bb_db *db);
/* True if with the new run level 0 would have more than BB_LEVEL0_STOPS_MAX times
 * level0_run_count_stop runs. The mutex is held. */
bool bb_compaction_work_is_level0_at_limit(const struct bb_db *db, enum bb_new_run new_run);

/* The number of merges and builds of index files that have ended. Read it before a step that may
 * need their space. */
uint64_t bb_compaction_work_ends(const struct bb_db *db);
/* With threads, called by the flushing worker and by the leader, after a step that found no space:
 * cancels a running merge or build of an index file after its present step, removes its outputs,
 * and prevents another one until bb_compaction_work_end_yield. ends: bb_compaction_work_ends before
 * the step, because a merge that ended during the step has freed space. False if no merge or build
 * has run since, or level 0 is at its limit: then no yield began, so do not end one. The mutex is
 * not held. */
bool bb_compaction_work_begin_yield(struct bb_db *db, enum bb_new_run new_run, uint64_t ends);
void bb_compaction_work_end_yield(struct bb_db *db);
/* The same for the leader, before it repeats a step that failed with BB_NO_SPACE. Until the end of
 * the yield the leader does not wait for level 0. Always false in deterministic mode. */
bool bb_compaction_work_begin_leader_yield(struct bb_db *db, uint64_t ends);
void bb_compaction_work_end_leader_yield(struct bb_db *db);

#endif
