/* See directory.h. Rules and their reasons: docs/durability.md, R7 to R9. */
#include "kv/directory/directory.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/path.h"
#include "base/status.h"

/* Maximum number of files that a message lists. */
#define LISTED_MAX 8
/* A manifest that never became current has only a header and an identity. A larger one belongs to a
 * real store. */
#define UNBORN_MANIFEST_SIZE_MAX 1024
/* How far above the manifest's numbers a number in a name may be. Every flush updates the manifest,
 * so a store never gets near this limit: at a thousand files a second it would take 34 years. */
#define NUMBERS_AHEAD_MAX (UINT64_C(1) << 40)

enum bb_status bb_directory_check(struct bb_file_system *fs, const char *path)
{
    bool is_directory = false;
    uint64_t size = 0;
    enum bb_status status = fs->ops->status(fs, path, &is_directory, &size);
    if (status == BB_OK && !is_directory)
        return bb_fail(BB_INVALID, "%s: not a directory", path);
    return status;
}

/* ---- scanning ---- */

static int compare_files(const void *a, const void *b)
{
    const struct bb_directory_file *first = a;
    const struct bb_directory_file *second = b;
    if (first->is.kind != second->is.kind)
        return first->is.kind < second->is.kind ? -1 : 1;
    if (first->is.number != second->is.number)
        return first->is.number < second->is.number ? -1 : 1;
    return strcmp(first->name, second->name);
}

