/* The table filter (`summary` in the code) of an open table: from memory, cache or file.
 *
 * Its list is read at the first probe and kept. If the table filter is pinned, all chunks are kept
 * too; else each chunk is an item of the block cache. A chunk with a wrong checksum is read a
 * second time. Then it counts as damaged: it returns maybe, and is not read again while the table
 * is open (or, in the cache, until it is evicted).
 *
 * The same holds for a pinned chunk that cannot be read while others can. If no part of a pinned
 * table filter can be read, or a chunk for the cache cannot, or memory is short, the failure may be
 * temporary: it is retried at growing intervals (sstable/backoff.h).
 *
 * A lookup never fails because of its table filter, and does not change bb_error_last().
 * Threads: any.
 */
#include "sstable/table/table.h"
#include "sstable/table/table_lookup.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/counter.h"

/* Most lists fit, which saves a second read. */
#define TAIL_SIZE 1024

static enum bb_status read_bytes(struct bb_table *table, uint64_t offset, uint8_t *bytes,
                                 size_t size, struct bb_read_stats *stats)
{
    bb_counter_add(&stats->summary_reads, 1);
    bb_counter_add(&stats->summary_read_bytes, size);
    return bb_file_read_exactly(table->file, table->summary_reading.place.offset + offset, bytes,
                                size);
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
    return read_bytes(table, table->summary_reading.size - size, bytes, (size_t)size, stats);
}

static enum bb_status read_list(struct bb_table *table, struct bb_read_stats *stats,
                                struct bb_buf *bytes, struct bb_summary **ret_summary)
{
    const struct bb_summary_reading *reading = &table->summary_reading;
    uint64_t size = 0;
    enum bb_status status =
        read_end(table, reading->size < TAIL_SIZE ? reading->size : TAIL_SIZE, stats, bytes);
    if (status == BB_OK)
        status =
            bb_summary_list_size(reading, bytes->data + bytes->size - BB_SUMMARY_TAIL_SIZE, &size);
    if (status == BB_OK && size > bytes->size)
        status = read_end(table, size, stats, bytes);
    if (status != BB_OK)
        return status;
    struct bb_bytes list = {.data = bytes->data + (bytes->size - (size_t)size),
                            .size = (size_t)size};
    return bb_summary_create(reading, list, ret_summary);
}

enum bb_status bb_table_summary_load(struct bb_table *table, struct bb_read_stats *stats,
                                     struct bb_summary **ret_summary)
{
    BB_DEBUG_ASSERT(table->has_summary);
    struct bb_buf bytes = {0};
    enum bb_status status = read_list(table, stats, &bytes, ret_summary);
    if (status == BB_CORRUPT)
        status = read_list(table, stats, &bytes, ret_summary);
    bb_buf_deinit(&bytes);
    return status;
}

/* ---- chunks ---- */

static enum bb_status check_chunk(const struct bb_table *table, const struct bb_summary *summary,
                                  uint32_t chunk, const uint8_t *stored)
{
    return bb_summary_chunk_check(summary, &table->summary_reading, &table->summary_format, chunk,
                                  stored);
}

static enum bb_status read_chunk(struct bb_table *table, const struct bb_summary *summary,
                                 uint32_t chunk, struct bb_read_stats *stats, uint8_t *stored)
{
    enum bb_status status = read_bytes(table, bb_summary_chunk_offset(summary, chunk), stored,
                                       bb_summary_chunk_size(summary, chunk), stats);
    return status == BB_OK ? check_chunk(table, summary, chunk, stored) : status;
}

static enum bb_status load_chunk(struct bb_table *table, const struct bb_summary *summary,
                                 uint32_t chunk, struct bb_read_stats *stats, uint8_t *stored)
{
    enum bb_status status = read_chunk(table, summary, chunk, stats, stored);
    return status == BB_CORRUPT ? read_chunk(table, summary, chunk, stats, stored) : status;
}

enum bb_status bb_table_summary_chunk_load(struct bb_table *table, const struct bb_summary *summary,
                                           uint32_t chunk, struct bb_read_stats *stats,
                                           struct bb_buf *stored)
{
    uint8_t *bytes = NULL;
    bb_buf_reset(stored);
    enum bb_status status = bb_buf_extend(stored, bb_summary_chunk_size(summary, chunk), &bytes);
    return status == BB_OK ? load_chunk(table, summary, chunk, stats, bytes) : status;
}

/* ---- pinned ---- */

