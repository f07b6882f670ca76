/* Options for reading tables. */
#ifndef BB_SSTABLE_TABLE_READ_OPTIONS_H
#define BB_SSTABLE_TABLE_READ_OPTIONS_H

#include "bb/table.h"

/* NULL: the defaults. */
static inline struct bb_read_options bb_read_options_of(const struct bb_read_options *options)
{
    return options == NULL ? (struct bb_read_options){0} : *options;
}

/* True when a table filter may end a lookup before it starts: filters are in use, and statistics of
 * avoided work are not needed. */
static inline bool bb_read_options_permit_denials(const struct bb_read_options *options)
{
    return !options->ignore_filters && !options->account_avoided;
}

#endif
