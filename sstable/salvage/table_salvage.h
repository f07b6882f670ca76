/* What can still be read of a damaged table, block by block.
 *
 * Footer, directory, root, properties, filters and index pages may all be gone: a block is believed
 * when its checksum fits this table and this place (block_places.h), and nothing else is asked for.
 * Range tombstones need the section directory besides (range_salvage.h).
 * What is needed is the table's id, which the checksums are bound to. It stands in the store's
 * manifest, in the footer and in the properties; when all three are gone nothing can be told from
 * accident, and nothing is given out.
 *
 * Memory: the whole file, and one block. Threads: one per call.
 */
#ifndef BB_SSTABLE_SALVAGE_TABLE_SALVAGE_H
#define BB_SSTABLE_SALVAGE_TABLE_SALVAGE_H

#include "sstable/salvage/block_places.h"
#include "sstable/salvage/range_salvage.h"

struct bb_salvage_visitor {
    /* Each entry in order; borrowed for the call. May be NULL. */
    enum bb_status (*entry)(void *context, const struct bb_entry *entry);
    /* Each block at its beginning. May be NULL. */
    enum bb_status (*block)(void *context, const struct bb_block_place *place,
                            enum bb_compression compression, uint32_t raw_size);
    /* A stretch of the file, between the entries before and those behind, that blocks may have
     * stood in and that cannot be read. May be NULL. */
    enum bb_status (*lost)(void *context, uint64_t offset, uint64_t size);
    /* Behind all entries: the range tombstones, if there are any and they can be read; borrowed for
     * the call. May be NULL. */
    enum bb_status (*ranges)(void *context, const struct bb_range_tombstones *list);
    void *context;
};

struct bb_salvage_report {
    uint8_t table_id[BB_TABLE_ID_SIZE];
    uint64_t file_size;
    uint64_t pages;  /* whole index pages */
    uint64_t blocks; /* that were read */
    uint64_t entries;
    uint64_t blocks_lost; /* that a whole page tells of and that cannot be read, in whole or part */
    uint64_t bytes_lost;  /* of these, and of stretches without any whole page or block; of the
                             latter some may have been pages */
    uint64_t tail_bytes;  /* behind the last whole page or block: of an undamaged table what is not
                             entries; of a cut one perhaps part of a block */
    enum bb_range_salvage ranges;
    uint64_t range_tombstones; /* sequences of all fragments */
};

/* The id that the file itself names, where there is a block or a directory to prove it: from the
 * footer, else from the properties. BB_CORRUPT: there is none. */
BB_MUST_CHECK enum bb_status bb_table_id_salvage(struct bb_bytes file, const char *path,
                                                 uint8_t ret_id[BB_TABLE_ID_SIZE]);

/* Hands all that can be read to the visitor, whose failure ends the salvage. table_id NULL: the one
 * that the file names. comparator NULL: bytewise. BB_CORRUPT: no id. A file without any whole block
 * is BB_OK with no blocks. */
BB_MUST_CHECK enum bb_status bb_table_salvage(struct bb_file_system *fs, const char *path,
                                              const struct bb_comparator *comparator,
                                              const uint8_t table_id[BB_TABLE_ID_SIZE],
                                              const struct bb_salvage_visitor *visitor,
                                              struct bb_salvage_report *ret_report);

#endif
