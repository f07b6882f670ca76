/* See range_rows.h. */
#include "tools/store/range_rows.h"

#include <inttypes.h>

static void add_row(const struct range_rows *rows,
                    const struct bb_range_tombstone_fragment *fragment)
{
    json_t *row = json_object();
    json_t *sequences = json_array();
    for (size_t i = 0; i < fragment->count; i++)
        json_array_append_new(sequences, json_integer((json_int_t)fragment->sequences[i]));
    json_set_shown(row, "low", fragment->low, rows->is_hex);
    json_set_shown(row, "high", fragment->high, rows->is_hex);
    json_object_set_new(row, "sequences", sequences);
    json_array_append_new(rows->list, row);
}

static void print_row(const struct range_rows *rows,
                      const struct bb_range_tombstone_fragment *fragment)
{
    output_print(rows->out, "  ");
    output_bytes(rows->out, fragment->low, rows->is_hex);
    output_print(rows->out, "\t");
    output_bytes(rows->out, fragment->high, rows->is_hex);
    for (size_t i = 0; i < fragment->count; i++)
        output_print(rows->out, "%c%" PRIu64, i == 0 ? '\t' : ' ', fragment->sequences[i]);
    output_print(rows->out, "\n");
}

void range_rows_write(const struct range_rows *rows, const struct bb_range_tombstones *list)
{
    size_t count = list->count > rows->limit ? (size_t)rows->limit : list->count;
    if (rows->list == NULL)
        output_print(rows->out, "\nrange tombstones: low, high (exclusive), sequences\n");
    for (size_t i = 0; i < count; i++) {
        if (rows->list != NULL)
            add_row(rows, &list->fragments[i]);
        else
            print_row(rows, &list->fragments[i]);
    }
    if (rows->list == NULL && count < list->count)
        output_print(rows->out, "  (%zu of %zu ranges; --limit shows more)\n", count, list->count);
}
