/* Divides bytes into characters: a valid UTF-8 sequence is one character, and so is each byte that
 * is in no valid sequence. Valid sequences do not overlap, so the bytes around a place decide
 * whether it is a boundary. */
#ifndef BB_SKIP_CONDITION_CHARACTER_H
#define BB_SKIP_CONDITION_CHARACTER_H

#include "bb/base.h"

/* Bytes of the character that begins at this place, 1 to 4. REQUIRES: at < text.size. */
size_t bb_character_size(struct bb_bytes text, size_t at);

/* False within a valid sequence. REQUIRES: at <= text.size. */
bool bb_character_is_boundary(struct bb_bytes text, size_t at);

/* Bytes of the character that ends at this place. REQUIRES: 0 < at, a boundary. */
size_t bb_character_size_before(struct bb_bytes text, size_t at);

#endif
