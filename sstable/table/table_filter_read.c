/* The table filter of an open table: from memory or file.
 *
 * It is read at the first probe and kept. A chunk with a wrong checksum is read a second time. Then
 * it counts as damaged: it returns maybe, and is not read again while the table is open. The same
 * holds for a chunk that cannot be read while others can. If no part of the table filter can be
 * read, or memory is short, the failure may be temporary: it is retried at growing intervals
 * (sstable/backoff.h).
 *
 * A lookup never fails because of its table filter, and does not change bb_error_last().
 * Threads: any.
 */
#include "sstable/table/table.h"
#include "sstable/table/table_lookup.h"

#include "base/assert.h"
#include "base/counter.h"

/* Most lists fit, which saves a second read. */
#define TAIL_SIZE 1024

static enum bb_status read_bytes(struct bb_table *table, uint64_t offset, uint8_t *bytes,
                                 size_t size, struct bb_read_stats *stats)
{
    bb_counter_add(&stats->table_filter_reads, 1);
    bb_counter_add(&stats->table_filter_read_bytes, size);
    return bb_file_read_exactly(table->file, table->table_filter_reading.place.offset + offset,
                                bytes, size);
}

/* ---- list ---- */

/* Reads the last `size` bytes of the section. */
static enum bb_status read_end(struct bb_table *table, uint64_t size, struct bb_read_stats *stats,
                               struct bb_buf *ret_bytes)
{
    uint8_t *bytes = NULL;
    bb_buf_reset(ret_bytes);
    enum bb_status status = bb_buf_extend(ret_bytes, (size_t)size, &bytes);
    if (status != BB_OK)
        return status;
    return read_bytes(table, table->table_filter_reading.size - size, bytes, (size_t)size, stats);
}

static enum bb_status read_list(struct bb_table *table, struct bb_read_stats *stats,
                                struct bb_buf *bytes, struct bb_table_filter **ret_table_filter)
{
    const struct bb_table_filter_reading *reading = &table->table_filter_reading;
    uint64_t size = 0;
    enum bb_status status =
        read_end(table, reading->size < TAIL_SIZE ? reading->size : TAIL_SIZE, stats, bytes);
    if (status == BB_OK)
        status = bb_table_filter_list_size(
            reading, bytes->data + bytes->size - BB_TABLE_FILTER_TAIL_SIZE, &size);
    if (status == BB_OK && size > bytes->size)
        status = read_end(table, size, stats, bytes);
    if (status != BB_OK)
        return status;
    struct bb_bytes list = {.data = bytes->data + (bytes->size - (size_t)size),
                            .size = (size_t)size};
    return bb_table_filter_create(reading, list, ret_table_filter);
}

enum bb_status bb_table_load_filter(struct bb_table *table, struct bb_read_stats *stats,
                                    struct bb_table_filter **ret_table_filter)
{
    BB_DEBUG_ASSERT(table->has_table_filter);
    struct bb_buf bytes = {0};
    enum bb_status status = read_list(table, stats, &bytes, ret_table_filter);
    if (status == BB_CORRUPT)
        status = read_list(table, stats, &bytes, ret_table_filter);
    bb_buf_deinit(&bytes);
    return status;
}

/* ---- chunks ---- */

static enum bb_status check_chunk(const struct bb_table *table,
                                  const struct bb_table_filter *table_filter, uint32_t chunk,
                                  const uint8_t *stored)
{
    return bb_table_filter_chunk_check(table_filter, &table->table_filter_reading,
                                       &table->table_filter_format, chunk, stored);
}

static enum bb_status read_chunk(struct bb_table *table, const struct bb_table_filter *table_filter,
                                 uint32_t chunk, struct bb_read_stats *stats, uint8_t *stored)
{
    enum bb_status status =
        read_bytes(table, bb_table_filter_chunk_offset(table_filter, chunk), stored,
                   bb_table_filter_chunk_size(table_filter, chunk), stats);
    return status == BB_OK ? check_chunk(table, table_filter, chunk, stored) : status;
}

enum bb_status bb_table_load_filter_chunk(struct bb_table *table,
                                          const struct bb_table_filter *table_filter,
                                          uint32_t chunk, struct bb_read_stats *stats,
                                          struct bb_buf *stored)
{
    uint8_t *bytes = NULL;
    bb_buf_reset(stored);
    enum bb_status status =
        bb_buf_extend(stored, bb_table_filter_chunk_size(table_filter, chunk), &bytes);
    if (status == BB_OK)
        status = read_chunk(table, table_filter, chunk, stats, bytes);
    return status == BB_CORRUPT ? read_chunk(table, table_filter, chunk, stats, bytes) : status;
}

/* ---- pinned ---- */

/* Pins one chunk: from bytes in memory, or by reading it. */
static enum bb_status pin_chunk(struct bb_table *table, struct bb_table_filter *table_filter,
                                uint32_t chunk, bool is_there, struct bb_read_stats *stats)
{
    uint8_t *stored = table_filter->chunks + bb_table_filter_chunk_offset(table_filter, chunk);
    enum bb_status status = is_there ? check_chunk(table, table_filter, chunk, stored)
                                     : read_chunk(table, table_filter, chunk, stats, stored);
    if (status == BB_CORRUPT)
        status = read_chunk(table, table_filter, chunk, stats, stored);
    if (status == BB_OK)
        bb_table_filter_pin_chunk(table_filter, chunk);
    return status;
}

