/* Where a text of the command line is wrong, shown below it. */
#ifndef BB_TOOLS_RECORDS_CARET_H
#define BB_TOOLS_RECORDS_CARET_H

/* Writes to stderr the text and, in the next line, a caret below the byte that the thread's latest
 * failure names. Of a long text it writes the part around the byte. It writes no line if the
 * failure names no byte. */
void caret_show(const char *text);

#endif
