/* The tables of a store: a row for each. */
#ifndef BB_TOOLS_STORE_TABLE_REPORT_H
#define BB_TOOLS_STORE_TABLE_REPORT_H

#include "bb/db.h"
#include "tools/output/output.h"

void table_report_write(const struct bb_db_table_list *tables, struct output *out);
/* An array of objects. Owned. */
json_t *table_report_json(const struct bb_db_table_list *tables);

/* Is the path a directory, so that a command for one file lists the tables in it? */
bool table_report_is_for(const char *path);
/* Prints the tables of the store in the directory, which it opens read-only, concurrently with a
 * writer if there is one. */
BB_MUST_CHECK enum bb_status table_report_show(const char *directory, struct output *out);

#endif
