/* Checks of the live tables of an open store, one after the other in the order of their numbers.
 *
 *     numbers   3   7   8   12   15   21        40, 41: written since
 *                       ^ next        ^ end
 *
 * A compaction gives its outputs greater numbers than its inputs have, and a table that moves keeps
 * its own: so no table that there was at the beginning is met twice, and none is missed but those that
 * a compaction has read meanwhile. One reference to the table at hand keeps its file, and nothing else
 * is held. docs/durability.md, "Scrubbing".
 *
 * Threads: one per scrub, any number of scrubs.
 */
#ifndef BB_KV_BACKGROUND_SCRUB_H
#define BB_KV_BACKGROUND_SCRUB_H

#include "base/file_meter.h"
#include "bb/db_files.h"
#include "kv/store.h"

struct bb_scrub {
    struct bb_db *db;
    struct bb_file_meter meter;
    /* Both with the scrub's context. `rest` waits for about so much of the file system's clock; it may
     * be less. False from `tell`: the scrub stops. */
    void (*rest)(void *context, uint64_t nanoseconds);
    bool (*tell)(void *context, const struct bb_db_scrub_report *so_far);
    void *context;
    uint64_t next; /* the table to check next has this number or the one after it */
    uint64_t end;
    uint64_t wrap; /* behind the end, those below this number are checked too; 0: none */
    bool is_stopped;
    struct bb_table_file *file; /* at hand */
    struct bb_db_scrub_report report;
    struct bb_error damage; /* the first; BB_OK: none */
};

/* Over all tables from this number on that there are now; with wraps, over those below it afterwards. */
void bb_scrub_init(struct bb_scrub *scrub, struct bb_db *db, uint64_t first, bool wraps);

/* Checks the next table. *ret_has_table: there was one. Damage is recorded and told, and is no failure.
 * BB_BUSY: the store is being closed, or `tell` has stopped it (is_stopped). After a failure the same
 * table is still the next. */
BB_MUST_CHECK enum bb_status bb_scrub_next(struct bb_scrub *scrub, bool *ret_has_table);

/* Goes on behind the table that is next. */
void bb_scrub_skip(struct bb_scrub *scrub);

/* Bytes to be read from now on, in about; and the same in the report as sizes of tables, with the
 * number of the next one. */
uint64_t bb_scrub_work_left(struct bb_scrub *scrub);

/* Rests for so long. BB_BUSY: as above. */
BB_MUST_CHECK enum bb_status bb_scrub_rest(struct bb_scrub *scrub, uint64_t nanoseconds);

/* All tables were checked, or the scrub ends early: counts it. */
void bb_scrub_end(struct bb_scrub *scrub);

#endif
