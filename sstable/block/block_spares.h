/* Memory of blocks that nobody wants any more, for the next ones.
 *
 * What is read past the cache lives as long as a look at it. Its memory is of a size for which the
 * allocator searches, merges and splits; and it has fallen out of the processor's caches by the
 * time it comes back. Here a thread gets what it let go of last.
 *
 *     cells   [ a  b  c  .  .  .  .  . ]   of a thread: put into the first empty one,
 *             [ d  .  .  .  .  .  .  . ]   taken from the last full one
 *
 * A cell changes by one atomic exchange. Threads whose identities meet in a line share it.
 * Threads: any.
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_SPARES_H
#define BB_SSTABLE_BLOCK_BLOCK_SPARES_H

#include <stdatomic.h>
#include <stddef.h>

#define BB_SPARE_LINES 8
#define BB_SPARE_CELLS 8
/* Other sizes are the allocator's. */
#define BB_SPARE_SIZE_MIN 2048u
#define BB_SPARE_SIZE_MAX 16384u

struct bb_block_spares {
    struct {
        _Alignas(64) _Atomic(void *) cells[BB_SPARE_CELLS];
    } lines[BB_SPARE_LINES];
};

void bb_block_spares_init(struct bb_block_spares *spares);
void bb_block_spares_deinit(struct bb_block_spares *spares);

/* Memory of at least size bytes, *ret_size of them, from a spare or the allocator; NULL: there is
 * none. At most an eighth is more than was asked for. */
void *bb_block_spares_take(struct bb_block_spares *spares, size_t size, size_t *ret_size);
/* Gives back what was taken, with the size that take said. */
void bb_block_spares_put(struct bb_block_spares *spares, void *memory, size_t size);

#endif
