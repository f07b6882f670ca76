/* Rows and columns for people: cells are collected, and printed when all widths are known. Sticky:
 * if memory runs out, the table stays incomplete, and text_table_write reports it through the
 * output. */
#ifndef BB_TOOLS_OUTPUT_TEXT_TABLE_H
#define BB_TOOLS_OUTPUT_TEXT_TABLE_H

#include "tools/output/output.h"

#define TEXT_TABLE_COLUMNS_MAX 16

struct text_table {
    const char *const *headers; /* borrowed */
    size_t column_count;
    size_t cell_count;
    size_t widths[TEXT_TABLE_COLUMNS_MAX];
    uint32_t left_columns; /* bits of the columns that are left-aligned; others are right-aligned */
    bool has_failed;
    struct bb_buf cells; /* terminated strings */
};

/* Column 0 is left-aligned; more are by setting left_columns. Owned: text_table_deinit. */
void text_table_init(struct text_table *table, const char *const *headers, size_t column_count);
void text_table_deinit(struct text_table *table);
/* The next cell, row by row. */
void text_table_add(struct text_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void text_table_write(const struct text_table *table, struct output *out);

#endif
