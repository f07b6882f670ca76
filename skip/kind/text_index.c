/* Building an index of text. See text_index.h. */
#include "skip/kind/text_index.h"

#include "base/alloc.h"
#include "base/bytes.h"

/* A segment ends with this number of bytes of tokens, or records. */
#define BYTES_MAX   (4u * 1024 * 1024)
#define RECORDS_MAX (UINT32_C(1) << 31)

/* A pair of a member takes as much memory as two of these, which also have tokens. */
#define PAIRS_SHARE  2
#define TOKENS_SHARE 8

static_assert((UINT32_C(1) << 20) / TOKENS_SHARE + BB_TOKEN_TABLE_GRANULE_TOKENS_MAX <
                  BB_TOKEN_PAIR_TOKENS_MAX,
              "pairs number all tokens of a segment");

void bb_text_index_builder_set_pairs_max(struct bb_text_index_builder *builder, size_t pairs_max)
{
    builder->pairs_max = pairs_max / PAIRS_SHARE;
    builder->tokens_max = pairs_max / TOKENS_SHARE;
}

enum bb_status bb_text_index_builder_init(struct bb_text_index_builder *builder,
                                          const struct bb_skip_spec *spec,
                                          const struct bb_hash_secret *secret, size_t pairs_max)
{
    struct bb_skip_spec tokens = {
        .kind = BB_SKIP_TOKENS, .folds_case = spec->folds_case, .tokenizer = spec->tokenizer};
    *builder = (struct bb_text_index_builder){.has_counts = spec->counts_records};
    bb_text_index_builder_set_pairs_max(builder, pairs_max);
    enum bb_status status = bb_token_table_init(&builder->table);
    if (status == BB_OK)
        status = bb_member_scan_init(&builder->scan, &tokens, secret);
    if (status != BB_OK)
        bb_text_index_builder_deinit(builder);
    return status;
}

void bb_text_index_builder_deinit(struct bb_text_index_builder *builder)
{
    bb_token_table_deinit(&builder->table);
    bb_member_scan_deinit(&builder->scan);
    bb_token_block_builder_deinit(&builder->block);
    bb_buf_deinit(&builder->unit);
    bb_buf_deinit(&builder->blocks);
    *builder = (struct bb_text_index_builder){0};
}

static void add_tokens(struct bb_text_index_builder *builder, size_t count)
{
    const struct bb_member_scan *scan = &builder->scan;
    for (size_t i = 0; i < count; i++) {
        size_t begin = scan->edges[2 * i];
        size_t size = scan->edges[2 * i + 1] - begin;
        bb_token_table_add(&builder->table, scan->hashes[i],
                           bb_bytes_of(scan->piece.data + begin,
                                       size < BB_TOKEN_SIZE_MAX ? size : BB_TOKEN_SIZE_MAX));
    }
}

void bb_text_index_builder_add(struct bb_text_index_builder *builder,
                               const struct bb_attribute *attribute)
{
    bb_token_table_next_record(&builder->table);
    bb_member_scan_begin(&builder->scan, attribute->as.bytes);
    for (size_t count = bb_member_scan_next(&builder->scan); count > 0;
         count = bb_member_scan_next(&builder->scan))
        add_tokens(builder, count);
}

enum bb_status bb_text_index_builder_end_granule(struct bb_text_index_builder *builder,
                                                 bool *ret_is_full)
{
    struct bb_token_table *table = &builder->table;
    bool is_unindexed = false;
    uint32_t granule = table->granule;
    enum bb_status status = bb_token_table_end_granule(table, &is_unindexed);
    if (status == BB_OK && is_unindexed)
        bb_granule_bits_set(&builder->unindexed, granule);
    *ret_is_full = table->granule == BB_SEGMENT_GRANULES_MAX ||
                   table->pair_count >= builder->pairs_max ||
                   table->entry_count >= builder->tokens_max || table->bytes.size >= BYTES_MAX ||
                   table->record >= RECORDS_MAX;
    return status;
}

