/* Finds the state from which a repair starts. See repair.h.
 *
 *     CURRENT names a whole manifest            that one: it is certain
 *     else, of the manifests, newest first      the first with a readable snapshot, up to its first
 *                                               damage
 *     without manifests                         only an identity, from logs and tables; all tables
 *                                               are included
 *
 * A higher number is a later state: an opening that crashed before it wrote CURRENT has stored the
 * whole previous state.
 */

#include "base/alloc.h"
#include "base/status.h"
#include "kv/repair/repair.h"
#include "kv/wal/wal_salvage.h"
#include "sstable/meta/table_meta.h"

/* ---- manifests ---- */

static void take_state(struct bb_repair *repair, struct bb_manifest_state *state,
                       const struct bb_manifest_report *report)
{
    repair->state = *state;
    repair->has_manifest = true;
    repair->is_marked = report->is_marked;
    repair->report.manifest_number = report->number;
    *state = (struct bb_manifest_state){0};
}

static enum bb_status try_current(struct bb_repair *repair)
{
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    enum bb_status status = bb_manifest_load(repair->fs, repair->path, &state, &report);
    if (status == BB_CORRUPT || status == BB_NOT_FOUND || status == BB_INVALID) {
        bb_repair_tell(repair, "%s",
                       status == BB_NOT_FOUND ? "CURRENT is missing" : bb_error_last()->message);
        return BB_OK;
    }
    if (status != BB_OK)
        return status;
    take_state(repair, &state, &report);
    repair->is_current = report.is_whole;
    return BB_OK;
}

/* Interrupted creations leave manifests that name no files. */
static bool says_something(const struct bb_manifest_state *state)
{
    return state->table_count > 0 || state->log_number != 0;
}

static enum bb_status try_manifest(struct bb_repair *repair, const struct bb_directory_file *file)
{
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path(repair->path, BB_FILE_MANIFEST, file->is.number, path);
    enum bb_status status = bb_manifest_salvage(repair->fs, path, file->is.number, &state, &report);
    if (status == BB_CORRUPT || status == BB_NOT_FOUND || status == BB_INVALID) {
        bb_repair_tell(repair, "%s", bb_error_last()->message);
        return BB_OK;
    }
    if (status == BB_OK && says_something(&state)) {
        take_state(repair, &state, &report);
        repair->is_cut = report.is_damaged;
        bb_repair_tell(repair, "%s is used as the state of the store%s%s", file->name,
                       report.is_whole ? "" : " before its damage: ", report.dropped);
    }
    bb_manifest_state_deinit(&state);
    return status;
}

static enum bb_status try_manifests(struct bb_repair *repair)
{
    enum bb_status status = BB_OK;
    for (size_t i = repair->directory.file_count; i > 0 && status == BB_OK && !repair->has_manifest;
         i--) {
        const struct bb_directory_file *file = &repair->directory.files[i - 1];
        if (file->is.kind == BB_FILE_MANIFEST)
            status = try_manifest(repair, file);
    }
    return status;
}

/* ---- without a manifest ---- */

/* The secrets of the tables, with the number of tables for each: the most frequent one is the
 * store's. */
struct secrets {
    struct bb_hash_secret *secrets;
    size_t *counts;
    size_t count;
};

static void count_secret(struct secrets *secrets, const struct bb_hash_secret *secret)
{
    for (size_t i = 0; i < secrets->count; i++) {
        if (memcmp(secrets->secrets[i].bytes, secret->bytes, BB_HASH_SECRET_SIZE) == 0) {
            secrets->counts[i]++;
            return;
        }
    }
    secrets->secrets[secrets->count] = *secret;
    secrets->counts[secrets->count++] = 1;
}

static enum bb_status look_into_table(struct bb_repair *repair, uint64_t number,
                                      struct secrets *secrets)
{
    struct bb_table *table = NULL;
    char path[BB_PATH_SIZE_MAX];
    struct bb_table_options options = {.file_system = repair->fs,
                                       .comparator = repair->options.comparator};
    bb_filename_path(repair->path, BB_FILE_TABLE, number, path);
    enum bb_status status = bb_table_open(path, &options, &table);
    if (status == BB_OK)
        count_secret(secrets, bb_table_secret(table));
    bb_table_close(table);
    return status == BB_CORRUPT ? BB_OK : status;
}

static enum bb_status look_into_tables(struct bb_repair *repair, struct secrets *secrets)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < repair->directory.file_count && status == BB_OK; i++) {
        const struct bb_directory_file *file = &repair->directory.files[i];
        if (file->is.kind == BB_FILE_TABLE)
            status = look_into_table(repair, file->is.number, secrets);
    }
    return status;
}

static enum bb_status find_secret(struct bb_repair *repair, struct bb_hash_secret *ret_secret,
                                  bool *ret_is_found)
{
    size_t capacity = repair->directory.file_count + 1;
    struct secrets secrets = {.secrets = bb_alloc_zeroed(capacity, sizeof(*secrets.secrets)),
                              .counts = bb_alloc_zeroed(capacity, sizeof(*secrets.counts))};
    enum bb_status status = BB_OK;
    if (secrets.secrets == NULL || secrets.counts == NULL)
        status = bb_fail(BB_NO_MEMORY, "no memory for a list of %zu files", capacity);
    if (status == BB_OK)
        status = look_into_tables(repair, &secrets);
    size_t best = 0;
    for (size_t i = 1; i < secrets.count; i++)
        best = secrets.counts[i] > secrets.counts[best] ? i : best;
    *ret_is_found = status == BB_OK && secrets.count > 0;
    if (*ret_is_found)
        *ret_secret = secrets.secrets[best];
    bb_free(secrets.secrets);
    bb_free(secrets.counts);
    return status;
}

