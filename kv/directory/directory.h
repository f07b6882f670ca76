/* The files in a store's directory, and which of them may be removed.
 *
 * Files outside the grammar of kv/manifest/filename.h are kept and reported. The same holds for a
 * name of the grammar whose number this store cannot have used (bb_directory_is_reachable). A file
 * of the grammar is removed only when neither the manifest nor a needed log refers to it.
 * Threads: one at a time per directory; bb_directory_judge is a pure function.
 */
#ifndef BB_KV_DIRECTORY_DIRECTORY_H
#define BB_KV_DIRECTORY_DIRECTORY_H

#include "base/file.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"

struct bb_directory_file {
    const char *name; /* borrowed from the directory */
    struct bb_filename is;
    bool is_directory; /* then kind is FOREIGN, for any name */
    uint64_t size;
};

/* A zeroed struct is a valid empty directory. */
struct bb_directory {
    struct bb_file_names names; /* owned */
    /* Ascending by kind, then by number, then by name; owned. */
    struct bb_directory_file *files;
    size_t file_count;
    bool has_current;
    bool has_lock;
};

enum bb_file_verdict {
    BB_FILE_VERDICT_NEEDED,  /* part of the store */
    BB_FILE_VERDICT_ORPHAN,  /* ours, but unreferenced: may be removed */
    BB_FILE_VERDICT_FOREIGN, /* not ours: kept */
};

/* Errors: BB_NOT_FOUND when the path does not exist, BB_INVALID when it is not a directory. */
BB_MUST_CHECK enum bb_status bb_directory_check(struct bb_file_system *fs, const char *path);
/* Lists and classifies the files. */
BB_MUST_CHECK enum bb_status bb_directory_scan(struct bb_file_system *fs, const char *path,
                                               struct bb_directory *ret_directory);
void bb_directory_deinit(struct bb_directory *directory);

/* True when there is a manifest, a log or a table, by name. It is true for every directory of an
 * open store, at any point of the writer's work, so it can be checked before the lock is taken. */
bool bb_directory_has_store_file(const struct bb_directory *directory);

/* Checks that a store may be created here. Errors: BB_EXISTS when there is a CURRENT. BB_CORRUPT,
 * listing the candidates, when there is no CURRENT, but there are tables, logs, or a manifest that
 * names any. Leftovers of an interrupted creation (temporaries, and manifests that are truncated or
 * name no files) are allowed; the new store's numbers start above theirs. */
BB_MUST_CHECK enum bb_status bb_directory_check_new(struct bb_file_system *fs, const char *path,
                                                    const struct bb_directory *directory);

/* True for the window of a log that recovery would read and that is missing. A window is created
 * after its log's name is synced, and a log is removed when recovery does not need it any more: so
 * something else deleted this log. */
bool bb_directory_is_lone_window(const struct bb_directory *directory,
                                 const struct bb_manifest_state *state,
                                 const struct bb_directory_file *file);

/* Reads the current manifest of a scanned directory, and makes all checks of an opening with these
 * resolved options: comparator, completeness, no window without its log, and with strict recovery a
 * whole manifest. */
BB_MUST_CHECK enum bb_status bb_directory_load_manifest(struct bb_file_system *fs, const char *path,
                                                        const struct bb_directory *directory,
                                                        const struct bb_db_options *options,
                                                        struct bb_manifest_state *ret_state,
                                                        struct bb_manifest_report *ret_report);

/* Checks that every file that the state refers to exists. Errors: BB_CORRUPT when a live table is
 * missing or has another size, or the first log for recovery is missing. */
BB_MUST_CHECK enum bb_status bb_directory_check_complete(const char *path,
                                                         const struct bb_directory *directory,
                                                         const struct bb_manifest_state *state);

/* The numbers of the logs to replay, ascending. *ret_numbers is owned (bb_free), NULL if none
 * exist. */
BB_MUST_CHECK enum bb_status bb_directory_logs(const struct bb_directory *directory,
                                               const struct bb_manifest_state *state,
                                               uint64_t **ret_numbers, size_t *ret_count);

/* True when the store can have used this number. Numbers up to a trillion above the manifest's next
 * number are accepted; otherwise one file with a large number in its name would use up all numbers.
 * With an empty state all numbers except the last trillion are accepted. */
bool bb_directory_is_reachable(const struct bb_manifest_state *state, uint64_t number);

/* The first number above all numbers that the state and reachable names of the directory have used.
 * Errors: BB_TOO_LARGE when all numbers are used up. */
BB_MUST_CHECK enum bb_status bb_directory_next_number(const char *path,
                                                      const struct bb_directory *directory,
                                                      const struct bb_manifest_state *state,
                                                      uint64_t *ret_number);

/* Fails with BB_TOO_LARGE: all file numbers of the store in `path` are used up. The message names
 * the remedy. */
BB_MUST_CHECK enum bb_status bb_directory_fail_used_up(const char *path);

/* Classifies one file. manifest_number: the current manifest's. kv/directory/unnamed.h finds tables
 * with data that exists only there. */
enum bb_file_verdict bb_directory_judge(const struct bb_directory_file *file,
                                        const struct bb_manifest_state *state,
                                        uint64_t manifest_number);

/* True when bb_directory_remove_orphans would remove no file. */
bool bb_directory_is_clean(const struct bb_directory *directory,
                           const struct bb_manifest_state *state, uint64_t manifest_number);

struct bb_directory_report {
    uint64_t removed;
    uint64_t foreign;
    uint64_t failed; /* could not be removed; the next opening retries */
};
/* Removes the orphans of a scan. Call after manifest `manifest_number` is durable and current.
 * Files that appeared after the scan are kept. Removing is optional: its failures are counted, not
 * returned. */
void bb_directory_remove_orphans(struct bb_file_system *fs, const char *path,
                                 const struct bb_directory *directory,
                                 const struct bb_manifest_state *state, uint64_t manifest_number,
                                 struct bb_directory_report *ret_report);

#endif
