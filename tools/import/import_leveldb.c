/* import leveldb: copies the present keys of a LevelDB store into a new store of ours. */
#include "base/alloc.h"
#include "base/status.h"
#include "tools/import/import.h"
#include "tools/leveldb/leveldb.h"

static enum bb_status copy(struct import *import, struct leveldb *leveldb)
{
    bool has = true;
    while (has) {
        enum bb_status status = leveldb_next(leveldb, &has);
        if (status == BB_OK && has)
            status = import_put(import, leveldb->entry.key, leveldb->entry.value);
        if (status != BB_OK)
            return status;
        if (has)
            progress_add(&import->progress, leveldb->entry.key.size + leveldb->entry.value.size);
    }
    return BB_OK;
}

static void describe(struct import *import, const struct leveldb *leveldb)
{
    import->source = json_object();
    json_set_count(import->source, "tables", leveldb->manifest.table_count);
    json_set_count(import->source, "table_bytes", leveldb->table_bytes);
    json_set_count(import->source, "logs", leveldb->log_count);
    json_set_count(import->source, "log_writes", leveldb->wal.record_count);
    json_set_count(import->source, "log_bytes_dropped", leveldb->wal.dropped_bytes);
    json_set_count(import->source, "versions", leveldb->entries_read);
    json_set_count(import->source, "superseded", leveldb->superseded);
    json_set_count(import->source, "deleted", leveldb->deletions);
    json_set_count(import->source, "manifest_bytes_dropped", leveldb->manifest.dropped_bytes);
    if (leveldb->manifest.dropped_bytes > 0)
        command_note(import->store.command,
                     "the manifest ends inside an edit, which is incomplete and is ignored");
    if (leveldb->wal.dropped_bytes > 0)
        command_note(import->store.command,
                     "a log ends inside a write, which is incomplete and is ignored");
}

enum bb_status import_leveldb(struct import *import, const char *source, const char *directory)
{
    struct leveldb *leveldb = bb_alloc_zeroed(1, sizeof(*leveldb));
    if (leveldb == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to read a LevelDB");
    enum bb_status status = leveldb_open(leveldb, source);
    if (status == BB_OK) {
        status = import_begin(import, directory, leveldb->table_bytes);
        if (status == BB_OK)
            status = copy(import, leveldb);
        status = import_end(import, status);
    }
    if (status == BB_OK)
        describe(import, leveldb);
    leveldb_close(leveldb);
    bb_free(leveldb);
    return status;
}
