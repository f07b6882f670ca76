/* A range of keys typed on the command line: --from and --to, or --prefix. */
#ifndef BB_TOOLS_KEYS_KEY_RANGE_H
#define BB_TOOLS_KEYS_KEY_RANGE_H

#include "bb/db.h"

/* Zeroed: all keys. Owned: key_range_deinit. */
struct key_range {
    /* As typed, borrowed; NULL: not given. */
    const char *from; /* inclusive */
    const char *to;   /* exclusive */
    const char *prefix;
    /* Decoded. */
    struct bb_buf low; /* or the prefix */
    struct bb_buf high;
};

/* The bytes of the argument, or of its hexadecimal digits. */
BB_MUST_CHECK enum bb_status key_range_decode(struct key_range *range, bool is_hex);
/* Iterates over the range. Blocks read are kept out of the block cache, since no scan reads them
 * again. Owned: bb_db_iter_destroy, before the range. */
BB_MUST_CHECK enum bb_status key_range_iter_create(const struct key_range *range, struct bb_db *db,
                                                   struct bb_db_iter **ret_iter);
/* The same without values. */
BB_MUST_CHECK enum bb_status key_range_iter_create_keys(const struct key_range *range,
                                                        struct bb_db *db,
                                                        struct bb_db_iter **ret_iter);
/* No option limits the keys. */
bool key_range_is_everything(const struct key_range *range);
void key_range_deinit(struct key_range *range);

#endif
