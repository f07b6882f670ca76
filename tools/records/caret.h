/* Where a text of the command line is wrong, shown below it. */
#ifndef BB_TOOLS_RECORDS_CARET_H
#define BB_TOOLS_RECORDS_CARET_H

#include "bb/condition.h"

/* Writes to stderr the text and, in the next line, a caret below the byte that the thread's latest
 * failure names. Of a long text it writes the part around the byte. It writes no line if the
 * failure names no byte. */
void caret_show(const char *text);

/* Parses a condition, and shows where it is wrong. *ret_condition: owned; unchanged after a
 * failure. */
BB_MUST_CHECK enum bb_status caret_parse_condition(const struct bb_schema *schema, const char *text,
                                                   struct bb_condition **ret_condition);

#endif
