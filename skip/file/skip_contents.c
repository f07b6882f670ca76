/* The values that indexes keep of a granule, for people. See bb/skip.h. */
#include "base/alloc.h"
#include "base/status.h"
#include "skip/kind/column.h"
#include "skip/file/skip_file.h"
#include "skip/kind/value_set.h"

struct owned_contents {
    struct bb_skip_contents contents;
    struct bb_buf unit;              /* bytes of bounds and of the values of a set */
    struct bb_column_granule column; /* values of a column */
};

void bb_skip_contents_destroy(struct bb_skip_contents *contents)
{
    struct owned_contents *owned = (struct owned_contents *)(void *)contents;
    if (owned == NULL)
        return;
    bb_buf_deinit(&owned->unit);
    bb_column_granule_deinit(&owned->column);
    bb_free(owned);
}

static void add_value(struct bb_skip_contents *contents, const struct bb_attribute *value)
{
    if (contents->value_count < BB_SKIP_CONTENTS_VALUES)
        contents->values[contents->value_count] = *value;
    contents->value_count++;
}

/* A granule of an index. */
struct place {
    struct bb_skip_file *file;
    const struct bb_head_segment *segment;
    enum bb_attribute_type type;
    uint32_t granule; /* of the segment */
};

static enum bb_status refuse(const struct place *place, struct bb_skip_section section)
{
    struct bb_place at = {.file = place->file->file->path, .offset = section.offset};
    return bb_corrupt(at, 0, "an index is malformed: build the index file again");
}

static enum bb_status read_unit(const struct place *place, struct bb_skip_section section,
                                struct owned_contents *owned, struct bb_bytes *ret_unit)
{
    return bb_skip_file_read(place->file, BB_SKIP_UNIT_DATA, section, &owned->unit, NULL, ret_unit);
}

static enum bb_status read_bounds(const struct place *place, struct owned_contents *owned)
{
    struct bb_bytes unit = {0};
    struct bb_read_bounds bounds = {0};
    enum bb_status status = read_unit(place, place->segment->data, owned, &unit);
    struct bb_cursor cursor = bb_cursor_of(unit);
    for (uint32_t i = 0; i <= place->granule && status == BB_OK; i++)
        if (!bb_min_max_bounds_decode(&cursor, place->type, &bounds))
            status = refuse(place, place->segment->data);
    if (status != BB_OK)
        return status;
    struct bb_skip_contents *contents = &owned->contents;
    contents->has_nan = bounds.has_nan;
    contents->has_low = bounds.has_values;
    contents->has_high = bounds.has_values && !bounds.values.high_is_open;
    contents->low = bounds.values.low;
    contents->high = bounds.values.high;
    return BB_OK;
}

/* A value of a segment, on its way to the contents of a granule that has it. */
struct visit {
    struct bb_skip_contents *contents;
    uint32_t granule;
};

static void visit_value(void *context, const struct bb_attribute *value,
                        const struct bb_granule_bits *granules)
{
    const struct visit *visit = context;
    if (bb_granule_bits_has(granules, visit->granule))
        add_value(visit->contents, value);
}

static enum bb_status read_values(const struct place *place, struct owned_contents *owned)
{
    struct bb_bytes unit = {0};
    struct visit visit = {.contents = &owned->contents, .granule = place->granule};
    enum bb_status status = read_unit(place, place->segment->data, owned, &unit);
    if (status == BB_OK &&
        !bb_value_set_visit(unit, place->type, place->segment->granule_count, visit_value, &visit))
        status = refuse(place, place->segment->data);
    return status;
}

static enum bb_status read_column(const struct place *place, struct owned_contents *owned)
{
    struct bb_bytes unit = {0};
    const struct bb_head_chunk *chunk = place->segment->chunks;
    while (place->granule >= chunk->first_granule + chunk->granule_count)
        chunk++;
    enum bb_status status = read_unit(place, chunk->data, owned, &unit);
    if (status != BB_OK)
        return status;
    status = bb_column_granule_read(&owned->column, place->type, unit, chunk->granule_count,
                                    place->granule - chunk->first_granule);
    if (status == BB_CORRUPT)
        return refuse(place, chunk->data);
    owned->contents.is_indexed = status != BB_NOT_FOUND;
    for (size_t i = 0; status == BB_OK && i < owned->column.value_count; i++)
        add_value(&owned->contents, &owned->column.values[i]);
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status read_segment(const struct place *place, struct owned_contents *owned)
{
    owned->contents.is_indexed = true;
    switch (place->segment->form) {
    case BB_SKIP_FORM_BOUNDS:
        return read_bounds(place, owned);
    case BB_SKIP_FORM_VALUES:
        return read_values(place, owned);
    case BB_SKIP_FORM_COLUMN:
        return read_column(place, owned);
    default:
        owned->contents.is_indexed = false;
        return BB_OK;
    }
}

static enum bb_status find_place(struct bb_skip_file *file, size_t index, size_t granule,
                                 struct place *ret_place)
{
    const struct bb_loaded_head *loaded = NULL;
    const struct bb_directory_entry *entry = &file->directory.indexes[index];
    enum bb_status status = bb_skip_file_head(file, index, NULL, &loaded);
    if (status == BB_OK && loaded->is_damaged)
        status =
            bb_fail(BB_CORRUPT, "%s: the head of index %zu is damaged", file->file->path, index);
    if (status != BB_OK)
        return status;
    const struct bb_head_segment *segment = loaded->head.segments;
    while (granule >= segment->first_granule + segment->granule_count)
        segment++;
    *ret_place = (struct place){.file = file,
                                .segment = segment,
                                .type = file->directory.attributes[entry->spec.attribute].type,
                                .granule = (uint32_t)(granule - segment->first_granule)};
    return BB_OK;
}

static bool has_contents(const struct bb_directory_entry *entry)
{
    return entry->is_known &&
           (entry->spec.kind == BB_SKIP_MIN_MAX || entry->spec.kind == BB_SKIP_SET ||
            entry->spec.kind == BB_SKIP_COLUMN);
}

enum bb_status bb_skip_file_contents(struct bb_skip_file *file, size_t index, size_t granule,
                                     struct bb_skip_contents **ret_contents)
{
    struct place place;
    if (index >= file->directory.index_count || granule >= file->granules.granule_count ||
        !has_contents(&file->directory.indexes[index]))
        return bb_fail(BB_INVALID, "index %zu, granule %zu: no such index of values", index,
                       granule);
    enum bb_status status = find_place(file, index, granule, &place);
    if (status != BB_OK)
        return status;
    struct owned_contents *owned = bb_alloc_zeroed(1, sizeof(*owned));
    if (owned == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the values of a granule");
    status = read_segment(&place, owned);
    if (status == BB_OK)
        *ret_contents = &owned->contents;
    else
        bb_skip_contents_destroy(&owned->contents);
    return status;
}
