/* Removes a store that is not open.
 *
 * While any file remains, the last one must show that a store was here. Otherwise a second call
 * could not distinguish the rest of a store from another program's files: LevelDB has a CURRENT and
 * manifests too. This file, the witness, begins or ends with one of our magic numbers, or it is a
 * log or manifest whose first record is whole.
 *
 *     CURRENT | everything else of the grammar | witness | LOCK, directory
 *             S14                              S15       S16               S19
 *
 * From S14 on an opening finds no CURRENT, and refuses while tables or logs remain.
 *
 * Without a witness, the directory may still be the rest of an interrupted creation, checkpoint or
 * removal. Such a rest has no CURRENT and no foreign file, and each of its files is certainly ours.
 * An empty directory is such a rest, and so is one with only LOCK. The rest is removed too, because
 * otherwise its name could never be used again.
 * Threads: any; the lock keeps other users of the directory out.
 */
#include "base/assert.h"
#include "base/path.h"
#include "base/status.h"
#include "bb/db_files.h"
#include "kv/directory/directory.h"
#include "kv/options.h"
#include "kv/wal/wal_salvage.h"
#include "kv/wal/wal_window.h"
#include "sstable/format.h"

/* Our lock file has a number and a newline. */
#define LOCK_SIZE_MAX 32

struct destruction {
    const char *path;
    struct bb_file_system *fs;
    struct bb_directory directory;
    /* NULL: no file certainly belongs to a store, but the directory may be the rest of one. */
    const struct bb_directory_file *witness;
    struct bb_error unreadable; /* why a file could not be checked; BB_OK if none */
    struct bb_db_destroy_report report;
};

/* ---- identifying ---- */

_Static_assert(BB_TABLE_MAGIC_SIZE == BB_WAL_MAGIC_SIZE, "one buffer is for both");

/* Reads the magic number of a file of that kind; a short file is read whole. */
static enum bb_status read_mark(struct destruction *d, const struct bb_directory_file *file,
                                uint8_t mark[BB_WAL_MAGIC_SIZE], size_t *ret_size)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_file *opened = NULL;
    bool is_at_end = file->is.kind == BB_FILE_TABLE && file->size > BB_WAL_MAGIC_SIZE;
    uint64_t offset = is_at_end ? file->size - BB_WAL_MAGIC_SIZE : 0;
    *ret_size = 0;
    if (file->size == 0)
        return BB_OK;
    enum bb_status status = bb_path_join(d->path, file->name, path);
    if (status == BB_OK)
        status = bb_file_open(d->fs, path, &opened);
    if (status == BB_OK)
        status = bb_file_read_at(opened, offset, mark, BB_WAL_MAGIC_SIZE, ret_size);
    return bb_file_close_after(opened, status);
}

static void note_unreadable(struct destruction *d)
{
    d->unreadable = *bb_error_last();
    d->report.unreadable++;
}

/* False when it cannot be read. */
static bool look_at_mark(struct destruction *d, const struct bb_directory_file *file,
                         uint8_t mark[BB_WAL_MAGIC_SIZE], size_t *ret_size)
{
    if (read_mark(d, file, mark, ret_size) == BB_OK)
        return true;
    note_unreadable(d);
    return false;
}

/* True for a manifest or a log with a damaged header before a whole record. */
static bool bears_record(struct destruction *d, const struct bb_directory_file *file)
{
    char path[BB_PATH_SIZE_MAX];
    bool is_ours = false;
    uint64_t number = file->is.number;
    if (file->is.kind == BB_FILE_MANIFEST)
        number = bb_manifest_log_number(number);
    enum bb_status status = bb_path_join(d->path, file->name, path);
    if (status == BB_OK)
        status = bb_wal_salvage_find_first(d->fs, path, number, &is_ours);
    if (status != BB_OK)
        note_unreadable(d);
    return is_ours;
}

/* True when this engine certainly wrote the file. */
static bool bears_mark(struct destruction *d, const struct bb_directory_file *file)
{
    uint8_t mark[BB_WAL_MAGIC_SIZE];
    size_t size = 0;
    bool is_table = file->is.kind == BB_FILE_TABLE;
    if (!is_table && file->is.kind != BB_FILE_MANIFEST && file->is.kind != BB_FILE_LOG)
        return false;
    if (!look_at_mark(d, file, mark, &size) || size != BB_WAL_MAGIC_SIZE)
        return false;
    return memcmp(mark, is_table ? BB_TABLE_MAGIC : BB_WAL_MAGIC, BB_WAL_MAGIC_SIZE) == 0 ||
           (!is_table && bears_record(d, file));
}

