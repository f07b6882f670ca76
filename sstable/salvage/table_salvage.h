/* Reads the intact parts of a damaged table, block by block.
 *
 * Footer, directory, root, properties, filters and index pages may all be gone: a block is accepted
 * when its checksum fits this table and this place (block_places.h). Range tombstones also need the
 * section directory (range_tombstone_salvage.h). Salvage needs the table's id, which the checksums
 * are bound to. The id is in the store's manifest, in the footer and in the properties. When all
 * three are gone, blocks cannot be distinguished from accidental bytes, and salvage returns
 * nothing.
 *
 * Memory: the whole file, and one block. Threads: one per call.
 */
#ifndef BB_SSTABLE_SALVAGE_TABLE_SALVAGE_H
#define BB_SSTABLE_SALVAGE_TABLE_SALVAGE_H

#include "sstable/salvage/block_places.h"
#include "sstable/salvage/range_tombstone_salvage.h"

struct bb_salvage_visitor {
    /* Receives each entry in order; borrowed for the call. May be NULL. */
    enum bb_status (*entry)(void *context, const struct bb_entry *entry);
    /* Receives each block before its entries. May be NULL. */
    enum bb_status (*block)(void *context, const struct bb_block_place *place,
                            enum bb_compression compression, uint32_t raw_size);
    /* Receives each unreadable part of the file that may have held blocks, in order with the
     * entries. May be NULL. */
    enum bb_status (*lost)(void *context, uint64_t offset, uint64_t size);
    /* Receives the range tombstones, after all entries, if there are any and they can be read;
     * borrowed for the call. May be NULL. */
    enum bb_status (*ranges)(void *context, const struct bb_range_tombstones *list);
    void *context;
};

struct bb_salvage_report {
    uint8_t table_id[BB_TABLE_ID_SIZE];
    uint64_t file_size;
    uint64_t pages;  /* whole index pages */
    uint64_t blocks; /* blocks read */
    uint64_t entries;
    /* Blocks that a whole page lists and that cannot be read, in whole or in part. */
    uint64_t blocks_lost;
    /* Bytes of the lost blocks, and of stretches without any whole page or block, which may have
     * held pages too. */
    uint64_t bytes_lost;
    /* Bytes after the last whole page or block. In an undamaged table these are the sections and
     * the footer; in a truncated one they may be part of a block. */
    uint64_t tail_bytes;
    enum bb_range_tombstone_salvage ranges;
    uint64_t range_tombstones; /* sequences of all fragments */
};

/* Passes everything that can be read to the visitor; a failure of the visitor ends the salvage.
 * table_id NULL: the id that the file names. comparator NULL: bytewise. Errors: BB_CORRUPT without
 * an id. A file without any whole block gives BB_OK and no blocks. */
BB_MUST_CHECK enum bb_status bb_table_salvage(struct bb_file_system *fs, const char *path,
                                              const struct bb_comparator *comparator,
                                              const uint8_t table_id[BB_TABLE_ID_SIZE],
                                              const struct bb_salvage_visitor *visitor,
                                              struct bb_salvage_report *ret_report);

#endif
