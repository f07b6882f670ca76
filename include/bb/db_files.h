/* A store as a directory of files: what is done to the whole of it, open or not. The store itself is
 * <bb/db.h>.
 *
 * Threads. bb_db_checkpoint and bb_db_ingest may run beside everything else; the other calls want a store that nobody
 * has open, and say BB_BUSY otherwise.
 *
 * NULL. Options and reports may be NULL: defaults, and nobody wants to know. Paths may not: BB_INVALID.
 */
#ifndef BB_PUBLIC_DB_FILES_H
#define BB_PUBLIC_DB_FILES_H

#include "bb/db.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Verifies a store that nobody has open: manifest, every table (bb_table_verify), that manifest and
 * tables agree, that levels do not overlap, every log record, every index file: that it is there, whole,
 * its table's, and excludes no record that the table has. Reports files that belong to nothing.
 * Nothing is created or changed, and permission to read is enough: of a directory that may not be
 * written, on a file system that is mounted read-only. Several may run at a time. BB_BUSY: the store is
 * open for writing; an opening for writing is BB_BUSY meanwhile.
 */
struct bb_db_verify_report {
    uint64_t tables;
    uint64_t entries;
    uint64_t bytes;
    uint64_t logs;
    uint64_t log_records;
    uint64_t log_bytes_dropped; /* unsynced tail */
    uint64_t orphans;           /* files of ours that nothing refers to: no defect */
    uint64_t foreign;           /* files that are not ours: left alone */
    uint64_t tables_unnamed;    /* of the orphans: whole tables of this store. No defect where the
                                   manifest's end says that it names all that there were, or where
                                   all they hold is in named tables and logs too; else BB_CORRUPT */
    uint64_t logs_unnamed;      /* of the orphans: logs of this store, all of which is in tables */
    uint64_t indexes;           /* index files, each shown every record of its table */
    uint64_t reserved[1];
};
BB_API BB_MUST_CHECK enum bb_status bb_db_verify(const char *directory,
                                                 const struct bb_db_options *options,
                                                 struct bb_db_verify_report *ret_report);

/* Makes a second store in a directory that does not exist yet (BB_EXISTS; also where this store was
 * opened by the same name, wherever it or the process has moved since), with everything that was
 * written before the call and, of what others write meanwhile, a front part in the order of
 * commits. Flushes first. Tables are hard links, so that it takes no space until they are compacted
 * away, and copies where links are not possible (another file system); the parent directory must be
 * there. The two stores are independent from then on: either may be changed or destroyed.
 *
 * Durable with BB_OK. After a failure what was begun is removed again; when the power fails in the
 * middle the directory is missing, or an opening of it finds no CURRENT (bb_db_destroy removes it).
 * Writes wait for the flush alone. */
BB_API BB_MUST_CHECK enum bb_status bb_db_checkpoint(struct bb_db *db, const char *directory);

/* Brings tables built elsewhere (bb_table_builder, any secret and options, the store's comparator)
 * into the store, as if all of their entries were written in one batch at the moment when the call
 * returns: they win over everything written before, deletions among them delete, and snapshots taken
 * before do not see them. What others write while the call runs counts as written before it.
 *
 *     Inputs      Only read; they stay as they are and may be removed afterwards. Of several
 *                 versions of a key the newest counts; of a key in several inputs the input that is
 *                 named last: as if the inputs were written one after another, as named. So a range
 *                 tombstone hides what is older in its own input, what inputs named before it hold,
 *                 and what the store held. Sequences of the inputs count for nothing else
 *     Cost        Each is read once and written once, past log and memtable, to the deepest level
 *                 where nothing newer is below: sorted data that overlaps little is not compacted
 *                 again. Under background_bytes_per_second, behind flushes. Written anew, not linked:
 *                 the filters are under the store's own secret and keep its promise. Written twice
 *                 where other work has meanwhile made them break it, or come to level 0 as more
 *                 runs than flushes leave there
 *     Writers     go on, but for the moment in which what is in memory is flushed and the tables
 *                 become visible
 *     Failure     All tables come in, or none. BB_INVALID: another comparator. BB_CORRUPT,
 *                 BB_NOT_FOUND, BB_UNSUPPORTED: of an input. Nothing was changed then. BB_BUSY:
 *                 writers wrote so much meanwhile that the call gave up; or the store is being
 *                 closed, which a call that copies notices within some thousand entries (a
 *                 verification goes on to the end of its input). Nothing is left behind then
 *                 either. After any other failure the tables may be there at the next opening, as
 *                 with a write that failed
 *     Durable     with BB_OK, and with it all that was written before. */
struct bb_ingest_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    bool verify; /* bb_table_verify of all inputs first: filters too, which are not needed here.
                    Checksums, order and counts are checked in any case, as the inputs are read */
};
/* The paths are those of the inputs; without any it is BB_OK. */
BB_API BB_MUST_CHECK enum bb_status bb_db_ingest(struct bb_db *db, const char *const *paths,
                                                 size_t count,
                                                 const struct bb_ingest_options *options);

/* Removes a store that nobody has open (BB_BUSY names the holder of the lock), whole or damaged:
 * all files that have a name of a store's (docs/format-manifest.md) and nothing else, and the
 * directory when that leaves it empty. Of options the file system counts alone.
 *
 * BB_NOT_FOUND: there is no such directory. BB_INVALID: there are files in it, and none is recognisably
 * one that bloomblock wrote; nothing was removed. Any other failure stops half-way: an opening then
 * finds no CURRENT and refuses as long as tables or logs are left, and the next call goes on. The same
 * holds when the power fails in the middle; from BB_OK on nothing of the store comes back.
 *
 * What is left of a creation, a checkpoint or a removal that died is removed too: a directory that is
 * empty, or has nothing but a LOCK and files that are cut off and can be no other program's. */
