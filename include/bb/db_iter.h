/* Iterators over the keys of a store. <bb/db.h> includes this file. An iterator is used by one
 * thread at a time. */
#ifndef BB_PUBLIC_DB_ITER_H
#define BB_PUBLIC_DB_ITER_H

#include "bb/base.h"
#include "bb/db_options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bb_db;
struct bb_db_iter;

/* An iterator over the keys present in a snapshot (or in the state at creation), in order, in both
 * directions. It is not valid until the first seek. Key and value are borrowed until it moves. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create(struct bb_db *db,
                                                      const struct bb_get_options *options,
                                                      struct bb_db_iter **ret_iter);
/* The same, limited to the keys of a range. seek_first and seek_last move to the first and last key
 * of the range, and a seek to a key before the range moves to its first key. The iterator reads no
 * tables or blocks outside the range and skips no deleted keys there. A range with high <= low is
 * empty. range: copied; NULL: all keys. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create_range(struct bb_db *db,
                                                            const struct bb_get_options *options,
                                                            const struct bb_key_range *range,
                                                            struct bb_db_iter **ret_iter);
/* The same, limited to keys with a prefix. BB_INVALID in a store with a comparator, whose order
 * need not keep such keys together; use bounds there. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create_prefix(struct bb_db *db,
                                                             const struct bb_get_options *options,
                                                             struct bb_bytes prefix,
                                                             struct bb_db_iter **ret_iter);
/* The same without values: bb_db_iter_value returns an empty value. If a value has 4 KiB or more, a
 * key of at most 1 KiB and a separate block, the table's index has a copy of the key, and the block
 * is not read. Such a key takes the same time for a value of any size, and damage of the block is
 * not noticed. Tables written by version 0.1.0 have no such copies: there the block is read. range:
 * copied; NULL: all keys. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create_keys(struct bb_db *db,
                                                           const struct bb_get_options *options,
                                                           const struct bb_key_range *range,
                                                           struct bb_db_iter **ret_iter);
/* The same for keys with a prefix. Errors: as bb_db_iter_create_prefix. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_iter_create_prefix_keys(struct bb_db *db, const struct bb_get_options *options,
                              struct bb_bytes prefix, struct bb_db_iter **ret_iter);
/* NULL is allowed. */
BB_API void bb_db_iter_destroy(struct bb_db_iter *iter);
BB_API bool bb_db_iter_valid(const struct bb_db_iter *iter);
BB_API void bb_db_iter_seek_first(struct bb_db_iter *iter);
BB_API void bb_db_iter_seek_last(struct bb_db_iter *iter);
/* Moves to the first key at or after `key`. If `key` is too long, the iterator is not valid until
 * the next seek, and its status is BB_TOO_LARGE. */
BB_API void bb_db_iter_seek(struct bb_db_iter *iter, struct bb_bytes key);
/* REQUIRES, like the next three functions: the iterator is valid. */
BB_API void bb_db_iter_next(struct bb_db_iter *iter);
BB_API void bb_db_iter_prev(struct bb_db_iter *iter);
BB_API struct bb_bytes bb_db_iter_key(const struct bb_db_iter *iter);
/* With read_mode mapped, a value above 8 KiB may be in the map of a file: it is not copied, and not
 * read unless the caller reads it. If the file is truncated or its device fails while the caller
 * reads the value, the rest of the value is zeros. The next move by next or prev then fails with
 * BB_IO, and bb_db_iter_status already returns BB_IO before that move. */
BB_API struct bb_bytes bb_db_iter_value(const struct bb_db_iter *iter);
/* BB_OK unless reading failed. Check it whenever valid returns false. With read_mode mapped, also
 * check it after reading a large value if no next or prev follows. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_status(const struct bb_db_iter *iter);

#ifdef __cplusplus
}
#endif
#endif
