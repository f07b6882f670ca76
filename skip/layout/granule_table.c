/* See granule_table.h. */
#include "skip/layout/granule_table.h"

#include "base/alloc.h"
#include "base/assert.h"

static_assert(BB_ATTRIBUTE_NULL == 1 && BB_ATTRIBUTE_MALFORMED == BB_GRANULE_STATES,
              "columns follow the states");

enum bb_status bb_granule_table_builder_init(struct bb_granule_table_builder *builder,
                                             size_t attribute_count)
{
    *builder =
        (struct bb_granule_table_builder){.column_count = attribute_count * BB_GRANULE_STATES};
    builder->columns = bb_alloc_zeroed(builder->column_count + 1, sizeof(builder->columns[0]));
    return builder->columns != NULL
               ? BB_OK
               : bb_fail(BB_NO_MEMORY, "no memory for the granules of an index");
}

void bb_granule_table_builder_deinit(struct bb_granule_table_builder *builder)
{
    for (size_t i = 0; builder->columns != NULL && i < builder->column_count; i++)
        bb_buf_deinit(&builder->columns[i].bytes);
    bb_free(builder->columns);
    bb_buf_deinit(&builder->places);
    bb_buf_deinit(&builder->records);
    *builder = (struct bb_granule_table_builder){0};
}

enum bb_status bb_granule_table_builder_add(struct bb_granule_table_builder *builder,
                                            uint64_t place, uint64_t record_count,
                                            const uint32_t *counts)
{
    BB_DEBUG_ASSERT(place >= builder->last_place);
    enum bb_status status = bb_append_varint(&builder->places, place - builder->last_place);
    if (status == BB_OK)
        status = bb_append_varint(&builder->records, record_count);
    for (size_t i = 0; i < builder->column_count && status == BB_OK; i++) {
        status = bb_append_varint(&builder->columns[i].bytes, counts[i]);
        builder->columns[i].is_used |= counts[i] != 0;
    }
    builder->last_place = place;
    return status;
}

static enum bb_status append_all(struct bb_buf *buf, const struct bb_buf *part)
{
    return bb_buf_append(buf, part->data, part->size);
}

enum bb_status bb_granule_table_builder_append(const struct bb_granule_table_builder *builder,
                                               struct bb_buf *buf)
{
    enum bb_status status = append_all(buf, &builder->places);
    if (status == BB_OK)
        status = append_all(buf, &builder->records);
    for (size_t i = 0; i < builder->column_count && status == BB_OK; i++) {
        const struct bb_granule_column *column = &builder->columns[i];
        status = bb_append_u8(buf, column->is_used);
        if (status == BB_OK && column->is_used)
            status = append_all(buf, &column->bytes);
    }
    return status;
}

/* --- Reading --- */

void bb_granule_table_deinit(struct bb_granule_table *table)
{
    for (size_t i = 0; table->columns != NULL && i < table->column_count; i++)
        bb_free(table->columns[i]);
    bb_free(table->columns);
    bb_free(table->places);
    bb_free(table->records);
    *table = (struct bb_granule_table){0};
}

static bool decode_places(struct bb_cursor *cursor, struct bb_granule_table *table)
{
    uint64_t place = 0;
    for (size_t i = 0; i < table->granule_count; i++) {
        uint64_t step = 0;
        if (!bb_decode_varint64(cursor, &step) || step > UINT64_MAX - place)
            return false;
        place += step;
        table->places[i] = place;
    }
    return true;
}

static bool decode_numbers(struct bb_cursor *cursor, uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!bb_decode_varint32(cursor, &numbers[i]))
            return false;
    return true;
}

static enum bb_status no_memory(size_t count)
{
    return bb_fail(BB_NO_MEMORY, "no memory for %zu granules of an index", count);
}

static enum bb_status decode_column(struct bb_cursor *cursor, struct bb_place place,
                                    struct bb_granule_table *table, size_t column)
{
    uint8_t is_used = 0;
    if (!bb_decode_u8(cursor, &is_used) || is_used > 1 ||
        (is_used == 1 && bb_cursor_left(cursor) < table->granule_count))
        return bb_corrupt(place, 0, "the granule table of the indexes is cut off");
    if (is_used == 0)
        return BB_OK;
    table->columns[column] = bb_alloc_zeroed(table->granule_count, sizeof(uint32_t));
    if (table->columns[column] == NULL)
        return no_memory(table->granule_count);
    if (!decode_numbers(cursor, table->columns[column], table->granule_count))
        return bb_corrupt(place, 0, "the granule table of the indexes is malformed");
    return BB_OK;
}

/* Does every granule have at least as many records as it has in these states? */
static bool counts_are_possible(const struct bb_granule_table *table)
{
    for (size_t attribute = 0; attribute < table->column_count / BB_GRANULE_STATES; attribute++)
        for (size_t granule = 0; granule < table->granule_count; granule++)
            if (bb_granule_table_nulls(table, granule, attribute) > table->records[granule])
                return false;
    return true;
}

static enum bb_status decode(struct bb_cursor *cursor, struct bb_place place,
                             struct bb_granule_table *table)
{
    table->places = bb_alloc_zeroed(table->granule_count + 1, sizeof(table->places[0]));
    table->records = bb_alloc_zeroed(table->granule_count + 1, sizeof(table->records[0]));
    table->columns = bb_alloc_zeroed(table->column_count + 1, sizeof(table->columns[0]));
    if (table->places == NULL || table->records == NULL || table->columns == NULL)
        return no_memory(table->granule_count);
    if (!decode_places(cursor, table) ||
        !decode_numbers(cursor, table->records, table->granule_count))
        return bb_corrupt(place, 0, "the granule table of the indexes is malformed");
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < table->column_count && status == BB_OK; i++)
        status = decode_column(cursor, place, table, i);
    if (status == BB_OK && (bb_cursor_left(cursor) != 0 || !counts_are_possible(table)))
        status = bb_corrupt(place, 0, "the granule table of the indexes contradicts itself");
    return status;
}

enum bb_status bb_granule_table_decode(struct bb_bytes section, struct bb_place place,
                                       size_t granule_count, size_t attribute_count,
                                       struct bb_granule_table *ret_table)
{
    struct bb_granule_table table = {.granule_count = granule_count,
                                     .column_count = attribute_count * BB_GRANULE_STATES};
    struct bb_cursor cursor = bb_cursor_of(section);
    if (section.size / 2 < granule_count)
        return bb_corrupt(place, 0,
                          "the granule table of the indexes has %zu bytes for %zu granules",
                          section.size, granule_count);
    enum bb_status status = decode(&cursor, place, &table);
    if (status != BB_OK)
        bb_granule_table_deinit(&table);
    else
        *ret_table = table;
    return status;
}
