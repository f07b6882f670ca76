/* Structs of options that begin with their size, passed by callers built against other versions of
 * a header. Fields are only added at the end, and 0 is the default of every field:
 *
 *     older caller    |size|a b c|            missing fields are 0
 *     this library    |size|a b c|d e|
 *     newer caller    |size|a b c|d e|f 0|    BB_INVALID, unless all unknown fields are 0
 *     no size given   |0   |a b c|            fields of the first version; the rest is ignored
 *
 * A new field begins at a multiple of sizeof(size_t), after the old padding, because callers do not
 * clear padding. */
#ifndef BB_BASE_SIZED_STRUCT_H
#define BB_BASE_SIZED_STRUCT_H

#include "bb/base.h"

struct bb_sized_struct {
    const char *name; /* for messages */
    size_t size_min;  /* of its first version */
    size_t size;      /* of this one */
};

/* given: its size (0: that of the first version), then that number of bytes. BB_INVALID: a size
 * that no version of the struct has, or options that are unknown here. *ret_copy has this version's
 * size, which is also in its struct_size. */
BB_MUST_CHECK enum bb_status bb_sized_struct_copy(const struct bb_sized_struct *kind,
                                                  const void *given, void *ret_copy);

#endif
