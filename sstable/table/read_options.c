/* See read_options.h. */
#include "sstable/table/read_options.h"

#include "base/sized_struct.h"

enum bb_status bb_read_options_copy(const struct bb_read_options *options,
                                    struct bb_read_options *ret_copy)
{
    static const struct bb_sized_struct sized_struct = {
        "struct bb_read_options", sizeof(struct bb_read_options), sizeof(struct bb_read_options)};
    return bb_sized_struct_copy(&sized_struct, options, ret_copy);
}
