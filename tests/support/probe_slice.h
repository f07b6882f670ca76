/* How many of the filters of n = 0 ... 4,096 keys a test probes.
 *
 * BB_TEST_PROBES: the approximate number of member probes, 4,000,000 by default. */
#ifndef BB_TESTS_SUPPORT_PROBE_SLICE_H
#define BB_TESTS_SUPPORT_PROBE_SLICE_H

#include <stdint.h>
#include <stdlib.h>

#define PROBE_SLICE_KEYS_MAX 4096

static inline uint64_t probe_slice_wanted(void)
{
    const char *text = getenv("BB_TEST_PROBES");
    return text == NULL ? 4000000 : strtoull(text, NULL, 10);
}

/* The n that are taken: every stride-th of a turn, from an offset that the seed gives, one rate
 * after the other. Several turns with other keys and rates when one is not enough. */
struct probe_slice {
    uint64_t turns;
    uint64_t stride;
};

/* probes_per_key: questions per member, over all kinds and forms. */
static inline struct probe_slice probe_slice_of(uint64_t probes_per_key, uint64_t probes)
{
    uint64_t turn =
        (uint64_t)PROBE_SLICE_KEYS_MAX * (PROBE_SLICE_KEYS_MAX + 1) / 2 * probes_per_key;
    if (probes >= turn)
        return (struct probe_slice){.turns = (probes + turn - 1) / turn, .stride = 1};
    return (struct probe_slice){.turns = 1, .stride = turn / (probes + 1) + 1};
}

#endif
