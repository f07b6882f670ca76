/* See index_builder.h. */
#include "skip/build/index_builder.h"

#include "skip/member/spec.h"

enum bb_status bb_index_builder_init(struct bb_index_builder *builder,
                                     const struct bb_skip_spec *spec, enum bb_attribute_type type,
                                     const struct bb_hash_secret *secret, size_t pairs_max,
                                     struct bb_unit_writer *writer)
{
    *builder = (struct bb_index_builder){.spec = *spec, .sink = {.writer = writer}};
    switch (spec->kind) {
    case BB_SKIP_MIN_MAX:
        break;
    case BB_SKIP_SET:
        bb_value_set_builder_init(&builder->as.set, spec->set_values_max);
        break;
    case BB_SKIP_COLUMN:
        bb_column_builder_init(&builder->as.column, type);
        break;
    case BB_SKIP_VALUES:
    case BB_SKIP_TOKENS:
    case BB_SKIP_NGRAMS:
        return bb_member_index_builder_init(&builder->as.members, spec, secret, pairs_max);
    case BB_SKIP_TEXT:
        return bb_text_index_builder_init(&builder->as.text, spec, secret, pairs_max);
    }
    return BB_OK;
}

void bb_index_builder_set_pairs_max(struct bb_index_builder *builder, size_t pairs_max)
{
    if (builder->spec.kind == BB_SKIP_TEXT)
        bb_text_index_builder_set_pairs_max(&builder->as.text, pairs_max);
    else if (bb_spec_has_members(builder->spec.kind))
        builder->as.members.pairs_max = pairs_max;
}

void bb_index_builder_deinit(struct bb_index_builder *builder)
{
    bb_buf_deinit(&builder->sink.head);
    switch (builder->spec.kind) {
    case BB_SKIP_MIN_MAX:
        bb_min_max_builder_deinit(&builder->as.min_max);
        break;
    case BB_SKIP_SET:
        bb_value_set_builder_deinit(&builder->as.set);
        break;
    case BB_SKIP_COLUMN:
        bb_column_builder_deinit(&builder->as.column);
        break;
    case BB_SKIP_VALUES:
    case BB_SKIP_TOKENS:
    case BB_SKIP_NGRAMS:
        bb_member_index_builder_deinit(&builder->as.members);
        break;
    case BB_SKIP_TEXT:
        bb_text_index_builder_deinit(&builder->as.text);
        break;
    }
}

static void add_value(struct bb_index_builder *builder, const struct bb_attribute *attribute)
{
    if (builder->spec.kind == BB_SKIP_MIN_MAX)
        bb_min_max_builder_add(&builder->as.min_max, attribute);
    else if (builder->spec.kind == BB_SKIP_SET)
        bb_value_set_builder_add(&builder->as.set, attribute);
    else if (builder->spec.kind == BB_SKIP_TEXT)
        bb_text_index_builder_add(&builder->as.text, attribute);
    else
        bb_member_index_builder_add(&builder->as.members, attribute);
}

void bb_index_builder_add(struct bb_index_builder *builder, const struct bb_attribute *attribute)
{
    if (builder->spec.kind == BB_SKIP_COLUMN)
        bb_column_builder_add(&builder->as.column, attribute);
    else if (attribute->state == BB_ATTRIBUTE_PRESENT)
        add_value(builder, attribute);
}

static enum bb_status end_segment(struct bb_index_builder *builder, struct bb_buf *spare)
{
    builder->granule_count = 0;
    switch (builder->spec.kind) {
    case BB_SKIP_MIN_MAX:
        return bb_min_max_builder_end_segment(&builder->as.min_max, &builder->sink);
    case BB_SKIP_SET:
        return bb_value_set_builder_end_segment(&builder->as.set, &builder->sink);
    case BB_SKIP_COLUMN:
        return bb_column_builder_end_segment(&builder->as.column, &builder->sink);
    case BB_SKIP_TEXT:
        return bb_text_index_builder_end_segment(&builder->as.text, spare, &builder->sink);
    case BB_SKIP_VALUES:
    case BB_SKIP_TOKENS:
    case BB_SKIP_NGRAMS:
        break;
    }
    return bb_member_index_builder_end_segment(&builder->as.members, spare, &builder->sink);
}

static enum bb_status end_granule(struct bb_index_builder *builder, struct bb_bytes parts,
                                  bool *ret_is_full)
{
    *ret_is_full = false;
    switch (builder->spec.kind) {
    case BB_SKIP_MIN_MAX:
        return bb_min_max_builder_end_granule(&builder->as.min_max);
    case BB_SKIP_SET:
        return bb_value_set_builder_end_granule(&builder->as.set);
    case BB_SKIP_COLUMN:
        return bb_column_builder_end_granule(&builder->as.column, parts, &builder->sink);
    case BB_SKIP_TEXT:
        return bb_text_index_builder_end_granule(&builder->as.text, ret_is_full);
    case BB_SKIP_VALUES:
    case BB_SKIP_TOKENS:
    case BB_SKIP_NGRAMS:
        break;
    }
    return bb_member_index_builder_end_granule(&builder->as.members, ret_is_full);
}

enum bb_status bb_index_builder_end_granule(struct bb_index_builder *builder, struct bb_bytes parts,
                                            struct bb_buf *spare)
{
    bool is_full = false;
    enum bb_status status = end_granule(builder, parts, &is_full);
    builder->granule_count++;
    if (status == BB_OK && (is_full || builder->granule_count == BB_SEGMENT_GRANULES_MAX))
        status = end_segment(builder, spare);
    return status;
}

enum bb_status bb_index_builder_finish(struct bb_index_builder *builder, struct bb_buf *spare,
                                       struct bb_directory_entry *ret_index)
{
    struct bb_segment_sink *sink = &builder->sink;
    enum bb_status status = builder->granule_count > 0 ? end_segment(builder, spare) : BB_OK;
    struct bb_directory_entry index = {.spec = builder->spec,
                                       .is_known = true,
                                       .segment_count = sink->segment_count,
                                       .unindexed_granules = sink->unindexed_granules,
                                       .pair_count = sink->pair_count,
                                       .data_bytes = sink->data_bytes};
    if (builder->spec.tokenizer == BB_TOKENIZER_UNICODE)
        bb_words_identity(index.words_made_with);
    index.head.size = sink->head.size + BB_SKIP_CHECKSUM_SIZE;
    if (sink->granule_count > 0)
        index.predicted_rate = sink->false_granules / (double)sink->granule_count;
    if (status == BB_OK && index.head.size > BB_SKIP_SECTION_MAX)
        status = bb_fail(BB_TOO_LARGE, "the head of an index has %zu bytes, at most %u",
                         sink->head.size, BB_SKIP_SECTION_MAX);
    if (status == BB_OK)
        status = bb_unit_writer_append(sink->writer, BB_SKIP_UNIT_HEAD, bb_buf_bytes(&sink->head),
                                       &index.head.offset);
    if (status == BB_OK)
        *ret_index = index;
    return status;
}
