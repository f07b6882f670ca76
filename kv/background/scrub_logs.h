/* The part of a scrub that reads the manifest and the logs, which other threads may append to.
 *
 *     file    [ synced: must be readable | the writer appends here ]
 *                                        ^ durable; read before the file is opened
 *
 * Why no lock is held: the writer appends in order, and a record calls only earlier bytes durable.
 * So a record that is just being written looks like an unsynced tail, which is no damage. A lock
 * would make flushes wait for the device.
 *
 * A read-only store does not know the synced lengths. There the end is judged as by an opening:
 * only damage before bytes that the file itself calls durable counts.
 *
 * Threads: as for the scrub.
 */
#ifndef BB_KV_BACKGROUND_SCRUB_LOGS_H
#define BB_KV_BACKGROUND_SCRUB_LOGS_H

#include "base/file_meter.h"
#include "bb/db_files.h"
#include "kv/store/store.h"

/* A log or a manifest. */
struct bb_scrub_log {
    uint64_t number;
    uint64_t durable; /* all bytes before are synced; 0: unknown */
};

struct bb_scrub_logs {
    struct bb_db *db;
    struct bb_file_meter *meter;
    struct bb_db_scrub_report *report;
    uint64_t first; /* the manifest's first log; 0: unknown */
};

/* True for the result of reading a damaged file. */
static inline bool bb_scrub_logs_is_damage(enum bb_status status)
{
    return status == BB_CORRUPT || status == BB_IO;
}

/* Reads the current manifest, unless it is poisoned: then report.manifests does not change. Damage
 * is marked. Errors: as bb_manifest_read. */
BB_MUST_CHECK enum bb_status bb_scrub_logs_check_manifest(struct bb_scrub_logs *logs);

/* Finds the log with the smallest number of at least `first`; number 0: no such log. *ret_end:
 * above the numbers of all present logs. */
BB_MUST_CHECK enum bb_status bb_scrub_logs_find(struct bb_scrub_logs *logs, uint64_t first,
                                                struct bb_scrub_log *ret_log, uint64_t *ret_end);

/* Reads the log; a log that a flush has removed is not counted. Damage is marked. Errors: as
 * bb_wal_reader. */
BB_MUST_CHECK enum bb_status bb_scrub_logs_check(struct bb_scrub_logs *logs,
                                                 const struct bb_scrub_log *log);

/* The durable bytes of the logs from `first` on. */
uint64_t bb_scrub_logs_work(struct bb_db *db, uint64_t first);

#endif