/* Pins one chunk: from bytes in memory, or by reading it. */
static enum bb_status pin_chunk(struct bb_table *table, struct bb_summary *summary, uint32_t chunk,
                                bool is_there, struct bb_read_stats *stats)
{
    uint8_t *stored = summary->chunks + bb_summary_chunk_offset(summary, chunk);
    enum bb_status status = is_there ? check_chunk(table, summary, chunk, stored)
                                     : read_chunk(table, summary, chunk, stats, stored);
    if (status == BB_CORRUPT)
        status = read_chunk(table, summary, chunk, stats, stored);
    if (status == BB_OK)
        bb_summary_pin_chunk(summary, chunk);
    return status;
}

/* Pins all chunks with one read, and reads only damaged ones again. An unreadable sector costs only
 * its chunk: then each chunk is read separately. Fails when no chunk can be read, but not for
 * damage. */
static enum bb_status pin_chunks(struct bb_table *table, struct bb_summary *summary,
                                 struct bb_read_stats *stats)
{
    uint32_t pinned = 0;
    enum bb_status status = bb_summary_pin(summary, table->large_pages);
    if (status != BB_OK)
        return status;
    bool is_there =
        read_bytes(table, 0, summary->chunks, (size_t)summary->chunk_ends[summary->chunk_count - 1],
                   stats) == BB_OK;
    bb_counter_add(&stats->damaged_filters, !is_there);
    for (uint32_t i = 0; i < summary->chunk_count; i++) {
        enum bb_status chunk_status = pin_chunk(table, summary, i, is_there, stats);
        pinned += chunk_status == BB_OK;
        if (chunk_status != BB_OK && chunk_status != BB_CORRUPT)
            status = chunk_status;
    }
    return pinned > 0 ? BB_OK : status;
}

static enum bb_status load(struct bb_table *table, struct bb_read_stats *stats,
                           struct bb_summary **ret_summary)
{
    struct bb_summary *summary = NULL;
    enum bb_status status = bb_table_summary_load(table, stats, &summary);
    if (status == BB_OK && table->summary_residency == BB_SUMMARY_PINNED)
        status = pin_chunks(table, summary, stats);
    if (status == BB_CORRUPT)
        status = bb_summary_create_unusable(&summary);
    if (status == BB_OK)
        *ret_summary = summary;
    else
        bb_summary_destroy(summary);
    return status;
}

static bool is_ready(const struct bb_table *table, const struct bb_summary *summary)
{
    return table->takes_given_hash && summary->places != NULL && summary->part_count == 1 &&
           table->range_tombstones == NULL;
}

/* Publishes a table filter. If two threads read it, both use the one published first. */
static struct bb_summary *publish(struct bb_table *table, struct bb_summary *summary)
{
    struct bb_summary *winner = NULL;
    bool is_at_hand = is_ready(table, summary);
    if (is_at_hand)
        bb_summary_make_ready(summary, &table->summary_format);
    if (atomic_compare_exchange_strong_explicit(&table->summary, &winner, summary,
                                                memory_order_acq_rel, memory_order_acquire)) {
        atomic_fetch_add_explicit(&table->pinned_bytes, summary->memory_size, memory_order_relaxed);
        if (is_at_hand)
            atomic_store(&table->ready_summary, summary);
        if (atomic_load(&table->is_distrusted)) /* set by another thread during this function */
            atomic_store(&table->ready_summary, NULL);
        return summary;
    }
    bb_summary_destroy(summary);
    return winner;
}

/* The table filter, read at the first call. NULL when it cannot be read now. */
static __attribute__((noinline)) struct bb_summary *load_once(struct bb_table *table,
                                                              struct bb_read_stats *stats)
{
    struct bb_summary *summary = NULL;
    if (!bb_backoff_is_due(&table->summary_backoff))
        return NULL;
    struct bb_error before = *bb_error_last();
    enum bb_status status = load(table, stats, &summary);
    (void)bb_error_restore(&before);
    if (status == BB_OK)
        return publish(table, summary);
    bb_backoff_fail(&table->summary_backoff);
    return NULL;
}

/* ---- cached ---- */

struct cached_chunk {
    struct bb_cache_item item; /* must be first */
    uint32_t shard_count;      /* 0: the chunk is damaged */
    uint8_t lead[BB_FILTER_LEAD_BYTES];
    uint8_t payload[]; /* followed by BB_FILTER_PAD_BYTES */
};

static void destroy_chunk(struct bb_cache_item *item)
{
    bb_free(item);
}

