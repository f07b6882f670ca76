/* Read options from callers that were built against other headers. */
#ifndef BB_SSTABLE_READ_OPTIONS_H
#define BB_SSTABLE_READ_OPTIONS_H

#include "bb/table.h"

/* A longer version 0, whose struct_size is the first version's size, would look foreign. */
_Static_assert(sizeof(struct bb_read_options) == 2 * sizeof(size_t), "there is one version");

/* True when the options have another version than this one. Only those need bb_read_options_copy; a
 * lookup pays for two comparisons. NULL: false. */
static inline bool bb_read_options_are_foreign(const struct bb_read_options *options)
{
    return options != NULL && options->struct_size != 0 && options->struct_size != sizeof(*options);
}

/* Copies the options in the form of this version. Errors: BB_INVALID, as for
 * bb_sized_struct_copy. */
BB_MUST_CHECK enum bb_status bb_read_options_copy(const struct bb_read_options *options,
                                                  struct bb_read_options *ret_copy);

#endif
