/* See measurement_check.h. */
#include "tools/measure/measurement_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "tools/measure/read_stats.h"

static struct measurement_check *add_check(struct measurement_checks *checks, uint64_t found,
                                           uint64_t expected)
{
    BB_ASSERT(checks->count < MEASUREMENT_CHECK_COUNT_MAX);
    struct measurement_check *check = &checks->list[checks->count++];
    *check = (struct measurement_check){
        .found = found, .expected = expected, .is_ok = found == expected};
    checks->are_ok = checks->are_ok && check->is_ok;
    return check;
}

static void add_sum(struct measurement_checks *checks, const char *what, const char *temperature,
                    uint64_t avoided, uint64_t made, uint64_t without)
{
    struct measurement_check *check = add_check(checks, avoided + made, without);
    snprintf(check->name, sizeof(check->name), "%s, %s", what, temperature);
    snprintf(check->detail, sizeof(check->detail),
             "%" PRIu64 " avoided + %" PRIu64 " made = %" PRIu64 ", without filters %" PRIu64,
             avoided, made, avoided + made, without);
}

/* Compares the runs with and without filters that began with the same cache, cold or warm. */
static void check_pair(struct measurement_checks *checks, const struct measurement *measurement,
                       const struct measurement_run *off, const struct measurement_run *on)
{
    const char *temperature = on->is_cold ? "cold" : "warm";
    add_sum(checks, "block requests", temperature, on->reads.avoided_requests,
            on->reads.block_requests, off->reads.block_requests);
    if (measurement->store->db.cache_off)
        add_sum(checks, "block preads", temperature, on->reads.avoided_reads, on->reads.block_reads,
                off->reads.block_reads);
}

static void check_statistics(struct measurement_checks *checks, const struct measurement_run *run)
{
    struct bb_read_stats sum = {0};
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++)
        read_stats_add(&sum, &run->levels[i]);
    struct measurement_check *check =
        add_check(checks, read_stats_visits(&sum), read_stats_visits(&run->reads));
    check->is_ok = read_stats_equal(&sum, &run->reads) && run->gets == run->lookups;
    checks->are_ok = checks->are_ok && check->is_ok;
    snprintf(check->name, sizeof(check->name), "statistics, %s", measurement_run_name(run));
    snprintf(check->detail, sizeof(check->detail),
             "levels sum up to %" PRIu64 " visits, lookups to %" PRIu64 "; %" PRIu64
             " gets, %" PRIu64 " lookups",
             check->found, check->expected, run->gets, run->lookups);
}

/* A cold run also opens the tables that it visits. Preads that no lookup counted are attributed to
 * that. A warm run finds the tables open, so its sum must agree. */
static void check_preads(struct measurement_checks *checks, const struct measurement_run *run)
{
    const struct bb_read_stats *reads = &run->reads;
    uint64_t parts = read_stats_preads(reads);
    uint64_t opening = run->is_cold ? measurement_run_opening_reads(run) : 0;
    struct measurement_check *check = add_check(checks, parts + opening, run->engine_reads);
    snprintf(check->name, sizeof(check->name), "preads, %s", measurement_run_name(run));
    snprintf(check->detail, sizeof(check->detail),
             "%" PRIu64 " of blocks + %" PRIu64 " of index pages + %" PRIu64
             " of table filters + %" PRIu64 " to open tables, engine %" PRIu64,
             reads->block_reads, reads->page_reads, reads->table_filter_reads, opening,
             run->engine_reads);
}

static void check_system(struct measurement_checks *checks, const struct measurement_run *run)
{
    if (!run->has_system)
        return;
    struct measurement_check *check = add_check(checks, run->engine_reads, run->system.read_calls);
    snprintf(check->name, sizeof(check->name), "system, %s", measurement_run_name(run));
    snprintf(check->detail, sizeof(check->detail),
             "engine %" PRIu64 " preads, /proc/self/io %" PRIu64 " read calls", check->found,
             check->expected);
}

static void check_answers(struct measurement_checks *checks, const struct measurement *measurement)
{
    struct measurement_check *check = add_check(checks, measurement->answers_differing, 0);
    snprintf(check->name, sizeof(check->name), "answers");
    snprintf(check->detail, sizeof(check->detail),
             "%" PRIu64 " lookups with another answer than in the first run",
             measurement->answers_differing);
    check = add_check(checks, measurement->is_store_changed, 0);
    snprintf(check->name, sizeof(check->name), "store");
    snprintf(check->detail, sizeof(check->detail), "tables %s during the measurement",
             measurement->is_store_changed ? "changed" : "did not change");
}

void measurement_checks_make(const struct measurement *measurement,
                             struct measurement_checks *ret_checks)
{
    const struct measurement_run *runs = measurement->runs;
    *ret_checks = (struct measurement_checks){.are_ok = true};
    check_pair(ret_checks, measurement, &runs[MEASUREMENT_OFF_COLD], &runs[MEASUREMENT_ON_COLD]);
    check_pair(ret_checks, measurement, &runs[MEASUREMENT_OFF_WARM], &runs[MEASUREMENT_ON_WARM]);
    for (size_t i = 0; i < MEASUREMENT_RUN_COUNT; i++) {
        check_statistics(ret_checks, &runs[i]);
        check_preads(ret_checks, &runs[i]);
        check_system(ret_checks, &runs[i]);
    }
    check_answers(ret_checks, measurement);
}
