/* Where the blocks of a table stand, found without footer, directory and root: in whatever is left
 * of it.
 *
 *     ... block block page | block blo#### ##ge | block block page | sections footer
 *         `--- known ---'    `-- searched ---'    `--- known ---'    `- searched -'
 *
 * An index page says where its blocks are, and its checksum that it is one: pages are looked for at
 * every offset. What lies between the areas of pages is searched for the trailers of blocks. A
 * block that is stored raw is found wherever it stands, since its trailer has its size; a
 * compressed one where something that may end a block stands in front of it.
 *
 * Checksums are bound to table and offset, so nothing is found by accident, and no block of another
 * table, or of this one in another place.
 *
 * Time: a few passes over the bytes; what hostile bytes can have hashed is bounded in proportion to
 * them. Threads: one.
 */
#ifndef BB_SSTABLE_SALVAGE_BLOCK_PLACES_H
#define BB_SSTABLE_SALVAGE_BLOCK_PLACES_H

#include "sstable/checksum.h"

struct bb_block_place {
    uint64_t offset;
    uint32_t size; /* as stored, trailer included */
    uint64_t gap;  /* bytes in front of it that are in no page or block */
};

/* Ascending, without overlap. Owned: bb_block_places_deinit. A zeroed struct is valid and empty. */
struct bb_block_places {
    struct bb_block_place *places;
    size_t count;
    size_t capacity;
    uint64_t page_count; /* whole pages that were found */
    uint64_t end;        /* behind the last page or block found */
};

void bb_block_places_deinit(struct bb_block_places *places);

/* file: all bytes of the table there are, from its first one on. Places that a page tells of are not
 * read: their blocks may be damaged. Into zeroed places; BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_block_places_find(struct bb_bytes file, struct bb_table_id table,
                                                  struct bb_block_places *ret_places);

#endif
