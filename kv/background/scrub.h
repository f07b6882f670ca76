/* Checks the live tables of an open store, one after the other in the order of their numbers, and
 * then the manifest and the logs (scrub_logs.h).
 *
 *     numbers   3   7   8   12   15   21        40, 41: written since
 *                       ^ next        ^ end
 *
 * A compaction's outputs have higher numbers than its inputs, and a moved table keeps its number.
 * No table that existed at the start is therefore checked twice, and only tables that a compaction
 * has read in the meantime are skipped. The scrub holds one reference, to the current table, which
 * keeps its file. See docs/durability.md, "Scrubbing".
 *
 * Threads: one per scrub, any number of scrubs.
 */
#ifndef BB_KV_BACKGROUND_SCRUB_H
#define BB_KV_BACKGROUND_SCRUB_H

#include "base/file_meter.h"
#include "bb/db_files.h"
#include "kv/background/scrub_logs.h"
#include "kv/store/store.h"

/* A bit in the position of a scrub: all tables are done, and the other bits are the number of the
 * next log; 0: the manifest is next. No file number has this bit. */
#define BB_SCRUB_AT_LOGS (UINT64_C(1) << 63)

struct bb_scrub {
    struct bb_db *db;
    struct bb_file_meter meter;
    /* Both get the scrub's context. `rest` waits for about this long by the file system's clock,
     * possibly less. False from `tell` stops the scrub. */
    void (*rest)(void *context, uint64_t nanoseconds);
    bool (*tell)(void *context, const struct bb_db_scrub_report *so_far);
    void *context;
    uint64_t next; /* the next table has this number or a higher one */
    uint64_t end;
    /* Number up to which tables are checked after the end; 0: no wrap. */
    uint64_t wrap;
    bool is_at_logs; /* the tables are done */
    bool is_complete;
    uint64_t next_log; /* 0: the manifest is next */
    uint64_t end_log;  /* above the logs at the start of their checks; 0: not known yet */
    struct bb_scrub_logs logs;
    bool is_stopped;
    struct bb_table_file *file; /* current one */
    struct bb_db_scrub_report report;
    struct bb_error damage; /* the first damage; BB_OK if none */
};

/* Over all present tables with this number or a higher one; with wraps, also over the tables below
 * it afterwards. With BB_SCRUB_AT_LOGS: over the logs from there on. */
void bb_scrub_init(struct bb_scrub *scrub, struct bb_db *db, uint64_t first, bool wraps);

/* Checks the next file. *ret_has_file: one existed. Damage is recorded and reported, and is not a
 * failure. After a failure the same file remains the next. Errors: BB_BUSY when the store is being
 * closed, or when `tell` has stopped the scrub (is_stopped). */
BB_MUST_CHECK enum bb_status bb_scrub_next(struct bb_scrub *scrub, bool *ret_has_file);

/* Skips the next file. */
void bb_scrub_skip(struct bb_scrub *scrub);

/* The approximate number of bytes still to read. Also updates the report: the sizes of the
 * remaining tables and the position. */
uint64_t bb_scrub_work_left(struct bb_scrub *scrub);

/* Rests for this long. Errors: BB_BUSY as above. */
BB_MUST_CHECK enum bb_status bb_scrub_rest(struct bb_scrub *scrub, uint64_t nanoseconds);

/* Ends the scrub, early or after all files. Counts it only if it is complete. */
void bb_scrub_end(struct bb_scrub *scrub);

#endif
