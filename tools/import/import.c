/* See import.h. */
#include "tools/import/import.h"

#include "base/status.h"
#include "bb/db_files.h"
#include "tools/output/clock.h"
#include "tools/output/interrupt.h"
#include "tools/store/store_idle.h"

/* Beyond this many bytes a batch saves nothing. */
#define BATCH_BYTES_MAX (1024 * 1024)

enum bb_status import_begin(struct import *import, const char *directory, uint64_t total)
{
    import->start = clock_now();
    import->store.db.create_if_missing = true;
    import->store.db.error_if_exists = true;
    /* A failure removes the store: it needs no log. */
    import->store.db.wal_off = true;
    enum bb_status status = bb_batch_create(&import->batch);
    if (status == BB_OK)
        status = import_place_init(&import->place, directory);
    if (status == BB_OK)
        status = store_open(&import->store, import_place_path(&import->place), &import->db);
    if (status == BB_OK)
        progress_start(&import->progress, "importing", total, true);
    return status;
}

static enum bb_status commit(struct import *import)
{
    if (bb_batch_count(import->batch) == 0)
        return BB_OK;
    if (interrupt_is_wanted())
        return bb_fail(BB_BUSY, "interrupted");
    enum bb_status status = bb_db_write(import->db, NULL, import->batch);
    if (status != BB_OK)
        return status;
    import->records += bb_batch_count(import->batch);
    bb_batch_reset(import->batch);
    return BB_OK;
}

enum bb_status import_put(struct import *import, struct bb_bytes key, struct bb_bytes value)
{
    enum bb_status status = bb_batch_put(import->batch, key, value);
    import->bytes += key.size + value.size;
    if (status == BB_OK && bb_batch_size_bytes(import->batch) >= BATCH_BYTES_MAX)
        status = commit(import);
    return status;
}

/* The original failure is reported, not a failure of the removal. */
static enum bb_status take_away(struct import *import)
{
    struct bb_error failure = *bb_error_last();
    const char *path = import_place_path(&import->place);
    if (import->place.is_published)
        return bb_error_restore(&failure);
    if (bb_db_destroy(path, NULL, NULL) != BB_OK)
        command_warn(import->store.command,
                     "the files of the incomplete store could not be removed");
    return bb_error_restore(&failure);
}

static enum bb_status close_store(struct import *import, enum bb_status status)
{
    struct bb_error failure = *bb_error_last();
    enum bb_status closed = bb_db_close(import->db);
    import->db = NULL;
    return status == BB_OK ? closed : bb_error_restore(&failure);
}

static enum bb_status finish(struct import *import, enum bb_status status)
{
    if (status == BB_OK)
        status = commit(import);
    if (status == BB_OK && interrupt_is_wanted())
        status = bb_fail(BB_BUSY, "interrupted");
    progress_next(&import->progress, "flushing and merging");
    if (status == BB_OK)
        status = bb_db_flush(import->db);
    if (status == BB_OK)
        status = store_idle_wait(&import->db);
    status = close_store(import, status);
    if (status == BB_OK)
        status = import_place_publish(&import->place);
    return status == BB_OK ? BB_OK : take_away(import);
}

enum bb_status import_end(struct import *import, enum bb_status status)
{
    if (import->db != NULL) {
        status = finish(import, status);
        progress_stop(&import->progress);
        import->nanoseconds = clock_now() - import->start;
    }
    bb_batch_destroy(import->batch);
    import_place_deinit(&import->place);
    return status;
}
