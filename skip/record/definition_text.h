/* The text of a definition, read from left to right: words, numbers, quoted text and marks.
 *
 * Blanks before each are skipped. Functions that fail give BB_INVALID; the message names the
 * expected part and the offset in the text. Threads: one.
 */
#ifndef BB_SKIP_RECORD_DEFINITION_TEXT_H
#define BB_SKIP_RECORD_DEFINITION_TEXT_H

#include "bb/base.h"

struct bb_definition_text {
    struct bb_bytes bytes;
    size_t at;
};

/* "definition '...': at offset N: REASON". Gives BB_INVALID. */
enum bb_status bb_definition_text_fail(const struct bb_definition_text *text, size_t offset,
                                       const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Where the next part begins. */
size_t bb_definition_text_next(struct bb_definition_text *text);
/* The byte there; 0 at the end. */
uint8_t bb_definition_text_peek(struct bb_definition_text *text);
/* Takes the mark if it is next. */
bool bb_definition_text_accept(struct bb_definition_text *text, uint8_t mark);
BB_MUST_CHECK enum bb_status bb_definition_text_expect(struct bb_definition_text *text,
                                                       uint8_t mark);
BB_MUST_CHECK enum bb_status bb_definition_text_expect_end(struct bb_definition_text *text);

/* A letter or '_', then letters, digits and '_'; what: the thing that it names, for the message.
 * Borrowed from the text. */
BB_MUST_CHECK enum bb_status bb_definition_text_word(struct bb_definition_text *text,
                                                     const char *what, struct bb_bytes *ret_word);
/* Decimal digits, low ... high. */
BB_MUST_CHECK enum bb_status bb_definition_text_number(struct bb_definition_text *text,
                                                       const char *what, uint64_t low,
                                                       uint64_t high, uint64_t *ret_number);
/* Text in single quotes, appended to buf without its escapes. */
BB_MUST_CHECK enum bb_status bb_definition_text_string(struct bb_definition_text *text,
                                                       const char *what, struct bb_buf *buf);

bool bb_definition_text_is_word(struct bb_bytes bytes);

/* Appends bytes in single quotes, with escapes. bb_definition_text_string reads them back. */
BB_MUST_CHECK enum bb_status bb_definition_text_print_string(struct bb_buf *buf,
                                                             struct bb_bytes bytes);

#endif
