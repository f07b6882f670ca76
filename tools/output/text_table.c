/* See text_table.h. */
#include "tools/output/text_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"

/* Characters, not bytes: counts the bytes that do not continue a UTF-8 sequence. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

void text_table_init(struct text_table *table, const char *const *headers, size_t column_count)
{
    BB_ASSERT(column_count <= TEXT_TABLE_COLUMNS_MAX);
    *table =
        (struct text_table){.headers = headers, .column_count = column_count, .left_columns = 1};
    for (size_t i = 0; i < column_count; i++)
        table->widths[i] = width_of(headers[i]);
}

void text_table_deinit(struct text_table *table)
{
    bb_buf_deinit(&table->cells);
}

void text_table_add(struct text_table *table, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0 || bb_buf_append(&table->cells, text, (size_t)size + 1) != BB_OK) {
        table->has_failed = true;
        free(size < 0 ? NULL : text);
        return;
    }
    size_t *width = &table->widths[table->cell_count % table->column_count];
    size_t own = width_of(text);
    *width = own > *width ? own : *width;
    table->cell_count++;
    free(text);
}

static void write_cell(const struct text_table *table, size_t column, const char *text,
                       struct output *out)
{
    int padding = (int)(table->widths[column] - width_of(text));
    bool is_left = (table->left_columns >> column & 1) != 0;
    bool is_last = column + 1 == table->column_count;
    output_print(out, "%s%*s%s%*s%s", column == 0 ? "" : "  ", is_left ? 0 : padding, "", text,
                 is_left && !is_last ? padding : 0, "", is_last ? "\n" : "");
}

void text_table_write(const struct text_table *table, struct output *out)
{
    if (table->has_failed) {
        out->has_failed = true;
        return;
    }
    for (size_t i = 0; i < table->column_count; i++)
        write_cell(table, i, table->headers[i], out);
    const char *cell = (const char *)table->cells.data;
    for (size_t i = 0; i < table->cell_count; i++) {
        write_cell(table, i % table->column_count, cell, out);
        cell += strlen(cell) + 1;
    }
}
