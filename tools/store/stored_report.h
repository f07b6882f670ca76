/* The options that a store keeps, for `stat`. */
#ifndef BB_TOOLS_STORE_STORED_REPORT_H
#define BB_TOOLS_STORE_STORED_REPORT_H

#include "bb/db.h"
#include "tools/output/output.h"

/* A line of command line options, or "none". */
void stored_report_write(const struct bb_db_options *stored, struct output *out);
/* An object with a member for each, named as in struct bb_db_options. Owned. */
json_t *stored_report_json(const struct bb_db_options *stored);

#endif
