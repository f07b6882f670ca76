/* See write_buffer.h. */
#include "kv/view/write_buffer.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "kv/memtable/memtable.h"
#include "kv/view/spare_memtable.h"
#include "kv/wal/wal_writer.h"

enum bb_status bb_write_buffer_create(struct bb_memtable *memtable, struct bb_wal_writer *log,
                                      uint64_t log_number, struct bb_spare_memtable *spare,
                                      struct bb_write_buffer **ret_buffer)
{
    BB_DEBUG_ASSERT(memtable != NULL);
    struct bb_write_buffer *buffer = bb_alloc(sizeof(*buffer));
    if (buffer == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a write buffer");
    *buffer = (struct bb_write_buffer){
        .memtable = memtable, .spare = spare, .log = log, .log_number = log_number};
    atomic_init(&buffer->references, 1);
    *ret_buffer = buffer;
    return BB_OK;
}

struct bb_write_buffer *bb_write_buffer_ref(struct bb_write_buffer *buffer)
{
    uint32_t before = atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
    BB_DEBUG_ASSERT(before > 0);
    return buffer;
}

void bb_write_buffer_unref(struct bb_write_buffer *buffer)
{
    if (buffer == NULL)
        return;
    uint32_t before = atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel);
    BB_ASSERT(before > 0);
    if (before > 1)
        return;
    /* The contents of the log are in a table by now, or the store has closed it and noted the
     * status. */
    if (buffer->log != NULL)
        (void)!bb_wal_writer_close(buffer->log);
    if (!bb_spare_memtable_keep(buffer->spare, buffer->memtable))
        bb_memtable_destroy(buffer->memtable);
    bb_free(buffer);
}
