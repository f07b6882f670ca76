/* Writing a block of a dictionary. See token_block.h. */
#include "base/bytes.h"
#include "base/coding.h"
#include "skip/kind/token_block.h"
#include "skip/kind/token_pair.h"

#define HALF_MAX 15u

void bb_token_block_builder_deinit(struct bb_token_block_builder *builder)
{
    bb_buf_deinit(&builder->tokens);
    bb_buf_deinit(&builder->bits);
    bb_buf_deinit(&builder->frequent);
    bb_buf_deinit(&builder->list);
}

void bb_token_block_builder_reset(struct bb_token_block_builder *builder, uint32_t granule_count,
                                  bool has_counts)
{
    bb_buf_reset(&builder->tokens);
    bb_buf_reset(&builder->bits);
    bb_buf_reset(&builder->frequent);
    bb_bit_writer_init(&builder->writer, &builder->bits);
    builder->last = (struct bb_bytes){0};
    builder->token_count = 0;
    builder->granule_count = granule_count;
    builder->has_counts = has_counts;
}

static size_t half_of(size_t size)
{
    return size < HALF_MAX ? size : HALF_MAX;
}

static enum bb_status write_token(struct bb_token_block_builder *builder, struct bb_bytes token)
{
    size_t shared = bb_bytes_shared_prefix(builder->last, token);
    size_t rest = token.size - shared - 1;
    enum bb_status status =
        bb_append_u8(&builder->tokens, (uint8_t)(half_of(shared) | half_of(rest) << 4));
    if (status == BB_OK && shared >= HALF_MAX)
        status = bb_append_u8(&builder->tokens, (uint8_t)(shared - HALF_MAX));
    if (status == BB_OK && rest >= HALF_MAX)
        status = bb_append_u8(&builder->tokens, (uint8_t)(rest - HALF_MAX));
    return status == BB_OK ? bb_buf_append(&builder->tokens, token.data + shared, rest + 1)
                           : status;
}

/* The k for which counts take about the fewest bits: that of their mean. */
static uint32_t count_code(const uint64_t *pairs, uint32_t count)
{
    uint64_t more = 0;
    for (uint32_t i = 0; i < count; i++)
        more += bb_token_pair_records(pairs[i]) - 1;
    return more == 0 ? 0 : 1 + bb_bit_width(more / count + 1);
}

static void write_counts(struct bb_bit_writer *writer, const uint64_t *pairs, uint32_t count)
{
    uint32_t k = count_code(pairs, count);
    bb_bit_writer_put_gamma(writer, 1 + (uint64_t)k);
    for (uint32_t i = 0; i < count && k > 0; i++)
        bb_bit_writer_put_rice(writer, bb_token_pair_records(pairs[i]) - 1, k - 1);
}

static void write_list(const struct bb_token_block_builder *builder, struct bb_bit_writer *writer,
                       const uint64_t *pairs, uint32_t count)
{
    uint16_t granules[BB_SEGMENT_GRANULES_MAX];
    for (uint32_t i = 0; i < count; i++)
        granules[i] = bb_token_pair_granule(pairs[i]);
    bb_posting_write(writer, granules, count, builder->granule_count);
    if (builder->has_counts)
        write_counts(writer, pairs, count);
}

static enum bb_status write_frequent(struct bb_token_block_builder *builder, const uint64_t *pairs,
                                     uint32_t count)
{
    struct bb_bit_writer writer;
    bb_buf_reset(&builder->list);
    bb_bit_writer_init(&writer, &builder->list);
    write_list(builder, &writer, pairs, count);
    enum bb_status status = bb_bit_writer_align(&writer);
    BB_DEBUG_ASSERT(builder->list.size <= BB_TOKEN_LIST_SIZE_MAX);
    bb_bit_writer_put_gamma(&builder->writer, 1 + builder->list.size);
    return status == BB_OK
               ? bb_buf_append(&builder->frequent, builder->list.data, builder->list.size)
               : status;
}

enum bb_status bb_token_block_builder_add(struct bb_token_block_builder *builder,
                                          struct bb_bytes token, const uint64_t *pairs,
                                          uint32_t count)
{
    enum bb_status status = write_token(builder, token);
    bb_bit_writer_put_gamma(&builder->writer, count);
    if (count <= BB_TOKEN_BLOCK_RARE_MAX)
        write_list(builder, &builder->writer, pairs, count);
    else if (status == BB_OK)
        status = write_frequent(builder, pairs, count);
    builder->last = token;
    builder->token_count++;
    return status == BB_OK ? builder->writer.status : status;
}

bool bb_token_block_builder_is_full(const struct bb_token_block_builder *builder)
{
    return builder->tokens.size + builder->bits.size + builder->frequent.size >=
           BB_TOKEN_BLOCK_SIZE;
}

enum bb_status bb_token_block_builder_finish(struct bb_token_block_builder *builder,
                                             struct bb_buf *unit)
{
    enum bb_status status = bb_bit_writer_align(&builder->writer);
    if (status == BB_OK)
        status = bb_append_u16(unit, (uint16_t)builder->token_count);
    if (status == BB_OK)
        status = bb_append_u16(unit, (uint16_t)builder->tokens.size);
    if (status == BB_OK)
        status = bb_append_u16(unit, (uint16_t)builder->bits.size);
    if (status == BB_OK)
        status = bb_buf_append(unit, builder->tokens.data, builder->tokens.size);
    if (status == BB_OK)
        status = bb_buf_append(unit, builder->bits.data, builder->bits.size);
    return status == BB_OK ? bb_buf_append(unit, builder->frequent.data, builder->frequent.size)
                           : status;
}
