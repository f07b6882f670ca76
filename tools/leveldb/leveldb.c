/* See leveldb.h. */
#include "tools/leveldb/leveldb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "tools/leveldb/lock.h"

/* ---- files ---- */

static enum bb_status exists(struct leveldb *leveldb, const char *name, bool *ret_exists)
{
    char path[BB_PATH_SIZE_MAX];
    bool is_directory = false;
    uint64_t size = 0;
    enum bb_status status = bb_path_join(leveldb->directory, name, path);
    if (status == BB_OK)
        status = leveldb->fs->ops->status(leveldb->fs, path, &is_directory, &size);
    *ret_exists = status == BB_OK;
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status refuse_rocksdb(struct leveldb *leveldb)
{
    bool is_rocksdb = false;
    enum bb_status status = exists(leveldb, "IDENTITY", &is_rocksdb);
    if (status == BB_OK && is_rocksdb)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: a store of RocksDB (it has a file IDENTITY); only LevelDB's can be "
                       "imported",
                       leveldb->directory);
    return status;
}

static enum bb_status check_directory(const struct leveldb *leveldb)
{
    bool is_directory = false;
    uint64_t size = 0;
    enum bb_status status =
        leveldb->fs->ops->status(leveldb->fs, leveldb->directory, &is_directory, &size);
    if (status == BB_NOT_FOUND)
        return bb_fail(BB_IO, "%s: no such directory", leveldb->directory);
    return status == BB_OK && !is_directory
               ? bb_fail(BB_INVALID, "%s: not a directory, expected one of LevelDB's",
                         leveldb->directory)
               : status;
}

/* Tables have the suffix .ldb, or .sst in old versions. */
static enum bb_status open_table(struct leveldb *leveldb, const struct manifest_table *described,
                                 struct table *table)
{
    char name[32];
    bool is_found = false;
    char path[BB_PATH_SIZE_MAX];
    snprintf(name, sizeof(name), "%06" PRIu64 ".sst", described->number);
    enum bb_status status = exists(leveldb, name, &is_found);
    if (!is_found)
        snprintf(name, sizeof(name), "%06" PRIu64 ".ldb", described->number);
    if (status == BB_OK)
        status = bb_path_join(leveldb->directory, name, path);
    if (status == BB_OK)
        status = table_open(table, leveldb->fs, path, described->size, &leveldb->crc);
    if (status == BB_NOT_FOUND)
        status = bb_corrupt((struct bb_place){.file = path}, 0,
                            "the manifest names this table, and it is missing");
    return status;
}

/* ---- runs ---- */

/* The run's next table. The last key of the previous table is kept, to check that the tables of a
 * run are in order. */
static enum bb_status advance_table(struct leveldb *leveldb, struct leveldb_run *run)
{
    struct bb_buf last_key = run->table.last_key;
    run->table.last_key = (struct bb_buf){0};
    table_close(&run->table);
    enum bb_status status = open_table(leveldb, &run->tables[run->next++], &run->table);
    run->table.last_key = last_key;
    return status;
}

/* Moves to the run's next entry; *ret_has is false at its end. */
static enum bb_status advance(struct leveldb *leveldb, struct leveldb_run *run, bool *ret_has)
{
    enum bb_status status = BB_OK;
    *ret_has = false;
    if (run->tables == NULL) {
        *ret_has = run->next < leveldb->wal.count;
        if (*ret_has)
            run->entry = leveldb->wal.entries[run->next++];
        return BB_OK;
    }
    for (;;) {
        if (run->table.file != NULL)
            status = table_next(&run->table, ret_has);
        if (status != BB_OK || *ret_has || run->next == run->count)
            break;
        status = advance_table(leveldb, run);
        if (status != BB_OK)
            break;
    }
    run->entry = run->table.entry;
    return status;
}

static void sift_down(struct leveldb *leveldb, size_t at)
{
    struct leveldb_run **heap = leveldb->heap;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < leveldb->heap_size;
             child++) {
            if (entry_compare(&heap[child]->entry, &heap[least]->entry) < 0)
                least = child;
        }
        if (least == at)
            return;
        struct leveldb_run *moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

/* Advances the run with the smallest entry. */
static enum bb_status advance_least(struct leveldb *leveldb)
{
    bool has = false;
    enum bb_status status = advance(leveldb, leveldb->heap[0], &has);
    if (status != BB_OK)
        return status;
    if (!has)
        leveldb->heap[0] = leveldb->heap[--leveldb->heap_size];
    sift_down(leveldb, 0);
    return BB_OK;
}

/* Each table of level 0 is a run, each deeper level is one, and the logs are one. */
static void divide_into_runs(struct leveldb *leveldb)
{
    const struct manifest *manifest = &leveldb->manifest;
    leveldb->runs[leveldb->run_count++] = (struct leveldb_run){0};
    for (size_t i = 0; i < manifest->table_count;) {
        size_t end = i + 1;
        while (manifest->tables[i].level > 0 && end < manifest->table_count &&
               manifest->tables[end].level == manifest->tables[i].level)
            end++;
        leveldb->runs[leveldb->run_count++] =
            (struct leveldb_run){.tables = &manifest->tables[i], .count = end - i};
        i = end;
    }
}

