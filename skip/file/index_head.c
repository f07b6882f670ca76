/* See index_head.h. */
#include "skip/file/index_head.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "skip/kind/token_block.h"

#define SEGMENT_SIZE_MIN      3 /* granules and form */
#define BLOCK_FIELDS_SIZE_MIN 2 /* size and fence */

void bb_index_head_deinit(struct bb_index_head *head)
{
    for (size_t i = 0; head->segments != NULL && i < head->segment_count; i++) {
        bb_free(head->segments[i].chunks);
        bb_free(head->segments[i].blocks);
    }
    bb_free(head->segments);
    bb_buf_deinit(&head->bytes);
    *head = (struct bb_index_head){0};
}

static bool is_in_file(struct bb_skip_section section, uint64_t file_size)
{
    return section.size >= BB_SKIP_CHECKSUM_SIZE && section.offset <= file_size &&
           section.size <= file_size - section.offset;
}

/* The offset of the data, which ends the fields before it. */
static bool decode_offset(struct bb_cursor *cursor, struct bb_head_segment *segment)
{
    segment->before.size = (size_t)(cursor->position - segment->before.data);
    bool is_read = bb_decode_varint64(cursor, &segment->data.offset);
    segment->after.data = cursor->position;
    return is_read;
}

static bool decode_unit(struct bb_cursor *cursor, uint64_t file_size,
                        struct bb_head_segment *segment)
{
    return decode_offset(cursor, segment) && bb_decode_varint64(cursor, &segment->data.size) &&
           segment->data.size <= BB_SKIP_UNIT_SIZE_MAX && is_in_file(segment->data, file_size);
}

static bool decode_unindexed(struct bb_cursor *cursor, struct bb_head_segment *segment)
{
    uint8_t has_unindexed = 0;
    struct bb_bytes unindexed = {0};
    if (!bb_decode_u8(cursor, &has_unindexed) || has_unindexed > 1)
        return false;
    if (has_unindexed == 1 && !bb_decode_raw(cursor, (segment->granule_count + 7) / 8, &unindexed))
        return false;
    segment->unindexed = unindexed.data;
    return true;
}

/* The factor of the permutation. */
static bool decode_factor(struct bb_cursor *cursor, enum bb_skip_form form, uint64_t *ret_factor)
{
    *ret_factor = 1;
    return !bb_skip_form_has_factor(form) ||
           (bb_decode_varint64(cursor, ret_factor) && (*ret_factor & 1) != 0 &&
            *ret_factor >> BB_MEMBER_HASH_BITS == 0);
}

static bool decode_inverted(struct bb_cursor *cursor, uint64_t file_size,
                            struct bb_head_segment *segment)
{
    uint64_t factor = 0;
    if (!decode_offset(cursor, segment) || !decode_unindexed(cursor, segment) ||
        !decode_factor(cursor, segment->form, &factor) ||
        !bb_segment_decode(cursor, segment->granule_count, bb_skip_form_has_ribbons(segment->form),
                           &segment->inverted))
        return false;
    segment->inverted.factor = factor;
    segment->data.size = bb_segment_size(&segment->inverted);
    return is_in_file(segment->data, file_size);
}

static bool decode_chunk(struct bb_cursor *cursor, uint64_t file_size, struct bb_head_chunk *chunk)
{
    return bb_decode_varint32(cursor, &chunk->granule_count) &&
           bb_decode_varint64(cursor, &chunk->data.offset) &&
           bb_decode_varint64(cursor, &chunk->data.size) &&
           chunk->data.size <= BB_SKIP_UNIT_SIZE_MAX && is_in_file(chunk->data, file_size);
}

