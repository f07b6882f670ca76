/* Creates pins of bytes for a user (struct bb_pinned). The provider of the bytes keeps a reference
 * to the object that contains them, and supplies the function that releases it. Threads: a pin
 * is used by one thread at a time. */
#ifndef BB_BASE_PINNED_H
#define BB_BASE_PINNED_H

#include <stdatomic.h>

#include "bb/base.h"

/* The bytes are part of the holder; the pin takes over one reference to it. */
static inline struct bb_pinned bb_pinned_of(struct bb_bytes bytes, void *holder,
                                            void (*unref)(void *holder))
{
    return (struct bb_pinned){.bytes = bytes, .holder = holder, .unref = unref};
}

/* Counts the pin until its release. The count must outlive it. */
void bb_pinned_count(struct bb_pinned *pinned, _Atomic int64_t *count);

#endif
