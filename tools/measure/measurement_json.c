/* The JSON report. See measurement_report.h. */
#include "tools/measure/measurement_report.h"
#include "tools/measure/read_stats.h"

static json_t *visits_json(const struct bb_read_stats *reads)
{
    json_t *visits = json_object();
    for (size_t i = 0; i < BB_VISIT_COUNT; i++)
        json_set_count(visits, visit_json_name((enum bb_visit)i), reads->visits[i]);
    return visits;
}

static void set_reads(json_t *object, const struct bb_read_stats *reads)
{
    json_set_count(object, "table_visits", read_stats_visits(reads));
    json_object_set_new(object, "visits", visits_json(reads));
    json_set_count(object, "block_requests", reads->block_requests);
    json_set_count(object, "block_requests_avoided", reads->avoided_requests);
    json_set_count(object, "block_reads", reads->block_reads);
    json_set_count(object, "block_reads_avoided", reads->avoided_reads);
    json_set_count(object, "block_read_bytes", reads->block_read_bytes);
    json_set_count(object, "page_requests", reads->page_requests);
    json_set_count(object, "page_reads", reads->page_reads);
    json_set_count(object, "page_read_bytes", reads->page_read_bytes);
    json_set_count(object, "table_filter_reads", reads->table_filter_reads);
    json_set_count(object, "table_filter_read_bytes", reads->table_filter_read_bytes);
    json_set_count(object, "damaged_filters", reads->damaged_filters);
}

static json_t *levels_json(const struct measurement_run *run)
{
    json_t *levels = json_array();
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++) {
        if (read_stats_visits(&run->levels[i]) == 0)
            continue;
        json_t *level = json_object();
        json_set_count(level, "level", i);
        set_reads(level, &run->levels[i]);
        json_array_append_new(levels, level);
    }
    return levels;
}

static json_t *system_json(const struct measurement *measurement, const struct measurement_run *run)
{
    json_t *system = json_object();
    json_set_bool(system, "available", run->has_system);
    if (run->has_system) {
        json_set_count(system, "read_calls", run->system.read_calls);
        json_set_count(system, "read_bytes", run->system.read_bytes);
    } else {
        json_set_text(system, "reason", measurement->counters.reason);
    }
    return system;
}

static json_t *run_json(const struct measurement *measurement, const struct measurement_run *run)
{
    json_t *object = json_object();
    json_set_text(object, "name", measurement_run_name(run));
    json_set_bool(object, "filters", run->with_filters);
    json_set_bool(object, "cold", run->is_cold);
    json_set_count(object, "lookups", run->lookups);
    json_set_count(object, "present", run->present);
    json_set_count(object, "absent", run->absent);
    json_set_count(object, "memtable_hits", run->memtable_hits);
    json_set_count(object, "wasted_requests_absent", run->wasted_absent);
    json_set_count(object, "wasted_requests_present", run->wasted_present);
    json_set_real(object, "wasted_per_absent_lookup", measurement_wasted_rate(run));
    set_reads(object, &run->reads);
    json_object_set_new(object, "levels", levels_json(run));
    json_set_count(object, "opening_reads", measurement_run_opening_reads(run));
    json_set_count(object, "engine_reads", run->engine_reads);
    json_set_count(object, "engine_read_bytes", run->engine_read_bytes);
    json_object_set_new(object, "system", system_json(measurement, run));
    if (run->is_cold) {
        json_set_count(object, "pages", run->page_cache.pages);
        json_set_count(object, "pages_resident", run->page_cache.resident);
    }
    json_set_real(object, "seconds", (double)run->nanoseconds / 1e9);
    return object;
}

static json_t *checks_json(const struct measurement_checks *checks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < checks->count; i++) {
        json_t *check = json_object();
        json_set_text(check, "name", checks->list[i].name);
        json_set_text(check, "detail", checks->list[i].detail);
        json_set_count(check, "found", checks->list[i].found);
        json_set_count(check, "expected", checks->list[i].expected);
        json_set_bool(check, "ok", checks->list[i].is_ok);
        json_array_append_new(list, check);
    }
    return list;
}

json_t *measurement_report_json(const struct measurement *measurement,
                                const struct measurement_checks *checks)
{
    json_t *document = json_object();
    json_set_text(document, "store", measurement->directory);
    json_set_count(document, "keys", measurement->keys->count);
    json_set_count(document, "repeat", measurement->repeat);
    json_set_count(document, "tables", measurement->total.table_count);
    json_set_count(document, "runs_of_store", measurement->total.run_count);
    json_set_count(document, "file_bytes", measurement->total.file_bytes);
    json_set_count(document, "entries", measurement->total.entry_count);
    json_set_bool(document, "cache_off", measurement->store->db.cache_off);
    json_set_count(document, "cache_bytes", measurement->cache_bytes);
    json_set_real(document, "target_wasted_reads", measurement->target_wasted_reads);
    json_set_real(document, "expected_wasted_reads", measurement->total.expected_wasted_reads);
    json_set_count(document, "passing_tables", measurement->total.passing_table_count);
    json_set_count(document, "unpredicted_tables", measurement->total.unpredicted_table_count);
    json_set_real(document, "measured_wasted_reads",
                  measurement_wasted_rate(&measurement->runs[MEASUREMENT_ON_COLD]));
    json_t *runs = json_array();
    for (size_t i = 0; i < MEASUREMENT_RUN_COUNT; i++)
        json_array_append_new(runs, run_json(measurement, &measurement->runs[i]));
    json_object_set_new(document, "runs", runs);
    json_object_set_new(document, "checks", checks_json(checks));
    json_set_bool(document, "ok", checks->are_ok);
    return document;
}
