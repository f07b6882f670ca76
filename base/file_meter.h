/* A file system around another one for a reader in the background: it counts what is read through it,
 * limits how fast that goes, and lets the reader be stopped between two reads.
 *
 *     read read read | pause | read read read | pause | ...
 *     `-- a slice --'
 *
 * A slice ends with the read that completes BB_FILE_METER_SLICE bytes. `pause` is called then, with the
 * time that is owed: that which the bytes so far may take at least, without what has gone by. So in any
 * interval of t seconds go at most t times the limit, a slice and a read. When `pause` fails, so does the
 * read, with the same status. Everything but reading is the wrapped system's own, its clock included.
 *
 * Threads: one at a time, its files' readers included.
 */
#ifndef BB_BASE_FILE_METER_H
#define BB_BASE_FILE_METER_H

#include "base/file_forward.h"

#define BB_FILE_METER_SLICE (UINT32_C(256) * 1024)

struct bb_file_meter {
    struct bb_file_forward forward; /* the first member */
    /* nanoseconds may be 0. BB_OK: read on. */
    enum bb_status (*pause)(void *context, uint64_t nanoseconds);
    void *context;
    uint64_t bytes_per_second; /* 0: no limit. May be changed between two reads */
    uint64_t read_bytes;       /* so far */
    uint64_t slice_bytes;      /* of the slice at hand */
    uint64_t owed;             /* nanoseconds, at the time `seen` of the wrapped system's clock */
    uint64_t seen;
};

/* fs and context are borrowed while files of the meter are open. The meter stays where it is. */
void bb_file_meter_init(struct bb_file_meter *meter, struct bb_file_system *fs,
                        enum bb_status (*pause)(void *context, uint64_t nanoseconds),
                        void *context);

/* Ends the slice at hand early, with its pause. */
BB_MUST_CHECK enum bb_status bb_file_meter_end_slice(struct bb_file_meter *meter);

static inline struct bb_file_system *bb_file_meter_system(struct bb_file_meter *meter)
{
    return &meter->forward.base;
}

#endif
