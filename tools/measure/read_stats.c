/* See read_stats.h. All counts have one type, so the functions treat the struct as an array. */
#include "tools/measure/read_stats.h"

#include <assert.h>

#define COUNT_OF_COUNTS (sizeof(struct bb_read_stats) / sizeof(uint64_t))

union counts {
    struct bb_read_stats stats;
    uint64_t numbers[COUNT_OF_COUNTS];
};

static_assert(sizeof(union counts) == sizeof(struct bb_read_stats),
              "struct bb_read_stats holds counts only");

struct bb_read_stats read_stats_between(const struct bb_read_stats *before,
                                        const struct bb_read_stats *after)
{
    union counts a = {.stats = *before};
    union counts b = {.stats = *after};
    for (size_t i = 0; i < COUNT_OF_COUNTS; i++)
        b.numbers[i] -= a.numbers[i];
    return b.stats;
}

void read_stats_add(struct bb_read_stats *sum, const struct bb_read_stats *part)
{
    union counts a = {.stats = *sum};
    union counts b = {.stats = *part};
    for (size_t i = 0; i < COUNT_OF_COUNTS; i++)
        a.numbers[i] += b.numbers[i];
    *sum = a.stats;
}

bool read_stats_equal(const struct bb_read_stats *a, const struct bb_read_stats *b)
{
    struct bb_read_stats difference = read_stats_between(a, b);
    union counts counts = {.stats = difference};
    for (size_t i = 0; i < COUNT_OF_COUNTS; i++) {
        if (counts.numbers[i] != 0)
            return false;
    }
    return true;
}

uint64_t read_stats_visits(const struct bb_read_stats *reads)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BB_VISIT_COUNT; i++)
        sum += reads->visits[i];
    return sum;
}

uint64_t read_stats_preads(const struct bb_read_stats *reads)
{
    return reads->block_reads - reads->blocks_ahead - reads->blocks_mapped + reads->page_reads +
           reads->table_filter_reads;
}

const char *visit_name(enum bb_visit visit)
{
    static const char *const names[BB_VISIT_COUNT] = {
        [BB_VISIT_TABLE_FILTER_NEGATIVE] = "table filter negatives",
        [BB_VISIT_FILTER_NEGATIVE] = "filter negatives",
        [BB_VISIT_FALSE_POSITIVE] = "false positives",
        [BB_VISIT_TOMBSTONE] = "tombstones",
        [BB_VISIT_NOT_VISIBLE] = "not visible",
        [BB_VISIT_PRESENT] = "present",
        [BB_VISIT_OUT_OF_BOUNDS] = "out of bounds",
    };
    return names[visit];
}

const char *visit_json_name(enum bb_visit visit)
{
    static const char *const names[BB_VISIT_COUNT] = {
        [BB_VISIT_TABLE_FILTER_NEGATIVE] = "table_filter_negatives",
        [BB_VISIT_FILTER_NEGATIVE] = "filter_negatives",
        [BB_VISIT_FALSE_POSITIVE] = "false_positives",
        [BB_VISIT_TOMBSTONE] = "tombstones",
        [BB_VISIT_NOT_VISIBLE] = "not_visible",
        [BB_VISIT_PRESENT] = "present",
        [BB_VISIT_OUT_OF_BOUNDS] = "out_of_bounds",
    };
    return names[visit];
}
