/* Memory of released blocks, for reuse.
 *
 * A block that bypasses the cache is released right after its lookup. The allocator would search,
 * merge and split for its size, and the memory would have left the processor's caches by the time
 * it is reused. With spares a thread reuses the memory that it released last.
 *
 *     cells   [ a  b  c  .  .  .  .  . ]   of one thread: put fills the first empty cell,
 *             [ d  .  .  .  .  .  .  . ]   take empties the last full one
 *
 * Large blocks have fewer cells, for each doubling of the size: the stored form of a block and the
 * block itself then do not replace each other.
 *
 * A cell changes by one atomic exchange. Threads whose ids map to the same line share it.
 * Threads: any.
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_SPARES_H
#define BB_SSTABLE_BLOCK_BLOCK_SPARES_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

#define BB_SPARE_LINES 8
#define BB_SPARE_CELLS 8
/* Other sizes go to the allocator. */
#define BB_SPARE_SIZE_MIN    2048u
#define BB_SPARE_SIZE_LARGE  16384u /* above it, a size is large */
#define BB_SPARE_SIZE_MAX    131072u
#define BB_SPARE_DOUBLINGS   3 /* from large to the maximum */
#define BB_SPARE_LARGE_CELLS 2

/* A zeroed struct is valid and empty. */
struct bb_block_spares {
    struct {
        _Alignas(64) _Atomic(void *) cells[BB_SPARE_CELLS];
        _Atomic(void *) large_cells[BB_SPARE_DOUBLINGS][BB_SPARE_LARGE_CELLS];
    } lines[BB_SPARE_LINES];
};

static_assert(BB_SPARE_SIZE_LARGE << BB_SPARE_DOUBLINGS == BB_SPARE_SIZE_MAX,
              "each large size has cells");

void bb_block_spares_deinit(struct bb_block_spares *spares);

/* Returns memory of at least size bytes, from a spare or the allocator; *ret_size is its real size,
 * at most an eighth more than requested. NULL: out of memory. */
void *bb_block_spares_take(struct bb_block_spares *spares, size_t size, size_t *ret_size);
/* Returns memory from take, with the size that take reported. */
void bb_block_spares_put(struct bb_block_spares *spares, void *memory, size_t size);

#endif
