/* The sizes that a store's levels are to have, from its options. */
#ifndef BB_COMPACTION_SHAPE_H
#define BB_COMPACTION_SHAPE_H

#include "bb/base.h"

struct bb_shape {
    uint32_t level0_run_count; /* level 0 is merged from so many runs on */
    uint64_t level1_size_bytes;
    uint32_t level_size_ratio; /* each deeper level is so many times larger */
};

/* Bytes at which a level below level 0 is full. */
static inline double bb_shape_level_bytes(const struct bb_shape *shape, int level)
{
    double bytes = (double)shape->level1_size_bytes;
    for (int i = 1; i < level; i++)
        bytes *= shape->level_size_ratio;
    return bytes;
}

#endif
