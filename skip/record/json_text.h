/* Parts of a JSON text (RFC 8259): strings without their escapes, numbers and words. Threads:
 * any. */
#ifndef BB_SKIP_RECORD_JSON_TEXT_H
#define BB_SKIP_RECORD_JSON_TEXT_H

#include "bb/record.h"

/* Writes the bytes between the quotes of a string without escapes: not more bytes than it has.
 * False for an invalid escape, and for half of a surrogate pair. */
bool bb_json_text_unescape(struct bb_bytes text, uint8_t *target, size_t *ret_size);

/* NULL for null, PRESENT for true, false and a number, MALFORMED for others. */
enum bb_attribute_state bb_json_text_scalar_state(struct bb_bytes text);

/* Reads the digits after "\u", and the second escape if it is a pair of surrogates; moves *at past
 * it. False for no digits and half of a pair. */
bool bb_json_text_read_code(const uint8_t **at, const uint8_t *end, uint32_t *ret_code);
/* Writes 1 to 4 bytes. REQUIRES: code <= 0x10ffff. */
size_t bb_json_text_encode_utf8(uint32_t code, uint8_t *target);

#endif
