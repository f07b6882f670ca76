/* Operations on the files of a store: verify, scrub, checkpoint, ingest, destroy, repair. <bb/db.h>
 * declares the store.
 *
 * Threads. bb_db_scrub, bb_db_checkpoint and bb_db_ingest run on an open store, concurrently with
 * all other calls. The other functions require that the store is not open, and otherwise fail with
 * BB_BUSY.
 *
 * NULL. Options and reports may be NULL. Paths may not: BB_INVALID. */
#ifndef BB_PUBLIC_DB_FILES_H
#define BB_PUBLIC_DB_FILES_H

#include "bb/db.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Verifies a store that is not open: the manifest, every table (bb_table_verify) and every log
 * record. Tables must agree with the manifest, and must not overlap within a run. Every index file
 * must exist, be intact and belong to its table, and must not exclude a record that its table
 * contains.
 *
 * Each index file that fails is reported to options->on_event (BB_EVENT_DAMAGE), and the call
 * continues; it finally returns the failure of the first one. Any other defect ends it. *ret_report
 * is set for BB_OK, and if only index files failed. It counts files that do not belong to the
 * store.
 *
 * The call creates and changes no file. It needs only read permission, so the directory or file
 * system may be read-only. Several verifications may run concurrently. BB_BUSY: the store is open
 * for writing. While a verification runs, opening the store for writing fails with BB_BUSY. */
struct bb_db_verify_report {
    uint64_t tables;
    uint64_t entries;
    uint64_t bytes;
    uint64_t logs;
    uint64_t log_records;
    uint64_t log_bytes_dropped; /* size of the unsynced tail */
    /* Unreferenced files of the store. Not a defect. */
    uint64_t orphans;
    /* Files of other programs. They are ignored. */
    uint64_t foreign;
    /* Of the orphans: complete tables of this store. They are no defect if the manifest's end
     * confirms that the manifest names all tables, or if the named tables and the logs contain all
     * entries of the unnamed tables. Otherwise BB_CORRUPT. */
    uint64_t tables_unnamed;
    /* Of the orphans: logs of this store whose contents are all in tables. */
    uint64_t logs_unnamed;
    /* Index files, each checked against every record of its table. */
    uint64_t indexes;
    /* Of these: damaged, missing, unreadable, of another table or of a newer version. They cost
     * reads, but no data. bb_db_index_materialize rebuilds them. */
    uint64_t indexes_damaged;
};
BB_API BB_MUST_CHECK enum bb_status bb_db_verify(const char *directory,
                                                 const struct bb_db_options *options,
                                                 struct bb_db_verify_report *ret_report);

/* Verifies the tables of an open store and their index files, in the order of their file numbers,
 * each as bb_table_verify does, and then the manifest and the logs. Works in every open store, even
 * with read_only, so that one process can verify a store that another process has open.
 *
 *     Coverage    All bytes of the tables that exist when the call starts. They are read from the
 *                 device if the system allows that, and not through the block cache. A table that a
 *                 compaction replaces before or during its verification is skipped: the compaction
 *                 has read all of its blocks and verified their checksums. In a read-only store an
 *                 index file that the writer replaces is skipped too. The call then reads all
 *                 synced bytes of the manifest and the logs; in a read-only store, the bytes that
 *                 these files themselves mark as synced. A later call checks logs begun during the
 *                 call, and a manifest whose last edit failed
 *     Resources   The call delays the removal of one table file at a time. It holds no view, and
 *                 holds locks only for microseconds. Memory: as bb_table_verify for one table
 *     Damage      Each damaged file is reported (BB_EVENT_DAMAGE), counted in the report and in
 *                 damaged_files of the statistics, and flagged in bb_db_tables until a verification
 *                 succeeds or the file is replaced. The contents of a damaged log are also in
 *                 memory, and bb_db_flush writes them to a table. If the manifest is damaged,
 *                 bb_db_checkpoint makes an intact copy of the store. The call continues and
 *                 finally returns BB_CORRUPT with the message of the first damaged file, or BB_IO
 *                 if that file could not be read
 *     Slices      After every 256 KiB and after every file the call waits as long as
 *                 bytes_per_second requires, calls on_progress, and returns BB_BUSY if the store is
 *                 being closed
 *     Resuming    A call that ends early reports in next_table where another call can continue, in
 *                 this process or in another one
 *
 * *ret_report is set for every status. The report counts a file as soon as the call has read it,
 * completely or up to its first damage. */
