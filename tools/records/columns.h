/* The printed columns of a record: attributes, its key and its value. */
#ifndef BB_TOOLS_RECORDS_COLUMNS_H
#define BB_TOOLS_RECORDS_COLUMNS_H

#include "bb/record.h"
#include "tools/output/output.h"

enum column_kind {
    COLUMN_ATTRIBUTE,
    COLUMN_KEY,
    COLUMN_VALUE,
};

struct column {
    enum column_kind kind;
    size_t attribute; /* number in the schema */
    const char *name; /* borrowed from the schema, or constant */
};

struct columns {
    struct column *list;
    size_t count;
    bool needs_attributes;
};

/* "time,host": names of attributes; "key" and "value" if no attribute has that name. BB_INVALID
 * names an unknown column. Owned: columns_deinit. */
BB_MUST_CHECK enum bb_status columns_parse(struct columns *columns, const char *text,
                                           const struct bb_schema *schema);
void columns_deinit(struct columns *columns);

/* A record of a store or of a file. */
struct shown_record {
    struct bb_bytes key;
    struct bb_bytes value;
    const struct bb_attribute *attributes; /* needed when needs_attributes */
};

void columns_write_tsv(const struct columns *columns, const struct shown_record *record,
                       struct output *out);
/* The fields, without braces. */
void columns_write_json(const struct columns *columns, const struct shown_record *record,
                        struct output *out);

#endif