/* The newest manifest that is certainly ours, else a log, else a table. */
static const struct bb_directory_file *find_witness(struct destruction *d)
{
    static const enum bb_file_kind kinds[] = {BB_FILE_MANIFEST, BB_FILE_LOG, BB_FILE_TABLE};
    for (size_t k = 0; k < BB_ARRAY_LENGTH(kinds); k++) {
        for (size_t i = d->directory.file_count; i > 0; i--) {
            const struct bb_directory_file *file = &d->directory.files[i - 1];
            if (file->is.kind == kinds[k] && bears_mark(d, file))
                return file;
        }
    }
    return NULL;
}

/* True when the file is a truncated form of ours, or has the zeros that a power failure leaves. */
static bool begins_as(struct destruction *d, const struct bb_directory_file *file,
                      const char *beginning)
{
    static const uint8_t zeros[BB_WAL_MAGIC_SIZE];
    uint8_t mark[BB_WAL_MAGIC_SIZE];
    size_t size = 0;
    return look_at_mark(d, file, mark, &size) &&
           (memcmp(mark, beginning, size) == 0 || memcmp(mark, zeros, size) == 0);
}

/* True when no other program can have written the file. Other programs do not use the suffixes .bbt
 * and .bbi. */
static bool is_of_rest(struct destruction *d, const struct bb_directory_file *file)
{
    switch (file->is.kind) {
    case BB_FILE_LOCK:
        return file->size <= LOCK_SIZE_MAX;
    case BB_FILE_TABLE:
    case BB_FILE_NEW_TABLE:
    case BB_FILE_INDEX:
        return true;
    case BB_FILE_MANIFEST:
    case BB_FILE_LOG:
        return begins_as(d, file, BB_WAL_MAGIC);
    case BB_FILE_WINDOW:
        return begins_as(d, file, BB_WAL_WINDOW_MAGIC);
    case BB_FILE_TEMPORARY:
        return begins_as(d, file, "MANIFEST-");
    case BB_FILE_CURRENT:
    case BB_FILE_FOREIGN:
        break;
    }
    return false;
}

static bool is_rest(struct destruction *d)
{
    for (size_t i = 0; i < d->directory.file_count; i++) {
        if (!is_of_rest(d, &d->directory.files[i]))
            return false;
    }
    return true;
}

static enum bb_status examine(struct destruction *d)
{
    bb_directory_deinit(&d->directory);
    d->unreadable = (struct bb_error){.status = BB_OK};
    d->report.unreadable = 0;
    enum bb_status status = bb_directory_scan(d->fs, d->path, &d->directory);
    if (status != BB_OK)
        return status;
    d->witness = find_witness(d);
    if (d->witness != NULL || is_rest(d))
        return BB_OK;
    if (d->unreadable.status != BB_OK)
        return bb_error_restore(&d->unreadable);
    return bb_fail(BB_INVALID,
                   "%s: not a store: it has files, and no manifest, log or table among them that "
                   "bloomblock wrote; no file was removed",
                   d->path);
}

/* ---- removing ---- */

static enum bb_status remove_file(struct destruction *d, const char *name, uint64_t size)
{
    char path[BB_PATH_SIZE_MAX];
    enum bb_status status = bb_path_join(d->path, name, path);
    if (status == BB_OK)
        status = d->fs->ops->remove(d->fs, path);
    if (status == BB_NOT_FOUND) /* it should be gone anyway */
        status = BB_OK;
    else if (status == BB_OK) {
        d->report.removed++;
        d->report.removed_bytes += size;
    }
    return status;
}

static bool is_of_the_middle(const struct destruction *d, const struct bb_directory_file *file)
{
    return file != d->witness && file->is.kind != BB_FILE_FOREIGN &&
           file->is.kind != BB_FILE_LOCK && file->is.kind != BB_FILE_CURRENT;
}