struct bb_db_destroy_report {
    uint64_t removed; /* files, without the lock */
    uint64_t removed_bytes;
    uint64_t foreign;    /* files that are not ours: left alone */
    uint64_t unreadable; /* files that could not be looked into, to tell whose they are */
    bool
        directory_removed; /* false: foreign files are in it, it may not be removed, or it was reached
                               over a symbolic link, and is left with that */
    uint64_t reserved[3];
};
BB_API BB_MUST_CHECK enum bb_status bb_db_destroy(const char *directory,
                                                  const struct bb_db_options *options,
                                                  struct bb_db_destroy_report *ret_report);

/* Makes a damaged store one that opens, from what can be read of it. Where opening or verifying says
 * BB_CORRUPT this is the way on; a backup is a better one. A store that verifies is left as it is.
 *
 * What is taken: the state that the newest readable manifest tells of. Its tables as they are; of
 * damaged ones every block whose checksum fits, written to a new table in the same level; the logs,
 * and when these are damaged every whole batch of them, behind holes too. Without any manifest: all
 * tables and logs, merged by their sequences.
 *
 * What is not taken: tables that the manifest does not name. They are what compactions have
 * replaced, and hold data that was deleted since. take_unnamed_tables takes them, on your word. Only
 * where the manifest has lost its end, and files that it names are gone, or where it is damaged in
 * the middle, they are taken at once: the lost end may have named them. Where its end cannot be read,
 * those are taken that are newer than all that it names.
 *
 * A lost part may have held deletions and newer versions, and older ones show again where it is
 * missing: deletions_may_return says that this cannot be ruled out, and the events name the ranges
 * of keys.
 *
 * Definitions of attributes and indexes stay, and sound index files of tables that are taken as they
 * are. Other index files are removed: what they say can be built anew from the tables.
 *
 * Nothing else is destroyed. New files are written beside the old ones and put in force at once, by a new
 * CURRENT, as an opening does. Whatever is not part of the repaired store gets the suffix ".lost"
 * (".lost2", ...) before that, and stays until you remove it. A repair that fails, or whose process
 * or power fails, leaves the store as it was or repaired; besides it may leave files that no opening
 * minds.
 *
 * Of options the comparator, the file system, the limits of tables and filters and
 * recovery count (BB_RECOVERY_POINT_IN_TIME: nothing after a hole of the logs is taken); on_event is told
 * of each finding (BB_EVENT_RECOVERY). Memory: the largest damaged table as a whole, and a write
 * buffer. Space: as much as is written anew.
 *
 * BB_NOT_FOUND: no store. BB_BUSY: it is open. BB_CORRUPT: nothing of it can be read. BB_INVALID:
 * another comparator. BB_UNSUPPORTED: something in it is of a newer version, which must repair it.
 * BB_IO: a file cannot be read; that may pass, so it is not taken for damage: copy what the disk
 * still gives to a sound one, and repair there. After any failure the store is as it was. */
struct bb_db_repair_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    bool
        dry_run; /* find out and report; change nothing, so that permission to read is enough, as for
                        bb_db_verify. tables_merged and files_set_aside, which
                        follow from what is written, are 0 then */
    bool take_unnamed_tables; /* also tables of this store that the manifest does not name; all are
                                 merged then, for their levels are unknown */
};
struct bb_db_repair_report {
    bool is_whole;             /* nothing was wrong, and nothing was changed: the counts are 0 */
    bool has_manifest;         /* a manifest could be read */
    bool is_manifest_current;  /* it is the one that CURRENT names, and was read whole */
    bool deletions_may_return; /* also: older versions in the place of newer ones */
    uint64_t manifest_number;
    uint64_t tables_kept;
    uint64_t tables_salvaged; /* damaged: what could be read of them was written anew */
    uint64_t tables_lost;     /* missing, or nothing in them can be read */
    uint64_t tables_merged;   /* sound or salvaged, and written anew because levels are unknown */
    uint64_t tables_unnamed;  /* not taken: the manifest does not name them, or another store's */
    uint64_t
        tables_ranges_lost; /* salvaged or lost, and range tombstones of theirs are lost, or may
                                    be: nothing tells whether there were any */
    uint64_t entries_kept;
    uint64_t entries_salvaged;
    uint64_t entries_lost; /* of tables of which the manifest tells how many there were */
    uint64_t blocks_lost;  /* of which something is left that tells of them */
    uint64_t bytes_lost;   /* of tables that were salvaged */
    uint64_t logs_kept;    /* sound: the next opening replays them */
    uint64_t logs_read;    /* what could be read of them was written to tables */
    uint64_t logs_lost;    /* missing, or of another store */
    uint64_t log_records;  /* batches, of logs read */
    uint64_t log_bytes_lost;
    uint64_t log_holes;       /* places where operations are missing between others */
    uint64_t files_set_aside; /* that have the suffix ".lost" now */
    uint64_t last_sequence;
    uint64_t indexes_kept; /* index files of tables that were kept */
    uint64_t
        indexes_dropped; /* of such tables, but missing, damaged, or lying: they cost reads until
                                 they are built anew (bb/select.h) */
    uint64_t reserved[6];
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