/* *ret_is_there is false when the file has disappeared. */
static enum bb_status look_at(struct bb_file_system *fs, const char *path,
                              struct bb_directory_file *file, bool *ret_is_there)
{
    char file_path[BB_PATH_SIZE_MAX];
    *ret_is_there = true;
    if (file->is.kind == BB_FILE_FOREIGN)
        return BB_OK; /* not ours, so it is not examined */
    enum bb_status status = bb_path_join(path, file->name, file_path);
    if (status == BB_OK)
        status = fs->ops->status(fs, file_path, &file->is_directory, &file->size);
    *ret_is_there = status == BB_OK;
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status add_file(struct bb_file_system *fs, const char *path, const char *name,
                               struct bb_directory *directory)
{
    struct bb_directory_file file = {.name = name,
                                     .is = bb_filename_decode(bb_bytes_of_text(name))};
    bool is_there = false;
    enum bb_status status = look_at(fs, path, &file, &is_there);
    if (!is_there)
        return status;
    directory->has_current |= file.is.kind == BB_FILE_CURRENT;
    directory->has_lock |= file.is.kind == BB_FILE_LOCK;
    if (file.is_directory)
        file.is = (struct bb_filename){.kind = BB_FILE_FOREIGN};
    directory->files[directory->file_count++] = file;
    return BB_OK;
}

enum bb_status bb_directory_scan(struct bb_file_system *fs, const char *path,
                                 struct bb_directory *ret_directory)
{
    struct bb_directory directory = {0};
    enum bb_status status = fs->ops->list(fs, path, &directory.names);
    if (status != BB_OK)
        return status;
    directory.files = bb_alloc_zeroed(directory.names.count + 1, sizeof(*directory.files));
    if (directory.files == NULL)
        status = bb_fail(BB_NO_MEMORY, "%s: no memory for %zu names", path, directory.names.count);
    for (size_t i = 0; i < directory.names.count && status == BB_OK; i++)
        status = add_file(fs, path, directory.names.names[i], &directory);
    if (status != BB_OK) {
        bb_directory_deinit(&directory);
        return status;
    }
    qsort(directory.files, directory.file_count, sizeof(*directory.files), compare_files);
    *ret_directory = directory;
    return BB_OK;
}

void bb_directory_deinit(struct bb_directory *directory)
{
    bb_free(directory->files);
    bb_file_names_deinit(&directory->names);
    *directory = (struct bb_directory){0};
}

bool bb_directory_has_store_file(const struct bb_directory *directory)
{
    for (size_t i = 0; i < directory->file_count; i++) {
        enum bb_file_kind kind = directory->files[i].is.kind;
        if (kind == BB_FILE_MANIFEST || kind == BB_FILE_LOG || kind == BB_FILE_TABLE)
            return true;
    }
    return false;
}

static const struct bb_directory_file *find_file(const struct bb_directory *directory,
                                                 enum bb_file_kind kind, uint64_t number)
{
    size_t low = 0;
    size_t high = directory->file_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct bb_directory_file *file = &directory->files[middle];
        if (file->is.kind == kind && file->is.number == number)
            return file;
        if (file->is.kind < kind || (file->is.kind == kind && file->is.number < number))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- judging ---- */

/* True when a manifest without a CURRENT proves that there was a store. */
static enum bb_status is_evidence(struct bb_file_system *fs, const char *path,
                                  const struct bb_directory_file *file, bool *ret_is_evidence)
{
    char file_path[BB_PATH_SIZE_MAX];
    struct bb_manifest_state state = {0};
    enum bb_status status = bb_path_join(path, file->name, file_path);
    if (status != BB_OK)
        return status;
    status = bb_manifest_read(fs, file_path, file->is.number, NULL, NULL, &state, NULL);
    bool is_readable = status == BB_OK;
    if (status == BB_CORRUPT || status == BB_UNSUPPORTED || status == BB_NOT_FOUND)
        status = BB_OK;
    if (status == BB_OK)
        *ret_is_evidence = is_readable ? state.table_count > 0 || state.log_number != 0
                                       : file->size > UNBORN_MANIFEST_SIZE_MAX;
    bb_manifest_state_deinit(&state);
    return status;
}

static enum bb_status list_names(const struct bb_directory *directory, struct bb_buf *text)
{
    size_t listed = 0;
    size_t count = 0;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < directory->file_count && status == BB_OK; i++) {
        const struct bb_directory_file *file = &directory->files[i];
        if (file->is.number == 0)
            continue;
        count++;
        if (listed < LISTED_MAX) {
            status = bb_buf_print(text, "%s%s", listed == 0 ? "" : ", ", file->name);
            listed++;
        }
    }
    if (status == BB_OK && count > listed)
        status = bb_buf_print(text, " and %zu more", count - listed);
    return status == BB_OK ? bb_buf_append(text, "", 1) : status;
}

static enum bb_status refuse_new(const char *path, const struct bb_directory *directory)
{
    struct bb_buf names = {0};
    enum bb_status status = list_names(directory, &names);
    if (status == BB_OK)
        status = bb_fail(BB_CORRUPT, "%s: has no CURRENT, but files of a store: %s", path,
                         (const char *)names.data);
    bb_buf_deinit(&names);
    return status;
}

enum bb_status bb_directory_check_new(struct bb_file_system *fs, const char *path,
                                      const struct bb_directory *directory)
{
    if (directory->has_current)
        return bb_fail(BB_EXISTS, "%s: there is a store", path);
    for (size_t i = 0; i < directory->file_count; i++) {
        const struct bb_directory_file *file = &directory->files[i];
        bool is_obstacle = file->is.kind == BB_FILE_TABLE || file->is.kind == BB_FILE_LOG;
        enum bb_status status = BB_OK;
        if (file->is.kind == BB_FILE_MANIFEST)
            status = is_evidence(fs, path, file, &is_obstacle);
        if (status != BB_OK)
            return status;
        if (is_obstacle)
            return refuse_new(path, directory);
    }
    return BB_OK;
}

static enum bb_status check_table(const char *path, const struct bb_directory *directory,
                                  const struct bb_edit_table *table)
{
    const struct bb_directory_file *file = find_file(directory, BB_FILE_TABLE, table->number);
    if (file == NULL)
        return bb_fail(BB_CORRUPT,
                       "%s/%06" PRIu64 ".bbt: missing, and the manifest has it in level %d", path,
                       table->number, table->level);
    if (file->size != table->meta.file_size)
        return bb_fail(BB_CORRUPT, "%s/%s: has %" PRIu64 " bytes, the manifest has %" PRIu64, path,
                       file->name, file->size, table->meta.file_size);
    return BB_OK;
}

enum bb_status bb_directory_check_complete(const char *path, const struct bb_directory *directory,
                                           const struct bb_manifest_state *state)
{
    for (size_t i = 0; i < state->table_count; i++) {
        enum bb_status status = check_table(path, directory, state->tables[i]);
        if (status != BB_OK)
            return status;
    }
    bool is_log_needed = state->log_number != 0 && !state->log_is_absent;
    if (is_log_needed && find_file(directory, BB_FILE_LOG, state->log_number) == NULL)
        return bb_fail(BB_CORRUPT,
                       "%s/%06" PRIu64
                       ".wal: missing, but the manifest requires recovery to begin with it",
                       path, state->log_number);
    return BB_OK;
}

bool bb_directory_is_reachable(const struct bb_manifest_state *state, uint64_t number)
{
    uint64_t next = state->next_file_number;
    return number < (next == 0 ? BB_FILE_NUMBER_MAX - NUMBERS_AHEAD_MAX : next + NUMBERS_AHEAD_MAX);
}

/* True for the number of a log that recovery reads. */
static bool is_replayed(const struct bb_manifest_state *state, uint64_t number)
{
    return number >= state->log_number && bb_directory_is_reachable(state, number);
}

static bool is_log_to_replay(const struct bb_directory_file *file,
                             const struct bb_manifest_state *state)
{
    return file->is.kind == BB_FILE_LOG && is_replayed(state, file->is.number);
}

bool bb_directory_is_lone_window(const struct bb_directory *directory,
                                 const struct bb_manifest_state *state,
                                 const struct bb_directory_file *file)
{
    return file->is.kind == BB_FILE_WINDOW && is_replayed(state, file->is.number) &&
           find_file(directory, BB_FILE_LOG, file->is.number) == NULL;
}

static enum bb_status check_windows(const char *path, const struct bb_directory *directory,
                                    const struct bb_manifest_state *state)
{
    for (size_t i = 0; i < directory->file_count; i++) {
        const struct bb_directory_file *file = &directory->files[i];
        if (bb_directory_is_lone_window(directory, state, file))
            return bb_fail(BB_CORRUPT, "%s/%06" PRIu64 ".wal: missing, but its window %s exists",
                           path, file->is.number, file->name);
    }
    return BB_OK;
}

enum bb_status bb_directory_load_manifest(struct bb_file_system *fs, const char *path,
                                          const struct bb_directory *directory,
                                          const struct bb_db_options *options,
                                          struct bb_manifest_state *ret_state,
                                          struct bb_manifest_report *ret_report)
{
    enum bb_status status = bb_manifest_load(fs, path, ret_state, ret_report);
    if (status == BB_OK)
        status = bb_manifest_check_comparator(path, &ret_state->identity, options->comparator);
    if (status == BB_OK && options->recovery == BB_RECOVERY_STRICT)
        status = bb_manifest_check_whole(path, ret_report);
    if (status == BB_OK)
        status = bb_manifest_report_context(bb_directory_check_complete(path, directory, ret_state),
                                            ret_report);
    return status == BB_OK ? check_windows(path, directory, ret_state) : status;
}

enum bb_status bb_directory_logs(const struct bb_directory *directory,
                                 const struct bb_manifest_state *state, uint64_t **ret_numbers,
                                 size_t *ret_count)
{
    size_t count = 0;
    for (size_t i = 0; i < directory->file_count; i++)
        count += is_log_to_replay(&directory->files[i], state);
    if (count == 0) {
        *ret_numbers = NULL;
        *ret_count = 0;
        return BB_OK;
    }
    uint64_t *numbers = bb_alloc_zeroed(count, sizeof(*numbers));
    if (numbers == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu logs", count);
    count = 0;
    for (size_t i = 0; i < directory->file_count; i++) {
        if (is_log_to_replay(&directory->files[i], state))
            numbers[count++] = directory->files[i].is.number;
    }
    *ret_numbers = numbers;
    *ret_count = count;
    return BB_OK;
}

enum bb_status bb_directory_next_number(const char *path, const struct bb_directory *directory,
                                        const struct bb_manifest_state *state, uint64_t *ret_number)
{
    uint64_t next = state->next_file_number > 0 ? state->next_file_number : 1;
    /* Uses all names, not only files: even a directory or a dangling link with one of our names
     * blocks its number. */
    for (size_t i = 0; i < directory->names.count; i++) {
        uint64_t number = bb_filename_decode(bb_bytes_of_text(directory->names.names[i])).number;
        if (number >= next && bb_directory_is_reachable(state, number))
            next = number + 1;
    }
    if (next > BB_FILE_NUMBER_MAX)
        return bb_directory_fail_used_up(path);
    *ret_number = next;
    return BB_OK;
}

enum bb_status bb_directory_fail_used_up(const char *path)
{
    return bb_fail(BB_TOO_LARGE,
                   "%s: all file numbers up to %" PRIu64 " are used up: it can be read, with "
                   "read_only, and its contents be copied to a new store",
                   path, BB_FILE_NUMBER_MAX);
}

static bool is_needed(const struct bb_directory_file *file, const struct bb_manifest_state *state,
                      uint64_t manifest_number)
{
    switch (file->is.kind) {
    case BB_FILE_CURRENT:
    case BB_FILE_LOCK:
        return true;
    case BB_FILE_MANIFEST:
        return file->is.number == manifest_number;
    case BB_FILE_LOG:
    case BB_FILE_WINDOW:
        return is_replayed(state, file->is.number);
    case BB_FILE_TABLE:
        return bb_manifest_state_find(state, file->is.number) != NULL;
    case BB_FILE_INDEX:
        return bb_manifest_state_has_index(state, file->is.number);
    case BB_FILE_NEW_TABLE:
    case BB_FILE_TEMPORARY:
    case BB_FILE_FOREIGN:
        break;
    }
    return false;
}

enum bb_file_verdict bb_directory_judge(const struct bb_directory_file *file,
                                        const struct bb_manifest_state *state,
                                        uint64_t manifest_number)
{
    if (file->is.kind == BB_FILE_FOREIGN)
        return BB_FILE_VERDICT_FOREIGN;
    if (is_needed(file, state, manifest_number))
        return BB_FILE_VERDICT_NEEDED;
    if (!bb_directory_is_reachable(state, file->is.number))
        return BB_FILE_VERDICT_FOREIGN;
    return BB_FILE_VERDICT_ORPHAN;
}

bool bb_directory_is_clean(const struct bb_directory *directory,
                           const struct bb_manifest_state *state, uint64_t manifest_number)
{
    for (size_t i = 0; i < directory->file_count; i++) {
        if (bb_directory_judge(&directory->files[i], state, manifest_number) ==
            BB_FILE_VERDICT_ORPHAN)
            return false;
    }
    return true;
}

static bool remove_file(struct bb_file_system *fs, const char *path, const char *name)
{
    char file_path[BB_PATH_SIZE_MAX];
    bool is_removed =
        bb_path_join(path, name, file_path) == BB_OK && fs->ops->remove(fs, file_path) == BB_OK;
    return is_removed;
}

void bb_directory_remove_orphans(struct bb_file_system *fs, const char *path,
                                 const struct bb_directory *directory,
                                 const struct bb_manifest_state *state, uint64_t manifest_number,
                                 struct bb_directory_report *ret_report)
{
    struct bb_directory_report report = {0};
    for (size_t i = 0; i < directory->file_count; i++) {
        const struct bb_directory_file *file = &directory->files[i];
        enum bb_file_verdict verdict = bb_directory_judge(file, state, manifest_number);
        report.foreign += verdict == BB_FILE_VERDICT_FOREIGN;
        if (verdict != BB_FILE_VERDICT_ORPHAN)
            continue;
        if (remove_file(fs, path, file->name))
            report.removed++;
        else
            report.failed++;
    }
    *ret_report = report;
}
