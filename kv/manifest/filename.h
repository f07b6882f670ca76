/* The names of a store's files.
 *
 *     CURRENT            names the current manifest
 *     LOCK               held while the store is open
 *     MANIFEST-%06u      edits, starting with a full snapshot
 *     %06u.wal           log
 *     %06u.window        the end of this log that is not in the file yet (kv/wal/wal_window.h)
 *     %06u.bbt           table
 *     %06u.bbt.new       a table that no log repeats, before the edit that names it
 *     %06u.bbi           indexes over the values of a table
 *     %06u.tmp           the next CURRENT before its rename, with the number of its manifest
 *
 * A number is 1 ... BB_FILE_NUMBER_MAX. It has at least six digits and no unnecessary leading
 * zeros, so that each number has one name per kind. All kinds share one sequence of numbers, and a
 * number is used only once. A name that does not parse is not ours: such a file is never opened,
 * renamed or removed.
 */
#ifndef BB_KV_MANIFEST_FILENAME_H
#define BB_KV_MANIFEST_FILENAME_H

#include "base/file.h"
#include "base/path.h"

/* Leaves a margin above every number that a store can reach, so that adding one never overflows. */
#define BB_FILE_NUMBER_MAX ((UINT64_C(1) << 62) - 1)
/* "MANIFEST-", 19 digits, terminator. */
#define BB_FILENAME_SIZE_MAX 32

enum bb_file_kind {
    BB_FILE_FOREIGN, /* not in the grammar */
    BB_FILE_CURRENT,
    BB_FILE_LOCK,
    BB_FILE_MANIFEST,
    BB_FILE_LOG,
    BB_FILE_WINDOW,
    BB_FILE_TABLE,
    BB_FILE_NEW_TABLE,
    BB_FILE_INDEX,
    BB_FILE_TEMPORARY,
};

struct bb_filename {
    enum bb_file_kind kind;
    uint64_t number; /* 0 for CURRENT, LOCK and FOREIGN */
};

/* Parses a name. The bytes need no terminator; a name with a NUL in it is foreign. */
struct bb_filename bb_filename_decode(struct bb_bytes name);

/* The name as a terminated string. REQUIRES: not FOREIGN; number in range (ignored for CURRENT and
 * LOCK). */
void bb_filename_encode(enum bb_file_kind kind, uint64_t number,
                        char ret_name[BB_FILENAME_SIZE_MAX]);

/* directory/name. Same requirements, and bb_path_check_directory accepted the directory. */
void bb_filename_path(const char *directory, enum bb_file_kind kind, uint64_t number,
                      char ret_path[BB_PATH_SIZE_MAX]);

/* Removes the file if that is possible; one that remains is an orphan for the next opening. Keeps
 * the thread's latest failure. number 0: of no file, except for CURRENT and LOCK. */
void bb_filename_remove(struct bb_file_system *fs, const char *directory, enum bb_file_kind kind,
                        uint64_t number);

/* Second names of files that are set aside: PATH.lost, PATH.lost2, ... They are not names of a
 * store. The limit is more than enough repairs. */
#define BB_FILENAME_LOST_MAX      1000
#define BB_FILENAME_LOST_SIZE_MAX (BB_PATH_SIZE_MAX + 16)
/* attempt: 1 ... BB_FILENAME_LOST_MAX. */
void bb_filename_lost(const char *path, int attempt, char ret_path[BB_FILENAME_LOST_SIZE_MAX]);
/* Renames a file or directory to the first of these names that is free. Errors: BB_EXISTS when none
 * is. */
BB_MUST_CHECK enum bb_status bb_filename_rename_lost(struct bb_file_system *fs, const char *path,
                                                     char ret_path[BB_FILENAME_LOST_SIZE_MAX]);

#endif
