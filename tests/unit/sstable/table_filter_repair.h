/* Repairs the checksums of a table filter's section, within its recorded sizes. */
#ifndef BB_TESTS_UNIT_SSTABLE_TABLE_FILTER_REPAIR_H
#define BB_TESTS_UNIT_SSTABLE_TABLE_FILTER_REPAIR_H

#include "sstable/filter/table_filter.h"

static inline void table_filter_seal_chunks(uint8_t *section, uint64_t chunks_size,
                                            struct bb_cursor sizes, uint64_t count,
                                            struct bb_table_id table, uint64_t offset)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t size = 0;
        if (!bb_decode_varint32(&sizes, &size) || size < BB_CHECKSUM_SIZE ||
            size > chunks_size - at)
            return;
        size_t checked = size - BB_CHECKSUM_SIZE;
        bb_store64(section + at + checked,
                   bb_checksum(table, BB_STORED_TABLE_FILTER, offset + at, section + at, checked));
        at += size;
    }
}

/* If the list claims more than the section's size, it takes all of the section. */
static inline void table_filter_repair(uint8_t *section, uint64_t size, struct bb_table_id table,
                                       uint64_t offset)
{
    if (size < BB_TABLE_FILTER_TAIL_SIZE)
        return;
    uint64_t space = size - BB_TABLE_FILTER_TAIL_SIZE;
    uint64_t list_size = bb_load32(section + space);
    if (list_size > space)
        list_size = space;
    uint64_t start = space - list_size;
    bb_store32(section + space, (uint32_t)list_size);
    bb_store64(section + size - BB_CHECKSUM_SIZE,
               bb_checksum(table, BB_STORED_CHUNKS, offset + start, section + start,
                           (size_t)(list_size + BB_TABLE_FILTER_TAIL_SIZE - BB_CHECKSUM_SIZE)));
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(section + start, (size_t)list_size));
    uint32_t shift = 0;
    uint32_t parts = 0;
    uint64_t chunks = 0;
    if (!bb_decode_varint32(&cursor, &shift) || shift > BB_TABLE_FILTER_CHUNK_SHIFT_MAX ||
        !bb_decode_varint32(&cursor, &parts))
        return;
    for (uint32_t i = 0; i < parts; i++) {
        uint64_t keys = 0;
        uint32_t shards = 0;
        if (!bb_decode_varint64(&cursor, &keys) || !bb_decode_varint32(&cursor, &shards))
            return;
        chunks += shards == 0 ? 0 : ((uint64_t)(shards - 1) >> shift) + 1;
    }
    table_filter_seal_chunks(section, start, cursor, chunks, table, offset);
}

#endif