/* Takes the store's id from the newest log with a readable header. */
static enum bb_status find_store_id(struct bb_repair *repair, uint8_t store_id[BB_STORE_ID_SIZE])
{
    char path[BB_PATH_SIZE_MAX];
    enum bb_status status = BB_OK;
    bool is_told = false;
    for (size_t i = repair->directory.file_count; i > 0 && status == BB_OK && !is_told; i--) {
        const struct bb_directory_file *file = &repair->directory.files[i - 1];
        if (file->is.kind != BB_FILE_LOG)
            continue;
        bb_filename_path(repair->path, BB_FILE_LOG, file->is.number, path);
        status = bb_wal_salvage_read_claim(repair->fs, path, store_id, &is_told);
        if (status == BB_INVALID || status == BB_NOT_FOUND) /* not a file */
            status = BB_OK;
    }
    return status;
}

static enum bb_status make_identity(struct bb_repair *repair)
{
    struct bb_store_identity *identity = &repair->state.identity;
    struct bb_hash_secret secret;
    bool is_found = false;
    enum bb_status status = find_secret(repair, &secret, &is_found);
    if (status == BB_OK)
        status = bb_manifest_identity_new(repair->fs, repair->options.comparator,
                                          is_found ? &secret : repair->options.secret, identity);
    if (status == BB_OK)
        status = find_store_id(repair, identity->store_id);
    repair->state.has_identity = status == BB_OK;
    return status;
}

static bool is_missing_something(const struct bb_repair *repair)
{
    const struct bb_manifest_state *state = &repair->state;
    for (size_t i = 0; i < state->table_count; i++) {
        if (bb_repair_find(repair, BB_FILE_TABLE, state->tables[i]->number) == NULL)
            return true;
    }
    return bb_repair_lacks_first_log(repair);
}

/* True when there is a table that the state does not name. Edits in a damaged part may have added
 * it without removing any, as an ingest does. (Its number proves nothing: it is allocated long
 * before the edit.) A torn record at the end never took effect: its tables are ignored, as in an
 * opening. */
static bool has_unnamed_table(const struct bb_repair *repair)
{
    for (size_t i = 0; i < repair->directory.file_count; i++) {
        const struct bb_directory_file *file = &repair->directory.files[i];
        if (file->is.kind == BB_FILE_TABLE &&
            bb_manifest_state_find(&repair->state, file->is.number) == NULL)
            return true;
    }
    return false;
}

static void take_unnamed(struct bb_repair *repair)
{
    repair->takes_unnamed = true;
    repair->are_levels_unknown = true;
    repair->report.deletions_may_return = true;
}

/* Chooses the tables to include. If the state may not be the last one and some of its files are
 * missing, a later unreadable state replaced it, and that state's tables are among the unnamed
 * ones. The same holds if the manifest is damaged and unnamed tables exist. */
static void judge_state(struct bb_repair *repair)
{
    if (!repair->has_manifest) {
        take_unnamed(repair);
        bb_repair_tell(repair,
                       "no manifest can be read: all tables are included, and data that was "
                       "deleted and compacted away may be among them");
        return;
    }
    repair->is_outdated = (!repair->is_current && is_missing_something(repair)) ||
                          (repair->is_cut && has_unnamed_table(repair));
    if (repair->is_outdated)
        bb_repair_tell(repair,
                       "the manifest's last changes cannot be read: tables that it does "
                       "not name are included too, and data that was deleted and compacted away "
                       "may be among them");
    if (repair->is_outdated || repair->how.take_unnamed_tables)
        take_unnamed(repair);
}

/* Ignores files that the store cannot have written. */
static void leave_unreachable(struct bb_repair *repair)
{
    for (size_t i = 0; i < repair->directory.file_count; i++) {
        struct bb_directory_file *file = &repair->directory.files[i];
        if (bb_directory_is_reachable(&repair->state, file->is.number))
            continue;
        bb_repair_tell(repair, "%s: this store cannot have used such a number: ignored",
                       file->name);
        file->is = (struct bb_filename){.kind = BB_FILE_FOREIGN};
    }
}

/* Finds the tables of an unreadable edit at the manifest's end. */
static enum bb_status find_unnamed(struct bb_repair *repair)
{
    if (repair->takes_unnamed || repair->is_marked)
        return BB_OK;
    return bb_unnamed_find(repair->fs, repair->path, &repair->options, &repair->directory,
                           &repair->state, &repair->unnamed);
}

enum bb_status bb_repair_find_state(struct bb_repair *repair)
{
    enum bb_status status = try_current(repair);
    if (status == BB_OK && !repair->has_manifest)
        status = try_manifests(repair);
    if (status != BB_OK)
        return status;
    leave_unreachable(repair);
    repair->report.has_manifest = repair->has_manifest;
    repair->report.is_manifest_current = repair->is_current;
    judge_state(repair);
    if (!repair->has_manifest)
        return make_identity(repair);
    status = bb_manifest_check_comparator(repair->path, &repair->state.identity,
                                          repair->options.comparator);
    return status == BB_OK ? find_unnamed(repair) : status;
}
