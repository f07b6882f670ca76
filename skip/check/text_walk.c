/* See text_walk.h. */
#include "skip/check/text_walk.h"

#include "base/bytes.h"
#include "skip/member/member_scan.h"

void bb_text_walk_init(struct bb_text_walk *walk, struct bb_skip_file *file,
                       const struct bb_head_segment *segment, bool has_counts,
                       enum bb_tokenizer tokenizer)
{
    *walk = (struct bb_text_walk){
        .file = file, .segment = segment, .has_counts = has_counts, .tokenizer = tokenizer};
}

void bb_text_walk_deinit(struct bb_text_walk *walk)
{
    bb_buf_deinit(&walk->scratch);
    bb_buf_deinit(&walk->last);
    bb_token_block_deinit(&walk->block);
}

static enum bb_status refuse(const struct bb_text_walk *walk, const char *what)
{
    uint64_t offset = walk->next_block == 0
                          ? walk->segment->data.offset
                          : walk->segment->blocks[walk->next_block - 1].data.offset;
    struct bb_place place = {.file = walk->file->file->path, .offset = offset};
    return bb_corrupt(place, 0, "a dictionary %s: build the index file again", what);
}

/* Tokens of a block are between its fence and the next one. */
static bool is_between_fences(const struct bb_text_walk *walk)
{
    const struct bb_head_segment *segment = walk->segment;
    uint32_t number = walk->next_block - 1;
    struct bb_bytes first = bb_token_block_token(&walk->block, 0);
    struct bb_bytes last = bb_token_block_token(&walk->block, walk->block.token_count - 1);
    return bb_bytes_compare(segment->blocks[number].fence, first) <= 0 &&
           (walk->next_block == segment->block_count ||
            bb_bytes_compare(last, segment->blocks[walk->next_block].fence) < 0);
}

static enum bb_status read_block(struct bb_text_walk *walk)
{
    struct bb_bytes unit = {0};
    struct bb_skip_section section = walk->segment->blocks[walk->next_block++].data;
    enum bb_status status =
        bb_skip_file_read(walk->file, BB_SKIP_UNIT_DATA, section, &walk->scratch, NULL, &unit);
    if (status != BB_OK)
        return status;
    status =
        bb_token_block_decode(&walk->block, unit, walk->segment->granule_count, walk->has_counts);
    if (status == BB_CORRUPT || (status == BB_OK && walk->block.token_count == 0))
        return refuse(walk, "has a malformed block");
    if (status == BB_OK && !is_between_fences(walk))
        return refuse(walk, "has tokens in the wrong block");
    bb_token_block_lists_begin(&walk->lists, &walk->block);
    return status;
}

/* Words may be of a library that this program does not have: it only knows that their bytes are not
 * 0. */
static bool may_have(enum bb_tokenizer tokenizer, uint8_t byte)
{
    return tokenizer == BB_TOKENIZER_ASCII ? bb_token_has(byte) : byte != 0;
}

static bool is_token(const struct bb_text_walk *walk, struct bb_bytes token)
{
    bool is_valid = token.size >= 1 && token.size <= BB_TOKEN_SIZE_MAX;
    for (size_t i = 0; i < token.size; i++)
        is_valid &= may_have(walk->tokenizer, token.data[i]);
    return is_valid;
}

/* Forgets the lists of the token before. Gives how many granules the current token is in. */
static void clear(struct bb_text_walk *walk)
{
    uint16_t granules[BB_SEGMENT_GRANULES_MAX];
    uint32_t count = bb_granule_bits_list(&walk->granules, granules);
    for (uint32_t i = 0; i < count; i++)
        walk->counts[granules[i]] = 0;
    walk->granules = (struct bb_granule_bits){{0}};
}

/* No granule has more records with a token than it has records. */
static bool counts_are_possible(const struct bb_text_walk *walk)
{
    uint16_t granules[BB_SEGMENT_GRANULES_MAX];
    uint32_t count = bb_granule_bits_list(&walk->granules, granules);
    const uint32_t *records = walk->file->granules.records + walk->segment->first_granule;
    for (uint32_t i = 0; i < count && walk->has_counts; i++)
        if (walk->counts[granules[i]] > records[granules[i]])
            return false;
    return true;
}

static void count_pairs(struct bb_text_walk *walk)
{
    for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
        walk->pair_count += (uint64_t)__builtin_popcountll(walk->granules.words[word]);
    walk->token_count++;
}

static enum bb_status read_token(struct bb_text_walk *walk)
{
    uint32_t number = walk->lists.next;
    struct bb_bytes token = bb_token_block_token(&walk->block, number);
    if (!is_token(walk, token) || bb_bytes_compare(bb_buf_bytes(&walk->last), token) >= 0)
        return refuse(walk, "has invalid or unordered tokens");
    clear(walk);
    if (!bb_token_block_lists_read(&walk->lists, number, &walk->granules,
                                   walk->has_counts ? walk->counts : NULL))
        return refuse(walk, "has a malformed list of granules");
    if (!counts_are_possible(walk))
        return refuse(walk, "counts more records for a token than its granule has");
    count_pairs(walk);
    return bb_buf_assign(&walk->last, token);
}

static enum bb_status check_end(const struct bb_text_walk *walk)
{
    return walk->token_count == walk->segment->token_count &&
                   walk->pair_count == walk->segment->pair_count
               ? BB_OK
               : refuse(walk, "does not have the number of tokens in its head");
}

enum bb_status bb_text_walk_next(struct bb_text_walk *walk, bool *ret_has_token)
{
    enum bb_status status = BB_OK;
    bool has_block = walk->next_block > 0;
    if (has_block && walk->lists.next == walk->block.token_count) {
        if (!bb_token_block_lists_end(&walk->lists))
            return refuse(walk, "has bytes that belong to no token");
        has_block = false;
    }
    *ret_has_token = has_block || walk->next_block < walk->segment->block_count;
    if (!*ret_has_token)
        return check_end(walk);
    if (!has_block)
        status = read_block(walk);
    return status == BB_OK ? read_token(walk) : status;
}
