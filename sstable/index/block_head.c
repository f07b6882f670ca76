/* Reads and writes heads of blocks. See the header. Any thread. */
#include "sstable/index/block_head.h"

#include <inttypes.h>

#include "base/assert.h"
#include "sstable/block/block_record.h"

enum bb_status bb_block_head_encode(const struct bb_block_head *head, struct bb_buf *buf)
{
    BB_DEBUG_ASSERT(head->sequence <= BB_SEQUENCE_MAX && head->key.size <= BB_KEY_SIZE_MAX);
    enum bb_status status = bb_append_bytes(buf, head->key);
    if (status == BB_OK)
        status = bb_append_varint(buf, head->sequence << 1 | (uint64_t)head->kind);
    if (status == BB_OK)
        status = bb_append_varint(buf, head->value_size);
    return status;
}

static bool is_possible(const struct bb_block_head *head)
{
    return head->key.size <= BB_KEY_SIZE_MAX && head->sequence <= BB_SEQUENCE_MAX &&
           head->value_size <= BB_VALUE_SIZE_MAX &&
           (head->kind == BB_ENTRY_PUT || head->value_size == 0);
}

bool bb_block_head_decode(struct bb_cursor *cursor, struct bb_block_head *ret_head)
{
    struct bb_cursor ahead = *cursor;
    struct bb_block_head head = {0};
    uint64_t tag = 0;
    if (!bb_decode_bytes(&ahead, &head.key) || !bb_decode_varint64(&ahead, &tag) ||
        !bb_decode_varint32(&ahead, &head.value_size))
        return false;
    head.sequence = tag >> 1;
    head.kind = (enum bb_entry_kind)(tag & 1);
    if (!is_possible(&head))
        return false;
    *cursor = ahead;
    *ret_head = head;
    return true;
}

static bool is_of_record(const struct bb_block_head *head, const struct bb_block_record *record)
{
    return bb_bytes_equal(head->key, bb_block_record_suffix(record)) &&
           head->sequence == record->sequence && head->kind == record->kind &&
           head->value_size == record->value_size;
}

enum bb_status bb_block_head_check(const struct bb_block_head *head, const struct bb_block *block,
                                   struct bb_place place)
{
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(block->payload, block->entries_size));
    struct bb_block_record record = {0};
    char text[64];
    bool is_alone = bb_block_record_decode(&cursor, &record) && bb_cursor_left(&cursor) == 0;
    if (is_alone && is_of_record(head, &record))
        return BB_OK;
    return bb_corrupt(place, 0,
                      "by the index page, the block has only key %s with sequence %" PRIu64
                      " and a value of %u bytes, but it has %s",
                      bb_bytes_escape(head->key, text, sizeof(text)), head->sequence,
                      head->value_size, is_alone ? "another entry" : "more");
}