static enum bb_status start_runs(struct leveldb *leveldb)
{
    size_t count_max = leveldb->manifest.table_count + 1;
    bool has = false;
    leveldb->runs = bb_alloc_zeroed(count_max, sizeof(*leveldb->runs));
    leveldb->heap = bb_alloc_zeroed(count_max, sizeof(struct leveldb_run *));
    if (leveldb->runs == NULL || leveldb->heap == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to merge %zu tables", count_max);
    divide_into_runs(leveldb);
    for (size_t i = 0; i < leveldb->run_count; i++) {
        enum bb_status status = advance(leveldb, &leveldb->runs[i], &has);
        if (status != BB_OK)
            return status;
        if (has)
            leveldb->heap[leveldb->heap_size++] = &leveldb->runs[i];
    }
    for (size_t i = leveldb->heap_size; i > 0; i--)
        sift_down(leveldb, i - 1);
    return BB_OK;
}

/* ---- logs ---- */

/* The number in a log's name; false: not a log. */
static bool log_number(const char *name, uint64_t *ret_number)
{
    char *end = NULL;
    if (name[0] < '0' || name[0] > '9')
        return false;
    *ret_number = strtoull(name, &end, 10);
    return strcmp(end, ".log") == 0;
}

static enum bb_status add_log(struct leveldb *leveldb, const char *name)
{
    char path[BB_PATH_SIZE_MAX];
    enum bb_status status = bb_path_join(leveldb->directory, name, path);
    if (status == BB_OK)
        status = wal_add(&leveldb->wal, leveldb->fs, path, &leveldb->crc);
    leveldb->log_count++;
    return status;
}

static enum bb_status add_logs(struct leveldb *leveldb, const struct bb_file_names *names)
{
    const struct manifest *manifest = &leveldb->manifest;
    enum bb_status status = BB_OK;
    bool is_found = manifest->log_number == 0;
    for (size_t i = 0; i < names->count && status == BB_OK; i++) {
        uint64_t number = 0;
        if (!log_number(names->names[i], &number) ||
            (number < manifest->log_number && number != manifest->previous_log_number))
            continue;
        is_found = is_found || number == manifest->log_number;
        status = add_log(leveldb, names->names[i]);
    }
    if (status == BB_OK && !is_found)
        status = bb_corrupt((struct bb_place){.file = leveldb->directory}, 0,
                            "the manifest names the log %06" PRIu64 ".log, and it is missing",
                            manifest->log_number);
    if (status == BB_OK)
        wal_sort(&leveldb->wal);
    return status;
}

static enum bb_status read_logs(struct leveldb *leveldb)
{
    struct bb_file_names names = {0};
    enum bb_status status = leveldb->fs->ops->list(leveldb->fs, leveldb->directory, &names);
    if (status == BB_OK)
        status = add_logs(leveldb, &names);
    bb_file_names_deinit(&names);
    return status;
}

/* ---- the store ---- */

enum bb_status leveldb_open(struct leveldb *leveldb, const char *directory)
{
    *leveldb = (struct leveldb){.directory = directory, .lock = -1};
    crc32c_init(&leveldb->crc);
    enum bb_status status = bb_file_system_posix_create(&leveldb->fs);
    if (status == BB_OK)
        status = check_directory(leveldb);
    if (status == BB_OK)
        status = refuse_rocksdb(leveldb);
    if (status == BB_OK)
        status = lock_take(directory, &leveldb->lock);
    if (status == BB_OK)
        status = manifest_read(&leveldb->manifest, leveldb->fs, directory, &leveldb->crc);
    if (status == BB_OK)
        status = read_logs(leveldb);
    for (size_t i = 0; i < leveldb->manifest.table_count; i++)
        leveldb->table_bytes += leveldb->manifest.tables[i].size;
    return status == BB_OK ? start_runs(leveldb) : status;
}

void leveldb_close(struct leveldb *leveldb)
{
    for (size_t i = 0; i < leveldb->run_count; i++)
        table_close(&leveldb->runs[i].table);
    bb_free(leveldb->runs);
    bb_free(leveldb->heap);
    wal_deinit(&leveldb->wal);
    manifest_deinit(&leveldb->manifest);
    bb_buf_deinit(&leveldb->last_key);
    lock_release(leveldb->lock);
    if (leveldb->fs != NULL)
        bb_file_system_posix_destroy(leveldb->fs);
    *leveldb = (struct leveldb){.lock = -1};
}

static bool is_superseded(const struct leveldb *leveldb, const struct entry *entry)
{
    return leveldb->has_last_key && bb_bytes_equal(entry->key, bb_buf_bytes(&leveldb->last_key));
}

enum bb_status leveldb_next(struct leveldb *leveldb, bool *ret_has)
{
    enum bb_status status = BB_OK;
    /* The entry returned last belongs to the run with the smallest entry, and is borrowed until
     * now. */
    if (leveldb->has_last_key && leveldb->heap_size > 0)
        status = advance_least(leveldb);
    for (; status == BB_OK && leveldb->heap_size > 0; status = advance_least(leveldb)) {
        const struct entry *entry = &leveldb->heap[0]->entry;
        leveldb->entries_read++;
        if (is_superseded(leveldb, entry)) {
            leveldb->superseded++;
            continue;
        }
        status = bb_buf_assign(&leveldb->last_key, entry->key);
        leveldb->has_last_key = true;
        if (status != BB_OK)
            return status;
        if (!entry->is_deletion) {
            leveldb->entry = *entry;
            *ret_has = true;
            return BB_OK;
        }
        leveldb->deletions++;
    }
    *ret_has = false;
    return status;
}
