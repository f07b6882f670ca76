/* Options of reading as callers hand them over that were built against other headers. */
#ifndef BB_SSTABLE_READ_OPTIONS_H
#define BB_SSTABLE_READ_OPTIONS_H

#include "bb/table.h"

/* Of a longer version 0, which says the first one's size, would be foreign. */
_Static_assert(sizeof(struct bb_read_options) == 2 * sizeof(size_t), "there is one version");

/* Are they of another version than this one? Only then they need bb_read_options_copy: two
 * comparisons are all that a look-up pays. NULL: no. */
static inline bool bb_read_options_are_foreign(const struct bb_read_options *options)
{
    return options != NULL && options->struct_size != 0 && options->struct_size != sizeof(*options);
}

/* As this version knows them. BB_INVALID: as bb_sized_struct_copy. */
BB_MUST_CHECK enum bb_status bb_read_options_copy(const struct bb_read_options *options,
                                                  struct bb_read_options *ret_copy);

#endif
