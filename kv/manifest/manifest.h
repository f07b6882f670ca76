/* The manifest: the durable record of the tables and logs that make up the store.
 *
 *     CURRENT --names--> MANIFEST-n = log of edits: snapshot, edit, edit, ...
 *
 * Only the process that created a manifest writes it. Every opening for writing starts a new one
 * from the recovered state before its first edit. No record is therefore appended after one of
 * unknown state, and the store never relies on data that was only read back from a page cache.
 * docs/durability.md describes the protocol and names its syncs; docs/format-manifest.md draws the
 * bytes.
 *
 * Use
 *     create    bb_manifest_identity_new, bb_manifest_create, bb_manifest_close; then open
 *     open      bb_manifest_load; replay logs, write tables; bb_manifest_state_apply;
 *               bb_manifest_create; or, if the store was cleanly closed, bb_manifest_adopt
 *     change    bb_manifest_append; bb_manifest_rotate when bb_manifest_is_due
 *
 * Threads: one at a time per manifest; the store does not hold its mutex during these calls.
 */
#ifndef BB_KV_MANIFEST_MANIFEST_H
#define BB_KV_MANIFEST_MANIFEST_H

#include "base/file.h"
#include "kv/manifest/manifest_state.h"

struct bb_manifest;

/* A manifest has the same framing as a log (kv/wal/wal_format.h), under a separate log number: the
 * top bit is set, which no file number has, so that neither is mistaken for the other. */
static inline uint64_t bb_manifest_log_number(uint64_t number)
{
    return number | UINT64_C(1) << 63;
}

/* The result of loading. */
struct bb_manifest_report {
    uint64_t number; /* of the manifest that CURRENT names */
    uint64_t file_size;
    uint64_t record_count;
    uint64_t end_offset;    /* of the last whole record or mark */
    uint64_t dropped_bytes; /* torn tail, after the durable part */
    bool is_whole;          /* no bytes were dropped */
    bool is_damaged;        /* salvaged: more than a torn tail was dropped */
    /* Whole, and its end shows that everything was durable. */
    bool is_marked;
    char dropped[256]; /* reason, as readable text; empty when whole */
};

/* For strict recovery. Errors: BB_CORRUPT when bytes were dropped. */
BB_MUST_CHECK enum bb_status bb_manifest_check_whole(const char *directory,
                                                     const struct bb_manifest_report *report);

/* For a failure that a torn manifest may explain, because the state precedes its last change:
 * prepends that explanation to the latest message. Returns status. */
enum bb_status bb_manifest_report_context(enum bb_status status,
                                          const struct bb_manifest_report *report);

/* The identity of a new store: a random id; the secret is copied, or random when NULL. comparator
 * NULL: bytewise. Errors: BB_INVALID when the comparator's name is empty or too long. */
BB_MUST_CHECK enum bb_status bb_manifest_identity_new(struct bb_file_system *fs,
                                                      const struct bb_comparator *comparator,
                                                      const struct bb_hash_secret *secret,
                                                      struct bb_store_identity *ret_identity);
/* Errors: BB_INVALID, with both names, when the store was created with another comparator. */
BB_MUST_CHECK enum bb_status bb_manifest_check_comparator(const char *directory,
                                                          const struct bb_store_identity *identity,
                                                          const struct bb_comparator *comparator);

/* Reads CURRENT and the manifest that it names; changes nothing. The caller owns *ret_state. report
 * may be NULL. Errors: BB_NOT_FOUND without CURRENT (bb_directory_check_new explains that case).
 * BB_CORRUPT when CURRENT is not exactly a name of our grammar and a newline, or when the manifest
 * is missing, is damaged in its durable part, or contradicts itself. BB_UNSUPPORTED for a newer
 * format. */
BB_MUST_CHECK enum bb_status bb_manifest_load(struct bb_file_system *fs, const char *directory,
                                              struct bb_manifest_state *ret_state,
                                              struct bb_manifest_report *ret_report);
/* The same for one manifest file, independent of CURRENT: for dump and verify. visit (may be NULL)
 * sees each edit before it is applied. */
BB_MUST_CHECK enum bb_status bb_manifest_read(
    struct bb_file_system *fs, const char *path, uint64_t number,
    enum bb_status (*visit)(void *context, const struct bb_edit *edit, uint64_t offset),
    void *context, struct bb_manifest_state *ret_state, struct bb_manifest_report *ret_report);

