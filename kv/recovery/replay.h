/* Recovery of the logs: what they hold beyond the tables is written to tables of level 0.
 *
 * Sequences are given out without a gap, so a log must begin where the one before it ended. One
 * that begins later shows that a loss of power took the end of an older log and left a newer one:
 * the state ends before the gap, for no state may have a hole. If the newer log had been synced,
 * then the older one had too, and the gap is damage.
 */
#ifndef BB_KV_RECOVERY_REPLAY_H
#define BB_KV_RECOVERY_REPLAY_H

#include "kv/directory.h"
#include "kv/recovery/dropped.h"
#include "kv/store.h"

/* A zeroed struct is valid. */
struct bb_replay_report {
    uint64_t log_count;
    uint64_t record_count;
    uint64_t sequence_first; /* of the records; 0: there are none */
    uint64_t sequence_last;
    struct bb_dropped dropped;
    bool is_damaged; /* some of what was dropped had been synced */
    uint64_t *cut;   /* numbers of logs that are damaged, or come after the damage; owned */
    size_t cut_count;
};
void bb_replay_report_deinit(struct bb_replay_report *report);

/* Replays the logs that the state needs, in order, each operation behind state->last_sequence.
 * Tables are added to *levels (replaced) and *state, their files synced, their names not;
 * last_sequence is raised in the state. Changes no file that exists. After a failure the report has
 * the records that could be read, and nothing else. */
BB_MUST_CHECK enum bb_status bb_replay_logs(struct bb_db *db, const struct bb_directory *directory,
                                            struct bb_manifest_state *state,
                                            struct bb_levels **levels,
                                            struct bb_replay_report *ret_report);

/* With BB_RECOVERY_POINT_IN_TIME: copies logs that were cut to names that are not the store's
 * ("NUMBER.wal.damaged"), so that what was dropped is not removed with them. Else nothing. Call it
 * before the new manifest is published: publishing makes the names durable. */
BB_MUST_CHECK enum bb_status bb_replay_keep_cut_logs(struct bb_db *db,
                                                     const struct bb_replay_report *report);

/* Reads a log and checks all of its records, without a store: for verification. */
struct bb_log_check {
    uint64_t expected_sequence; /* of the next operation, 0 for any; raised behind what was read */
    const struct bb_wal_end *ends; /* of logs of which the manifest tells; borrowed */
    size_t end_count;
    uint64_t record_count;
    uint64_t dropped_bytes;
    bool is_damaged; /* what was durable is missing or cannot be read: tolerated */
    bool is_gap;     /* the log begins behind the expected sequence, and ends the state */
};
/* From the state on. */
struct bb_log_check bb_log_check_from(const struct bb_manifest_state *state);
BB_MUST_CHECK enum bb_status bb_replay_check_log(struct bb_file_system *fs, const char *path,
                                                 uint64_t number, const uint8_t store_id[16],
                                                 enum bb_recovery recovery,
                                                 struct bb_log_check *check);
/* The same, and hands every operation, in order, to visit, whose failure ends it. */
BB_MUST_CHECK enum bb_status bb_replay_visit_log(
    struct bb_file_system *fs, const char *path, uint64_t number, const uint8_t store_id[16],
    enum bb_recovery recovery, struct bb_log_check *check,
    enum bb_status (*visit)(void *context, const struct bb_entry *entry), void *context);

#endif
