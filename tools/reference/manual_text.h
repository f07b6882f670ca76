/* The text of the help in the language of man(7). */
#ifndef BB_TOOLS_REFERENCE_MANUAL_TEXT_H
#define BB_TOOLS_REFERENCE_MANUAL_TEXT_H

#include "tools/output/output.h"

/* Words in a line: `...` becomes bold, and dashes of options stay dashes. No newline follows. */
void manual_text_write(const char *text, struct output *out);

/* Text in a bold or italic font: 'B' or 'I'. */
void manual_text_write_font(char font, const char *text, struct output *out);

/* The arguments of a usage line: capitals are italic, "DIR [FILE...]". */
void manual_text_write_arguments(const char *arguments, struct output *out);

/* A page of the help (paragraph_print_page): paragraphs, and lines that are kept. */
void manual_text_write_page(const char *page, struct output *out);

#endif
