/* Steps before a seek of an iterator, which begin to load memory. */
#ifndef BB_SSTABLE_APPROACH_H
#define BB_SSTABLE_APPROACH_H

#include "bb/table.h"

/* One step of preparing a seek to (key, sequence), which must follow: the caller counts the steps
 * from 0. A step begins to load the memory that the next one needs, without waiting for it. A
 * caller that seeks several iterators takes each step for all of them, so that they wait for memory
 * together. Returns false when there are no more steps. The iterator is not valid until the seek.
 * Each kind of iterator has a function of this type, or none. */
typedef bool bb_approach(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence,
                         unsigned step);

#endif
