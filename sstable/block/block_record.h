/* Decodes one stored entry of a data block. This is the innermost decoder of every read.
 *
 *     varint shared | varint unshared | varint value size | varint (sequence << 1 | kind)
 *     | suffix | value
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_RECORD_H
#define BB_SSTABLE_BLOCK_BLOCK_RECORD_H

#include "sstable/entry.h"
#include "sstable/format.h"

struct bb_block_record {
    uint32_t shared;
    uint32_t unshared;
    uint32_t value_size;
    uint64_t sequence;
    enum bb_entry_kind kind;
    const uint8_t *suffix; /* followed by the value */
};

/* Decodes the three sizes. The first two usually take one byte, the third one or two. */
static inline bool bb_block_record_decode_sizes(struct bb_cursor *cursor,
                                                struct bb_block_record *record)
{
    const uint8_t *p = cursor->position;
    if (bb_cursor_left(cursor) >= 3 && (p[0] | p[1] | p[2]) < 0x80) {
        record->shared = p[0];
        record->unshared = p[1];
        record->value_size = p[2];
        cursor->position += 3;
        return true;
    }
    if (bb_cursor_left(cursor) >= 4 && (p[0] | p[1] | p[3]) < 0x80 && p[3] != 0) {
        record->shared = p[0];
        record->unshared = p[1];
        record->value_size = (p[2] & 0x7fu) | (uint32_t)p[3] << 7;
        cursor->position += 4;
        return true;
    }
    return bb_decode_varint32(cursor, &record->shared) &&
           bb_decode_varint32(cursor, &record->unshared) &&
           bb_decode_varint32(cursor, &record->value_size);
}

/* Reads the entry at the cursor and moves to its end. False when the bytes are not an entry: sizes
 * beyond the limits or the end, or a deletion with a value. The caller checks that `shared` is no
 * longer than the previous key. */
static inline BB_MUST_CHECK bool bb_block_record_decode(struct bb_cursor *cursor,
                                                        struct bb_block_record *record)
{
    uint64_t tag = 0;
    if (!bb_block_record_decode_sizes(cursor, record) || !bb_decode_varint64(cursor, &tag))
        return false;
    if (record->shared > BB_KEY_SIZE_MAX || record->unshared > BB_KEY_SIZE_MAX - record->shared)
        return false;
    size_t left = bb_cursor_left(cursor);
    if (record->unshared > left || record->value_size > left - record->unshared)
        return false;
    record->sequence = tag >> 1;
    record->kind = (enum bb_entry_kind)(tag & 1);
    if (record->sequence > BB_SEQUENCE_MAX || record->value_size > BB_VALUE_SIZE_MAX)
        return false;
    if (record->kind == BB_ENTRY_DELETE && record->value_size != 0)
        return false;
    record->suffix = cursor->position;
    cursor->position += (size_t)record->unshared + record->value_size;
    return true;
}

static inline struct bb_bytes bb_block_record_suffix(const struct bb_block_record *record)
{
    return (struct bb_bytes){.data = record->suffix, .size = record->unshared};
}

static inline struct bb_bytes bb_block_record_value(const struct bb_block_record *record)
{
    return (struct bb_bytes){.data = record->suffix + record->unshared, .size = record->value_size};
}

#endif
