/* See close_note.h. */
#include "kv/open/close_note.h"

#include "kv/manifest/manifest.h"
#include "kv/store/file_number.h"
#include "kv/view/view.h"
#include "kv/view/write_buffer.h"
#include "kv/wal/wal_writer.h"

/* The ends of the logs of all memtables that are not in tables, ascending by number. */
struct log_ends {
    struct bb_wal_end ends[BB_FROZEN_MAX + 1];
    size_t count;
};

/* No other thread can change the view. */
static struct log_ends list_ends(const struct bb_db *db)
{
    struct log_ends list = {.count = 0};
    for (size_t i = db->view->buffer_count; i > 0; i--) {
        const struct bb_wal_writer *log = db->view->buffers[i - 1]->log;
        if (log != NULL)
            list.ends[list.count++] = bb_wal_writer_end(log);
    }
    return list;
}

/* Replaces the manifest of the previous process, which must not be written (R4). */
static enum bb_status take_over(struct bb_db *db)
{
    uint64_t number = 0;
    if (!bb_manifest_state_of(db->manifest)->is_closed)
        return BB_OK;
    enum bb_status status = bb_file_number_new(db, &number);
    return status == BB_OK ? bb_manifest_rotate(db->manifest, number) : status;
}

enum bb_status bb_close_note_write(struct bb_db *db)
{
    /* No manifest: read_only, or a store that waits for space. */
    if (db->manifest == NULL || db->is_log_failed || bb_manifest_is_poisoned(db->manifest))
        return BB_OK;
    struct log_ends list = list_ends(db);
    enum bb_status status = list.count > 0 ? take_over(db) : BB_OK;
    return status == BB_OK ? bb_manifest_note_close(db->manifest, list.ends, list.count) : status;
}
