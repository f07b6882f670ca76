/* See index_head.h. */
#include "skip/index/index_head.h"

#include "base/alloc.h"

#define SEGMENT_SIZE_MIN 3 /* granules and form */

void bb_index_head_deinit(struct bb_index_head *head)
{
    bb_free(head->segments);
    bb_buf_deinit(&head->bytes);
    *head = (struct bb_index_head){0};
}

static bool is_in_file(struct bb_skip_section section, uint64_t file_size)
{
    return section.size >= BB_SKIP_CHECKSUM_SIZE && section.offset <= file_size &&
           section.size <= file_size - section.offset;
}

static bool decode_unit(struct bb_cursor *cursor, uint64_t file_size,
                        struct bb_head_segment *segment)
{
    return bb_decode_varint64(cursor, &segment->data.offset) &&
           bb_decode_varint64(cursor, &segment->data.size) &&
           segment->data.size <= BB_SKIP_UNIT_SIZE_MAX && is_in_file(segment->data, file_size);
}

static bool decode_inverted(struct bb_cursor *cursor, uint64_t file_size,
                            struct bb_head_segment *segment)
{
    uint8_t has_unindexed = 0;
    struct bb_bytes unindexed = {0};
    if (!bb_decode_varint64(cursor, &segment->data.offset) ||
        !bb_decode_u8(cursor, &has_unindexed) || has_unindexed > 1)
        return false;
    if (has_unindexed == 1 && !bb_decode_raw(cursor, (segment->granule_count + 7) / 8, &unindexed))
        return false;
    segment->unindexed = unindexed.data;
    if (!bb_segment_decode(cursor, segment->granule_count, &segment->inverted))
        return false;
    segment->data.size = bb_segment_size(&segment->inverted);
    return is_in_file(segment->data, file_size);
}

/* Which form segments of a kind have, if any. */
static enum bb_skip_form form_of(enum bb_skip_kind kind)
{
    if (kind == BB_SKIP_MIN_MAX)
        return BB_SKIP_FORM_BOUNDS;
    return kind == BB_SKIP_SET ? BB_SKIP_FORM_VALUES : BB_SKIP_FORM_INVERTED;
}

static bool decode_segment(struct bb_cursor *cursor, const struct bb_skip_spec *spec,
                           enum bb_attribute_type type, uint64_t file_size,
                           struct bb_head_segment *segment)
{
    uint16_t granule_count = 0;
    uint8_t form = 0;
    if (!bb_decode_u16(cursor, &granule_count) || !bb_decode_u8(cursor, &form) ||
        granule_count < 1 || granule_count > BB_SEGMENT_GRANULES_MAX)
        return false;
    segment->granule_count = granule_count;
    segment->form = (enum bb_skip_form)form;
    if (segment->form == BB_SKIP_FORM_NONE)
        return true;
    if (segment->form != form_of(spec->kind))
        return false;
    if (segment->form == BB_SKIP_FORM_INVERTED)
        return decode_inverted(cursor, file_size, segment);
    if (segment->form == BB_SKIP_FORM_BOUNDS &&
        !bb_read_bounds_decode(cursor, type, &segment->bounds))
        return false;
    return decode_unit(cursor, file_size, segment);
}

static bool decode_segments(struct bb_index_head *head, const struct bb_index_directory *directory,
                            const struct bb_skip_spec *spec, uint64_t file_size)
{
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&head->bytes));
    enum bb_attribute_type type = directory->attributes[spec->attribute].type;
    uint64_t granule = 0;
    for (size_t i = 0; i < head->segment_count; i++) {
        struct bb_head_segment *segment = &head->segments[i];
        if (!decode_segment(&cursor, spec, type, file_size, segment))
            return false;
        segment->first_granule = granule;
        granule += segment->granule_count;
    }
    return granule == directory->granule_count && bb_cursor_left(&cursor) == 0;
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
    if (status == BB_OK && !decode_segments(&head, directory, &index->spec, file_size))
        status = bb_corrupt(place, 0, "the head of an index is malformed");
    if (status == BB_OK)
        *ret_head = head;
    else
        bb_index_head_deinit(&head);
    return status;
}
