/* Keys and values are arbitrary bytes. These functions show and parse them.
 *
 * Shown: valid UTF-8 unchanged, except for characters that control a terminal or are invisible:
 * control characters (C0, DEL, C1), the characters that turn the direction of text, and bytes that
 * are not UTF-8. Tab, newline and carriage return become \t \n \r, the others \xNN byte by byte,
 * and a backslash is doubled, so that the text can be turned back. Typed: text, or hexadecimal
 * digits with --hex.
 */
#ifndef BB_TOOLS_OUTPUT_ESCAPE_H
#define BB_TOOLS_OUTPUT_ESCAPE_H

#include "bb/base.h"

enum escape_style {
    ESCAPE_ALL,
    ESCAPE_KEEP_BACKSLASH, /* for messages, which are not turned back */
};

BB_MUST_CHECK enum bb_status escape_append(struct bb_buf *buf, struct bb_bytes bytes,
                                           enum escape_style style);

/* Lower-case hexadecimal digits. */
BB_MUST_CHECK enum bb_status hex_append(struct bb_buf *buf, struct bb_bytes bytes);
/* Appends the bytes of hexadecimal digits. BB_INVALID names the invalid digit, or an odd count. */
BB_MUST_CHECK enum bb_status hex_decode(struct bb_bytes digits, struct bb_buf *buf);

/* Length of the valid UTF-8 sequence at the front, 1 ... 4; 0 if the bytes are not valid UTF-8. */
size_t utf8_sequence_size(struct bb_bytes bytes);
bool utf8_valid(struct bb_bytes bytes);

#endif