static enum bb_status decode_column(struct bb_cursor *cursor, uint64_t file_size,
                                    struct bb_head_segment *segment)
{
    uint32_t granule = 0;
    if (!bb_decode_varint32(cursor, &segment->chunk_count) ||
        segment->chunk_count > segment->granule_count)
        return BB_CORRUPT;
    segment->chunks = bb_alloc_zeroed(segment->chunk_count + 1, sizeof(segment->chunks[0]));
    if (segment->chunks == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %u chunks of a column", segment->chunk_count);
    for (uint32_t i = 0; i < segment->chunk_count; i++) {
        struct bb_head_chunk *chunk = &segment->chunks[i];
        if (!decode_chunk(cursor, file_size, chunk) || chunk->granule_count < 1 ||
            chunk->granule_count > segment->granule_count - granule)
            return BB_CORRUPT;
        chunk->first_granule = granule;
        granule += chunk->granule_count;
    }
    return granule == segment->granule_count ? BB_OK : BB_CORRUPT;
}

/* A block and its fence, which is above the previous fence. */
static bool decode_block(struct bb_cursor *cursor, uint64_t offset, const struct bb_bytes *before,
                         struct bb_head_block *block)
{
    block->data.offset = offset;
    return bb_decode_varint64(cursor, &block->data.size) &&
           block->data.size >= BB_SKIP_CHECKSUM_SIZE &&
           block->data.size <= BB_TOKEN_BLOCK_SIZE_MAX + BB_SKIP_CHECKSUM_SIZE &&
           bb_decode_bytes(cursor, &block->fence) &&
           (before == NULL ? block->fence.size == 0 : bb_bytes_compare(*before, block->fence) < 0);
}

static bool decode_blocks(struct bb_cursor *cursor, struct bb_head_segment *segment)
{
    for (uint32_t i = 0; i < segment->block_count; i++) {
        struct bb_head_block *block = &segment->blocks[i];
        uint64_t offset = segment->data.offset + segment->data.size;
        if (!decode_block(cursor, offset, i == 0 ? NULL : &block[-1].fence, block))
            return false;
        segment->data.size += block->data.size;
    }
    return true;
}

static bool decode_block_count(struct bb_cursor *cursor, struct bb_head_segment *segment)
{
    return bb_decode_varint64(cursor, &segment->token_count) &&
           bb_decode_varint64(cursor, &segment->pair_count) &&
           bb_decode_varint32(cursor, &segment->block_count) &&
           segment->block_count <= bb_cursor_left(cursor) / BLOCK_FIELDS_SIZE_MIN;
}

static enum bb_status decode_dictionary(struct bb_cursor *cursor, uint64_t file_size,
                                        struct bb_head_segment *segment)
{
    if (!decode_offset(cursor, segment) || segment->data.offset > file_size ||
        !decode_unindexed(cursor, segment) || !decode_block_count(cursor, segment))
        return BB_CORRUPT;
    segment->blocks = bb_alloc_zeroed((size_t)segment->block_count + 1, sizeof(segment->blocks[0]));
    if (segment->blocks == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %u blocks of a dictionary",
                       segment->block_count);
    return decode_blocks(cursor, segment) && segment->data.size <= file_size - segment->data.offset
               ? BB_OK
               : BB_CORRUPT;
}

/* Do segments of a kind have this form? */
static bool form_fits(enum bb_skip_kind kind, enum bb_skip_form form)
{
    if (form == BB_SKIP_FORM_NONE)
        return true;
    if (kind == BB_SKIP_TEXT)
        return form == BB_SKIP_FORM_DICTIONARY;
    if (kind == BB_SKIP_MIN_MAX)
        return form == BB_SKIP_FORM_BOUNDS;
    if (kind == BB_SKIP_COLUMN)
        return form == BB_SKIP_FORM_COLUMN;
    return kind == BB_SKIP_SET ? form == BB_SKIP_FORM_VALUES : bb_skip_form_is_inverted(form);
}

static bool decode_bounds(struct bb_cursor *cursor, enum bb_attribute_type type, uint64_t file_size,
                          struct bb_head_segment *segment)
{
    return bb_min_max_bounds_decode(cursor, type, &segment->bounds) &&
           decode_unit(cursor, file_size, segment);
}

static enum bb_status decode_form(struct bb_cursor *cursor, enum bb_attribute_type type,
                                  uint64_t file_size, struct bb_head_segment *segment)
{
    bool is_valid = false;
    switch (segment->form) {
    case BB_SKIP_FORM_NONE:
        is_valid = true;
        break;
    case BB_SKIP_FORM_INVERTED_1:
    case BB_SKIP_FORM_RIBBONS_1:
    case BB_SKIP_FORM_INVERTED:
    case BB_SKIP_FORM_RIBBONS:
        is_valid = decode_inverted(cursor, file_size, segment);
        break;
    case BB_SKIP_FORM_BOUNDS:
        is_valid = decode_bounds(cursor, type, file_size, segment);
        break;
    case BB_SKIP_FORM_VALUES:
        is_valid = decode_unit(cursor, file_size, segment);
        break;
    case BB_SKIP_FORM_COLUMN:
        return decode_column(cursor, file_size, segment);
    case BB_SKIP_FORM_DICTIONARY:
        return decode_dictionary(cursor, file_size, segment);
    }
    return is_valid ? BB_OK : BB_CORRUPT;
}

static enum bb_status decode_fields(struct bb_cursor *cursor, const struct bb_skip_spec *spec,
                                    enum bb_attribute_type type, uint64_t file_size,
                                    struct bb_head_segment *segment)
{
    uint16_t granule_count = 0;
    uint8_t form = 0;
    if (!bb_decode_u16(cursor, &granule_count) || !bb_decode_u8(cursor, &form) ||
        granule_count < 1 || granule_count > BB_SEGMENT_GRANULES_MAX)
        return BB_CORRUPT;
    segment->granule_count = granule_count;
    segment->form = (enum bb_skip_form)form;
    if (!form_fits(spec->kind, segment->form))
        return BB_CORRUPT;
    return decode_form(cursor, type, file_size, segment);
}

static enum bb_status decode_segment(struct bb_cursor *cursor, const struct bb_skip_spec *spec,
                                     enum bb_attribute_type type, uint64_t file_size,
                                     struct bb_head_segment *segment)
{
    segment->before.data = cursor->position;
    enum bb_status status = decode_fields(cursor, spec, type, file_size, segment);
    if (segment->after.data == NULL)
        segment->before.size = (size_t)(cursor->position - segment->before.data);
    else
        segment->after.size = (size_t)(cursor->position - segment->after.data);
    return status;
}

/* BB_CORRUPT without a message. */
static enum bb_status decode_segments(struct bb_index_head *head,
                                      const struct bb_index_directory *directory,
                                      const struct bb_skip_spec *spec, uint64_t file_size)
{
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&head->bytes));
    enum bb_attribute_type type = directory->attributes[spec->attribute].type;
    uint64_t granule = 0;
    for (size_t i = 0; i < head->segment_count; i++) {
        struct bb_head_segment *segment = &head->segments[i];
        enum bb_status status = decode_segment(&cursor, spec, type, file_size, segment);
        if (status != BB_OK)
            return status;
        segment->first_granule = granule;
        granule += segment->granule_count;
    }
    return granule == directory->granule_count && bb_cursor_left(&cursor) == 0 ? BB_OK : BB_CORRUPT;
}

