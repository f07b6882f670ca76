/* A row of CSV, or of other fields with quotes, field by field. Threads: a row belongs to one. */
#ifndef BB_SKIP_RECORD_CSV_ROW_H
#define BB_SKIP_RECORD_CSV_ROW_H

#include "skip/record/pass.h"

struct bb_csv_row {
    const uint8_t *at; /* the next field; NULL after the last */
    const uint8_t *end;
    uint8_t separator;
};

/* The text of a field, between its quotes if it has some. */
struct bb_csv_field {
    enum bb_attribute_state state; /* PRESENT, MALFORMED */
    struct bb_bytes text;
    bool has_doubled_quotes; /* each "" of the text means one */
};

static inline void bb_csv_row_init(struct bb_csv_row *row, struct bb_bytes line, uint8_t separator)
{
    bool is_empty = line.size == 0; /* and perhaps without an address */
    row->at = is_empty ? NULL : line.data;
    row->end = is_empty ? NULL : line.data + line.size;
    row->separator = separator;
}

/* REQUIRES: row->at is not NULL. */
struct bb_csv_field bb_csv_row_next(struct bb_csv_row *row);

/* Writes the text with one quote for every two: not more bytes than it has. Gives their number. */
size_t bb_csv_row_unquote(struct bb_bytes text, uint8_t *target);

#endif
