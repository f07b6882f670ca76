/* Log recovery: writes the operations that are in logs but not in tables to tables of level 0.
 *
 * Sequences have no gaps, so a log must begin where the previous one ended. If it begins later, a
 * power failure destroyed the end of an older log and kept a newer one. The state then ends before
 * the gap, because no state may have a hole. If the newer log was synced, the older one was synced
 * too, and the gap is damage.
 */
#ifndef BB_KV_RECOVERY_REPLAY_H
#define BB_KV_RECOVERY_REPLAY_H

#include "kv/directory/directory.h"
#include "kv/recovery/dropped.h"
#include "kv/store/store.h"
#include "kv/view/write_buffer.h"

/* How far logs were read. */
struct bb_log_check {
    /* Of the next operation; 0 for any. Raised to the end of the read part. */
    uint64_t expected_sequence;
    uint64_t first_sequence; /* expected at the start */
    /* Ends of the logs that the manifest lists; borrowed. */
    const struct bb_wal_end *ends;
    size_t end_count;
    uint64_t record_count;
    struct bb_log_mark last; /* the last record; zeros before the first */
    /* The caller sets the sequence, the walk the check of the record with it. 0: not read yet. */
    struct bb_log_mark wanted;
    uint64_t dropped_bytes;
    /* Logs that end in zeros: written bytes may be lost, in an unknown number. */
    uint64_t zeroed_logs;
    /* Durable data is missing or cannot be read: tolerated. */
    bool is_damaged;
    /* The log begins after the expected sequence, and ends the state. */
    bool is_gap;
};

/* True if a log may have had operations that are not there any more: bytes at its end cannot be
 * read, or the next log begins after a gap. */
static inline bool bb_log_check_has_loss(const struct bb_log_check *check)
{
    return check->is_gap || check->is_damaged || check->dropped_bytes > 0 || check->zeroed_logs > 0;
}

/* A zeroed struct is valid. */
struct bb_replay_report {
    uint64_t log_count;
    struct bb_log_check check; /* after the last log; without ends */
    struct bb_dropped dropped;
    /* Numbers of logs that are damaged or come later than the damage; owned. */
    uint64_t *cut;
    size_t cut_count;
};
void bb_replay_report_deinit(struct bb_replay_report *report);
/* Stores the result of reading this many logs in the report. Dropped data and damage are added to
 * the counts of an earlier repair. */
void bb_replay_describe(const struct bb_log_check *check, const struct bb_dropped *dropped,
                        uint64_t log_count, struct bb_db_recovery *report);

/* Replays the logs that the state needs, in order, and each operation after state->last_sequence.
 * Adds tables to *levels (replaced) and *state; their files are synced, their names are not. Raises
 * the state's last_sequence. Changes no existing file. After a failure the report counts only the
 * records that could be read. */
BB_MUST_CHECK enum bb_status bb_replay_logs(struct bb_db *db, const struct bb_directory *directory,
                                            struct bb_manifest_state *state,
                                            struct bb_levels **levels,
                                            struct bb_replay_report *ret_report);

/* With BB_RECOVERY_POINT_IN_TIME: copies truncated logs to names that are not the store's
 * ("NUMBER.wal.damaged"), so that dropped data is not deleted with them. Otherwise does nothing.
 * Call before the new manifest is published: publishing makes the names durable. */
BB_MUST_CHECK enum bb_status bb_replay_keep_cut_logs(struct bb_db *db,
                                                     const struct bb_replay_report *report);

/* Starts a check at the manifest's state. */
struct bb_log_check bb_replay_check_from(const struct bb_manifest_state *state);
/* Reads a log and checks all of its records without a store. Every operation is passed in order to
 * visit, whose failure ends the check; NULL: only checks. */
BB_MUST_CHECK enum bb_status bb_replay_check_log(
    struct bb_file_system *fs, const char *path, uint64_t number, const uint8_t store_id[16],
    enum bb_recovery recovery, struct bb_log_check *check,
    enum bb_status (*visit)(void *context, const struct bb_entry *entry), void *context);

#endif
