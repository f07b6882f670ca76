/* Finds the blocks of a damaged table without footer, directory and root.
 *
 *     ... block block page | block blo#### ##ge | block block page page | sections footer
 *         `--- known ---'    `-- searched ---'    `----- known -----'    `- searched -'
 *
 * An index page lists the places of its blocks, and its checksum proves that it is one, so every
 * offset is checked for a page. The gaps between pages and listed blocks are searched for the
 * trailers of blocks. Consecutive pages describe the blocks before the first of them
 * (sstable/index/root.h). An uncompressed block is found anywhere, since its trailer has its size.
 * A compressed block is found when something that can end a block precedes it.
 *
 * Checksums are bound to table and offset. No block is found by accident, and no block of another
 * table or of another place in this one.
 *
 * Time: a few scans of the bytes. A page or a compressed block is hashed only where its bytes have
 * the right form, so that the bytes of values are rarely hashed. The bytes hashed in vain stay in
 * proportion to the file, even for hostile files, which may hide pages in that way, but no blocks.
 * Threads: one.
 */
#ifndef BB_SSTABLE_SALVAGE_BLOCK_PLACES_H
#define BB_SSTABLE_SALVAGE_BLOCK_PLACES_H

#include "sstable/checksum.h"

struct bb_block_place {
    uint64_t offset;
    uint32_t size; /* as stored, trailer included */
};

/* Bytes that are in no page or block. */
struct bb_lost_bytes {
    uint64_t offset;
    uint64_t size;
};

/* Both lists ascend, without overlap. Owned: bb_block_places_deinit. A zeroed struct is valid and
 * empty. */
struct bb_block_places {
    struct bb_block_place *places;
    size_t count;
    size_t capacity;
    struct bb_lost_bytes *lost; /* before the end of the last page or block found */
    size_t lost_count;
    size_t lost_capacity;
    uint64_t page_count; /* number of whole pages found */
    uint64_t end;        /* of the last page or block found */
};

void bb_block_places_deinit(struct bb_block_places *places);

/* file: all available bytes of the table, from its first one on. Blocks that a page lists are not
 * read, so they may be damaged. Fills zeroed places. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_block_places_find(struct bb_bytes file, struct bb_table_id table,
                                                  struct bb_block_places *ret_places);

#endif
