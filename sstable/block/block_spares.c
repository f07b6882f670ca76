/* See block_spares.h. */
#include "sstable/block/block_spares.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "base/hash.h"

void bb_block_spares_init(struct bb_block_spares *spares)
{
    for (size_t line = 0; line < BB_SPARE_LINES; line++) {
        for (size_t i = 0; i < BB_SPARE_CELLS; i++)
            atomic_init(&spares->lines[line].cells[i], NULL);
    }
}

void bb_block_spares_deinit(struct bb_block_spares *spares)
{
    for (size_t line = 0; line < BB_SPARE_LINES; line++) {
        for (size_t i = 0; i < BB_SPARE_CELLS; i++)
            bb_free(atomic_load(&spares->lines[line].cells[i]));
    }
}

#define SIZE_STEP 128

/* Distinguishes threads by the address of a thread-local byte. */
static _Atomic(void *) *own_cells(struct bb_block_spares *spares)
{
    static _Thread_local char identity;
    return spares->lines[bb_hash_mix((uint64_t)(uintptr_t)&identity) % BB_SPARE_LINES].cells;
}

/* The first word of a spare is its size. */
static size_t size_of(const void *spare)
{
    size_t size = 0;
    memcpy(&size, spare, sizeof(size));
    return size;
}

static void *take_last(_Atomic(void *) *cells)
{
    for (size_t i = BB_SPARE_CELLS; i-- > 0;) {
        if (atomic_load_explicit(&cells[i], memory_order_relaxed) == NULL)
            continue;
        void *spare = atomic_exchange_explicit(&cells[i], NULL, memory_order_acquire);
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
    bool is_kept = size >= BB_SPARE_SIZE_MIN && size <= BB_SPARE_SIZE_MAX;
    void *spare = is_kept ? take_last(own_cells(spares)) : NULL;
    if (spare != NULL) {
        size_t found = size_of(spare);
        if (found >= size && found - size <= size / 8) {
            *ret_size = found;
            return spare;
        }
        bb_free(spare); /* otherwise a spare that fits no request would stay */
    }
    *ret_size = is_kept ? rounded(size) : size;
    return bb_alloc(*ret_size);
}

void bb_block_spares_put(struct bb_block_spares *spares, void *memory, size_t size)
{
    if (size < BB_SPARE_SIZE_MIN || size > BB_SPARE_SIZE_MAX) {
        bb_free(memory);
        return;
    }
    _Atomic(void *) *cells = own_cells(spares);
    memcpy(memory, &size, sizeof(size));
    for (size_t i = 0; i < BB_SPARE_CELLS; i++) {
        void *expected = NULL;
        if (atomic_load_explicit(&cells[i], memory_order_relaxed) == NULL &&
            atomic_compare_exchange_strong_explicit(&cells[i], &expected, memory,
                                                    memory_order_release, memory_order_relaxed))
            return;
    }
    bb_free(memory);
}
