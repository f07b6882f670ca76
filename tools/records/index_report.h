/* The indexes of a store: their progress and their sizes. */
#ifndef BB_TOOLS_RECORDS_INDEX_REPORT_H
#define BB_TOOLS_RECORDS_INDEX_REPORT_H

#include "bb/select.h"
#include "tools/output/output.h"

struct index_report {
    struct bb_db_index_list list;
    uint64_t raw_bytes; /* keys and values in tables, uncompressed */
};

/* Owned: index_report_deinit. */
BB_MUST_CHECK enum bb_status index_report_read(struct bb_db *db, struct index_report *ret_report);
void index_report_deinit(struct index_report *report);

/* How many index files there are, and their size; prints no line if there is neither file nor
 * index. */
void index_report_write_files(const struct index_report *report, struct output *out);
/* A row for each index. */
void index_report_write(const struct index_report *report, struct output *out);
json_t *index_report_json(const struct index_report *report);

#endif
