/* The part of words.c that needs tables of Unicode. segments_unistring.c takes them from GNU
 * libunistring; segments_none.c is for builds without it. */
#ifndef BB_SKIP_CONDITION_SEGMENTS_H
#define BB_SKIP_CONDITION_SEGMENTS_H

#include "bb/base.h"

/* Whether there is a boundary on both sides of this ASCII byte in every text. */
bool bb_segments_always_break_at(uint8_t byte);

/* breaks[i]: a segment begins at byte i. text: valid UTF-8, breaks: text.size. */
void bb_segments_find(struct bb_bytes text, char *breaks);

/* Whether valid UTF-8 has a letter or a digit: a character of Unicode's categories L and N. */
bool bb_segments_have_letter(struct bb_bytes text);

/* Full case folding of valid UTF-8. space: as in bb_word_fold. */
struct bb_bytes bb_segments_fold(struct bb_bytes text, uint8_t *space);

#endif
