/* See block_spares.h. */
#include "sstable/block/block_spares.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "base/hash.h"

#define SIZE_STEP 128

/* The cells for one thread and sizes that may replace each other. */
struct cells {
    _Atomic(void *) *cells;
    size_t count;
};

static void release(struct cells cells)
{
    for (size_t i = 0; i < cells.count; i++)
        bb_free(atomic_load(&cells.cells[i]));
}

void bb_block_spares_deinit(struct bb_block_spares *spares)
{
    for (size_t line = 0; line < BB_SPARE_LINES; line++) {
        release((struct cells){spares->lines[line].cells, BB_SPARE_CELLS});
        for (size_t i = 0; i < BB_SPARE_DOUBLINGS; i++)
            release((struct cells){spares->lines[line].large_cells[i], BB_SPARE_LARGE_CELLS});
    }
}

/* REQUIRES: size is kept. Distinguishes threads by the address of a thread-local byte. */
static struct cells own_cells(struct bb_block_spares *spares, size_t size)
{
    static _Thread_local char identity;
    size_t line = bb_hash_mix((uint64_t)(uintptr_t)&identity) % BB_SPARE_LINES;
    size_t doubling = 0;
    if (size <= BB_SPARE_SIZE_LARGE)
        return (struct cells){spares->lines[line].cells, BB_SPARE_CELLS};
    while (size > (size_t)BB_SPARE_SIZE_LARGE * 2 << doubling)
        doubling++;
    return (struct cells){spares->lines[line].large_cells[doubling], BB_SPARE_LARGE_CELLS};
}

static bool is_kept(size_t size)
{
    return size >= BB_SPARE_SIZE_MIN && size <= BB_SPARE_SIZE_MAX;
}

/* The first word of a spare is its size. */
static size_t size_of(const void *spare)
{
    size_t size = 0;
    memcpy(&size, spare, sizeof(size));
    return size;
}

static void *take_last(struct cells cells)
{
    for (size_t i = cells.count; i-- > 0;) {
        if (atomic_load_explicit(&cells.cells[i], memory_order_relaxed) == NULL)
            continue;
        void *spare = atomic_exchange_explicit(&cells.cells[i], NULL, memory_order_acquire);
        if (spare != NULL)
            return spare;
    }
    return NULL;
}

/* Rounds sizes, so that blocks of similar size can share memory. */
static size_t rounded(size_t size)
{
    return (size + SIZE_STEP - 1) / SIZE_STEP * SIZE_STEP;
}

void *bb_block_spares_take(struct bb_block_spares *spares, size_t size, size_t *ret_size)
{
    void *spare = is_kept(size) ? take_last(own_cells(spares, size)) : NULL;
    if (spare != NULL) {
        size_t found = size_of(spare);
        if (found >= size && found - size <= size / 8) {
            *ret_size = found;
            return spare;
        }
        bb_free(spare); /* otherwise a spare that fits no request would stay */
    }
    *ret_size = is_kept(size) ? rounded(size) : size;
    return bb_alloc(*ret_size);
}

void bb_block_spares_put(struct bb_block_spares *spares, void *memory, size_t size)
{
    if (!is_kept(size)) {
        bb_free(memory);
        return;
    }
    struct cells cells = own_cells(spares, size);
    memcpy(memory, &size, sizeof(size));
    for (size_t i = 0; i < cells.count; i++) {
        void *expected = NULL;
        if (atomic_load_explicit(&cells.cells[i], memory_order_relaxed) == NULL &&
            atomic_compare_exchange_strong_explicit(&cells.cells[i], &expected, memory,
                                                    memory_order_release, memory_order_relaxed))
            return;
    }
    bb_free(memory);
}