struct bb_db_scrub_report {
    uint64_t tables;
    uint64_t indexes; /* index files */
    uint64_t entries; /* in the tables without damage */
    uint64_t damaged; /* files with damage or a read error */
    /* Of these: index files. They cost reads, but no data. bb_db_index_materialize rebuilds
     * them. */
    uint64_t indexes_damaged;
    uint64_t read_bytes; /* a table with an index file is read twice */
    uint64_t bytes_left; /* size of the tables that have not been read yet */
    uint64_t next_table; /* first_table of a call that continues; 0: all files were verified */
    uint64_t manifests;  /* 1, or 0 if it was not read */
    uint64_t logs;
    uint64_t log_records;
};
struct bb_db_scrub_options {
    uint64_t first_table;      /* next_table of an earlier call; 0: all files */
    uint64_t bytes_per_second; /* limit on reads; 0: unlimited */
    /* Returning false ends the call, with BB_OK unless damage was found. Runs in the calling thread
     * without locks and may call everything except bb_db_close. */
    bool (*on_progress)(void *context, const struct bb_db_scrub_report *so_far);
    void *progress_context;
};
BB_API BB_MUST_CHECK enum bb_status bb_db_scrub(struct bb_db *db,
                                                const struct bb_db_scrub_options *options,
                                                struct bb_db_scrub_report *ret_report);

/* Creates a second store in a new directory. BB_EXISTS if the directory exists, or if this store
 * was opened under that name, even if it has been renamed since. The checkpoint contains all writes
 * that completed before the call, and a prefix, in commit order, of concurrent writes. The call
 * flushes first. The checkpoint's tables are hard links, which take no space until this store
 * compacts the tables away. Where links are not possible (another file system), they are copies.
 * The parent directory must exist. The two stores are independent: either may be changed or
 * destroyed.
 *
 * The checkpoint is durable when the call returns BB_OK. After a failure the call removes its
 * files. After a power failure during the call the directory does not exist, or opening it finds no
 * CURRENT (bb_db_destroy removes it). Writers wait only for the flush. */
BB_API BB_MUST_CHECK enum bb_status bb_db_checkpoint(struct bb_db *db, const char *directory);

/* A checkpoint in two calls. bb_checkpoint_create captures the current state, as an iterator does,
 * without waiting for a device or a flush. bb_checkpoint_write makes the new store, as
 * bb_db_checkpoint does, but without a flush: data that was in memory becomes tables of the new
 * store. Writes continue in between. Until bb_checkpoint_destroy the state's tables and memtables
 * are kept, and bb_db_close fails with BB_BUSY. A checkpoint is used by one thread at a time. In a
 * child made by fork only bb_checkpoint_destroy is allowed, and has no effect. */
struct bb_checkpoint;
BB_API BB_MUST_CHECK enum bb_status bb_checkpoint_create(struct bb_db *db,
                                                         struct bb_checkpoint **ret_checkpoint);
BB_API BB_MUST_CHECK enum bb_status bb_checkpoint_write(struct bb_checkpoint *checkpoint,
                                                        const char *directory);
/* NULL is allowed. */
BB_API void bb_checkpoint_destroy(struct bb_checkpoint *checkpoint);

