/* Structs of options that begin with their own size, as callers built against other versions of a
 * header hand them over. Fields are only ever added behind, and 0 means the default everywhere:
 *
 *     older caller    |size|a b c|            what it lacks is 0
 *     this library    |size|a b c|d e|
 *     newer caller    |size|a b c|d e|f 0|    no, unless all behind is 0
 *     no size given   |0   |a b c|            as of the first version, whatever stands behind
 *
 * A new field begins at a multiple of sizeof(size_t), behind what was padding: nobody sets that to 0.
 */
#ifndef BB_BASE_SIZED_STRUCT_H
#define BB_BASE_SIZED_STRUCT_H

#include "bb/base.h"

struct bb_sized_struct {
    const char *name; /* for messages */
    size_t size_min;  /* of its first version */
    size_t size;      /* of this one */
};

/* given: its size (0: of the first version), then as many bytes as that says. BB_INVALID: a size that no
 * version of the struct has, or one that has options unknown here. *ret_copy has this version's
 * size, and says so. */
BB_MUST_CHECK enum bb_status bb_sized_struct_copy(const struct bb_sized_struct *kind,
                                                  const void *given, void *ret_copy);

#endif
