/* Reading a block of a dictionary. See token_block.h. */
#include "skip/kind/token_block.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"

#define HALF_MAX       15u
#define RICE_SHIFT_MAX 40u
#define TOKEN_SIZE_MAX (HALF_MAX + UINT8_MAX) /* of both parts: the limit of their bytes */
#define WIDE           16 /* bytes that are copied together, even if there are fewer */
#define TOKEN_SPACE    (2 * TOKEN_SIZE_MAX + 2 + 2 * WIDE)

void bb_token_block_deinit(struct bb_token_block *block)
{
    bb_buf_deinit(&block->text);
    bb_free(block->begins);
    *block = (struct bb_token_block){0};
}

static enum bb_status reserve_begins(struct bb_token_block *block, size_t count)
{
    if (count <= block->begin_capacity)
        return BB_OK;
    uint32_t *begins = bb_realloc(block->begins, count * sizeof(begins[0]));
    if (begins == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu tokens", count);
    block->begins = begins;
    block->begin_capacity = count;
    return BB_OK;
}

/* The fields of a token before its rest. */
struct token_head {
    size_t shared;
    size_t rest;
};

static bool take_more(struct bb_cursor *cursor, size_t *size)
{
    uint8_t more = 0;
    if (*size < HALF_MAX)
        return true;
    if (!bb_decode_u8(cursor, &more))
        return false;
    *size += more;
    return true;
}

static inline bool take_head(struct bb_cursor *cursor, struct token_head *ret_head)
{
    if (cursor->position == cursor->end)
        return false;
    uint8_t halves = *cursor->position++;
    ret_head->shared = halves & HALF_MAX;
    ret_head->rest = halves >> 4;
    if (!take_more(cursor, &ret_head->shared) || !take_more(cursor, &ret_head->rest))
        return false;
    ret_head->rest++;
    return ret_head->rest <= bb_cursor_left(cursor);
}

/* Sixteen bytes, through registers: the two places may overlap. */
static inline void copy_wide(uint8_t *to, const uint8_t *from)
{
    uint64_t words[2];
    memcpy(words, from, WIDE);
    memcpy(to, words, WIDE);
}

/* The token's bytes at `to`, with TOKEN_SPACE there. REQUIRES: last + shared <= to. */
static inline void put_token(uint8_t *to, const uint8_t *last, const struct token_head *head,
                             const struct bb_cursor *cursor)
{
    BB_DEBUG_ASSERT(last + head->shared <= to);
    if (head->shared <= WIDE && head->rest <= WIDE && bb_cursor_left(cursor) >= WIDE) {
        copy_wide(to, last);
        copy_wide(to + head->shared, cursor->position);
    } else {
        memcpy(to, last, head->shared);
        memcpy(to + head->shared, cursor->position, head->rest);
    }
}

static enum bb_status decode_tokens(struct bb_token_block *block, struct bb_bytes tokens)
{
    struct bb_cursor cursor = bb_cursor_of(tokens);
    struct bb_buf *text = &block->text;
    size_t last = 0;
    size_t last_size = 0;
    block->size_max = 0;
    text->data[0] = 0;
    text->size = 1;
    for (uint32_t i = 0; i < block->token_count; i++) {
        struct token_head head;
        if (!take_head(&cursor, &head) || head.shared > last_size)
            return BB_CORRUPT;
        enum bb_status status = bb_buf_reserve(text, TOKEN_SPACE);
        if (status != BB_OK)
            return status;
        size_t begin = text->size;
        put_token(text->data + begin, text->data + last, &head, &cursor);
        cursor.position += head.rest;
        block->begins[i] = (uint32_t)begin;
        last = begin;
        last_size = head.shared + head.rest;
        block->size_max = last_size > block->size_max ? last_size : block->size_max;
        text->data[begin + last_size] = 0;
        text->size = begin + last_size + 1;
    }
    block->begins[block->token_count] = (uint32_t)text->size;
    return bb_cursor_left(&cursor) == 0 ? BB_OK : BB_CORRUPT;
}

/* Every token has two bytes at least. */
static bool take_parts(struct bb_token_block *block, struct bb_bytes unit,
                       struct bb_bytes *ret_tokens)
{
    if (unit.size < BB_TOKEN_BLOCK_HEADER_SIZE || unit.size > BB_TOKEN_BLOCK_SIZE_MAX)
        return false;
    size_t tokens = bb_load16(unit.data + 2);
    size_t bits = bb_load16(unit.data + 4);
    size_t left = unit.size - BB_TOKEN_BLOCK_HEADER_SIZE;
    block->token_count = bb_load16(unit.data);
    if (tokens > left || bits > left - tokens || block->token_count > tokens / 2)
        return false;
    const uint8_t *at = unit.data + BB_TOKEN_BLOCK_HEADER_SIZE;
    *ret_tokens = bb_bytes_of(at, tokens);
    block->bits = bb_bytes_of(at + tokens, bits);
    block->frequent = bb_bytes_of(at + tokens + bits, left - tokens - bits);
    return true;
}

enum bb_status bb_token_block_decode(struct bb_token_block *block, struct bb_bytes unit,
                                     uint32_t granule_count, bool has_counts)
{
    struct bb_bytes tokens = {0};
    block->granule_count = granule_count;
    block->has_counts = has_counts;
    if (!take_parts(block, unit, &tokens))
        return BB_CORRUPT;
    bb_buf_reset(&block->text);
    enum bb_status status = bb_buf_reserve(&block->text, TOKEN_SPACE);
    if (status == BB_OK)
        status = reserve_begins(block, (size_t)block->token_count + 1);
    return status == BB_OK ? decode_tokens(block, tokens) : status;
}

uint32_t bb_token_block_find(const struct bb_token_block *block, struct bb_bytes wanted)
{
    uint32_t low = 0;
    uint32_t high = block->token_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (bb_bytes_compare(bb_token_block_token(block, middle), wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- Lists --- */

void bb_token_block_lists_begin(struct bb_token_lists *lists, const struct bb_token_block *block)
{
    *lists = (struct bb_token_lists){.block = block, .bits = bb_bit_reader_of(block->bits)};
}

/* How many granules the next token is in. False: none, or too many. */
static inline bool take_granule_count(struct bb_token_lists *lists, uint32_t *ret_count)
{
    uint64_t count = bb_bit_reader_take_gamma(&lists->bits);
    *ret_count = (uint32_t)count;
    return count >= 1 && count <= lists->block->granule_count;
}

/* The bytes of a frequent token's list. */
static bool take_frequent(struct bb_token_lists *lists, struct bb_bytes *ret_list)
{
    struct bb_bytes frequent = lists->block->frequent;
    uint64_t size = bb_bit_reader_take_gamma(&lists->bits);
    if (size < 1 || size - 1 > frequent.size - lists->frequent)
        return false;
    *ret_list = bb_bytes_of(frequent.data + lists->frequent, (size_t)size - 1);
    lists->frequent += (size_t)size - 1;
    return true;
}

static bool take_code(struct bb_bit_reader *reader, uint32_t *ret_k)
{
    uint64_t code = bb_bit_reader_take_gamma(reader);
    if (code < 1 || code - 1 > RICE_SHIFT_MAX)
        return false;
    *ret_k = (uint32_t)code - 1;
    return true;
}

/* Counts of a list, in order of its granules. counts: NULL, they are passed. */
static bool take_counts(struct bb_bit_reader *reader, const struct bb_granule_bits *granules,
                        uint32_t count, uint32_t *counts)
{
    uint16_t list[BB_SEGMENT_GRANULES_MAX];
    uint32_t k = 0;
    if (!take_code(reader, &k))
        return false;
    if (counts != NULL)
        (void)bb_granule_bits_list(granules, list);
    for (uint32_t i = 0; i < count && (k > 0 || counts != NULL); i++) {
        uint64_t more = k == 0 ? 0 : bb_bit_reader_take_rice(reader, k - 1);
        if (more >= UINT32_MAX || reader->is_past_end)
            return false;
        if (counts != NULL)
            counts[list[i]] += (uint32_t)more + 1;
    }
    return true;
}

static inline bool pass_list(const struct bb_token_block *block, struct bb_bit_reader *reader,
                             uint32_t count)
{
    bb_posting_skip(reader, count, block->granule_count);
    return !block->has_counts || take_counts(reader, NULL, count, NULL);
}

static bool read_list(const struct bb_token_block *block, struct bb_bit_reader *reader,
                      uint32_t count, struct bb_granule_bits *bits, uint32_t *counts)
{
    struct bb_granule_bits own = {{0}};
    bb_posting_read(reader, count, block->granule_count, &own);
    if (reader->is_past_end || (block->has_counts && !take_counts(reader, &own, count, counts)))
        return false;
    bb_granule_bits_add(bits, &own);
    return !reader->is_past_end;
}

static bool pass_token(struct bb_token_lists *lists)
{
    uint32_t count = 0;
    struct bb_bytes list;
    lists->next++;
    if (!take_granule_count(lists, &count))
        return false;
    return count > BB_TOKEN_BLOCK_RARE_MAX ? take_frequent(lists, &list)
                                           : pass_list(lists->block, &lists->bits, count);
}

bool bb_token_block_lists_read(struct bb_token_lists *lists, uint32_t number,
                               struct bb_granule_bits *bits, uint32_t *counts)
{
    uint32_t count = 0;
    struct bb_bytes list = {0};
    while (lists->next < number)
        if (!pass_token(lists))
            return false;
    lists->next++;
    if (!take_granule_count(lists, &count))
        return false;
    if (count <= BB_TOKEN_BLOCK_RARE_MAX)
        return read_list(lists->block, &lists->bits, count, bits, counts);
    if (!take_frequent(lists, &list))
        return false;
    struct bb_bit_reader reader = bb_bit_reader_of(list);
    return read_list(lists->block, &reader, count, bits, counts) &&
           reader.end - reader.position < 8;
}

bool bb_token_block_lists_end(const struct bb_token_lists *lists)
{
    return !lists->bits.is_past_end && lists->bits.end - lists->bits.position < 8 &&
           lists->frequent == lists->block->frequent.size;
}
