/* Loads that simulated stores (simulation.h) are put through, and shapes of stores. */
#ifndef BB_TESTS_UNIT_COMPACTION_LOAD_H
#define BB_TESTS_UNIT_COMPACTION_LOAD_H

#include "tests/unit/compaction/simulation.h"

enum load {
    LOAD_UNIFORM,    /* new keys all over */
    LOAD_UPDATES,    /* the same keys again and again */
    LOAD_SEQUENTIAL, /* ascending: everything is moved */
    LOAD_WAVE,       /* new keys around a point that moves on */
    LOAD_SKEWED,     /* small numbers are more likely */
    LOAD_DELETES,    /* a third of the writes are deletions */
    LOAD_QUEUE,      /* keys enter at one end and leave at the other */
    LOAD_COUNT,
};

static const char *const load_names[] = {"uniform", "updates", "sequential", "wave",
                                         "skewed",  "deletes", "queue"};

static inline uint64_t draw_entry(enum load load, struct bb_rng *rng, uint64_t count,
                                  uint64_t flush, uint64_t i)
{
    switch (load) {
    case LOAD_UPDATES:
        return SIMULATED_PUT(bb_rng_below(rng, count * 20) * 3);
    case LOAD_SEQUENTIAL:
        return SIMULATED_PUT(flush * count + i);
    case LOAD_WAVE:
        return SIMULATED_PUT(flush * count / 2 + bb_rng_below(rng, count * 4));
    case LOAD_SKEWED:
        return SIMULATED_PUT(bb_rng_skewed(rng, UINT32_MAX));
    case LOAD_DELETES:
        return bb_rng_below(rng, count * 30) << 1 | bb_rng_one_in(rng, 3);
    case LOAD_QUEUE:
        return i % 2 == 0 || flush < 20 ? SIMULATED_PUT(flush * count + i)
                                        : SIMULATED_DELETE((flush - 20) * count + i + 1);
    default:
        return SIMULATED_PUT(bb_rng_next(rng) >> 8);
    }
}

struct form {
    uint32_t run_count;
    uint32_t size_ratio;
    uint64_t level1_runs; /* size of level 1 in write buffers */
    uint64_t run_keys;
    uint64_t table_keys;
    double target;
    uint64_t full_every; /* a full compaction after this many flushes; 0: never */
    enum bb_compaction_style style;
};

static const struct form forms[] = {
    {4, 10, 4, 300, 300, 0.01, 0, BB_COMPACTION_LEVELED},
    {4, 4, 4, 300, 600, 0.1, 0, BB_COMPACTION_LEVELED},
    {2, 4, 1, 200, 50, 0.001, 0, BB_COMPACTION_LEVELED},
    {8, 10, 4, 200, 100, 0.0001, 0, BB_COMPACTION_LEVELED},
    {4, 2, 2, 300, 150, 0.5, 0, BB_COMPACTION_LEVELED},
    {6, 10, 1, 200, 200, 0.01, 31, BB_COMPACTION_LEVELED},
    {4, 8, 2, 300, 1000, 0.02, 47, BB_COMPACTION_LEVELED},
};

static const struct form tier_forms[] = {
    {4, 4, 4, 300, 300, 0.01, 0, BB_COMPACTION_TIERED},
    {2, 3, 1, 200, 50, 0.001, 37, BB_COMPACTION_TIERED},
    {6, 10, 2, 200, 200, 0.1, 0, BB_COMPACTION_TIERED},
    {4, 4, 4, 300, 300, 0.01, 0, BB_COMPACTION_LAZY_LEVELING},
    {2, 2, 1, 200, 50, 0.001, 37, BB_COMPACTION_LAZY_LEVELING},
    {6, 10, 2, 200, 200, 0.1, 0, BB_COMPACTION_LAZY_LEVELING},
    /* Small tables: levels move down in many slices. */
    {4, 3, 1, 100, 8, 0.01, 0, BB_COMPACTION_TIERED},
    {4, 3, 1, 100, 8, 0.01, 0, BB_COMPACTION_LAZY_LEVELING},
};

static const char *const style_names[] = {"default", "leveled", "tiered", "lazy"};

static inline struct simulation *simulation_of(const struct form *form)
{
    const struct bb_pick_options options = {
        .shape = {.level0_run_count = form->run_count,
                  .level1_size_bytes = form->level1_runs * form->run_keys * SIMULATED_KEY_BYTES,
                  .level_size_ratio = form->size_ratio,
                  .style = form->style},
        .has_filters = true,
        .target_wasted_reads = form->target};
    return simulation_create(&options, form->table_keys);
}

/* The keys of one flush of the load; sometimes fewer, because some flushes are forced early.
 * Owned. */
static inline uint64_t *draw_flush(const struct form *form, enum load load, struct bb_rng *rng,
                                   uint64_t flush, size_t *ret_count)
{
    uint64_t *entries = bb_must_realloc(NULL, form->run_keys * sizeof(*entries));
    uint64_t count = bb_rng_one_in(rng, 8) ? 1 + bb_rng_below(rng, form->run_keys) : form->run_keys;
    for (uint64_t i = 0; i < count; i++)
        entries[i] = draw_entry(load, rng, form->run_keys, flush, i);
    *ret_count = (size_t)count;
    return entries;
}

/* Loads that write each key where the last ones went are moved with the rates of their first level:
 * they waste less than the target, for more bits. */
static inline bool is_moved(enum load load)
{
    return load == LOAD_SEQUENTIAL || load == LOAD_WAVE || load == LOAD_QUEUE;
}

#endif
