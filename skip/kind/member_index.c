/* See member_index.h. */
#include "skip/kind/member_index.h"

#include "base/bytes.h"
#include "base/status.h"
#include "skip/member/canonical.h"
#include "skip/record/attribute.h"

enum bb_status bb_member_index_builder_init(struct bb_member_index_builder *builder,
                                            const struct bb_skip_spec *spec,
                                            const struct bb_hash_secret *secret, size_t pairs_max)
{
    *builder =
        (struct bb_member_index_builder){.spec = *spec, .secret = *secret, .pairs_max = pairs_max};
    enum bb_status status = bb_distinct_set_init(&builder->members);
    /* A question needs every n-gram of a literal. Ribbons with stripes would save a quarter of
     * the size and double its time (docs/decisions/0027-ribbons-in-segments.md). */
    builder->segment.is_inverted = spec->kind == BB_SKIP_NGRAMS;
    if (status == BB_OK && spec->kind != BB_SKIP_VALUES)
        status = bb_member_scan_init(&builder->scan, spec, secret);
    if (status == BB_OK)
        status = bb_tail_memo_init(&builder->tails);
    if (status != BB_OK)
        bb_member_index_builder_deinit(builder);
    return status;
}

void bb_member_index_builder_deinit(struct bb_member_index_builder *builder)
{
    bb_distinct_set_deinit(&builder->members);
    bb_member_scan_deinit(&builder->scan);
    bb_segment_builder_deinit(&builder->segment);
    bb_tail_memo_deinit(&builder->tails);
    *builder = (struct bb_member_index_builder){0};
}

static void add_value(struct bb_member_index_builder *builder, const struct bb_attribute *attribute)
{
    uint8_t space[BB_CANONICAL_NUMBER_SIZE];
    if (bb_attribute_is_nan(attribute))
        return;
    uint64_t hash = bb_member_hash(&builder->secret, bb_canonical_bytes(attribute, space));
    bb_distinct_set_add(&builder->members, &hash, 1);
}

/* The bytes of the value whose members the granule may not have yet: up to the first byte of the
 * known end that is of no token, or as many n-grams as begin before that end. Of words of Unicode
 * the whole value: where a word ends depends on the bytes before it. */
static struct bb_bytes new_bytes(struct bb_member_index_builder *builder, struct bb_bytes value)
{
    if (builder->spec.tokenizer == BB_TOKENIZER_UNICODE)
        return value;
    size_t known = value.size - bb_tail_memo_take(&builder->tails, value);
    if (builder->spec.kind == BB_SKIP_NGRAMS)
        known += builder->spec.ngram_size - 1;
    else
        while (known < value.size && bb_token_has(value.data[known]))
            known++;
    return bb_bytes_of(value.data, known < value.size ? known : value.size);
}

void bb_member_index_builder_add(struct bb_member_index_builder *builder,
                                 const struct bb_attribute *attribute)
{
    if (builder->spec.kind == BB_SKIP_VALUES) {
        add_value(builder, attribute);
        return;
    }
    bb_member_scan_begin(&builder->scan, new_bytes(builder, attribute->as.bytes));
    for (size_t count = bb_member_scan_next(&builder->scan); count > 0;
         count = bb_member_scan_next(&builder->scan))
        bb_distinct_set_add(&builder->members, builder->scan.hashes, count);
}

enum bb_status bb_member_index_builder_end_granule(struct bb_member_index_builder *builder,
                                                   bool *ret_is_full)
{
    bool is_unindexed = false;
    uint32_t granule = builder->members.granule;
    enum bb_status status = bb_distinct_set_end_granule(&builder->members, &is_unindexed);
    bb_tail_memo_reset(&builder->tails);
    if (status == BB_OK && is_unindexed)
        bb_granule_bits_set(&builder->unindexed, granule);
    *ret_is_full = builder->members.granule == BB_SEGMENT_GRANULES_MAX ||
                   builder->members.pair_count >= builder->pairs_max;
    return status;
}

static enum bb_status write_segment(struct bb_member_index_builder *builder,
                                    struct bb_segment_sink *sink)
{
    struct bb_segment_builder *segment = &builder->segment;
    uint32_t granule_count = segment->segment.granule_count;
    uint64_t offset = 0;
    enum bb_status status = bb_unit_writer_append_chunks(sink->writer, &segment->data,
                                                         bb_buf_bytes(&segment->ends), &offset);
    if (status == BB_OK)
        status = bb_segment_sink_begin(sink, granule_count,
                                       bb_segment_has_ribbons(&segment->segment)
                                           ? BB_SKIP_FORM_RIBBONS
                                           : BB_SKIP_FORM_INVERTED);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, offset);
    if (status == BB_OK)
        status = bb_segment_sink_add_unindexed(sink, &builder->unindexed, granule_count);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, segment->segment.factor);
    if (status == BB_OK)
        status = bb_segment_append(&segment->segment, &sink->head);
    sink->data_bytes += segment->data.size;
    sink->pair_count += segment->segment.pair_count;
    sink->false_granules += bb_segment_rate(&segment->segment) * granule_count;
    return status == BB_OK ? bb_buf_append(&sink->head, segment->ends.data, segment->ends.size)
                           : status;
}

enum bb_status bb_member_index_builder_end_segment(struct bb_member_index_builder *builder,
                                                   struct bb_buf *spare,
                                                   struct bb_segment_sink *sink)
{
    struct bb_distinct_set *members = &builder->members;
    bb_buf_reset(spare);
    enum bb_status status = bb_buf_reserve(spare, members->pair_count * sizeof(uint64_t));
    if (status != BB_OK)
        return status;
    uint64_t factor = bb_member_pairs_factor(members->pairs, members->pair_count);
    bb_member_pairs_sort(members->pairs, (uint64_t *)(void *)spare->data, members->pair_count,
                         factor);
    status = bb_segment_builder_build(&builder->segment, members->pairs, members->pair_count,
                                      members->granule, builder->spec.rate);
    builder->segment.segment.factor = factor;
    if (status == BB_OK)
        status = write_segment(builder, sink);
    else if (status == BB_TOO_LARGE)
        status = bb_segment_sink_add_none(sink, members->granule);
    bb_distinct_set_reset(members);
    builder->unindexed = (struct bb_granule_bits){{0}};
    return status;
}
