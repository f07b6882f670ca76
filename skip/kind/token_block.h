/* A block of a dictionary: tokens in order. Each has the granules that hold it; in an index with
 * counts, also the number of records of each granule that hold it.
 *
 *     block    := u16 tokens | u16 size of the tokens' bytes | u16 size of the bits
 *                 | token* | bits, to a whole byte | frequent*
 *     token    := u8 low half: bytes shared with the token before; high half: bytes of the rest - 1
 *                 | for each of both that is 15, the first one first: u8 how many more | the rest
 *     bits     := for each token: gamma(granules) | of at most 8 granules: its list
 *                                                 | of more: gamma(1 + bytes of its list)
 *     frequent := for each token of more than 8 granules: its list, as bits to a whole byte
 *     list     := posting | of a dictionary with counts: gamma(1 + k)
 *                           | with k > 0: for each granule Rice(records - 1, k - 1); else all are 1
 *
 * Lists of frequent tokens are at the end, and their sizes are known. So a query for another token
 * never reads them. Decoded tokens have zero bytes between them, which no token contains. So one
 * search finds text inside, at the start or at the end of any token.
 *
 * A block is not trusted: for any bytes, a query terminates and reads only the block.
 * Threads: one for each builder and decoded block.
 */
#ifndef BB_SKIP_KIND_TOKEN_BLOCK_H
#define BB_SKIP_KIND_TOKEN_BLOCK_H

#include "base/status.h"
#include "skip/bits/posting.h"

/* ON DISK. */
#define BB_TOKEN_BLOCK_HEADER_SIZE 6
#define BB_TOKEN_BLOCK_RARE_MAX    8 /* granules of a token whose list is among the bits */

/* A builder ends a block at this size. */
#define BB_TOKEN_BLOCK_SIZE 4096
/* Of a token's list at most: posting and counts of 1,024 granules. */
#define BB_TOKEN_LIST_SIZE_MAX (8u * 1024)
/* The size that a reader accepts, without its checksum. */
#define BB_TOKEN_BLOCK_SIZE_MAX (64u * 1024)

/* --- Writing --- */

/* A zeroed struct is a builder of an empty block. */
struct bb_token_block_builder {
    struct bb_buf tokens;        /* owned */
    struct bb_buf bits;          /* owned */
    struct bb_buf frequent;      /* owned */
    struct bb_buf list;          /* owned */
    struct bb_bit_writer writer; /* of bits */
    struct bb_bytes last;        /* token; borrowed */
    uint32_t token_count;
    uint32_t granule_count; /* of the segment */
    bool has_counts;
};

void bb_token_block_builder_deinit(struct bb_token_block_builder *builder);
/* Begins a block. */
void bb_token_block_builder_reset(struct bb_token_block_builder *builder, uint32_t granule_count,
                                  bool has_counts);
/* A token after the previous one, borrowed until the block is finished. pairs: its granules in
 * order, as words of token_pair.h, at least one. */
BB_MUST_CHECK enum bb_status bb_token_block_builder_add(struct bb_token_block_builder *builder,
                                                        struct bb_bytes token,
                                                        const uint64_t *pairs, uint32_t count);
/* Whether the block should end. */
bool bb_token_block_builder_is_full(const struct bb_token_block_builder *builder);
/* Appends the block. */
BB_MUST_CHECK enum bb_status bb_token_block_builder_finish(struct bb_token_block_builder *builder,
                                                           struct bb_buf *unit);

/* --- Reading --- */

/* Zeroed it is valid; owned: bb_token_block_deinit. */
struct bb_token_block {
    uint32_t token_count;
    uint32_t granule_count;
    bool has_counts;
    struct bb_buf text; /* 0, then each token with a 0 after it */
    uint32_t *begins;   /* of each token in text; the last one: the end of all */
    size_t begin_capacity;
    size_t size_max;          /* of a token */
    struct bb_bytes bits;     /* borrowed from the unit */
    struct bb_bytes frequent; /* borrowed from the unit */
};

void bb_token_block_deinit(struct bb_token_block *block);
/* Decodes the tokens. unit: without its checksum, borrowed, BB_BIT_READER_PAD readable bytes after
 * it. BB_CORRUPT without a message, BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_token_block_decode(struct bb_token_block *block,
                                                   struct bb_bytes unit, uint32_t granule_count,
                                                   bool has_counts);

static inline struct bb_bytes bb_token_block_token(const struct bb_token_block *block,
                                                   uint32_t number)
{
    uint32_t begin = block->begins[number];
    return (struct bb_bytes){.data = block->text.data + begin,
                             .size = block->begins[number + 1] - begin - 1};
}

/* The first token that is not below `wanted`; token_count: there is no such token. */
uint32_t bb_token_block_find(const struct bb_token_block *block, struct bb_bytes wanted);

/* The lists of a block, read in order of tokens. */
struct bb_token_lists {
    const struct bb_token_block *block;
    struct bb_bit_reader bits; /* at the bits of the next token */
    size_t frequent;           /* where the next frequent list begins */
    uint32_t next;
};

void bb_token_block_lists_begin(struct bb_token_lists *lists, const struct bb_token_block *block);
/* Adds the granules of a token, which is not before the next one, to *bits. counts: NULL, or of
 * each granule of the segment, to which the records are added; REQUIRES then has_counts. False: the
 * block is damaged, and *bits and *counts may have anything. */
BB_MUST_CHECK bool bb_token_block_lists_read(struct bb_token_lists *lists, uint32_t number,
                                             struct bb_granule_bits *bits, uint32_t *counts);
/* All lists were read: are all bytes used? */
bool bb_token_block_lists_end(const struct bb_token_lists *lists);

#endif
