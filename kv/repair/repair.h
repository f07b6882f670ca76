/* Internals of a repair: state shared by its steps. Each step is a file:
 *
 *     store_repair   the sequence of steps   repair_logs    logs that cannot be replayed
 *     repair_state   finds the manifest      repair_merge   tables whose levels are unknown
 *     repair_tables  sound, damaged, unnamed repair_publish makes new files current
 *     repair_newer   unnamed tables that are newer than all named ones
 *     repair_indexes definitions, index files
 *
 * All of them use repair and repair_link. The steps only read existing files and write new tables;
 * no existing file is changed before repair_publish. The new store is collected in one edit: the
 * snapshot that starts the new manifest.
 * Threads: one; the lock keeps other users of the directory out.
 */
#ifndef BB_KV_REPAIR_REPAIR_H
#define BB_KV_REPAIR_REPAIR_H

#include "bb/db_files.h"
#include "kv/directory/directory.h"
#include "kv/directory/unnamed.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_repair {
    const char *path;
    struct bb_file_system *fs;
    struct bb_db_options given;
    struct bb_db_options options; /* resolved, from the given and the stored ones */
    struct bb_db_repair_options how;
    struct bb_directory directory;
    /* One flag per file of the directory: the file will not be part of the store. Owned. */
    bool *aside;
    bool *not_files; /* links, pipes and others without data; owned */

    /* The old state. */
    struct bb_manifest_state state;
    /* state comes from a manifest; otherwise it has only an identity. */
    bool has_manifest;
    bool is_current; /* state is certainly the store's last one */
    /* Its manifest ends with a mark: no edit is missing. */
    bool is_marked;
    /* Its manifest is damaged in the middle: later edits are unknown. */
    bool is_cut;
    /* Later states, which cannot be read, may have replaced it. */
    bool is_outdated;
    bool takes_unnamed; /* includes tables that the state does not name */
    /* The unnamed tables, of which the newer ones are included. Empty if takes_unnamed or
     * is_marked is true. */
    struct bb_unnamed unnamed;
    bool are_levels_unknown;

    /* The new state. */
    struct bb_edit edit; /* tables, identity, last sequence */
    uint64_t first_number;
    /* The number of the next file. The repair owns the files from first_number on. */
    uint64_t next_number;
    /* The new state may be in effect, so that no written file may be removed any more. */
    bool is_published;
    bool keeps_logs;
    uint64_t kept_sequence; /* the last one in the logs that are kept */
    /* Extra names given to files, each terminated. */
    struct bb_buf lost_paths;

    struct bb_db_repair_report report;
};

/* repair.c: reports to the listener. */
void bb_repair_tell(struct bb_repair *repair, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The file of the directory, or NULL. */
const struct bb_directory_file *bb_repair_find(const struct bb_repair *repair,
                                               enum bb_file_kind kind, uint64_t number);
void bb_repair_set_aside(struct bb_repair *repair, const struct bb_directory_file *file);
/* Reports why a table that the state does not name is not included, and sets it aside. */
void bb_repair_leave(struct bb_repair *repair, const struct bb_directory_file *file,
                     const char *why);
/* True when the first log for recovery, according to the state, does not exist. */
bool bb_repair_lacks_first_log(const struct bb_repair *repair);

/* The number of the next file. Errors: BB_TOO_LARGE when all numbers are used up. */
BB_MUST_CHECK enum bb_status bb_repair_new_number(struct bb_repair *repair, uint64_t *ret_number);

/* repair_link.c: hard links a file, or copies it where links are impossible. */
BB_MUST_CHECK enum bb_status bb_repair_link_file(struct bb_file_system *fs, const char *from,
                                                 const char *to);
/* The same for a table, by numbers. */
BB_MUST_CHECK enum bb_status bb_repair_link_table(struct bb_repair *repair, uint64_t from,
                                                  uint64_t to);

/* repair_state.c: fills state. */
BB_MUST_CHECK enum bb_status bb_repair_find_state(struct bb_repair *repair);
/* repair_tables.c: adds sound and salvaged tables to the edit. */
BB_MUST_CHECK enum bb_status bb_repair_tables(struct bb_repair *repair);
/* Adds a table that stays as it is to the edit and the report. */
BB_MUST_CHECK enum bb_status bb_repair_keep_table(struct bb_repair *repair, int level, uint64_t run,
                                                  uint64_t number,
                                                  const struct bb_table_meta *meta);
/* repair_indexes.c: checks the table's index file, and keeps it with the table that was added last
 * to the edit, which must be the same one. */
BB_MUST_CHECK enum bb_status bb_repair_keep_index(struct bb_repair *repair,
                                                  const struct bb_edit_table *table);
/* Adds the readable definitions of attributes and indexes to the edit. */
BB_MUST_CHECK enum bb_status bb_repair_catalog(struct bb_repair *repair);
/* True for an index file that the edit does not name. */
bool bb_repair_is_spare_index(const struct bb_repair *repair, const struct bb_directory_file *file);
/* repair_logs.c: keeps the logs, or adds tables with their contents to the edit. */
BB_MUST_CHECK enum bb_status bb_repair_logs(struct bb_repair *repair);
/* repair_newer.c: true when a table of `unnamed` has a sequence above this one. */
bool bb_repair_has_newer(const struct bb_repair *repair, uint64_t sequence);
/* Adds the unnamed tables that are newer than all tables and logs to the edit. */
BB_MUST_CHECK enum bb_status bb_repair_newer(struct bb_repair *repair);
/* repair_merge.c: where levels are unknown, merges the edit's tables into one run. */
BB_MUST_CHECK enum bb_status bb_repair_merge(struct bb_repair *repair);
/* repair_publish.c */
BB_MUST_CHECK enum bb_status bb_repair_publish(struct bb_repair *repair);
/* Removes the files written by a failed repair. */
void bb_repair_undo(struct bb_repair *repair);

/* repair_table.c: a new table, written entry by entry. The first entry creates it. A dry run
 * creates no table. */
struct bb_repair_table {
    struct bb_repair *repair;
    int level;
    uint64_t run;
    double filter_rate; /* 0: the store's rate */
    struct bb_table_builder *builder;
    uint64_t number;
};
BB_MUST_CHECK enum bb_status bb_repair_table_add(struct bb_repair_table *table,
                                                 const struct bb_entry *entry);
/* Adds any number of range tombstones, at any time. */
BB_MUST_CHECK enum bb_status bb_repair_table_add_ranges(struct bb_repair_table *table,
                                                        const struct bb_range_tombstone *ranges,
                                                        size_t count);
/* Finishes the table, if any, and adds it to the edit. Then the next table can begin. */
BB_MUST_CHECK enum bb_status bb_repair_table_finish(struct bb_repair_table *table);
/* Removes an unfinished table. */
void bb_repair_table_abandon(struct bb_repair_table *table);
/* The options for the store's tables of a level. */
void bb_repair_table_options(const struct bb_repair *repair, double filter_rate,
                             struct bb_table_options *ret_options);

#endif
