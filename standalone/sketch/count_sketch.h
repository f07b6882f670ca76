/* The parts of a stored count-min sketch. kind_count_min.c draws them; bb/filter_sets.h is the
 * public interface. Pure functions; any thread. */
#ifndef BB_STANDALONE_SKETCH_COUNT_SKETCH_H
#define BB_STANDALONE_SKETCH_COUNT_SKETCH_H

#include "base/coding.h"
#include "standalone/sketch/count_min.h"
#include "standalone/envelope/envelope.h"

#define BB_COUNT_HEAD_SIZE    32
#define BB_COUNT_CONSERVATIVE 1U /* a flag */

struct bb_count_sketch_head {
    uint64_t total;
    double error;
    uint32_t flags;
    uint32_t top_capacity;
    uint32_t top_count;
    uint32_t reserved;
    struct bb_count_min shape;
    const uint8_t *cells;    /* borrowed */
    struct bb_bytes entries; /* borrowed */
};

/* Of an envelope whose payload has space for the head and the cells. */
struct bb_count_sketch_head bb_count_sketch_head_decode(const struct bb_envelope *envelope);

/* Reads the next of a head's entries. False where they end, or do not fit. */
bool bb_count_sketch_entry_decode(struct bb_cursor *entries, struct bb_count_entry *ret_entry);

#endif
