/* What lies in a store's directory, and what of it may go.
 *
 * Rules: what is not in the grammar of kv/manifest/filename.h is left alone and reported. So is a name
 * of the grammar whose number this store cannot have given out (bb_directory_is_reachable). A file of
 * the grammar is removed only when neither the manifest nor a log that is still needed refers to it.
 * Threads: a directory is for one thread at a time; bb_directory_judge is a pure function.
 */
#ifndef BB_KV_DIRECTORY_H
#define BB_KV_DIRECTORY_H

#include "base/file.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"

struct bb_directory_file {
    const char *name; /* borrowed from the directory */
    struct bb_filename is;
    bool is_directory; /* then kind is FOREIGN, whatever the name */
    uint64_t size;
};

/* A zeroed struct is a valid empty directory. */
struct bb_directory {
    struct bb_name_list names;       /* owned */
    struct bb_directory_file *files; /* ascending by kind, then by number, then by name; owned */
    size_t file_count;
    bool has_current;
};

enum bb_verdict {
    BB_VERDICT_NEEDED,  /* part of the store */
    BB_VERDICT_ORPHAN,  /* ours, and nothing refers to it: may be removed */
    BB_VERDICT_FOREIGN, /* not ours: stays */
};

/* Lists and classifies. */
BB_MUST_CHECK enum bb_status bb_directory_scan(struct bb_file_system *fs, const char *path,
                                               struct bb_directory *ret_directory);
void bb_directory_deinit(struct bb_directory *directory);

/* Is there a manifest, a log or a table, by its name? Holds of every directory whose store is open,
 * whatever its writer does meanwhile: what may be said before the lock is taken. */
bool bb_directory_has_store_file(const struct bb_directory *directory);

/* May a store be created here? BB_EXISTS: there is a CURRENT. BB_CORRUPT, listing the candidates:
 * there is none, but tables, logs, or a manifest that names any. What an interrupted creation
 * leaves (temporaries, and manifests that name nothing or are cut off) is no obstacle; the new
 * store's numbers start above theirs. */
BB_MUST_CHECK enum bb_status bb_directory_check_new(struct bb_file_system *fs, const char *path,
                                                    const struct bb_directory *directory);

/* Is everything there that the state refers to? BB_CORRUPT: a live table is missing or has another
 * size, or the log that recovery has to begin with is missing. */
BB_MUST_CHECK enum bb_status bb_directory_check_complete(const char *path,
                                                         const struct bb_directory *directory,
                                                         const struct bb_manifest_state *state);

/* Numbers of the logs to replay, ascending: *ret_numbers is owned (bb_free), NULL when there are
 * none. */
BB_MUST_CHECK enum bb_status bb_directory_logs(const struct bb_directory *directory,
                                               const struct bb_manifest_state *state,
                                               uint64_t **ret_numbers, size_t *ret_count);

/* May the store have given out this number? Names are not believed further than the manifest's next
 * number and a trillion: else one file with a great number in its name would use up all numbers. An
 * empty state says nothing; then all but the last trillion of all numbers are believed. */
bool bb_directory_is_reachable(const struct bb_manifest_state *state, uint64_t number);

/* The first number above all that the state and reachable names of the directory have used.
 * BB_TOO_LARGE: there is none left. */
BB_MUST_CHECK enum bb_status bb_directory_next_number(const char *path,
                                                      const struct bb_directory *directory,
                                                      const struct bb_manifest_state *state,
                                                      uint64_t *ret_number);

/* BB_TOO_LARGE: no file number is left for the store in `path`, and what to do about it. */
BB_MUST_CHECK enum bb_status bb_directory_fail_used_up(const char *path);

/* The fate of one file. manifest_number: the one in force. Of tables that hold what nothing else has,
 * kv/unnamed.h tells. */
enum bb_verdict bb_directory_judge(const struct bb_directory_file *file,
                                   const struct bb_manifest_state *state, uint64_t manifest_number);

/* Does nothing lie in it that bb_directory_remove_orphans would remove? */
bool bb_directory_is_clean(const struct bb_directory *directory,
                           const struct bb_manifest_state *state, uint64_t manifest_number);

struct bb_directory_report {
    uint64_t removed;
    uint64_t foreign;
    uint64_t failed; /* could not be removed: tried again at the next opening */
};
/* Removes the orphans of a scan, after the manifest `manifest_number` is durably in force. Files
 * that came after the scan are not looked at. Removing is a courtesy: its failures are counted, not
 * returned. */
void bb_directory_remove_orphans(struct bb_file_system *fs, const char *path,
                                 const struct bb_directory *directory,
                                 const struct bb_manifest_state *state, uint64_t manifest_number,
                                 struct bb_directory_report *ret_report);

#endif