void bb_text_index_builder_reset(struct bb_text_index_builder *builder)
{
    bb_token_table_reset(&builder->table);
    bb_buf_reset(&builder->blocks);
    builder->unindexed = (struct bb_granule_bits){{0}};
}

/* --- Writing --- */

/* A segment on its way into the file. */
struct writing {
    struct bb_text_index_builder *builder;
    struct bb_segment_sink *sink;
    uint32_t granule_count;
    uint32_t block_count;
    uint64_t offset; /* of the first block */
};

/* The shortest begin of a token that is above the previous token. */
static struct bb_bytes fence_of(const struct bb_sorted_token *tokens, size_t number)
{
    if (number == 0)
        return (struct bb_bytes){0};
    size_t shared = bb_bytes_shared_prefix(tokens[number - 1].bytes, tokens[number].bytes);
    return bb_bytes_of(tokens[number].bytes.data, shared + 1);
}

static enum bb_status end_block(struct writing *writing, struct bb_bytes fence)
{
    struct bb_text_index_builder *builder = writing->builder;
    uint64_t offset = 0;
    bb_buf_reset(&builder->unit);
    enum bb_status status = bb_token_block_builder_finish(&builder->block, &builder->unit);
    BB_ASSERT(status != BB_OK || builder->unit.size <= BB_TOKEN_BLOCK_SIZE_MAX);
    uint64_t size = builder->unit.size + BB_SKIP_CHECKSUM_SIZE;
    if (status == BB_OK)
        status = bb_unit_writer_append(writing->sink->writer, BB_SKIP_UNIT_DATA,
                                       bb_buf_bytes(&builder->unit), &offset);
    if (status == BB_OK)
        status = bb_append_varint(&builder->blocks, size);
    if (status == BB_OK)
        status = bb_append_bytes(&builder->blocks, fence);
    if (writing->block_count == 0)
        writing->offset = offset;
    writing->block_count++;
    writing->sink->data_bytes += size;
    return status;
}

static enum bb_status write_blocks(struct writing *writing, const struct bb_sorted_token *tokens,
                                   size_t count)
{
    struct bb_token_block_builder *block = &writing->builder->block;
    enum bb_status status = BB_OK;
    size_t first = 0;
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        if (i == first)
            bb_token_block_builder_reset(block, writing->granule_count,
                                         writing->builder->has_counts);
        status = bb_token_block_builder_add(block, tokens[i].bytes, tokens[i].pairs,
                                            tokens[i].pair_count);
        if (status == BB_OK && (bb_token_block_builder_is_full(block) || i + 1 == count)) {
            status = end_block(writing, fence_of(tokens, first));
            first = i + 1;
        }
    }
    return status;
}

static enum bb_status append_fields(struct writing *writing, uint64_t token_count)
{
    struct bb_text_index_builder *builder = writing->builder;
    struct bb_segment_sink *sink = writing->sink;
    enum bb_status status =
        bb_segment_sink_begin(sink, writing->granule_count, BB_SKIP_FORM_DICTIONARY);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, writing->offset);
    if (status == BB_OK)
        status = bb_segment_sink_add_unindexed(sink, &builder->unindexed, writing->granule_count);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, token_count);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, builder->table.pair_count);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, writing->block_count);
    sink->pair_count += builder->table.pair_count;
    return status == BB_OK ? bb_buf_append(&sink->head, builder->blocks.data, builder->blocks.size)
                           : status;
}

enum bb_status bb_text_index_builder_end_segment(struct bb_text_index_builder *builder,
                                                 struct bb_buf *spare, struct bb_segment_sink *sink)
{
    struct writing writing = {
        .builder = builder, .sink = sink, .granule_count = builder->table.granule};
    struct bb_sorted_token *tokens = NULL;
    size_t count = 0;
    enum bb_status status = bb_token_table_sort(&builder->table, spare, &tokens, &count);
    if (status == BB_OK)
        status = write_blocks(&writing, tokens, count);
    if (status == BB_OK)
        status = append_fields(&writing, count);
    bb_free(tokens);
    bb_text_index_builder_reset(builder);
    return status;
}
