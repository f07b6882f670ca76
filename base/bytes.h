/* Operations on borrowed bytes. */
#ifndef BB_BASE_BYTES_H
#define BB_BASE_BYTES_H

#include <string.h>

#include "bb/base.h"

static inline struct bb_bytes bb_bytes_of(const void *data, size_t size)
{
    return (struct bb_bytes){.data = data, .size = size};
}

static inline struct bb_bytes bb_bytes_of_text(const char *text)
{
    return bb_bytes_of(text, strlen(text));
}

/* The bytes without the first `size`. Size 0 has a branch, because the data of empty bytes
 * may be NULL. REQUIRES: size <= bytes.size. */
static inline struct bb_bytes bb_bytes_after(struct bb_bytes bytes, size_t size)
{
    return size == 0 ? bytes : bb_bytes_of(bytes.data + size, bytes.size - size);
}

/* Returns < 0, 0 or > 0 in bytewise order. A prefix is before longer bytes. */
static inline int bb_bytes_compare(struct bb_bytes a, struct bb_bytes b)
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter == 0 ? 0 : memcmp(a.data, b.data, shorter);
    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

static inline bool bb_bytes_equal(struct bb_bytes a, struct bb_bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* The size of the longest common prefix. */
size_t bb_bytes_shared_prefix(struct bb_bytes a, struct bb_bytes b);

/* bb_bytes_prefix64 of fewer than eight bytes. */
uint64_t bb_bytes_prefix64_of_short(struct bb_bytes bytes);
/* The first eight bytes as a big-endian number, zero-padded. The numbers order like the bytes, but
 * equal numbers need a full comparison ("ab" and "ab\0" are equal here). Never reads past the
 * end. */
static inline uint64_t bb_bytes_prefix64(struct bb_bytes bytes)
{
    uint64_t word = 0;
    if (bytes.size < sizeof(word))
        return bb_bytes_prefix64_of_short(bytes);
    memcpy(&word, bytes.data, sizeof(word));
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(word) : word;
}

/* The order of keys under a comparator; NULL is bytewise. */
static inline int bb_key_compare(const struct bb_comparator *comparator, struct bb_bytes a,
                                 struct bb_bytes b)
{
    return comparator == NULL ? bb_bytes_compare(a, b)
                              : comparator->compare(comparator->context, a, b);
}

/* Prints bytes for a person: printable ASCII unchanged, other bytes as \xNN, backslash doubled; at
 * most size - 1 characters, "..." at the end if truncated. Always terminated. Returns buffer. */
char *bb_bytes_escape(struct bb_bytes bytes, char *buffer, size_t size);

#endif
