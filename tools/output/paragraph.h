/* Text filled into lines of a terminal of 80 columns: the help of the command. */
#ifndef BB_TOOLS_OUTPUT_PARAGRAPH_H
#define BB_TOOLS_OUTPUT_PARAGRAPH_H

#include "tools/output/output.h"

#define PARAGRAPH_COLUMNS 80

/* Prints the words of text from column `from` on, each line indented to there. column: where the
 * first line already is. Ends with a newline. */
void paragraph_print(struct output *out, const char *text, size_t column, size_t from);

/* Prints a page: lines that follow each other are one paragraph, which is filled. An empty line
 * separates paragraphs. A line that begins with a blank (an example, a table) is kept unchanged. */
void paragraph_print_page(struct output *out, const char *page);

#endif
