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

/* WHY the rare forms of sizes and tag work on copies: the compiler keeps cursor and record in
 * registers only if no call gets their addresses. */
static inline bool bb_block_record_decode_long_sizes(struct bb_cursor *cursor,
                                                     struct bb_block_record *record)
{
    struct bb_cursor ahead = *cursor;
    uint32_t shared = 0;
    uint32_t unshared = 0;
    uint32_t value_size = 0;
    if (!bb_decode_varint32(&ahead, &shared) || !bb_decode_varint32(&ahead, &unshared) ||
        !bb_decode_varint32(&ahead, &value_size))
        return false;
    record->shared = shared;
    record->unshared = unshared;
    record->value_size = value_size;
    *cursor = ahead;
    return true;
}

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
    return bb_block_record_decode_long_sizes(cursor, record);
}

static inline bool bb_block_record_decode_any_tag(struct bb_cursor *cursor, uint64_t *ret_tag)
{
    struct bb_cursor ahead = *cursor;
    uint64_t tag = 0;
    if (!bb_decode_varint64(&ahead, &tag))
        return false;
    *ret_tag = tag;
    *cursor = ahead;
    return true;
}

/* The number of a varint in the low bytes of a word, without the top bit of each. */
static inline uint64_t bb_block_record_gather(uint64_t word)
{
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Decodes the tag, of one to eight bytes, without a branch for each. Neighbours have sequences of
 * different sizes. */
static inline bool bb_block_record_decode_tag(struct bb_cursor *cursor, uint64_t *ret_tag)
{
    if (bb_cursor_left(cursor) < sizeof(uint64_t))
        return bb_block_record_decode_any_tag(cursor, ret_tag);
    uint64_t word = bb_load64(cursor->position);
    uint64_t ends = ~word & UINT64_C(0x8080808080808080);
    uint64_t bits = ends ^ (ends - 1); /* up to the top bit of the last byte */
    unsigned last = ends == 0 ? 0 : (unsigned)__builtin_ctzll(ends) / 8;
    if (ends == 0 || (last > 0 && cursor->position[last] == 0))
        return bb_block_record_decode_any_tag(cursor, ret_tag);
    *ret_tag = bb_block_record_gather(word & bits & UINT64_C(0x7f7f7f7f7f7f7f7f));
    cursor->position += last + 1;
    return true;
}

/* Reads the entry at the cursor and moves to its end. False when the bytes are not an entry: sizes
 * beyond the limits or the end, or a deletion with a value. The caller checks that `shared` is no
 * longer than the previous key. */
static inline BB_MUST_CHECK bool bb_block_record_decode(struct bb_cursor *cursor,
                                                        struct bb_block_record *record)
{
    uint64_t tag = 0;
    if (!bb_block_record_decode_sizes(cursor, record) || !bb_block_record_decode_tag(cursor, &tag))
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
