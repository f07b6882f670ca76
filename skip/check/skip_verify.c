/* Reads and checks every byte of an index file. See bb/skip.h. */
#include "skip/kind/column.h"
#include "skip/file/skip_file.h"
#include "skip/check/text_walk.h"
#include "skip/kind/value_set.h"

struct verification {
    struct bb_skip_file *file;
    struct bb_buf scratch;
    uint64_t checked; /* bytes, each once: units never overlap */
};

static enum bb_status read_unit(struct verification *verification, enum bb_skip_unit type,
                                struct bb_skip_section section, struct bb_bytes *ret_unit)
{
    verification->checked += section.size;
    return bb_skip_file_read(verification->file, type, section, &verification->scratch, NULL,
                             ret_unit);
}

static enum bb_status refuse(struct verification *verification, struct bb_skip_section section,
                             const char *what)
{
    struct bb_place place = {.file = verification->file->file->path, .offset = section.offset};
    return bb_corrupt(place, 0, "%s", what);
}

/* One question for each bucket: a chunk that is malformed in one shows it. */
static enum bb_status check_chunk(struct verification *verification,
                                  const struct bb_segment *segment, uint64_t first_bucket,
                                  struct bb_skip_section section, struct bb_bytes chunk)
{
    for (uint64_t i = 0; i < bb_segment_chunk_buckets(segment); i++) {
        struct bb_granule_bits bits = {{0}};
        /* The largest hash of the bucket: all of its rows are passed. */
        uint64_t next = first_bucket + i + 1;
        uint64_t hash = (next << (63 - segment->bucket_bits) << 1) - 1;
        if (!bb_segment_ask(segment, chunk, hash, &bits))
            return refuse(verification, section, "a chunk of an index is malformed");
    }
    return BB_OK;
}

static enum bb_status check_chunks(struct verification *verification,
                                   const struct bb_head_segment *head)
{
    const struct bb_segment *segment = &head->inverted;
    enum bb_status status = BB_OK;
    uint64_t begin = 0;
    for (uint32_t i = 0; i < bb_segment_chunk_count(segment) && status == BB_OK; i++) {
        uint64_t end = bb_load32(segment->ends + (size_t)i * sizeof(uint32_t));
        struct bb_skip_section section = {.offset = head->data.offset + begin, .size = end - begin};
        struct bb_bytes unit = {0};
        status = read_unit(verification, BB_SKIP_UNIT_DATA, section, &unit);
        unit.size = (size_t)section.size;
        if (status == BB_OK)
            status = check_chunk(verification, segment, (uint64_t)i << segment->chunk_bits, section,
                                 unit);
        begin = end;
    }
    return status;
}

static enum bb_status check_bounds(struct verification *verification,
                                   const struct bb_head_segment *head, enum bb_attribute_type type)
{
    struct bb_bytes unit = {0};
    enum bb_status status = read_unit(verification, BB_SKIP_UNIT_DATA, head->data, &unit);
    struct bb_cursor cursor = bb_cursor_of(unit);
    for (uint32_t granule = 0; granule < head->granule_count && status == BB_OK; granule++) {
        struct bb_read_bounds bounds;
        if (!bb_min_max_bounds_decode(&cursor, type, &bounds))
            status = refuse(verification, head->data, "the bounds of an index are malformed");
    }
    if (status == BB_OK && bb_cursor_left(&cursor) != 0)
        status = refuse(verification, head->data, "the bounds of an index have too many bytes");
    return status;
}

static void ignore_value(void *context, const struct bb_attribute *value,
                         const struct bb_granule_bits *granules)
{
    (void)context;
    (void)value;
    (void)granules;
}

static enum bb_status check_values(struct verification *verification,
                                   const struct bb_head_segment *head, enum bb_attribute_type type)
{
    struct bb_bytes unit = {0};
    enum bb_status status = read_unit(verification, BB_SKIP_UNIT_DATA, head->data, &unit);
    if (status == BB_OK && !bb_value_set_visit(unit, type, head->granule_count, ignore_value, NULL))
        status = refuse(verification, head->data, "the values of an index are malformed");
    return status;
}