/* Adds tables built elsewhere (bb_table_builder, any secret and options, the store's comparator) to
 * the store, as if all their entries were written in one batch when the call returns. The entries
 * override all earlier writes, tombstones among them delete earlier data, and earlier snapshots do
 * not see them. Concurrent writes of other threads count as earlier.
 *
 *     Inputs      are only read, and may be removed afterwards. Of several versions of a key in one
 *                 input the newest wins. If several inputs have a key, the input named last wins,
 *                 as if the inputs were written one after another. So a range tombstone hides older
 *                 versions in its input, in inputs named before it, and in the store. Sequences of
 *                 the inputs have no other effect.
 *     Cost        Each input is read once and written once, without log and memtable, to the
 *                 deepest level that has space and keeps it above all older versions of its keys.
 *                 Sorted data with little overlap is not compacted again.
 *                 background_bytes_per_second applies, after flushes. Tables are rewritten, not
 *                 linked, so that their filters use the store's secret and meet its target. They
 *                 are written a second time if concurrent work changes the rates that they need, or
 *                 if they would put more runs into level 0 than flushes may leave there.
 *     Writers     continue, except while memory is flushed and the tables become visible.
 *     Failure     All tables are added, or none. BB_INVALID (another comparator), BB_CORRUPT,
 *                 BB_NOT_FOUND and BB_UNSUPPORTED concern an input; nothing was changed. BB_BUSY:
 *                 concurrent writes forced the call to give up, or the store is being closed. A
 *                 call that is copying notices a close within a few thousand entries; a
 *                 verification first completes its input. After BB_BUSY no files remain.
 *                 BB_NO_SPACE: unlike a write, an ingest does not cancel a merge that holds space;
 *                 another call after bb_db_wait_idle may succeed. After any other failure the
 *                 tables may exist at the next opening, as after a failed write.
 *     Durable     with BB_OK, together with all earlier writes. */
struct bb_ingest_options {
    /* First run bb_table_verify on all inputs, including their filters, which ingestion does not
     * use. Checksums, order and counts are always checked as the inputs are read. */
    bool verify;
};
/* paths: the inputs. BB_OK if there are none. */
BB_API BB_MUST_CHECK enum bb_status bb_db_ingest(struct bb_db *db, const char *const *paths,
                                                 size_t count,
                                                 const struct bb_ingest_options *options);

/* Removes a store that is not open (BB_BUSY names the holder of the lock), intact or damaged.
 * Removes all files with a store's file names (docs/format-manifest.md) and no others, and the
 * directory if it is then empty. The call uses no option except the file system.
 *
 * BB_NOT_FOUND: the directory does not exist. BB_INVALID: the directory contains files, but none
 * that is recognisably bloomblock's; no file was removed. Any other failure stops the removal
 * midway. Opening the store then finds no CURRENT, and fails while tables or logs remain; the next
 * call continues the removal. The same is true after a power failure during the call. After BB_OK
 * no file of the store reappears.
 *
 * The call also removes the remains of a creation, a checkpoint or a removal that was interrupted:
 * an empty directory, or a directory that contains only a LOCK and truncated files that no other
 * program could have written. */
struct bb_db_destroy_report {
    uint64_t removed; /* files, not counting the lock */
    uint64_t removed_bytes;
    /* Files of other programs. They are not removed. */
    uint64_t foreign;
    /* Files that could not be read, so that their owner is unknown. */
    uint64_t unreadable;
    /* False: the directory contains other files, could not be removed, or was reached through a
     * symbolic link, which would then dangle. */
    bool directory_removed;
};
BB_API BB_MUST_CHECK enum bb_status bb_db_destroy(const char *directory,
                                                  const struct bb_db_options *options,
                                                  struct bb_db_destroy_report *ret_report);

