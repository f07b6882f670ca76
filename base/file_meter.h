/* A file system that wraps another one for a background reader: it counts the bytes that are read
 * through it, limits their rate, and can stop the reader between two reads.
 *
 *     read read read | pause | read read read | pause | ...
 *     `-- a slice --'
 *
 * Each read adds the minimum time for its bytes to the time owed, and the time that passes is
 * subtracted, down to 0: idle time is not saved up. A slice ends with the read that completes
 * BB_FILE_METER_SLICE bytes. Then `pause` is called with the time owed. So an interval of t seconds
 * has at most t times the limit, plus one slice and one read. If `pause` fails, the read fails with
 * the same status. All other calls, and the clock, are those of the wrapped file system.
 *
 * Threads: one at a time, including all readers of its files.
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
    uint64_t slice_bytes;      /* in the current slice */
    uint64_t owed;             /* nanoseconds to wait, counted from the time `seen` */
    uint64_t seen;             /* by the wrapped system's clock */
};

/* fs and context are borrowed while files of the meter are open. The meter must not be moved. */
void bb_file_meter_init(struct bb_file_meter *meter, struct bb_file_system *fs,
                        enum bb_status (*pause)(void *context, uint64_t nanoseconds),
                        void *context);

/* Wraps another file system from now on; counts and limits continue. REQUIRES: no file of the meter
 * is open, and both systems have one clock. */
void bb_file_meter_wrap(struct bb_file_meter *meter, struct bb_file_system *fs);

/* Ends the current slice early, with its pause. */
BB_MUST_CHECK enum bb_status bb_file_meter_end_slice(struct bb_file_meter *meter);

static inline struct bb_file_system *bb_file_meter_system(struct bb_file_meter *meter)
{
    return &meter->forward.base;
}

#endif
