/* Patterns of LIKE: % is any bytes, _ one character (character.h), a backslash makes a following %,
 * _ or backslash literal; any other backslash is literal too.
 *
 * A pattern is segments with % between them. Each is matched at its first place after the previous
 * one: a later place never helps, because a segment that begins later does not end earlier. So
 * matching takes the product of the sizes at worst. A pattern is constant.
 */
#ifndef BB_SKIP_CONDITION_LIKE_H
#define BB_SKIP_CONDITION_LIKE_H

#include "base/buf.h"

/* Literal bytes, or some characters. */
struct bb_like_item {
    struct bb_bytes literal; /* in lower case where case is ignored */
    size_t any_count;        /* not 0: characters, and no literal */
};

struct bb_like_segment {
    const struct bb_like_item *items;
    size_t item_count; /* at least 1 */
};

struct bb_like {
    struct bb_like_segment *segments;
    size_t segment_count;  /* 0: the pattern is empty, or just % */
    bool is_open_at_start; /* begins with % */
    bool is_open_at_end;
    bool ignores_case; /* of ASCII letters */
    /* Memory that the pointers above point to. */
    struct bb_like_item *items;
    uint8_t *bytes;
};

BB_MUST_CHECK enum bb_status bb_like_create(struct bb_bytes pattern, bool ignores_case,
                                            struct bb_like **ret_like);
void bb_like_destroy(struct bb_like *like);

bool bb_like_match(const struct bb_like *like, struct bb_bytes text);

/* Appends a pattern of the same meaning: one text for one meaning. */
BB_MUST_CHECK enum bb_status bb_like_print(const struct bb_like *like, struct bb_buf *buf);

/* Appends text, with escapes before bytes that are special in a pattern. */
BB_MUST_CHECK enum bb_status bb_like_escape(struct bb_bytes text, struct bb_buf *buf);

#endif
