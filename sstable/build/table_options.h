/* Table options with every default filled in. */
#ifndef BB_SSTABLE_BUILD_TABLE_OPTIONS_H
#define BB_SSTABLE_BUILD_TABLE_OPTIONS_H

#include "bb/table.h"

/* Copies options (NULL: all defaults) and replaces zeros by defaults. Errors: BB_INVALID names an
 * option that is out of range, or a filter kind that tables cannot hold. Afterwards filter_kind is
 * `NONE` exactly when filter_rate is 1, including when the comparator treats different bytes as
 * equal keys. */
BB_MUST_CHECK enum bb_status bb_table_options_resolve(const struct bb_table_options *options,
                                                      struct bb_table_options *ret_options);

#endif
