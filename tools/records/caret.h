/* Where a text of the command line is wrong, shown below it. */
#ifndef BB_TOOLS_RECORDS_CARET_H
#define BB_TOOLS_RECORDS_CARET_H

/* Writes to stderr the text and, in the next line, a caret below the byte that the thread's latest
 * failure names. Of a long text the part around it. Nothing when the failure names no byte of it. */
void caret_show(const char *text);

#endif