static enum bb_status check_column(struct verification *verification,
                                   const struct bb_head_segment *head, enum bb_attribute_type type)
{
    enum bb_status status = BB_OK;
    struct bb_column_granule granule = {0};
    for (uint32_t i = 0; i < head->chunk_count && status == BB_OK; i++) {
        const struct bb_head_chunk *chunk = &head->chunks[i];
        struct bb_bytes unit = {0};
        status = read_unit(verification, BB_SKIP_UNIT_DATA, chunk->data, &unit);
        for (uint32_t at = 0; at < chunk->granule_count && status == BB_OK; at++) {
            status = bb_column_granule_read(&granule, type, unit, chunk->granule_count, at);
            if (status == BB_CORRUPT)
                status = refuse(verification, chunk->data, "a granule of a column is malformed");
            else if (status == BB_NOT_FOUND)
                status = BB_OK;
        }
    }
    bb_column_granule_deinit(&granule);
    return status;
}

static enum bb_status check_dictionary(struct verification *verification,
                                       const struct bb_head_segment *head,
                                       const struct bb_skip_spec *spec)
{
    struct bb_text_walk walk;
    enum bb_status status = BB_OK;
    bool has_token = true;
    bb_text_walk_init(&walk, verification->file, head, spec->counts_records, spec->tokenizer);
    while (status == BB_OK && has_token)
        status = bb_text_walk_next(&walk, &has_token);
    bb_text_walk_deinit(&walk);
    verification->checked += head->data.size;
    return status;
}

static enum bb_status check_segment(struct verification *verification,
                                    const struct bb_head_segment *head,
                                    const struct bb_skip_spec *spec)
{
    enum bb_attribute_type type = verification->file->directory.attributes[spec->attribute].type;
    if (head->form == BB_SKIP_FORM_DICTIONARY)
        return check_dictionary(verification, head, spec);
    if (bb_skip_form_is_inverted(head->form))
        return check_chunks(verification, head);
    if (head->form == BB_SKIP_FORM_COLUMN)
        return check_column(verification, head, type);
    if (head->form == BB_SKIP_FORM_BOUNDS)
        return check_bounds(verification, head, type);
    return head->form == BB_SKIP_FORM_VALUES ? check_values(verification, head, type) : BB_OK;
}

static enum bb_status check_index(struct verification *verification, size_t number)
{
    struct bb_skip_file *file = verification->file;
    const struct bb_directory_entry *index = &file->directory.indexes[number];
    struct bb_index_head head = {0};
    struct bb_buf bytes = {0};
    struct bb_bytes unit = {0};
    struct bb_place place = {.file = file->file->path, .offset = index->head.offset};
    if (!bb_directory_entry_is_read(index))
        return bb_fail(BB_UNSUPPORTED, "%s: index %zu has the unknown kind %u", place.file, number,
                       (unsigned)index->spec.kind);
    enum bb_status status = read_unit(verification, BB_SKIP_UNIT_HEAD, index->head, &unit);
    if (status == BB_OK)
        status = bb_buf_assign(&bytes, unit);
    if (status == BB_OK)
        status = bb_index_head_decode(&bytes, &file->directory, index, file->size, place, &head);
    for (size_t i = 0; i < head.segment_count && status == BB_OK; i++)
        status = check_segment(verification, &head.segments[i], &index->spec);
    bb_index_head_deinit(&head);
    bb_buf_deinit(&bytes);
    return status;
}

static enum bb_status check_file(struct verification *verification)
{
    struct bb_skip_file *file = verification->file;
    struct bb_bytes unit = {0};
    struct bb_skip_section footer = {.offset = file->size - BB_SKIP_FOOTER_SIZE,
                                     .size = BB_SKIP_FOOTER_SIZE - BB_SKIP_MAGIC_SIZE};
    enum bb_status status = read_unit(verification, BB_SKIP_UNIT_FOOTER, footer, &unit);
    struct bb_skip_section directory = {0};
    if (status == BB_OK)
        directory = (struct bb_skip_section){.offset = bb_load64(unit.data),
                                             .size = bb_load64(unit.data + 8)};
    if (status == BB_OK)
        status = read_unit(verification, BB_SKIP_UNIT_DIRECTORY, directory, &unit);
    if (status == BB_OK)
        status = read_unit(verification, BB_SKIP_UNIT_GRANULES, file->directory.granules, &unit);
    for (size_t i = 0; i < file->directory.index_count && status == BB_OK; i++)
        status = check_index(verification, i);
    verification->checked += BB_SKIP_MAGIC_SIZE;
    if (status == BB_OK && verification->checked != file->size)
        status =
            bb_fail(BB_CORRUPT, "%s: indexes have %llu bytes, the file has %llu", file->file->path,
                    (unsigned long long)verification->checked, (unsigned long long)file->size);
    return status;
}

enum bb_status bb_skip_file_verify(struct bb_skip_file *file)
{
    struct verification verification = {.file = file};
    enum bb_status status = check_file(&verification);
    bb_buf_deinit(&verification.scratch);
    return status;
}
