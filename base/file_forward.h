/* A file system around another one, every call of which goes through to that one.
 *
 * Who changes some of the calls has it as the first member, and puts functions of its own into the
 * table after init:
 *
 *     struct counting { struct bb_file_forward forward; ... };
 *     bb_file_forward_init(&counting->forward, fs);
 *     counting->forward.ops.open = open_and_count;      // begins with (struct counting *)fs
 *
 * What a later version adds to the seam then goes through, too. Files are the inner system's own,
 * locks included: who wraps one file in another wraps in open or create.
 * Threads: as base/file.h says; the table is not changed while the system is in use.
 */
#ifndef BB_BASE_FILE_FORWARD_H
#define BB_BASE_FILE_FORWARD_H

#include "base/file.h"

struct bb_file_forward {
    struct bb_file_system base;
    struct bb_file_system *inner; /* borrowed */
    struct bb_file_system_ops ops;
};

/* base refers to the table: *forward stays where it is. */
void bb_file_forward_init(struct bb_file_forward *forward, struct bb_file_system *inner);

/* The inner system of one that begins with a struct bb_file_forward. */
static inline struct bb_file_system *bb_file_forward_inner(struct bb_file_system *fs)
{
    return ((struct bb_file_forward *)fs)->inner;
}

#endif
