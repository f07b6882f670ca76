/* Executes a stream of lookups against a store and collects all counts.
 *
 * There are four runs: filters off and on, each over a cold and then a warm cache. Each half (off,
 * on) opens the store again, so that index pages are as cold as blocks. With filters on, the engine
 * counts an avoided request each time a filter returns no. So the two halves count the same
 * requests in independent ways, and their sums must agree (see measurement_check.h).
 */
#ifndef BB_TOOLS_MEASURE_MEASUREMENT_H
#define BB_TOOLS_MEASURE_MEASUREMENT_H

#include "bb/db.h"
#include "tools/keys/key_list.h"
#include "tools/measure/page_cache.h"
#include "tools/store/store_options.h"
#include "tools/measure/system_counters.h"

struct measurement_run {
    bool with_filters;
    bool is_cold;
    uint64_t lookups;
    uint64_t present;
    uint64_t absent;
    uint64_t wasted_absent;                      /* wasted requests of lookups that found no key */
    uint64_t wasted_present;                     /* wasted requests of lookups that found a key */
    struct bb_read_stats reads;                  /* summed lookup by lookup */
    struct bb_read_stats levels[BB_LEVEL_COUNT]; /* from the store's own statistics of the run */
    uint64_t gets;                               /* from the same statistics */
    uint64_t memtable_hits;
    /* Calls of pread, as the file layer counted them: blocks, index pages, opening of tables. */
    uint64_t engine_reads;
    uint64_t engine_read_bytes;
    bool has_system;
    struct system_reading system;
    struct page_cache_state page_cache; /* of the tables, at the start of a cold run */
    uint64_t nanoseconds;
};

enum {
    MEASUREMENT_OFF_COLD,
    MEASUREMENT_OFF_WARM,
    MEASUREMENT_ON_COLD,
    MEASUREMENT_ON_WARM,
    MEASUREMENT_RUN_COUNT,
};

struct measurement {
    /* Given. */
    struct store_options *store; /* borrowed */
    const char *directory;       /* borrowed */
    const struct key_list *keys; /* borrowed */
    const size_t *order;         /* borrowed: the key of lookup i */
    uint64_t repeat;             /* passes of a warm run */
    bool no_system;
    struct progress *progress; /* lookups are added; borrowed */
    /* Found. */
    struct measurement_run runs[MEASUREMENT_RUN_COUNT];
    struct system_counters counters;
    struct bb_level_stats total; /* of the levels */
    uint64_t cache_bytes;
    double target_wasted_reads;
    bool is_store_changed; /* tables changed between the halves: the halves cannot be compared */
    uint64_t answers_differing; /* lookups with another answer (found or not) than the first run */
};

/* Executes the four runs. Opening the store first may recover its log, which writes a table. The
 * runs write no file. */
BB_MUST_CHECK enum bb_status measurement_execute(struct measurement *measurement);

const char *measurement_run_name(const struct measurement_run *run);

/* The engine's preads that no lookup counted: of a cold run they open tables. 0 if the engine has
 * counted fewer, which is a failed check. */
uint64_t measurement_run_opening_reads(const struct measurement_run *run);

#endif
