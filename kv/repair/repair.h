/* The inside of a repair: what its steps share. Each step is a file:
 *
 *     store_repair   the order of things      repair_logs    logs that cannot be replayed
 *     repair_state   which manifest           repair_merge   tables whose levels are unknown
 *     repair_tables  sound, damaged, unnamed  repair_publish new files in force, old ones aside
 *     repair_newer   unnamed, and newer than all that is named
 *     repair_indexes definitions, index files
 *
 * repair and repair_link are under all of them.
 * The steps only read and write new tables; until repair_publish nothing that was there is touched.
 * What is to be the store gathers in one edit: the snapshot that the new manifest begins with.
 * Threads: one; the lock keeps other users of the directory out.
 */
#ifndef BB_KV_REPAIR_REPAIR_H
#define BB_KV_REPAIR_REPAIR_H

#include "bb/db_files.h"
#include "kv/directory.h"
#include "kv/unnamed.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_repair {
    const char *path;
    struct bb_file_system *fs;
    struct bb_db_options options; /* resolved */
    struct bb_db_repair_options how;
    struct bb_directory directory;
    bool *aside; /* per file of the directory: will not be part of the store; owned */

    /* As it was. */
    struct bb_manifest_state state;
    bool has_manifest;  /* state is what one says; else it has an identity alone */
    bool is_current;    /* that is certain to be the last state there was */
    bool is_marked;     /* its manifest ends with a mark: no edit is missing */
    bool is_cut;        /* its manifest is damaged in the middle: edits behind that are not known */
    bool is_outdated;   /* later states, which cannot be read, may have replaced it */
    bool takes_unnamed; /* tables that the state does not name are taken */
    struct bb_unnamed unnamed; /* else, where the manifest's end cannot be read: those, of which the
                                  newer ones are taken */
    bool are_levels_unknown;

    /* As it will be. */
    struct bb_edit edit; /* tables, identity, last sequence */
    uint64_t first_number;
    uint64_t next_number; /* of the next file: those from first_number on are the repair's */
    bool is_published;    /* perhaps: nothing that was written may be removed any more */
    bool keeps_logs;
    struct bb_buf lost_paths; /* of second names that were given, each terminated */

    struct bb_db_repair_report report;
};

/* repair.c: tells the listener. */
void bb_repair_tell(struct bb_repair *repair, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The file of the directory, or NULL. */
const struct bb_directory_file *bb_repair_find(const struct bb_repair *repair,
                                               enum bb_file_kind kind, uint64_t number);
void bb_repair_set_aside(struct bb_repair *repair, const struct bb_directory_file *file);
/* Have all keys of table a a place before those of b? */
bool bb_repair_ends_before(const struct bb_repair *repair, const struct bb_table_meta *a,
                           const struct bb_table_meta *b);

/* The number of the next file. BB_TOO_LARGE: there is none left. */
BB_MUST_CHECK enum bb_status bb_repair_new_number(struct bb_repair *repair, uint64_t *ret_number);

/* repair_link.c: a second name for a file, or a copy where files cannot have one. */
BB_MUST_CHECK enum bb_status bb_repair_link_file(struct bb_file_system *fs, const char *from,
                                                 const char *to);
/* The same of a table, by numbers. */
BB_MUST_CHECK enum bb_status bb_repair_link_table(struct bb_repair *repair, uint64_t from,
                                                  uint64_t to);

/* repair_state.c: fills state. */
BB_MUST_CHECK enum bb_status bb_repair_find_state(struct bb_repair *repair);
/* repair_tables.c: adds sound and salvaged tables to the edit. */
BB_MUST_CHECK enum bb_status bb_repair_tables(struct bb_repair *repair);
/* repair_indexes.c: checks the table's index file, and keeps it with the table that the edit has got
 * last, which is the same one. */
BB_MUST_CHECK enum bb_status bb_repair_keep_index(struct bb_repair *repair,
                                                  const struct bb_edit_table *table);
/* The definitions of attributes and indexes, as far as they can be read, go to the edit. */
BB_MUST_CHECK enum bb_status bb_repair_catalog(struct bb_repair *repair);
/* Is it an index file that the edit does not name? */
bool bb_repair_is_spare_index(const struct bb_repair *repair, const struct bb_directory_file *file);
/* repair_logs.c: keeps the logs, or adds tables of what they hold to the edit. */
BB_MUST_CHECK enum bb_status bb_repair_logs(struct bb_repair *repair);
/* repair_newer.c: are there tables of `unnamed` that have a sequence above this one? */
bool bb_repair_has_newer(const struct bb_repair *repair, uint64_t sequence);
/* Adds those that are newer than tables and logs to the edit. */
BB_MUST_CHECK enum bb_status bb_repair_newer(struct bb_repair *repair);
/* repair_merge.c: where levels are unknown, makes the edit's tables one run. */
BB_MUST_CHECK enum bb_status bb_repair_merge(struct bb_repair *repair);
/* repair_publish.c */
BB_MUST_CHECK enum bb_status bb_repair_publish(struct bb_repair *repair);
/* Removes what a repair that failed has written. */
void bb_repair_undo(struct bb_repair *repair);

/* A new table, written entry by entry; it comes to be with the first one. In a dry run it never
 * does, but is counted. repair_table.c. */
struct bb_repair_table {
    struct bb_repair *repair;
    int level;
    uint64_t run;
    double filter_rate; /* 0: that of the store */
    struct bb_table_builder *builder;
    uint64_t number;
    uint64_t entry_count;
};
BB_MUST_CHECK enum bb_status bb_repair_table_add(struct bb_repair_table *table,
                                                 const struct bb_entry *entry);
/* Any number of range tombstones, at any time. */
BB_MUST_CHECK enum bb_status bb_repair_table_add_ranges(struct bb_repair_table *table,
                                                        const struct bb_range_tombstone *ranges,
                                                        size_t count);
/* Finishes it, if there is one, and adds it to the edit; ready for the next one. */
BB_MUST_CHECK enum bb_status bb_repair_table_finish(struct bb_repair_table *table);
/* Removes what is not finished. */
void bb_repair_table_abandon(struct bb_repair_table *table);
/* What the store's tables of a level are written with. */
void bb_repair_table_options(const struct bb_repair *repair, int level, double filter_rate,
                             struct bb_table_options *ret_options);

#endif
