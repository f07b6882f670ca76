/* See columns.h. */
#include "tools/records/columns.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/records/attribute_text.h"

static size_t count_names(const char *text)
{
    size_t count = 1;
    for (; *text != '\0'; text++)
        count += *text == ',';
    return count;
}

/* "a, b, c", cut when they are many. */
static void list_names(const struct bb_schema *schema, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < bb_schema_count(schema) && used < size - 80; i++)
        used += (size_t)snprintf(text + used, size - used, "%s, ", bb_schema_name(schema, i));
}

static enum bb_status find_column(struct bb_bytes name, const struct bb_schema *schema,
                                  struct column *column)
{
    char known[400];
    if (bb_schema_find(schema, name, &column->attribute) == BB_OK) {
        column->kind = COLUMN_ATTRIBUTE;
        column->name = bb_schema_name(schema, column->attribute);
        return BB_OK;
    }
    if (bb_bytes_equal(name, bb_bytes_of_text("key"))) {
        *column = (struct column){.kind = COLUMN_KEY, .name = "key"};
        return BB_OK;
    }
    if (bb_bytes_equal(name, bb_bytes_of_text("value"))) {
        *column = (struct column){.kind = COLUMN_VALUE, .name = "value"};
        return BB_OK;
    }
    list_names(schema, known, sizeof(known));
    return bb_fail(BB_INVALID,
                   "option --columns: there is no attribute \"%.*s\"; known are %skey "
                   "and value",
                   name.size > 100 ? 100 : (int)name.size, (const char *)name.data, known);
}

enum bb_status columns_parse(struct columns *columns, const char *text,
                             const struct bb_schema *schema)
{
    size_t count = count_names(text);
    columns->list = bb_alloc_zeroed(count, sizeof(*columns->list));
    if (columns->list == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu columns", count);
    for (; columns->count < count; columns->count++) {
        size_t size = strcspn(text, ",");
        struct column *column = &columns->list[columns->count];
        enum bb_status status = find_column(bb_bytes_of(text, size), schema, column);
        if (status != BB_OK)
            return status;
        columns->needs_attributes |= column->kind == COLUMN_ATTRIBUTE;
        text += size + 1;
    }
    return BB_OK;
}

void columns_deinit(struct columns *columns)
{
    bb_free(columns->list);
    *columns = (struct columns){0};
}

/* Of key or value. */
static struct bb_bytes bytes_of(const struct column *column, const struct shown_record *record)
{
    return column->kind == COLUMN_KEY ? record->key : record->value;
}

void columns_write_tsv(const struct columns *columns, const struct shown_record *record,
                       struct output *out)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->list[i];
        if (i > 0)
            output_write(out, bb_bytes_of("\t", 1));
        if (column->kind == COLUMN_ATTRIBUTE)
            attribute_write_tsv(out, &record->attributes[column->attribute]);
        else
            output_bytes(out, bytes_of(column, record), false);
    }
}

void columns_write_json(const struct columns *columns, const struct shown_record *record,
                        struct output *out)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->list[i];
        if (i > 0)
            output_write(out, bb_bytes_of(",", 1));
        if (column->kind == COLUMN_ATTRIBUTE)
            attribute_write_json(out, column->name, &record->attributes[column->attribute]);
        else
            bytes_write_json(out, column->name, bytes_of(column, record));
    }
}
