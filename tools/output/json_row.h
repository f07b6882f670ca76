/* Plain rows of exported JSON lines, {"key":"...","value":"..."}: written and read without a
 * document in memory, which takes five times as long.
 *
 * A string is plain if it is valid UTF-8 without quotes, backslashes and control characters. Every
 * other row is jansson's, and for a plain row both give the same result. */
#ifndef BB_TOOLS_OUTPUT_JSON_ROW_H
#define BB_TOOLS_OUTPUT_JSON_ROW_H

#include "tools/output/output.h"

/* Prints the row and a newline. */
void json_row_write(struct output *out, struct bb_bytes key, struct bb_bytes value);
/* True if the line is a plain row: key and value are borrowed from it. Blanks may separate
 * its parts. */
bool json_row_read(struct bb_bytes line, struct bb_bytes *ret_key, struct bb_bytes *ret_value);

#endif
