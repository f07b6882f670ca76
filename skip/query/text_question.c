/* See text_question.h. */
#include "skip/query/text_question.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "skip/member/member_scan.h"

/* Searching this number of blocks takes less time than reading a granule: 2.5 us for each block,
 * and 31 us for a granule, which is 64 KiB of a log. */
#define BLOCKS_PER_GRANULE 8

void bb_text_question_deinit(struct bb_text_question *question)
{
    bb_buf_deinit(&question->scratch);
    bb_buf_deinit(&question->wanted);
    bb_token_block_deinit(&question->block);
}

/* --- Blocks --- */

static enum bb_status read_block(struct bb_text_question *question,
                                 const struct bb_head_segment *segment, uint32_t number)
{
    struct bb_bytes unit = {0};
    enum bb_status status =
        bb_skip_file_read(question->file, BB_SKIP_UNIT_DATA, segment->blocks[number].data,
                          &question->scratch, question->account, &unit);
    return status == BB_OK ? bb_token_block_decode(&question->block, unit, segment->granule_count,
                                                   question->has_counts)
                           : status;
}

/* The only block that can have the token. REQUIRES: there are blocks. */
static uint32_t find_block(const struct bb_head_segment *segment, struct bb_bytes token)
{
    uint32_t low = 0;
    uint32_t high = segment->block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (bb_bytes_compare(segment->blocks[middle].fence, token) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool covers(const struct bb_granule_bits *bits, const struct bb_granule_bits *needed)
{
    uint64_t missing = 0;
    for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
        missing |= needed->words[word] & ~bits->words[word];
    return missing == 0;
}

/* The number of blocks that may be searched to avoid reading these granules. */
static uint64_t blocks_worth(const struct bb_granule_bits *needed)
{
    uint64_t count = 0;
    for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
        count += (uint64_t)__builtin_popcountll(needed->words[word]);
    return BLOCKS_PER_GRANULE * count;
}

/* Cuts a token to its stored part: an index stores only the beginning of a longer token. */
static struct bb_bytes cut(struct bb_bytes token)
{
    return bb_bytes_of(token.data, token.size < BB_TOKEN_SIZE_MAX ? token.size : BB_TOKEN_SIZE_MAX);
}

/* --- Whole tokens --- */

static enum bb_status ask_token(struct bb_text_question *question,
                                const struct bb_head_segment *segment, struct bb_bytes token,
                                struct bb_granule_bits *bits, uint32_t *counts)
{
    enum bb_status status = read_block(question, segment, find_block(segment, token));
    if (status != BB_OK)
        return status;
    const struct bb_token_block *block = &question->block;
    uint32_t number = bb_token_block_find(block, token);
    if (number == block->token_count || !bb_bytes_equal(bb_token_block_token(block, number), token))
        return BB_OK;
    struct bb_token_lists lists;
    bb_token_block_lists_begin(&lists, block);
    return bb_token_block_lists_read(&lists, number, bits, counts) ? BB_OK : BB_CORRUPT;
}

enum bb_status bb_text_question_count(struct bb_text_question *question,
                                      const struct bb_head_segment *segment, struct bb_bytes token,
                                      uint32_t *counts)
{
    BB_DEBUG_ASSERT(token.size < BB_TOKEN_SIZE_MAX);
    struct bb_granule_bits bits = {{0}};
    memset(counts, 0, BB_SEGMENT_GRANULES_MAX * sizeof(counts[0]));
    return segment->block_count == 0 ? BB_OK : ask_token(question, segment, token, &bits, counts);
}

/* --- Tokens that begin with a part --- */

static bool begins_with(struct bb_bytes token, struct bb_bytes prefix)
{
    return token.size >= prefix.size && memcmp(token.data, prefix.data, prefix.size) == 0;
}

/* Adds the granules of the block's tokens that begin with the prefix. *ret_is_last: no token of a
 * later block begins with it, or *bits has all needed granules. */
static enum bb_status add_prefix(struct bb_text_question *question, struct bb_bytes prefix,
                                 const struct bb_granule_bits *needed, struct bb_granule_bits *bits,
                                 bool *ret_is_last)
{
    const struct bb_token_block *block = &question->block;
    struct bb_token_lists lists;
    uint32_t number = bb_token_block_find(block, prefix);
    bb_token_block_lists_begin(&lists, block);
    while (number < block->token_count &&
           begins_with(bb_token_block_token(block, number), prefix) && !covers(bits, needed))
        if (!bb_token_block_lists_read(&lists, number++, bits, NULL))
            return BB_CORRUPT;
    *ret_is_last = number < block->token_count;
    return BB_OK;
}

static enum bb_status ask_prefix(struct bb_text_question *question,
                                 const struct bb_head_segment *segment, struct bb_bytes prefix,
                                 const struct bb_granule_bits *needed, struct bb_granule_bits *bits)
{
    enum bb_status status = BB_OK;
    bool is_last = false;
    uint64_t blocks_max = blocks_worth(needed);
    uint32_t number = find_block(segment, prefix);
    for (; number < segment->block_count && status == BB_OK && !is_last && !covers(bits, needed);
         number++) {
        if (question->searched_blocks++ >= blocks_max)
            bb_granule_bits_add(bits, needed);
        else
            status = read_block(question, segment, number);
        if (status == BB_OK && !covers(bits, needed))
            status = add_prefix(question, prefix, needed, bits, &is_last);
    }
    return status;
}

/* --- Tokens that contain a part, or end with it --- */

/* Makes the bytes to search for. The text of a block has a zero byte between tokens. So a zero byte
 * before or after the part matches only at the start or end of a token. */
static enum bb_status make_wanted(struct bb_text_question *question,
                                  const struct bb_token_part *part)
{
    static const uint8_t zero = 0;
    struct bb_buf *wanted = &question->wanted;
    bb_buf_reset(wanted);
    enum bb_status status = part->is_open_at_start ? BB_OK : bb_buf_append(wanted, &zero, 1);
    if (status == BB_OK)
        status = bb_buf_append(wanted, part->bytes.data, part->bytes.size);
    return status == BB_OK && !part->is_open_at_end ? bb_buf_append(wanted, &zero, 1) : status;
}

/* A search of the blocks, one after another. */
struct search {
    const struct bb_token_part *part;
    struct bb_searcher searcher;
    const struct bb_granule_bits *needed;
    struct bb_granule_bits *bits;
};

/* The number of the token that has the place, `first` or later. The place of a zero byte belongs to
 * the token after it. */
static uint32_t token_at(const struct bb_token_block *block, uint32_t first, size_t place)
{
    uint32_t low = first;
    uint32_t high = block->token_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (block->begins[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Finds the next token of the full stored size, from number `from` on. Its end may have been cut
 * off, so it counts as a match. */
static bool next_cut(const struct bb_token_block *block, uint32_t from, uint32_t *ret_number)
{
    uint32_t number = from;
    while (number < block->token_count &&
           block->begins[number + 1] - block->begins[number] <= BB_TOKEN_SIZE_MAX)
        number++;
    *ret_number = number;
    return number < block->token_count;
}

static enum bb_status add_cut(struct search *search, const struct bb_token_block *block)
{
    struct bb_token_lists lists;
    bb_token_block_lists_begin(&lists, block);
    for (uint32_t number = 0; next_cut(block, number, &number); number++)
        if (!bb_token_block_lists_read(&lists, number, search->bits, NULL))
            return BB_CORRUPT;
    return BB_OK;
}

static enum bb_status search_block(struct search *search, const struct bb_token_block *block)
{
    struct bb_bytes text = bb_buf_bytes(&block->text);
    struct bb_token_lists lists;
    size_t at = 0;
    bool starts_before = !search->part->is_open_at_start;
    bb_token_block_lists_begin(&lists, block);
    while (lists.next < block->token_count && bb_searcher_find(&search->searcher, text, at, &at) &&
           !covers(search->bits, search->needed)) {
        uint32_t number = token_at(block, lists.next, at + (starts_before ? 1 : 0));
        if (!bb_token_block_lists_read(&lists, number, search->bits, NULL))
            return BB_CORRUPT;
        at = block->begins[number + 1] - (starts_before ? 1 : 0);
    }
    return block->size_max >= BB_TOKEN_SIZE_MAX ? add_cut(search, block) : BB_OK;
}

static enum bb_status search_all(struct bb_text_question *question,
                                 const struct bb_head_segment *segment,
                                 const struct bb_token_part *part,
                                 const struct bb_granule_bits *needed, struct bb_granule_bits *bits)
{
    struct search search = {.part = part, .needed = needed, .bits = bits};
    enum bb_status status = make_wanted(question, part);
    if (status == BB_OK)
        bb_searcher_init(&search.searcher, bb_buf_bytes(&question->wanted), part->ignores_case,
                         bb_cpu_best());
    for (uint32_t i = 0; i < segment->block_count && status == BB_OK && !covers(bits, needed);
         i++) {
        question->searched_blocks++;
        status = read_block(question, segment, i);
        if (status == BB_OK)
            status = search_block(&search, &question->block);
    }
    return status;
}

/* --- All --- */

enum bb_status bb_text_question_ask(struct bb_text_question *question,
                                    const struct bb_head_segment *segment,
                                    const struct bb_token_part *part,
                                    const struct bb_granule_bits *needed,
                                    struct bb_granule_bits *bits)
{
    if (segment->block_count == 0)
        return BB_OK;
    if (!bb_token_part_is_searched(part))
        return part->is_open_at_end ? ask_prefix(question, segment, cut(part->bytes), needed, bits)
                                    : ask_token(question, segment, cut(part->bytes), bits, NULL);
    if (question->searched_blocks + segment->block_count <= blocks_worth(needed))
        return search_all(question, segment, part, needed, bits);
    bb_granule_bits_add(bits, needed);
    return BB_OK;
}
