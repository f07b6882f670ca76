/* The manifest: the durable record of which tables and logs are the store.
 *
 *     CURRENT --names--> MANIFEST-n = log of edits: snapshot, edit, edit, ...
 *
 * A manifest is written by the process that began it and by nobody after: every opening for writing
 * starts a new one from the state it recovered, before its first edit. So no record is ever appended
 * behind one of unknown state, and nothing that was only read back from a page cache is relied upon. docs/durability.md
 * has the protocol and the names of its syncs; bytes: docs/format-manifest.md.
 *
 * Use
 *     create    bb_manifest_identity_new, bb_manifest_create, bb_manifest_close; then open
 *     open      bb_manifest_load; replay logs, write tables; bb_manifest_state_apply;
 *               bb_manifest_create; or, of a store at rest, bb_manifest_adopt
 *     change    bb_manifest_append; bb_manifest_rotate when bb_manifest_is_due
 *
 * Threads: a manifest is for one thread at a time; the store does not hold its mutex over these
 * calls.
 */
#ifndef BB_KV_MANIFEST_MANIFEST_H
#define BB_KV_MANIFEST_MANIFEST_H

#include "base/file.h"
#include "kv/manifest/manifest_state.h"

struct bb_manifest;

/* A manifest is framed as a log is (kv/wal/wal_format.h), under a log number of its own kind: the top
 * bit is set, which no file number has, so that neither is ever taken for the other. */
static inline uint64_t bb_manifest_log_number(uint64_t number)
{
    return number | UINT64_C(1) << 63;
}

/* What loading found. */
struct bb_manifest_report {
    uint64_t number; /* of the manifest that CURRENT names */
    uint64_t file_size;
    uint64_t record_count;
    uint64_t dropped_bytes; /* torn tail, above what is known to be durable */
    bool is_whole;          /* nothing was dropped */
    bool is_damaged;        /* salvaged: what was dropped is more than a torn tail */
    bool is_marked;         /* whole, and its end says that all of it was durable */
    char dropped[256];      /* why the tail ended, for a person; empty when whole */
};

/* For strict recovery: BB_CORRUPT where something was dropped. */
BB_MUST_CHECK enum bb_status bb_manifest_check_whole(const char *directory,
                                                     const struct bb_manifest_report *report);

/* For a failure that a torn manifest may explain, because the state is that before its last change:
 * says so in front of the latest message. Returns status. */
enum bb_status bb_manifest_report_context(enum bb_status status,
                                          const struct bb_manifest_report *report);

/* Identity of a new store: random id; secret copied, or random when NULL. BB_INVALID when the
 * comparator's name is empty or too long. comparator NULL: bytewise. */
BB_MUST_CHECK enum bb_status bb_manifest_identity_new(struct bb_file_system *fs,
                                                      const struct bb_comparator *comparator,
                                                      const struct bb_hash_secret *secret,
                                                      struct bb_store_identity *ret_identity);
/* BB_INVALID with both names when the store was created with another comparator. */
BB_MUST_CHECK enum bb_status bb_manifest_check_comparator(const char *directory,
                                                          const struct bb_store_identity *identity,
                                                          const struct bb_comparator *comparator);

/* Reads CURRENT and all of the manifest it names; changes nothing. *ret_state is owned by the
 * caller. BB_NOT_FOUND: no CURRENT (bb_directory_check_new says what that means). BB_CORRUPT:
 * CURRENT is not exactly one name of our grammar and a newline, the manifest is missing, is damaged
 * below what is known to be durable, or contradicts itself. BB_UNSUPPORTED: a newer format. report
 * may be NULL. */
BB_MUST_CHECK enum bb_status bb_manifest_load(struct bb_file_system *fs, const char *directory,
                                              struct bb_manifest_state *ret_state,
                                              struct bb_manifest_report *ret_report);
/* The same of one manifest file, whatever CURRENT says: for dump and verify. visit (may be NULL)
 * sees each edit before it is folded. */
