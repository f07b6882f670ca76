/* See take_over.h. */
#include "skip/build/take_over.h"

#include <string.h>

#include "skip/member/spec.h"

/* ---- segments that can be copied ---- */

static bool is_same_index(const struct bb_skip_builder *builder, const struct bb_skip_file *from,
                          size_t number)
{
    const struct bb_skip_spec *own = &builder->indexes[number].spec;
    const struct bb_directory_entry *entry = &from->directory.indexes[number];
    if (!entry->is_known || entry->spec.attribute != own->attribute)
        return false;
    const struct bb_stored_attribute *attributes = from->directory.attributes;
    const char *definition = builder->directory.attributes[own->attribute].definition;
    return strcmp(attributes[own->attribute].definition, definition) == 0 &&
           bb_spec_is_same(&entry->spec, own);
}

bool bb_take_over_is_possible(const struct bb_skip_builder *builder,
                              const struct bb_skip_file *from)
{
    const struct bb_index_directory *theirs = &from->directory;
    if (theirs->index_count != builder->index_count ||
        theirs->attribute_count != builder->directory.attribute_count ||
        memcmp(&theirs->secret, &builder->directory.secret, sizeof(theirs->secret)) != 0)
        return false;
    for (size_t i = 0; i < builder->index_count; i++)
        if (!is_same_index(builder, from, i))
            return false;
    return true;
}

/* ---- segments ---- */

/* Copies a unit of data; *ret_offset is where it begins, *ret_unit is borrowed from the builder. */
static enum bb_status copy_unit(struct bb_skip_builder *builder, struct bb_skip_file *from,
                                struct bb_skip_section section, uint64_t *ret_offset,
                                struct bb_bytes *ret_unit)
{
    enum bb_status status =
        bb_skip_file_read(from, BB_SKIP_UNIT_DATA, section, &builder->spare, NULL, ret_unit);
    return status == BB_OK
               ? bb_unit_writer_append(&builder->writer, BB_SKIP_UNIT_DATA, *ret_unit, ret_offset)
               : status;
}

static enum bb_status copy_chunks(struct bb_skip_builder *builder, struct bb_skip_file *from,
                                  const struct bb_head_segment *segment, uint64_t *ret_offset)
{
    uint64_t begin = 0;
    uint64_t offset = 0;
    struct bb_bytes unit = {0};
    enum bb_status status = BB_OK;
    *ret_offset = builder->writer.offset;
    for (uint32_t i = 0; i < bb_segment_chunk_count(&segment->inverted) && status == BB_OK; i++) {
        uint64_t end = bb_load32(segment->inverted.ends + (size_t)i * sizeof(uint32_t));
        struct bb_skip_section chunk = {.offset = segment->data.offset + begin,
                                        .size = end - begin};
        status = copy_unit(builder, from, chunk, &offset, &unit);
        begin = end;
    }
    return status;
}

static enum bb_status copy_blocks(struct bb_skip_builder *builder, struct bb_skip_file *from,
                                  const struct bb_head_segment *segment, uint64_t *ret_offset)
{
    uint64_t offset = 0;
    struct bb_bytes unit = {0};
    enum bb_status status = BB_OK;
    *ret_offset = segment->block_count > 0 ? builder->writer.offset : 0;
    for (uint32_t i = 0; i < segment->block_count && status == BB_OK; i++)
        status = copy_unit(builder, from, segment->blocks[i].data, &offset, &unit);
    return status;
}

/* The data of a segment, and its pairs (bb_skip_index_info). */
static enum bb_status copy_data(struct bb_skip_builder *builder, struct bb_skip_file *from,
                                const struct bb_head_segment *segment, uint64_t *ret_offset,
                                uint64_t *ret_pairs)
{
    struct bb_bytes unit = {0};
    if (bb_skip_form_is_inverted(segment->form)) {
        *ret_pairs = segment->inverted.pair_count;
        return copy_chunks(builder, from, segment, ret_offset);
    }
    if (segment->form == BB_SKIP_FORM_DICTIONARY) {
        *ret_pairs = segment->pair_count;
        return copy_blocks(builder, from, segment, ret_offset);
    }
    enum bb_status status = copy_unit(builder, from, segment->data, ret_offset, &unit);
    struct bb_cursor cursor = bb_cursor_of(unit);
    struct bb_place place = {.file = from->file->path, .offset = segment->data.offset};
    *ret_pairs = segment->granule_count;
    if (status == BB_OK && segment->form == BB_SKIP_FORM_VALUES &&
        !bb_decode_varint64(&cursor, ret_pairs))
        status = bb_corrupt(place, 0, "the values of an index are malformed");
    return status;
}

static uint32_t count_unindexed(const struct bb_head_segment *segment)
{
    uint32_t count = segment->form == BB_SKIP_FORM_NONE ? segment->granule_count : 0;
    for (uint32_t granule = 0; granule < segment->granule_count; granule++)
        count += !bb_head_segment_indexes(segment, granule);
    return count;
}

