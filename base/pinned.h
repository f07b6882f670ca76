/* What pins bytes for a user (struct bb_pinned): whoever hands them out keeps a reference to what
 * they are in, and says how it is given back. Threads: a pin is for one at a time. */
#ifndef BB_BASE_PINNED_H
#define BB_BASE_PINNED_H

#include <stdatomic.h>

#include "bb/base.h"

/* The bytes are part of the holder, of which the pin takes over one reference. */
static inline struct bb_pinned bb_pinned_of(struct bb_bytes bytes, void *holder,
                                            void (*unref)(void *holder))
{
    return (struct bb_pinned){.bytes = bytes, .holder = holder, .unref = unref};
}

/* Counts the pin until its release. The count must outlive it. */
void bb_pinned_count(struct bb_pinned *pinned, _Atomic int64_t *count);

#endif
