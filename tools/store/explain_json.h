/* Writes the report of a lookup (bb/db_explain.h) as JSON. */
#ifndef BB_TOOLS_STORE_EXPLAIN_JSON_H
#define BB_TOOLS_STORE_EXPLAIN_JSON_H

#include "bb/db_explain.h"
#include "tools/output/output.h"

/* is_hex: the key as digits, even if it is UTF-8. */
void explain_json_write(const struct bb_explain *report, struct bb_bytes key, bool is_hex,
                        struct output *out);

#endif