static enum bb_status remove_current(struct destruction *d)
{
    for (size_t i = 0; i < d->directory.file_count; i++) {
        const struct bb_directory_file *file = &d->directory.files[i];
        if (file->is.kind == BB_FILE_CURRENT)
            return remove_file(d, file->name, file->size);
    }
    return BB_OK;
}

static enum bb_status remove_middle(struct destruction *d)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < d->directory.file_count && status == BB_OK; i++) {
        const struct bb_directory_file *file = &d->directory.files[i];
        d->report.foreign += file->is.kind == BB_FILE_FOREIGN;
        if (is_of_the_middle(d, file))
            status = remove_file(d, file->name, file->size);
    }
    return status;
}

static enum bb_status remove_files(struct destruction *d)
{
    enum bb_status status = remove_current(d);
    if (status == BB_OK)
        status = d->fs->ops->sync_directory(d->fs, d->path); /* sync S14 */
    if (status == BB_OK)
        status = remove_middle(d);
    if (status == BB_OK)
        status = d->fs->ops->sync_directory(d->fs, d->path); /* sync S15 */
    if (status == BB_OK && d->witness != NULL)
        status = remove_file(d, d->witness->name, d->witness->size);
    if (status == BB_OK)
        status = d->fs->ops->sync_directory(d->fs, d->path); /* sync S16 */
    return status;
}

static enum bb_status sync_parent(struct destruction *d)
{
    enum bb_status status = bb_file_sync_parent(d->fs, d->path); /* sync S19 */
    /* A directory that cannot be opened cannot be synced. */
    return status == BB_READ_ONLY ? BB_OK : status;
}

/* Removes the lock's name while holding the lock, so that it is certainly our lock. After that
 * others may use the directory, and it is removed only if it is empty. */
static enum bb_status remove_rest(struct destruction *d, const char *lock_path)
{
    enum bb_status status = d->fs->ops->remove(d->fs, lock_path);
    if (status != BB_OK || d->report.foreign > 0)
        return status;
    d->report.directory_removed = d->fs->ops->remove_directory(d->fs, d->path) == BB_OK;
    return d->report.directory_removed ? sync_parent(d) : BB_OK;
}

static enum bb_status destroy_locked(struct destruction *d, const char *lock_path)
{
    enum bb_status status = examine(d);
    if (status == BB_OK)
        status = remove_files(d);
    return status == BB_OK ? remove_rest(d, lock_path) : status;
}

/* Checked before the lock is taken: a directory without a store gets no lock file. */
static enum bb_status lock_and_destroy(struct destruction *d)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_file *lock = NULL;
    bb_filename_path(d->path, BB_FILE_LOCK, 0, path);
    enum bb_status status = bb_directory_check(d->fs, d->path);
    if (status == BB_NOT_FOUND)
        status = bb_fail(BB_NOT_FOUND,
                         "%s: no such directory, so no file was removed: check the path", d->path);
    if (status == BB_OK) {
        status = examine(d);
        /* A file disappeared during the checks: another process is active, and the lock shows
         * it. */
        if (status == BB_NOT_FOUND)
            status = BB_OK;
    }
    if (status == BB_OK)
        status = d->fs->ops->lock(d->fs, path, &lock);
    if (status == BB_OK)
        status = destroy_locked(d, path);
    if (lock != NULL) {
        struct bb_error failure = *bb_error_last();
        enum bb_status unlocked = d->fs->ops->unlock(d->fs, lock);
        status = status == BB_OK ? unlocked : bb_error_restore(&failure);
    }
    return status;
}

enum bb_status bb_db_destroy(const char *directory, const struct bb_db_options *options,
                             struct bb_db_destroy_report *ret_report)
{
    struct bb_db_options resolved;
    struct bb_file_system *own = NULL;
    struct destruction d = {.path = directory};
    struct bb_error before = *bb_error_last();
    enum bb_status status = bb_options_resolve(options, &resolved);
    if (status == BB_OK)
        status = bb_path_check_directory(directory, "the store's directory");
    if (status != BB_OK)
        return status;
    status = bb_file_system_posix_default(resolved.file_system, &own, &d.fs);
    if (status == BB_OK)
        status = lock_and_destroy(&d);
    bb_directory_deinit(&d.directory);
    bb_file_system_posix_destroy(own);
    if (status == BB_OK && ret_report != NULL)
        *ret_report = d.report;
    return bb_error_settle(status, &before);
}
