/* A store as a directory of files: what is done to the whole of it, open or not. The store itself is
 * <bb/db.h>.
 *
 * Threads. bb_db_checkpoint may run beside everything else; the other calls want a store that nobody
 * has open, and say BB_BUSY otherwise.
 */
#ifndef BB_PUBLIC_DB_FILES_H
#define BB_PUBLIC_DB_FILES_H

#include "bb/db.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Verifies a store that nobody has open: manifest, every table (bb_table_verify), that manifest and
 * tables agree, that levels do not overlap, every log record; reports files that belong to nothing.
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
};
BB_API BB_MUST_CHECK enum bb_status bb_db_verify(const char *directory,
                                                 const struct bb_db_options *options,
                                                 struct bb_db_verify_report *ret_report);

/* Makes a second store in a directory that does not exist yet (BB_EXISTS), with everything that was
 * written before the call and, of what others write meanwhile, a front part in the order of
 * commits. Flushes first. Tables are hard links, so that it takes no space until they are compacted
 * away, and copies where links are not possible (another file system); the parent directory must be
 * there. The two stores are independent from then on: either may be changed or destroyed.
 *
 * Durable with BB_OK. After a failure what was begun is removed again; when the power fails in the
 * middle the directory is missing, or an opening of it finds no CURRENT (bb_db_destroy removes it).
 * Writes wait for the flush alone. */
BB_API BB_MUST_CHECK enum bb_status bb_db_checkpoint(struct bb_db *db, const char *directory);

/* Removes a store that nobody has open (BB_BUSY names the holder of the lock), whole or damaged:
 * all files that have a name of a store's (docs/format-manifest.md) and nothing else, and the
 * directory when that leaves it empty. Of options the file system counts alone.
 *
 * BB_NOT_FOUND: there is no such directory. BB_INVALID: no file in it is recognisably one that
 * bloomblock wrote; nothing was removed. Any other failure stops half-way: an opening then finds no
 * CURRENT and refuses as long as tables or logs are left, and the next call goes on. The same holds
 * when the power fails in the middle; from BB_OK on nothing of the store comes back. */
struct bb_db_destroy_report {
    uint64_t removed; /* files, without the lock */
    uint64_t removed_bytes;
    uint64_t foreign;       /* files that are not ours: left alone */
    uint64_t unreadable;    /* files that could not be looked into, to tell whose they are */
    bool directory_removed; /* false: foreign files are in it, or it may not be removed */
};
/* ret_report may be NULL. */
BB_API BB_MUST_CHECK enum bb_status bb_db_destroy(const char *directory,
                                                  const struct bb_db_options *options,
                                                  struct bb_db_destroy_report *ret_report);

#ifdef __cplusplus
}
#endif
#endif
