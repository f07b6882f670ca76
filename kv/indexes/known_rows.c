/* See known_rows.h. */
#include "kv/indexes/known_rows.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

static size_t size_of_granule(size_t word_count)
{
    return sizeof(struct bb_known_granule) + 2 * word_count * sizeof(uint64_t);
}

static void add_bytes(const struct bb_known_rows *rows, uint64_t bytes)
{
    atomic_fetch_add_explicit(rows->total_bytes, bytes, memory_order_relaxed);
}

enum bb_status bb_known_rows_create(size_t granule_count, struct bb_bytes newer,
                                    _Atomic uint64_t *total_bytes, struct bb_known_rows **ret_rows)
{
    size_t size = sizeof(struct bb_known_rows) + granule_count * sizeof(struct bb_known_granule *);
    struct bb_known_rows *rows = bb_alloc_zeroed(1, size);
    if (rows == NULL || bb_buf_assign(&rows->newer, newer) != BB_OK) {
        bb_free(rows);
        return bb_fail(BB_NO_MEMORY, "no memory for the visible records of %zu granules",
                       granule_count);
    }
    atomic_init(&rows->references, 1);
    rows->granule_count = granule_count;
    rows->memory_bytes = size + newer.size;
    rows->total_bytes = total_bytes;
    add_bytes(rows, rows->memory_bytes);
    *ret_rows = rows;
    return BB_OK;
}

struct bb_known_rows *bb_known_rows_ref(struct bb_known_rows *rows)
{
    atomic_fetch_add_explicit(&rows->references, 1, memory_order_relaxed);
    return rows;
}

void bb_known_rows_unref(struct bb_known_rows *rows)
{
    if (rows == NULL || atomic_fetch_sub_explicit(&rows->references, 1, memory_order_acq_rel) > 1)
        return;
    uint64_t bytes = rows->memory_bytes;
    for (size_t i = 0; i < rows->granule_count; i++) {
        struct bb_known_granule *granule =
            atomic_load_explicit(&rows->granules[i], memory_order_relaxed);
        bytes += granule == NULL ? 0 : size_of_granule(granule->word_count);
        bb_free(granule);
    }
    atomic_fetch_sub_explicit(rows->total_bytes, bytes, memory_order_relaxed);
    bb_buf_deinit(&rows->newer);
    bb_free(rows);
}

/* Publishes a new granule. If another thread published one first, returns that. */
static struct bb_known_granule *publish(struct bb_known_rows *rows, size_t granule,
                                        struct bb_known_granule *created)
{
    struct bb_known_granule *first = NULL;
    if (!atomic_compare_exchange_strong_explicit(&rows->granules[granule], &first, created,
                                                 memory_order_release, memory_order_acquire)) {
        bb_free(created);
        return first;
    }
    add_bytes(rows, size_of_granule(created->word_count));
    return created;
}

enum bb_status bb_known_rows_granule(struct bb_known_rows *rows, size_t granule,
                                     uint64_t record_count, struct bb_known_granule **ret_granule)
{
    size_t word_count = (size_t)(record_count / 64 + (record_count % 64 != 0));
    if (granule >= rows->granule_count)
        return BB_NOT_FOUND;
    struct bb_known_granule *found =
        atomic_load_explicit(&rows->granules[granule], memory_order_acquire);
    if (found == NULL) {
        struct bb_known_granule *created = bb_alloc_zeroed(1, size_of_granule(word_count));
        if (created == NULL)
            return bb_fail(BB_NO_MEMORY, "no memory for the visible records of a granule");
        created->word_count = word_count;
        found = publish(rows, granule, created);
    }
    if (found->word_count != word_count)
        return BB_NOT_FOUND;
    *ret_granule = found;
    return BB_OK;
}

void bb_known_rows_learn(struct bb_known_granule *granule, uint64_t record, bool is_hidden)
{
    uint64_t bit = UINT64_C(1) << record % 64;
    size_t word = (size_t)(record / 64);
    BB_DEBUG_ASSERT(word < granule->word_count);
    if (is_hidden)
        atomic_fetch_or_explicit(&granule->words[granule->word_count + word], bit,
                                 memory_order_relaxed);
    atomic_fetch_or_explicit(&granule->words[word], bit, memory_order_release);
}
