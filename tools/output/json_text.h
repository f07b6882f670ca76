/* Texts of JSON, without their quotes. */
#ifndef BB_TOOLS_OUTPUT_JSON_TEXT_H
#define BB_TOOLS_OUTPUT_JSON_TEXT_H

#include "bb/base.h"

/* Appends the bytes with JSON's escapes. *ret_is_text is false if they are not UTF-8: then the
 * buffer is unchanged. */
BB_MUST_CHECK enum bb_status json_text_append(struct bb_buf *buf, struct bb_bytes bytes,
                                              bool *ret_is_text);

/* Reads the text after an opening quote at the front of *rest, and moves *rest after the closing
 * one. The text is borrowed from *rest, or decoded into the buffer, whose contents are replaced.
 * *ret_is_text is false for errors: no closing quote, control characters, unknown escapes, half
 * surrogates, bytes that are not UTF-8. */
BB_MUST_CHECK enum bb_status json_text_read(struct bb_bytes *rest, struct bb_buf *decoded,
                                            struct bb_bytes *ret_text, bool *ret_is_text);

#endif
