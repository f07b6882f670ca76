/* Keys held in memory, in any order: `measure` and `filters` look them up. */
#ifndef BB_TOOLS_KEYS_KEY_LIST_H
#define BB_TOOLS_KEYS_KEY_LIST_H

#include "tools/keys/key_reader.h"

/* A zeroed struct is a valid empty list. Owned: key_list_deinit. */
struct key_list {
    struct bb_buf text; /* all keys, one after the other */
    struct bb_buf ends; /* size_t each: where key i ends in text */
    size_t count;
};

void key_list_deinit(struct key_list *list);
/* Reads all keys of the reader and ignores values. */
BB_MUST_CHECK enum bb_status key_list_read(struct key_list *list, struct key_reader *reader);
/* The same of one file, or of standard input for "-". */
BB_MUST_CHECK enum bb_status key_list_read_file(struct key_list *list, const char *path,
                                                bool is_hex);
/* Borrowed until the list changes. */
struct bb_bytes key_list_get(const struct key_list *list, size_t i);

/* A permutation of 0 ... count - 1 that depends only on the seed. *ret_order is owned (bb_free).
 */
BB_MUST_CHECK enum bb_status key_order_shuffle(size_t count, uint64_t seed, size_t **ret_order);
/* The identity, in the same form. */
BB_MUST_CHECK enum bb_status key_order_as_read(size_t count, size_t **ret_order);

#endif
