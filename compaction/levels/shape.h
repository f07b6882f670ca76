/* The intended shape of a store's levels, from its options.
 *
 * All sizes are in unit runs: the unit run of level 1 has level1_size_bytes, and the unit run of
 * each deeper level is level_size_ratio times larger.
 *
 *     leveled        every level below level 0 is one run, full with one unit
 *     tiered         a level takes level_size_ratio runs of a unit each, and then becomes one run
 *                    of the next level, slice by slice (descent.h)
 *     lazy leveling  the last level is one run, full with level_size_ratio units; the levels above
 *                    it are tiered
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_LEVELS_SHAPE_H
#define BB_COMPACTION_LEVELS_SHAPE_H

#include "bb/table.h"

struct bb_shape {
    /* The number of level 0 runs that is planned for. Level 0 is merged when it has this number of
     * runs, or earlier (pick_options.h). */
    uint32_t level0_run_count;
    uint64_t level1_size_bytes;
    /* Factor between the sizes of consecutive levels. */
    uint32_t level_size_ratio;
    enum bb_compaction_style style; /* BB_COMPACTION_DEFAULT: leveled */
};

static inline bool bb_shape_is_leveled(const struct bb_shape *shape)
{
    return shape->style != BB_COMPACTION_TIERED && shape->style != BB_COMPACTION_LAZY_LEVELING;
}

/* True when a level may have several runs, in a store whose last level with tables is `last`. */
static inline bool bb_shape_is_tiered(const struct bb_shape *shape, int level, int last)
{
    return level == 0 || shape->style == BB_COMPACTION_TIERED ||
           (shape->style == BB_COMPACTION_LAZY_LEVELING && level < last);
}

/* The number of runs at which a level is merged. */
static inline uint32_t bb_shape_run_count(const struct bb_shape *shape, int level, int last)
{
    if (level == 0)
        return shape->level0_run_count;
    return bb_shape_is_tiered(shape, level, last) ? shape->level_size_ratio : 2;
}

/* Bytes of a unit run of a level below level 0. */
static inline double bb_shape_unit_bytes(const struct bb_shape *shape, int level)
{
    double bytes = (double)shape->level1_size_bytes;
    for (int i = 1; i < level; i++)
        bytes *= shape->level_size_ratio;
    return bytes;
}

/* Bytes at which a level below level 0 is full. */
static inline double bb_shape_level_bytes(const struct bb_shape *shape, int level)
{
    double units = bb_shape_is_leveled(shape) ? 1 : shape->level_size_ratio;
    return units * bb_shape_unit_bytes(shape, level);
}

#endif
