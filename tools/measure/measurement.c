/* See measurement.h. */
#include "tools/measure/measurement.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "tools/output/clock.h"
#include "tools/store/level_report.h"
#include "tools/measure/read_stats.h"

#define DROP_RETRIES 5

/* One half: the store is opened again, with filters on or off. */
struct half {
    struct measurement *measurement;
    struct bb_db *db;
    struct bb_db_table_list tables;
    bool with_filters;
    uint8_t *answers; /* borrowed: found or not, for each key */
    bool is_first;    /* the current run is the first: it records the answers */
};

const char *measurement_run_name(const struct measurement_run *run)
{
    if (run->with_filters)
        return run->is_cold ? "filters on, cold" : "filters on, warm";
    return run->is_cold ? "filters off, cold" : "filters off, warm";
}

uint64_t measurement_run_opening_reads(const struct measurement_run *run)
{
    uint64_t counted = read_stats_preads(&run->reads);
    return run->engine_reads > counted ? run->engine_reads - counted : 0;
}

/* Executes one lookup. Counts the wasted requests of absent keys separately, because the target
 * limits only these. */
static enum bb_status look_up(struct half *half, struct measurement_run *run,
                              const struct bb_get_options *options, size_t key,
                              struct bb_buf *value)
{
    uint64_t wasted_before = run->reads.visits[BB_VISIT_FALSE_POSITIVE];
    enum bb_status status =
        bb_db_get(half->db, options, key_list_get(half->measurement->keys, key), value);
    uint64_t wasted = run->reads.visits[BB_VISIT_FALSE_POSITIVE] - wasted_before;
    if (status != BB_OK && status != BB_NOT_FOUND)
        return status;
    bool is_found = status == BB_OK;
    run->lookups++;
    run->present += is_found;
    run->absent += !is_found;
    run->wasted_present += is_found ? wasted : 0;
    run->wasted_absent += is_found ? 0 : wasted;
    if (half->is_first)
        half->answers[key] = is_found;
    else if (half->answers[key] != is_found)
        half->measurement->answers_differing++;
    return BB_OK;
}

static enum bb_status run_stream(struct half *half, struct measurement_run *run)
{
    struct measurement *measurement = half->measurement;
    struct bb_get_options options = {
        .ignore_filters = !run->with_filters,
        .account_avoided = true,
        .stats = &run->reads,
    };
    struct bb_buf value = {0};
    enum bb_status status = BB_OK;
    uint64_t passes = run->is_cold ? 1 : measurement->repeat;
    for (uint64_t pass = 0; pass < passes && status == BB_OK; pass++) {
        for (size_t i = 0; i < measurement->keys->count && status == BB_OK; i++) {
            status = look_up(half, run, &options, measurement->order[i], &value);
            if (i % 256 == 0)
                progress_add(measurement->progress, 256);
        }
    }
    bb_buf_deinit(&value);
    return status;
}

/* Sets the increase of the store's own statistics during the run. */
static void subtract_stats(struct measurement_run *run, const struct bb_db_stats *before,
                           const struct bb_db_stats *after)
{
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++)
        run->levels[i] = read_stats_between(&before->level_reads[i], &after->level_reads[i]);
    run->gets = after->gets - before->gets;
    run->memtable_hits = after->memtable_hits - before->memtable_hits;
    run->engine_reads = after->system_reads - before->system_reads;
    run->engine_read_bytes = after->system_read_bytes - before->system_read_bytes;
}

static enum bb_status execute_run(struct half *half, struct measurement_run *run)
{
    struct measurement *measurement = half->measurement;
    struct system_counters *counters = &measurement->counters;
    struct bb_db_stats before = {0};
    struct bb_db_stats after = {0};
    bb_db_stats(half->db, &before);
    bool has_system = system_counters_are_available(counters);
    struct system_reading start = {0};
    if (has_system)
        start = system_counters_read(counters);
    uint64_t start_time = clock_now();
    enum bb_status status = run_stream(half, run);
    run->nanoseconds = clock_now() - start_time;
    if (has_system && system_counters_are_available(counters)) {
        run->system = system_counters_between(counters, start, system_counters_read(counters));
        run->has_system = system_counters_are_available(counters);
    }
    bb_db_stats(half->db, &after);
    subtract_stats(run, &before, &after);
    return status;
}

