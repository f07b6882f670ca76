/* Read options from callers that were built against other headers. */
#ifndef BB_SSTABLE_TABLE_READ_OPTIONS_H
#define BB_SSTABLE_TABLE_READ_OPTIONS_H

#include "bb/table.h"

/* A longer version 0, whose struct_size is the first version's size, would look foreign. */
_Static_assert(sizeof(struct bb_read_options) == 2 * sizeof(size_t), "there is one version");

/* True when the options have another version than this one. Only those need bb_read_options_copy; a
 * lookup pays for two comparisons. NULL: false. */
static inline bool bb_read_options_are_foreign(const struct bb_read_options *options)
{
    return options != NULL && options->struct_size != 0 && options->struct_size != sizeof(*options);
}

/* True when a table filter may end a lookup before it starts: filters are in use, and statistics of
 * avoided work are not needed. REQUIRES: not foreign. */
static inline bool bb_read_options_permit_denials(const struct bb_read_options *options)
{
    return !options->ignore_filters && !options->account_avoided;
}

/* Copies the options in the form of this version. Errors: BB_INVALID, as for
 * bb_sized_struct_copy. */
BB_MUST_CHECK enum bb_status bb_read_options_copy(const struct bb_read_options *options,
                                                  struct bb_read_options *ret_copy);
/* The same for a lookup: NULL gives the defaults, and the common case needs no call. */
BB_MUST_CHECK static inline enum bb_status
bb_read_options_take(const struct bb_read_options *options, struct bb_read_options *ret_copy)
{
    if (bb_read_options_are_foreign(options))
        return bb_read_options_copy(options, ret_copy);
    *ret_copy = options == NULL ? (struct bb_read_options){0} : *options;
    return BB_OK;
}

#endif
