/* Memory for what is read at random and stays: in pages of 2 MiB, as far as there is enough of it.
 *
 * What belongs together (the tables of a store) shares regions (base/region.h) and takes pieces of
 * them, first fit:
 *
 *     region   [ piece   ][piece    ]....[ piece ]..............     granules of 64 bytes
 *     words    |  page 0   |  page 1   |  page 2   |  page 3   |     a bit per granule: one word
 *                                                                    is a page of 4 KiB
 *
 * A page takes memory when a piece in it is first handed out. Once 15 of 16 pages of a region are in
 * use, it is moved into large pages, and takes all of its memory. A page without a piece is idle:
 * it is used again before an untouched one, or given back, when an eighth of a region is idle and
 * all together are more than an eighth of what is handed out and BB_LARGE_PAGES_IDLE. A region
 * without a piece is given back at once. So
 *
 *     idle <= max(used / 8 + BB_LARGE_PAGES_IDLE, an eighth of each region)
 *
 * and besides, a piece holds the whole pages that it lies in, as long as it is the last one there.
 *
 * The first region with enough room, the first page in it where that begins, and the region with most
 * idle pages, are found by trees of maxima: taking a piece, and giving it back, takes the logarithm of
 * the number of regions, and a look at the words around the piece.
 *
 * Smaller pieces come from the allocator, and so do all when the system gives no region. One that is
 * larger than a region has a mapping of its own.
 * Threads: any.
 */
#ifndef BB_BASE_LARGE_PAGES_H
#define BB_BASE_LARGE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/max_tree.h"
#include "base/sync.h"

#define BB_LARGE_PAGES_PIECE_MIN 1024u
#define BB_LARGE_PAGES_ALIGNMENT 64u
#define BB_LARGE_PAGES_IDLE      (512u * 1024)

/* Where a mapping is, sorted by address. */
struct bb_large_pages_place {
    uint8_t *memory;
    struct bb_large_pages_region *region; /* NULL: one piece has it all */
};

struct bb_large_pages {
    struct bb_mutex mutex;
    struct bb_large_pages_place *places; /* owned */
    size_t count;
    size_t capacity;
    size_t region_count;      /* places of regions */
    struct bb_max_tree rooms; /* by place: free granules of the longest run */
    struct bb_max_tree idles; /* by place: pages worth giving back */
    uint64_t used_bytes;      /* of pieces in regions, and with mappings of their own */
    uint64_t held_bytes;      /* of pages that were touched, and of those mappings */
    uint64_t idle_bytes;      /* of touched pages without a piece */
};

void bb_large_pages_init(struct bb_large_pages *pages);
/* REQUIRES: all pieces are freed. */
void bb_large_pages_deinit(struct bb_large_pages *pages);

/* A piece at a multiple of BB_LARGE_PAGES_ALIGNMENT; NULL when there is no memory. pages may be NULL:
 * then it is the allocator's. */
void *bb_large_pages_alloc(struct bb_large_pages *pages, size_t size)
    __attribute__((warn_unused_result));
/* pages and size as they were given to alloc. memory may be NULL. */
void bb_large_pages_free(struct bb_large_pages *pages, void *memory, size_t size);

/* What is held beyond the pieces: parts of pages, idle pages, and the accounts themselves. */
uint64_t bb_large_pages_overhead(struct bb_large_pages *pages);

#endif