static enum bb_status drop_pages(const struct half *half, struct page_cache_state *ret_state)
{
    struct page_cache_state state = {0};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < half->tables.count && status == BB_OK; i++) {
        status = page_cache_drop(half->tables.tables[i].path);
        if (status == BB_OK)
            status = page_cache_count(half->tables.tables[i].path, &state);
    }
    *ret_state = state;
    return status;
}

static enum bb_status make_cold(struct half *half, struct measurement_run *run)
{
    static const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    bb_db_clear_cache(half->db);
    enum bb_status status = drop_pages(half, &run->page_cache);
    /* WHY again: a processor's private list may still hold pages that were used a moment ago. A
     * later call drops them. */
    for (int i = 0; i < DROP_RETRIES && status == BB_OK && run->page_cache.resident > 0; i++) {
        nanosleep(&pause, NULL);
        status = drop_pages(half, &run->page_cache);
    }
    return status;
}

static enum bb_status execute_half(struct half *half)
{
    struct measurement_run *runs =
        &half->measurement->runs[half->with_filters ? MEASUREMENT_ON_COLD : MEASUREMENT_OFF_COLD];
    runs[0].with_filters = runs[1].with_filters = half->with_filters;
    runs[0].is_cold = true;
    enum bb_status status = make_cold(half, &runs[0]);
    if (status == BB_OK)
        status = execute_run(half, &runs[0]);
    half->is_first = false;
    if (status == BB_OK)
        status = execute_run(half, &runs[1]);
    return status;
}

static enum bb_status open_half(struct half *half)
{
    enum bb_status status =
        store_open_to_read(half->measurement->store, half->measurement->directory, &half->db);
    if (status == BB_OK)
        status = bb_db_tables(half->db, &half->tables);
    return status;
}

/* Closes the store. Returns the status of the work; if the work succeeded, that of closing. */
static enum bb_status close_half(struct half *half, enum bb_status status)
{
    struct bb_error failure = *bb_error_last();
    enum bb_status closed = bb_db_close(half->db);
    half->db = NULL;
    return status == BB_OK ? closed : bb_error_restore(&failure);
}

static void describe_store(struct measurement *measurement, struct half *half)
{
    struct bb_db_stats stats = {0};
    bb_db_stats(half->db, &stats);
    measurement->total = level_report_total(&stats);
    measurement->cache_bytes = stats.cache.capacity_bytes;
    measurement->target_wasted_reads = stats.target_wasted_reads;
}

static bool are_tables_equal(const struct bb_db_table_list *a, const struct bb_db_table_list *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->tables[i].path, b->tables[i].path) != 0)
            return false;
    }
    return true;
}

/* Opens and closes the store once. WHY: opening may write the log's entries into a table. Later
 * openings then find no log to recover, so both halves read the same tables. */
static enum bb_status settle(struct measurement *measurement)
{
    struct half half = {.measurement = measurement};
    enum bb_status status = open_half(&half);
    bb_db_table_list_deinit(&half.tables);
    return close_half(&half, status);
}

static enum bb_status execute_halves(struct measurement *measurement, struct half *off,
                                     struct half *on)
{
    enum bb_status status = open_half(off);
    if (status == BB_OK)
        status = execute_half(off);
    status = close_half(off, status);
    if (status != BB_OK)
        return status;
    status = open_half(on);
    if (status == BB_OK)
        describe_store(measurement, on);
    if (status == BB_OK)
        status = execute_half(on);
    measurement->is_store_changed = !are_tables_equal(&off->tables, &on->tables);
    return close_half(on, status);
}

enum bb_status measurement_execute(struct measurement *measurement)
{
    size_t key_count = measurement->keys->count;
    uint8_t *answers = bb_alloc_zeroed(key_count == 0 ? 1 : key_count, 1);
    if (answers == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu answers", key_count);
    enum bb_status status = settle(measurement);
    system_counters_open(&measurement->counters);
    if (measurement->no_system)
        system_counters_disable(&measurement->counters, "not wanted");
    struct half off = {.measurement = measurement, .answers = answers, .is_first = true};
    struct half on = {.measurement = measurement, .answers = answers, .with_filters = true};
    if (status == BB_OK)
        status = execute_halves(measurement, &off, &on);
    bb_db_table_list_deinit(&off.tables);
    bb_db_table_list_deinit(&on.tables);
    system_counters_close(&measurement->counters);
    bb_free(answers);
    return status;
}