BB_MUST_CHECK enum bb_status bb_manifest_read(
    struct bb_file_system *fs, const char *path, uint64_t number,
    enum bb_status (*visit)(void *context, const struct bb_edit *edit, uint64_t offset),
    void *context, struct bb_manifest_state *ret_state, struct bb_manifest_report *ret_report);

/* The same for repair: ends at the first damage, whatever was durable behind it, and at the first
 * edit that contradicts those before it. BB_CORRUPT: not even the snapshot can be read. */
BB_MUST_CHECK enum bb_status bb_manifest_salvage(struct bb_file_system *fs, const char *path,
                                                 uint64_t number,
                                                 struct bb_manifest_state *ret_state,
                                                 struct bb_manifest_report *ret_report);

/* Writes manifest `number` (a new file number; next_file_number is raised above it) with a snapshot
 * of *state and makes it the one in force: when this returns BB_OK, it is durable, and so is every
 * name that was in the directory before. Takes *state on success and leaves it empty; leaves it as
 * it was on failure. Removes nothing. REQUIRES: the state has an identity; everything it refers to
 * has been synced (names need not be). */
BB_MUST_CHECK enum bb_status bb_manifest_create(struct bb_file_system *fs, const char *directory,
                                                uint64_t number, struct bb_manifest_state *state,
                                                struct bb_manifest **ret_manifest);
/* The manifest that is in force, as it was loaded: nothing is written. It is due (bb_manifest_is_due)
 * until it was rotated, and takes no edit before. Takes *state on success and leaves it empty.
 * REQUIRES: the state that was loaded is_closed. */
BB_MUST_CHECK enum bb_status bb_manifest_adopt(struct bb_file_system *fs, const char *directory,
                                               uint64_t number, struct bb_manifest_state *state,
                                               struct bb_manifest **ret_manifest);
/* Always releases; BB_IO when closing the file reports a failure (nothing durable is at risk). NULL
 * is allowed. */
BB_MUST_CHECK enum bb_status bb_manifest_close(struct bb_manifest *manifest);

/* Borrowed until the next change. */
const struct bb_manifest_state *bb_manifest_state_of(const struct bb_manifest *manifest);
uint64_t bb_manifest_number(const struct bb_manifest *manifest);

/* Appends the edit, syncs, and folds it into the state: with BB_OK it is durable, and only then may
 * what it made obsolete be removed.
 * BB_INVALID: the edit contradicts the state. BB_TOO_LARGE: beyond BB_EDIT_SIZE_MAX. BB_NO_MEMORY
 * while the manifest is not poisoned: as it says. In these cases nothing was written, and the
 * manifest stays usable.
 * Any other failure poisons the manifest: the edit is not folded, but may turn out to be durable
 * after all. So neither the tables that it adds nor the tables and logs that it would have made
 * obsolete may be removed until a rotation succeeded. A poisoned manifest answers BB_READ_ONLY with
 * the first failure's message.
 * REQUIRES: the tables it adds are synced, and their names too; an adopted manifest was rotated. */
BB_MUST_CHECK enum bb_status bb_manifest_append(struct bb_manifest *manifest,
                                                const struct bb_edit *edit);
/* The last edit of a store that is being closed: where its logs end, ascending by number. Is not
 * synced: what it says is true whether it survives or not. No edit may follow. A poisoned manifest,
 * or one that was adopted and not rotated, is left as it is. */
BB_MUST_CHECK enum bb_status bb_manifest_note_close(struct bb_manifest *manifest,
                                                    const struct bb_wal_end *log_ends,
                                                    size_t log_end_count);
bool bb_manifest_is_poisoned(const struct bb_manifest *manifest);

/* Is it another process's, or has it grown so far past its snapshot that a new one is due? */
bool bb_manifest_is_due(const struct bb_manifest *manifest);
/* Starts a new manifest from the state (of a poisoned one: without the edit that failed), publishes
 * it and removes the old one. On failure the manifest is poisoned (before it was published or not
 * is not known), and rotating may be tried again with another number; every number that was tried
 * is used up. */
BB_MUST_CHECK enum bb_status bb_manifest_rotate(struct bb_manifest *manifest, uint64_t number);

#endif
