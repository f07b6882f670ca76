/* Memory for long-lived data that is read at random: in pages of 2 MiB, if there is enough of it.
 *
 * Related data (the tables of a store) shares regions (base/region.h) and allocates pieces of them,
 * first fit:
 *
 *     region   [ piece   ][piece    ]....[ piece ]..............     granules of 64 bytes
 *     words    |  page 0   |  page 1   |  page 2   |  page 3   |     a bit per granule: one word
 *                                                                    is a page of 4 KiB
 *
 * A page takes memory when a piece in it is first allocated. Once 15 of 16 pages of a region are in
 * use, the region is moved into large pages, and takes all of its memory. A page without a piece is
 * idle: it is reused before an untouched page. It is returned to the system if an eighth of its
 * region is idle, and if all idle pages together exceed both an eighth of the allocated memory and
 * BB_LARGE_PAGES_IDLE. A region without a piece is returned immediately. So
 *
 *     idle <= max(used / 8 + BB_LARGE_PAGES_IDLE, an eighth of each region)
 *
 * In addition, a page stays whole until its last piece is freed.
 *
 * Trees of maxima find the first region with enough free space, the first suitable page in it, and
 * the region with the most idle pages: allocating and freeing a piece takes the logarithm of the
 * number of regions, and a scan of the words around the piece.
 *
 * Pieces below BB_LARGE_PAGES_PIECE_MIN come from the allocator, and so do all pieces if the system
 * provides no region. A piece larger than a region has a separate mapping. Threads: any. */
#ifndef BB_BASE_LARGE_PAGES_H
#define BB_BASE_LARGE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/max_tree.h"
#include "base/sync.h"

#define BB_LARGE_PAGES_PIECE_MIN 1024u
#define BB_LARGE_PAGES_ALIGNMENT 64u
#define BB_LARGE_PAGES_IDLE      (512u * 1024)

/* The location of a mapping, sorted by address. */
struct bb_large_pages_place {
    uint8_t *memory;
    struct bb_large_pages_region *region; /* NULL: the mapping is one piece */
};

struct bb_large_pages {
    struct bb_mutex mutex;
    struct bb_large_pages_place *places; /* owned */
    size_t count;
    size_t capacity;
    size_t region_count;          /* places of regions */
    struct bb_max_tree free_runs; /* by place: free granules of the longest run */
    struct bb_max_tree idles;     /* by place: idle pages that may be returned */
    uint64_t used_bytes;          /* of pieces in regions and of separate mappings */
    uint64_t held_bytes;          /* of touched pages and of separate mappings */
    uint64_t idle_bytes;          /* of touched pages without a piece */
};

void bb_large_pages_init(struct bb_large_pages *pages);
/* REQUIRES: all pieces are freed. */
void bb_large_pages_deinit(struct bb_large_pages *pages);

/* A piece at a multiple of BB_LARGE_PAGES_ALIGNMENT; NULL without memory. If pages is NULL, the
 * piece comes from the allocator. */
void *bb_large_pages_alloc(struct bb_large_pages *pages, size_t size)
    __attribute__((warn_unused_result));
/* pages and size must equal the arguments of the allocation. memory may be NULL. */
void bb_large_pages_free(struct bb_large_pages *pages, void *memory, size_t size);

/* Memory held in excess of the pieces: parts of pages, idle pages, and bookkeeping. */
uint64_t bb_large_pages_overhead(struct bb_large_pages *pages);

#endif
