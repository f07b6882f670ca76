/* A copy of a key range, for objects that outlive the caller's bounds. Threads: as the owner's. */
#ifndef BB_SSTABLE_KEPT_RANGE_H
#define BB_SSTABLE_KEPT_RANGE_H

#include "bb/table.h"

/* A zeroed struct is a valid range of all keys. */
struct bb_kept_range {
    struct bb_key_range range; /* borrows from the fields below: the struct must not be moved */
    struct bb_bytes low;
    struct bb_bytes high;
    struct bb_buf bounds; /* low, then high; owned */
};

/* range: NULL for all keys. Errors: BB_TOO_LARGE for a bound longer than BB_KEY_SIZE_MAX. */
BB_MUST_CHECK enum bb_status bb_kept_range_init(struct bb_kept_range *kept,
                                                const struct bb_key_range *range);
void bb_kept_range_deinit(struct bb_kept_range *kept);

#endif