/* Repairs a damaged store so that it opens, using all data that can be read. Use it if opening or
 * verifying fails with BB_CORRUPT and there is no backup. A store that verifies is not changed.
 *
 * Data that is used: the state in the newest readable manifest. It consists of the intact tables,
 * the readable blocks of damaged tables (with a valid checksum; rewritten as a new table in the
 * same level), the intact logs, and every complete batch of damaged logs, even after a hole.
 * Without any manifest: all tables and logs, merged by their sequences.
 *
 * Data that is not used: tables that the manifest does not name. Compactions have replaced them,
 * and they contain data deleted since. With take_unnamed_tables they are used, at the caller's
 * risk. They are also used if the lost part of the manifest may have named them: if the manifest is
 * damaged in the middle, or if it has lost its end and files that it names are missing. If only its
 * end cannot be read, tables newer than all named tables are used.
 *
 * A lost part may have contained deletions and newer versions. Older versions are then visible
 * again. deletions_may_return is true if this cannot be ruled out, and the events name the key
 * ranges.
 *
 * Definitions of attributes and indexes are kept, and so are intact index files of tables that are
 * kept unchanged. Other index files are removed; they can be rebuilt from the tables.
 *
 * No other data is destroyed. New files are written next to the old files, and a new CURRENT puts
 * all of them into effect atomically, as in an opening. Before that, every file that does not
 * belong to the repaired store is renamed with the suffix ".lost" (".lost2", ...). These files
 * remain until you remove them. If a repair fails, or its process or the power fails, the store is
 * either unchanged or repaired; extra files may remain, which an opening ignores.
 *
 * Options used: the comparator, the file system, the limits of tables and filters, recovery
 * (BB_RECOVERY_POINT_IN_TIME: data after a hole in the logs is not used), and on_event, which
 * reports each finding (BB_EVENT_RECOVERY). Memory: the largest damaged table and a write buffer.
 * Disk space: the size of the rewritten data.
 *
 * BB_NOT_FOUND: no store. BB_BUSY: the store is open. BB_CORRUPT: no data can be read. BB_INVALID:
 * another comparator. BB_UNSUPPORTED: the store has parts written by a newer version, which must
 * repair it. BB_IO: a file cannot be read. This may be temporary, so it is not treated as damage:
 * copy the readable data to an intact disk and repair it there. After any failure the store is
 * unchanged. */
struct bb_db_repair_options {
    /* Report only; change nothing. Needs only read permission, like bb_db_verify. tables_merged and
     * files_set_aside are 0, because they depend on the written files. */
    bool dry_run;
    /* Also use tables of this store that the manifest does not name. All tables are then merged,
     * because the levels of the unnamed ones are unknown. */
    bool take_unnamed_tables;
};
struct bb_db_repair_report {
    /* No defect was found, and nothing was changed. Tables, entries, logs and index files are
     * counted as kept. manifest_number and last_sequence are 0. */
    bool is_whole;
    bool has_manifest;        /* a manifest was readable */
    bool is_manifest_current; /* CURRENT names this manifest, and all of it was readable */
    /* Also true if older versions may have replaced newer ones. */
    bool deletions_may_return;
    uint64_t manifest_number;
    uint64_t tables_kept;
    uint64_t tables_salvaged; /* damaged tables whose readable part was rewritten */
    uint64_t tables_lost;     /* missing, or without any readable part */
    /* Intact or salvaged tables that were rewritten because their levels are unknown. */
    uint64_t tables_merged;
    /* Not used: the manifest does not name them, or they belong to another store. */
    uint64_t tables_unnamed;
    /* Salvaged or lost tables that lost range tombstones or may have lost some. */
    uint64_t tables_ranges_lost;
    uint64_t entries_kept;
    uint64_t entries_salvaged;
    /* Counts only tables whose entry count the manifest records. */
    uint64_t entries_lost;
    uint64_t blocks_lost; /* counts blocks that some readable part of the store records */
    uint64_t bytes_lost;  /* of salvaged tables */
    uint64_t logs_kept;   /* intact: the next opening replays them */
    uint64_t logs_read;   /* damaged logs whose readable part was written to tables */
    uint64_t logs_lost;   /* missing, or of another store */
    uint64_t log_records; /* batches in the logs read */
    uint64_t log_bytes_lost;
    uint64_t log_holes;       /* places where operations are missing between others */
    uint64_t files_set_aside; /* renamed with the suffix ".lost" */
    uint64_t last_sequence;
    uint64_t indexes_kept; /* index files of tables that were kept */
    /* Index files of kept tables that are missing, damaged or wrong. Until they are rebuilt
     * (bb/select.h), selections read more. */
    uint64_t indexes_dropped;
};
/* how may be NULL: defaults. */
BB_API BB_MUST_CHECK enum bb_status bb_db_repair(const char *directory,
                                                 const struct bb_db_options *options,
                                                 const struct bb_db_repair_options *how,
                                                 struct bb_db_repair_report *ret_report);

#ifdef __cplusplus
}
#endif
#endif
