/* A file system that wraps another one and forwards every call to it.
 *
 * To change some of the calls, make it the first member of a struct, and replace functions in the
 * table after init:
 *
 *     struct counting { struct bb_file_forward forward; ... };
 *     bb_file_forward_init(&counting->forward, fs);
 *     counting->forward.ops.open = open_and_count;      // begins with (struct counting *)fs
 *
 * So calls added to the interface later are forwarded too. Files and locks are the inner system's.
 * To change calls of files too, put bb_file_forward_open or bb_file_forward_create into the table,
 * and replace functions in the table of the files. Threads: as in base/file.h; the tables must not
 * change while the system is in use. */
#ifndef BB_BASE_FILE_FORWARD_H
#define BB_BASE_FILE_FORWARD_H

#include "base/file.h"

struct bb_file_forward {
    struct bb_file_system base;
    struct bb_file_system *inner; /* borrowed */
    struct bb_file_system_ops ops;
    struct bb_file_ops file_ops; /* of the files of the two functions below */
};

/* A file of bb_file_forward_open or bb_file_forward_create. */
struct bb_file_forwarded {
    struct bb_file base;
    struct bb_file *inner;     /* owned */
    struct bb_file_system *fs; /* that opened it */
};

/* base refers to the table: *forward stays where it is. */
void bb_file_forward_init(struct bb_file_forward *forward, struct bb_file_system *inner);

/* Open, or create, a file of the inner system, and wrap it. fs begins with a struct
 * bb_file_forward. The file has none of the optional calls map, forget and modified.
 * REQUIRES: it is closed before fs ends. */
BB_MUST_CHECK enum bb_status bb_file_forward_open(struct bb_file_system *fs, const char *path,
                                                  struct bb_file **ret_file);
BB_MUST_CHECK enum bb_status bb_file_forward_create(struct bb_file_system *fs, const char *path,
                                                    struct bb_file **ret_file);

/* The inner system of a file system that begins with a struct bb_file_forward. */
static inline struct bb_file_system *bb_file_forward_inner(struct bb_file_system *fs)
{
    return ((struct bb_file_forward *)fs)->inner;
}

#endif
