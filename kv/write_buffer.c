/* See write_buffer.h. */
#include "kv/write_buffer.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "kv/memtable.h"
#include "kv/wal_writer.h"

enum bb_status bb_write_buffer_create(struct bb_memtable *memtable, struct bb_wal_writer *log,
                                      uint64_t log_number, struct bb_spare_memtable *spare,
                                      struct bb_write_buffer **ret_buffer)
{
    struct bb_write_buffer *buffer = bb_alloc(sizeof(*buffer));
    if (buffer == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a write buffer");
    *buffer = (struct bb_write_buffer){.references = 1,
                                       .memtable = memtable,
                                       .spare = spare,
                                       .log = log,
                                       .log_number = log_number};
    *ret_buffer = buffer;
    return BB_OK;
}

struct bb_write_buffer *bb_write_buffer_ref(struct bb_write_buffer *buffer)
{
    buffer->references++;
    return buffer;
}

static void keep_or_destroy(struct bb_spare_memtable *spare, struct bb_memtable *memtable)
{
    if (spare->memtable != NULL || bb_memtable_capacity(memtable) != spare->capacity_bytes) {
        bb_memtable_destroy(memtable);
        return;
    }
    bb_memtable_reset(memtable);
    spare->memtable = memtable;
}

void bb_write_buffer_unref(struct bb_write_buffer *buffer)
{
    BB_ASSERT(buffer->references > 0);
    if (--buffer->references > 0)
        return;
    /* Whatever the log still held is in a table by now, or was closed with its status by the store.
     */
    if (buffer->log != NULL)
        (void)!bb_wal_writer_close(buffer->log);
    keep_or_destroy(buffer->spare, buffer->memtable);
    bb_free(buffer);
}
