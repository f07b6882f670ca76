/* Rows of exported JSON lines, written and read in one pass without a document in memory, which
 * takes six times as long:
 *
 *     row   := {"key":TEXT,"value":TEXT}
 *     field := "key":TEXT, or for bytes that are not UTF-8 "key_hex":"DIGITS"; the same for value
 *
 * Rows of any other shape, and rows with errors, are jansson's. */
#ifndef BB_TOOLS_OUTPUT_JSON_ROW_H
#define BB_TOOLS_OUTPUT_JSON_ROW_H

#include "tools/output/output.h"

struct json_row {
    struct bb_bytes key; /* borrowed from the line or from the buffers, until the next row */
    struct bb_bytes value;
    struct bb_buf key_decoded; /* owned: json_row_deinit */
    struct bb_buf value_decoded;
};

void json_row_deinit(struct json_row *row);

/* Prints a row and a newline. is_hex: UTF-8 as digits too. scratch: owned by the caller, its
 * contents are replaced. */
BB_MUST_CHECK enum bb_status json_row_write(struct output *out, struct bb_bytes key,
                                            struct bb_bytes value, bool is_hex,
                                            struct bb_buf *scratch);

/* *ret_is_row: the line is a row: a key, then a value, perhaps with blanks between the parts.
 * BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status json_row_read(struct json_row *row, struct bb_bytes line,
                                           bool *ret_is_row);

#endif
