/* Questions to the rate allocation: new tables for drawn levels. */
#ifndef BB_TESTS_UNIT_COMPACTION_QUESTION_H
#define BB_TESTS_UNIT_COMPACTION_QUESTION_H

#include "tests/unit/compaction/drawing.h"

#include <math.h>

#include "compaction/rates/rates.h"

static const struct bb_shape question_shape = {
    .level0_run_count = 4, .level1_size_bytes = 4 * DRAWN_BYTES, .level_size_ratio = 10};

static inline void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", found, expected);
}

static inline int level_of(const struct bb_levels *levels, const struct bb_table_file *file)
{
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
            if (bb_levels_table(levels, level, i) == file)
                return level;
        }
    }
    fail_msg("the drawing has no such table");
    return 0;
}

struct question {
    struct bb_table_file *removed[DRAWN_TABLES_MAX];
    int removed_levels[DRAWN_TABLES_MAX];
    struct bb_rate_request request;
};

/* New tables of `units` drawn units of keys in a level. */
static inline void ask(struct question *question, const struct bb_levels *levels, int level,
                       uint64_t units)
{
    question->request = (struct bb_rate_request){.levels = levels,
                                                 .removed = question->removed,
                                                 .removed_levels = question->removed_levels,
                                                 .output_level = level,
                                                 .output_keys = units * DRAWN_KEYS,
                                                 .shape = &question_shape,
                                                 .target = 0.01};
}

/* Also for a replacement of that table. */
static inline void ask_without(struct question *question, uint64_t number)
{
    struct bb_table_file *file = bb_levels_find_number(question->request.levels, number);
    size_t i = question->request.removed_count++;
    question->removed[i] = file;
    question->removed_levels[i] = level_of(question->request.levels, file);
}

#endif