enum bb_status bb_index_head_decode(struct bb_buf *bytes,
                                    const struct bb_index_directory *directory,
                                    const struct bb_directory_entry *index, uint64_t file_size,
                                    struct bb_place place, struct bb_index_head *ret_head)
{
    struct bb_index_head head = {.bytes = *bytes};
    enum bb_status status = BB_OK;
    *bytes = (struct bb_buf){0};
    if (index->segment_count > head.bytes.size / SEGMENT_SIZE_MIN)
        status = bb_corrupt(place, 0, "the head of an index is too short for its segments");
    if (status == BB_OK) {
        head.segment_count = index->segment_count;
        head.segments = bb_alloc_zeroed(head.segment_count + 1, sizeof(head.segments[0]));
        if (head.segments == NULL)
            status = bb_fail(BB_NO_MEMORY, "no memory for the segments of an index");
    }
    if (status == BB_OK) {
        status = decode_segments(&head, directory, &index->spec, file_size);
        if (status == BB_CORRUPT)
            status = bb_corrupt(place, 0, "the head of an index is malformed");
    }
    if (status == BB_OK)
        *ret_head = head;
    else
        bb_index_head_deinit(&head);
    return status;
}

size_t bb_index_head_find(const struct bb_index_head *head, size_t granule)
{
    size_t begin = 0;
    size_t end = head->segment_count;
    while (end - begin > 1) {
        size_t middle = begin + (end - begin) / 2;
        if (head->segments[middle].first_granule <= granule)
            begin = middle;
        else
            end = middle;
    }
    return begin;
}