/* A segment with data in one place, or without any. */
static enum bb_status take_whole(struct bb_skip_builder *builder, struct bb_skip_file *from,
                                 const struct bb_head_segment *segment,
                                 struct bb_segment_sink *sink)
{
    bool has_data = segment->form != BB_SKIP_FORM_NONE;
    uint64_t offset = 0;
    uint64_t pairs = 0;
    enum bb_status status = has_data ? copy_data(builder, from, segment, &offset, &pairs) : BB_OK;
    if (status == BB_OK)
        status = bb_buf_append(&sink->head, segment->before.data, segment->before.size);
    if (status == BB_OK && has_data)
        status = bb_append_varint(&sink->head, offset);
    if (status == BB_OK && has_data)
        status = bb_buf_append(&sink->head, segment->after.data, segment->after.size);
    sink->segment_count++;
    sink->granule_count += segment->granule_count;
    sink->unindexed_granules += count_unindexed(segment);
    sink->pair_count += pairs;
    sink->data_bytes += segment->data.size;
    if (bb_skip_form_is_inverted(segment->form))
        sink->false_granules += bb_segment_rate(&segment->inverted) * segment->granule_count;
    return status;
}

/* ---- columns ---- */

/* Granules whose values are not stored, and the records of the others. */
static enum bb_status count_column(const struct bb_skip_file *from, uint64_t first_granule,
                                   const struct bb_head_chunk *chunk, struct bb_bytes unit,
                                   struct bb_segment_sink *sink)
{
    struct bb_cursor ends = bb_cursor_of(unit);
    struct bb_place place = {.file = from->file->path, .offset = chunk->data.offset};
    uint32_t begin = 0;
    for (uint32_t i = 0; i < chunk->granule_count; i++) {
        uint32_t end = 0;
        if (!bb_decode_u32(&ends, &end) || end < begin)
            return bb_corrupt(place, 0, "a chunk of a column is malformed");
        if (end == begin)
            sink->unindexed_granules++;
        else
            sink->pair_count += from->granules.records[first_granule + i];
        begin = end;
    }
    return BB_OK;
}

static enum bb_status take_chunk(struct bb_skip_builder *builder, struct bb_skip_file *from,
                                 uint64_t first_granule, const struct bb_head_chunk *chunk,
                                 struct bb_segment_sink *sink)
{
    uint64_t offset = 0;
    struct bb_bytes unit = {0};
    enum bb_status status = copy_unit(builder, from, chunk->data, &offset, &unit);
    if (status == BB_OK)
        status = count_column(from, first_granule + chunk->first_granule, chunk, unit, sink);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, chunk->granule_count);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, offset);
    sink->data_bytes += chunk->data.size;
    return status == BB_OK ? bb_append_varint(&sink->head, chunk->data.size) : status;
}

static enum bb_status take_column(struct bb_skip_builder *builder, struct bb_skip_file *from,
                                  const struct bb_head_segment *segment,
                                  struct bb_segment_sink *sink)
{
    enum bb_status status =
        bb_segment_sink_begin(sink, segment->granule_count, BB_SKIP_FORM_COLUMN);
    if (status == BB_OK)
        status = bb_append_varint(&sink->head, segment->chunk_count);
    for (uint32_t i = 0; i < segment->chunk_count && status == BB_OK; i++)
        status = take_chunk(builder, from, segment->first_granule, &segment->chunks[i], sink);
    return status;
}

/* ---- indexes ---- */

static enum bb_status take_segment(struct bb_skip_builder *builder, struct bb_skip_file *from,
                                   const struct bb_head_segment *segment,
                                   struct bb_segment_sink *sink)
{
    return segment->form == BB_SKIP_FORM_COLUMN ? take_column(builder, from, segment, sink)
                                                : take_whole(builder, from, segment, sink);
}

static enum bb_status take_index(struct bb_skip_builder *builder, struct bb_skip_file *from,
                                 size_t number)
{
    struct bb_index_builder *index = &builder->indexes[number];
    const struct bb_loaded_head *loaded = NULL;
    enum bb_status status = bb_skip_file_head(from, number, NULL, &loaded);
    if (status == BB_OK && loaded->is_damaged)
        status =
            bb_fail(BB_CORRUPT, "%s: the head of index %zu is damaged", from->file->path, number);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i + 1 < loaded->head.segment_count && status == BB_OK; i++)
        status = take_segment(builder, from, &loaded->head.segments[i], &index->sink);
    index->taken_granules = index->sink.granule_count;
    return status;
}

/* ---- granules ---- */

static enum bb_status take_granule(struct bb_skip_builder *builder,
                                   const struct bb_granule_table *table, size_t granule)
{
    struct bb_index_directory *directory = &builder->directory;
    size_t columns = directory->attribute_count * BB_GRANULE_STATES;
    for (size_t i = 0; i < columns; i++)
        builder->counts[i] = table->columns[i] == NULL ? 0 : table->columns[i][granule];
    enum bb_status status = bb_granule_table_builder_add(&builder->granules, table->places[granule],
                                                         table->records[granule], builder->counts);
    memset(builder->counts, 0, columns * sizeof(builder->counts[0]));
    directory->granule_count++;
    directory->record_count += table->records[granule];
    return status;
}

/* The fields that every index has. */
static size_t count_taken(const struct bb_skip_builder *builder)
{
    uint64_t taken = builder->indexes[0].taken_granules;
    for (size_t i = 1; i < builder->index_count; i++)
        if (builder->indexes[i].taken_granules < taken)
            taken = builder->indexes[i].taken_granules;
    return (size_t)taken;
}

enum bb_status bb_take_over(struct bb_skip_builder *builder, struct bb_skip_file *from,
                            size_t *ret_granules)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < builder->index_count && status == BB_OK; i++)
        status = take_index(builder, from, i);
    size_t taken = status == BB_OK && builder->index_count > 0 ? count_taken(builder) : 0;
    for (size_t i = 0; i < taken && status == BB_OK; i++)
        status = take_granule(builder, &from->granules, i);
    if (status == BB_OK)
        *ret_granules = taken;
    return status;
}