/* Pins all chunks with one read, and reads only damaged ones again. An unreadable sector costs only
 * its chunk: then each chunk is read separately. Fails when no chunk can be read, but not for
 * damage. */
static enum bb_status pin_chunks(struct bb_table *table, struct bb_table_filter *table_filter,
                                 struct bb_read_stats *stats)
{
    uint32_t pinned = 0;
    enum bb_status status = bb_table_filter_pin(table_filter, table->large_pages);
    if (status != BB_OK)
        return status;
    bool is_there =
        read_bytes(table, 0, table_filter->chunks,
                   (size_t)table_filter->chunk_ends[table_filter->chunk_count - 1], stats) == BB_OK;
    bb_counter_add(&stats->damaged_filters, !is_there);
    for (uint32_t i = 0; i < table_filter->chunk_count; i++) {
        enum bb_status chunk_status = pin_chunk(table, table_filter, i, is_there, stats);
        pinned += chunk_status == BB_OK;
        if (chunk_status != BB_OK && chunk_status != BB_CORRUPT)
            status = chunk_status;
    }
    return pinned > 0 ? BB_OK : status;
}

/* Announces the whole section first: then the device gets one request, and not one for the list and
 * one for the chunks. */
static enum bb_status load(struct bb_table *table, struct bb_read_stats *stats,
                           struct bb_table_filter **ret_table_filter)
{
    const struct bb_table_filter_reading *reading = &table->table_filter_reading;
    struct bb_table_filter *table_filter = NULL;
    bb_file_will_need(table->file, reading->place.offset, reading->size);
    enum bb_status status = bb_table_load_filter(table, stats, &table_filter);
    if (status == BB_OK)
        status = pin_chunks(table, table_filter, stats);
    if (status == BB_CORRUPT)
        status = bb_table_filter_create_unusable(&table_filter);
    if (status == BB_OK)
        *ret_table_filter = table_filter;
    else
        bb_table_filter_destroy(table_filter);
    return status;
}

static bool is_ready(const struct bb_table *table, const struct bb_table_filter *table_filter)
{
    return table->takes_given_hash && table_filter->part_count == 1 &&
           table->range_tombstones == NULL;
}

/* Publishes a table filter. If two threads read it, both use the one published first. */
static struct bb_table_filter *publish(struct bb_table *table, struct bb_table_filter *table_filter)
{
    struct bb_table_filter *winner = NULL;
    bool is_at_hand = is_ready(table, table_filter);
    if (is_at_hand)
        bb_table_filter_make_ready(table_filter, &table->table_filter_format);
    if (atomic_compare_exchange_strong_explicit(&table->table_filter, &winner, table_filter,
                                                memory_order_acq_rel, memory_order_acquire)) {
        atomic_fetch_add_explicit(&table->pinned_bytes, table_filter->memory_size,
                                  memory_order_relaxed);
        if (is_at_hand)
            atomic_store(&table->ready_table_filter, table_filter);
        if (atomic_load(&table->is_distrusted)) /* set by another thread during this function */
            atomic_store(&table->ready_table_filter, NULL);
        return table_filter;
    }
    bb_table_filter_destroy(table_filter);
    return winner;
}

/* The table filter, read at the first call. NULL when it cannot be read now. */
static __attribute__((noinline)) struct bb_table_filter *load_once(struct bb_table *table,
                                                                   struct bb_read_stats *stats)
{
    struct bb_table_filter *table_filter = NULL;
    if (!bb_backoff_is_due(&table->table_filter_backoff))
        return NULL;
    struct bb_error before = *bb_error_last();
    enum bb_status status = load(table, stats, &table_filter);
    (void)bb_error_restore(&before);
    if (status == BB_OK)
        return publish(table, table_filter);
    bb_backoff_fail(&table->table_filter_backoff);
    return NULL;
}

/* Sequentially consistent, because publish reads both variables in the opposite order. */
void bb_table_distrust_filters(struct bb_table *table)
{
    atomic_store(&table->is_distrusted, true);
    atomic_store(&table->ready_table_filter, NULL);
}

/* ---- probes ---- */

bool bb_table_may_contain(struct bb_table *table, struct bb_bytes key, uint64_t key_hash,
                          struct bb_read_stats *stats)
{
    BB_DEBUG_ASSERT(table->has_table_filter);
    const struct bb_block_filter_format *format = &table->table_filter_format;
    struct bb_table_filter *table_filter =
        atomic_load_explicit(&table->table_filter, memory_order_acquire);
    if (table_filter == NULL)
        table_filter = load_once(table, stats);
    if (table_filter == NULL || table_filter->part_count == 0) {
        bb_counter_add(&stats->damaged_filters, 1);
        return true;
    }
    struct bb_block_filter_key filter_key = bb_block_filter_key(format, key_hash);
    uint32_t part = bb_table_filter_part(table_filter, table->comparator, key);
    uint64_t place = bb_table_filter_place(table_filter, &table_filter->parts[part], filter_key);
    bb_counter_add(&stats->damaged_filters, place == BB_TABLE_FILTER_DAMAGED);
    return bb_table_filter_may_contain(table_filter, format, place, filter_key);
}