static enum bb_status create_chunk(struct bb_table *table, const struct bb_summary *summary,
                                   uint32_t number, struct bb_read_stats *stats,
                                   struct cached_chunk **ret_chunk)
{
    size_t size = bb_summary_chunk_size(summary, number);
    size_t memory_size = sizeof(struct cached_chunk) + size + BB_FILTER_PAD_BYTES;
    struct cached_chunk *chunk = bb_alloc(memory_size);
    uint64_t first = 0;
    if (chunk == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a chunk of %zu bytes", memory_size);
    bb_block_cache_item_init(&chunk->item, destroy_chunk, memory_size);
    chunk->shard_count = bb_summary_chunk_shards(summary, number, &first);
    memset(chunk->lead, 0, BB_FILTER_LEAD_BYTES);
    memset(chunk->payload + size, 0, BB_FILTER_PAD_BYTES);
    enum bb_status status = load_chunk(table, summary, number, stats, chunk->payload);
    if (status == BB_CORRUPT) {
        chunk->shard_count = 0;
        status = BB_OK;
    }
    if (status == BB_OK)
        *ret_chunk = chunk;
    else
        bb_block_cache_item_unref(&chunk->item);
    return status;
}

/* Reads the chunk into the cache. One reference; NULL when it cannot be read now. */
static __attribute__((noinline)) struct bb_cache_item *fill_chunk(struct bb_table *table,
                                                                  struct bb_summary *summary,
                                                                  uint32_t number, uint64_t offset,
                                                                  struct bb_read_stats *stats)
{
    struct bb_backoff *backoff = &summary->chunk_backoffs[number];
    struct cached_chunk *chunk = NULL;
    if (!bb_backoff_is_due(backoff))
        return NULL;
    struct bb_error before = *bb_error_last();
    enum bb_status status = create_chunk(table, summary, number, stats, &chunk);
    (void)bb_error_restore(&before);
    if (status != BB_OK) {
        bb_backoff_fail(backoff);
        return NULL;
    }
    bb_backoff_succeed(backoff);
    return bb_block_cache_insert(table->cache, table->cache_owner, offset, &chunk->item);
}

static struct cached_chunk *acquire_chunk(struct bb_table *table, struct bb_summary *summary,
                                          uint32_t number, struct bb_read_stats *stats)
{
    uint64_t offset =
        table->summary_reading.place.offset + bb_summary_chunk_offset(summary, number);
    struct bb_cache_item *item = bb_block_cache_find(table->cache, table->cache_owner, offset);
    if (item == NULL)
        item = fill_chunk(table, summary, number, offset, stats);
    return (struct cached_chunk *)item;
}

static bool ask_cached(struct bb_table *table, struct bb_summary *summary,
                       const struct bb_summary_part *part, struct bb_block_filter_key key,
                       struct bb_read_stats *stats)
{
    uint32_t shard = bb_summary_shard(part, key);
    uint32_t number = part->first_chunk + (shard >> summary->chunk_shift);
    struct cached_chunk *chunk = acquire_chunk(table, summary, number, stats);
    bool is_usable = chunk != NULL && chunk->shard_count > 0;
    shard &= (UINT32_C(1) << summary->chunk_shift) - 1;
    bool may_contain =
        !is_usable || bb_sharded_filter_may_contain(&table->summary_format, chunk->payload,
                                                    chunk->shard_count, shard, key);
    bb_counter_add(&stats->damaged_filters, !is_usable);
    if (chunk != NULL)
        bb_block_cache_item_unref(&chunk->item);
    return may_contain;
}

/* Sequentially consistent, because make_ready reads both variables in the opposite order. */
void bb_table_distrust_filters(struct bb_table *table)
{
    atomic_store(&table->is_distrusted, true);
    atomic_store(&table->ready_summary, NULL);
}

/* ---- probes ---- */

bool bb_table_summary_may_contain(struct bb_table *table, struct bb_bytes key, uint64_t key_hash,
                                  struct bb_read_stats *stats)
{
    BB_DEBUG_ASSERT(table->has_summary);
    const struct bb_block_filter_format *format = &table->summary_format;
    struct bb_summary *summary = atomic_load_explicit(&table->summary, memory_order_acquire);
    if (summary == NULL)
        summary = load_once(table, stats);
    if (summary == NULL || summary->part_count == 0) {
        bb_counter_add(&stats->damaged_filters, 1);
        return true;
    }
    struct bb_block_filter_key filter_key = bb_block_filter_key(format, key_hash);
    uint32_t part = bb_summary_part(summary, table->comparator, key);
    if (summary->places == NULL)
        return ask_cached(table, summary, &summary->parts[part], filter_key, stats);
    uint64_t place = bb_summary_place(summary, &summary->parts[part], filter_key);
    bb_counter_add(&stats->damaged_filters, place == BB_SUMMARY_DAMAGED);
    return bb_summary_may_contain(summary, format, place, filter_key);
}