/* The same for repair: stops at the first damage, even if durable data follows, and at the first
 * edit that contradicts the ones before it. Errors: BB_CORRUPT when not even the snapshot can be
 * read. */
BB_MUST_CHECK enum bb_status bb_manifest_salvage(struct bb_file_system *fs, const char *path,
                                                 uint64_t number,
                                                 struct bb_manifest_state *ret_state,
                                                 struct bb_manifest_report *ret_report);

/* Writes manifest `number` (a new file number; next_file_number is raised above it) with a snapshot
 * of *state and makes it current. With BB_OK it is durable, and so is every name that was in the
 * directory before. On success it takes *state and leaves it empty; on failure *state is unchanged.
 * Removes nothing. REQUIRES: the state has an identity; everything it refers to is synced (names
 * need not be). */
BB_MUST_CHECK enum bb_status bb_manifest_create(struct bb_file_system *fs, const char *directory,
                                                uint64_t number, struct bb_manifest_state *state,
                                                struct bb_manifest **ret_manifest);
/* Adopts the loaded manifest, which is current: writes nothing. It is due (bb_manifest_is_due) and
 * takes no edit until it is rotated. On success it takes *state and leaves it empty. REQUIRES: the
 * loaded state is_closed. */
BB_MUST_CHECK enum bb_status bb_manifest_adopt(struct bb_file_system *fs, const char *directory,
                                               uint64_t number, struct bb_manifest_state *state,
                                               struct bb_manifest **ret_manifest);
/* Always releases. Errors: BB_IO when closing the file fails; no durable data is at risk. NULL is
 * allowed. */
BB_MUST_CHECK enum bb_status bb_manifest_close(struct bb_manifest *manifest);

/* Borrowed until the next change. */
const struct bb_manifest_state *bb_manifest_state_of(const struct bb_manifest *manifest);
uint64_t bb_manifest_number(const struct bb_manifest *manifest);
/* The file is durable up to here. 0 for an adopted manifest, which is not written. */
uint64_t bb_manifest_durable(const struct bb_manifest *manifest);

/* Appends the edit, syncs, and applies it to the state. With BB_OK it is durable; only then may
 * files that it made obsolete be removed.
 *
 * Errors: BB_INVALID when the edit contradicts the state. BB_TOO_LARGE beyond BB_EDIT_SIZE_MAX.
 * BB_NO_MEMORY while the manifest is not poisoned. In these cases no byte was written, and the
 * manifest stays usable.
 *
 * Any other failure poisons the manifest: the edit is not applied, but may later prove durable.
 * Neither the tables that it adds nor the tables and logs that it made obsolete may be removed
 * until a rotation succeeds. A poisoned manifest returns BB_READ_ONLY with the first failure's
 * message.
 *
 * REQUIRES: the tables it adds are synced, and their names too; an adopted manifest was rotated.
 */
BB_MUST_CHECK enum bb_status bb_manifest_append(struct bb_manifest *manifest,
                                                const struct bb_edit *edit);
/* Appends the last edit of a store that is being closed: the ends of its logs, ascending by number.
 * It is not synced: it is correct whether it survives or not. No edit may follow. Does nothing for
 * a poisoned manifest, or for an adopted manifest before its rotation. */
BB_MUST_CHECK enum bb_status bb_manifest_note_close(struct bb_manifest *manifest,
                                                    const struct bb_wal_end *log_ends,
                                                    size_t log_end_count);
/* For a store that is not opened: bb_manifest_create and bb_manifest_close. is_closed: the store
 * counts as cleanly closed, without logs. */
BB_MUST_CHECK enum bb_status bb_manifest_write(struct bb_file_system *fs, const char *directory,
                                               uint64_t number, bool is_closed,
                                               struct bb_manifest_state *state);
bool bb_manifest_is_poisoned(const struct bb_manifest *manifest);

/* True when a new manifest is due: this one belongs to another process, or has grown too far past
 * its snapshot. */
bool bb_manifest_is_due(const struct bb_manifest *manifest);
/* Starts a new manifest from the state (for a poisoned one: without the failed edit), publishes it
 * and removes the old one. A failure poisons the manifest, because it is unknown whether the new
 * one was published. Rotation may be retried with another number; every number that was tried is
 * used up. */
BB_MUST_CHECK enum bb_status bb_manifest_rotate(struct bb_manifest *manifest, uint64_t number);

#endif
