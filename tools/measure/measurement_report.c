/* The detailed report: a row for each figure, a column for each run. See measurement_report.h. */
#include "tools/measure/measurement_report.h"

#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "tools/output/number_text.h"
#include "tools/measure/read_stats.h"
#include "tools/output/text_table.h"
#include "tools/store/level_report.h"

double measurement_wasted_rate(const struct measurement_run *run)
{
    return run->absent == 0 ? NAN : (double)run->wasted_absent / (double)run->absent;
}

/* A row of the table: its name, and how to get its cell from a run. */
struct row {
    const char *name;
    struct number_text (*cell)(const struct measurement_run *run);
};

#define COUNT_CELL(name, expression)                                                               \
    static struct number_text cell_##name(const struct measurement_run *run)                       \
    {                                                                                              \
        return number_grouped(expression);                                                         \
    }
#define BYTES_CELL(name, expression)                                                               \
    static struct number_text cell_##name(const struct measurement_run *run)                       \
    {                                                                                              \
        return number_bytes(expression);                                                           \
    }

COUNT_CELL(lookups, run->lookups)
COUNT_CELL(present, run->present)
COUNT_CELL(absent, run->absent)
COUNT_CELL(memtable_hits, run->memtable_hits)
COUNT_CELL(visits, read_stats_visits(&run->reads))
COUNT_CELL(table_filter_negative, run->reads.visits[BB_VISIT_TABLE_FILTER_NEGATIVE])
COUNT_CELL(filter_negative, run->reads.visits[BB_VISIT_FILTER_NEGATIVE])
COUNT_CELL(false_positive, run->reads.visits[BB_VISIT_FALSE_POSITIVE])
COUNT_CELL(tombstone, run->reads.visits[BB_VISIT_TOMBSTONE])
COUNT_CELL(not_visible, run->reads.visits[BB_VISIT_NOT_VISIBLE])
COUNT_CELL(visit_present, run->reads.visits[BB_VISIT_PRESENT])
COUNT_CELL(out_of_bounds, run->reads.visits[BB_VISIT_OUT_OF_BOUNDS])
COUNT_CELL(block_requests, run->reads.block_requests)
COUNT_CELL(avoided_requests, run->reads.avoided_requests)
COUNT_CELL(block_reads, run->reads.block_reads)
COUNT_CELL(avoided_reads, run->reads.avoided_reads)
BYTES_CELL(block_bytes, run->reads.block_read_bytes)
COUNT_CELL(wasted, run->wasted_absent)
COUNT_CELL(page_requests, run->reads.page_requests)
COUNT_CELL(page_reads, run->reads.page_reads)
BYTES_CELL(page_bytes, run->reads.page_read_bytes)
COUNT_CELL(table_filter_reads, run->reads.table_filter_reads)
BYTES_CELL(table_filter_bytes, run->reads.table_filter_read_bytes)
COUNT_CELL(opening_reads, measurement_run_opening_reads(run))
COUNT_CELL(engine_reads, run->engine_reads)
BYTES_CELL(engine_bytes, run->engine_read_bytes)

static struct number_text count_or_dash(bool is_known, uint64_t count)
{
    return is_known ? number_grouped(count) : (struct number_text){"-"};
}

static struct number_text cell_wasted_rate(const struct measurement_run *run)
{
    return number_rate(measurement_wasted_rate(run));
}

static struct number_text cell_system_calls(const struct measurement_run *run)
{
    return count_or_dash(run->has_system, run->system.read_calls);
}

static struct number_text cell_system_bytes(const struct measurement_run *run)
{
    return run->has_system ? number_bytes(run->system.read_bytes) : (struct number_text){"-"};
}

static struct number_text cell_time(const struct measurement_run *run)
{
    return number_duration(run->nanoseconds);
}

static struct number_text cell_lookup_time(const struct measurement_run *run)
{
    return number_duration(run->lookups == 0 ? 0 : run->nanoseconds / run->lookups);
}

static const struct row rows[] = {
    {"lookups", cell_lookups},
    {"  present", cell_present},
    {"  absent", cell_absent},
    {"  found in memory", cell_memtable_hits},
    {"table visits", cell_visits},
    {"  table filter negative", cell_table_filter_negative},
    {"  filter negative", cell_filter_negative},
    {"  false positive", cell_false_positive},
    {"  tombstone", cell_tombstone},
    {"  version not visible", cell_not_visible},
    {"  present", cell_visit_present},
    {"  out of the table's bounds", cell_out_of_bounds},
    {"block requests made", cell_block_requests},
    {"block requests avoided", cell_avoided_requests},
    {"block preads made", cell_block_reads},
    {"block preads avoided", cell_avoided_reads},
    {"block bytes read", cell_block_bytes},
    {"wasted requests of absent", cell_wasted},
    {"  per absent lookup", cell_wasted_rate},
    {"index pages requested", cell_page_requests},
    {"index page preads", cell_page_reads},
    {"index page bytes read", cell_page_bytes},
    {"table filter preads", cell_table_filter_reads},
    {"table filter bytes read", cell_table_filter_bytes},
    {"preads for opening tables", cell_opening_reads},
    {"all preads of the engine", cell_engine_reads},
    {"  bytes", cell_engine_bytes},
    {"system: read calls", cell_system_calls},
    {"system: read from storage", cell_system_bytes},
    {"time", cell_time},
    {"  per lookup", cell_lookup_time},
};

static void write_runs(const struct measurement *measurement, struct output *out)
{
    const char *headers[1 + MEASUREMENT_RUN_COUNT] = {""};
    for (size_t i = 0; i < MEASUREMENT_RUN_COUNT; i++)
        headers[1 + i] = measurement_run_name(&measurement->runs[i]);
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(rows); i++) {
        text_table_add(&table, "%s", rows[i].name);
        for (size_t j = 0; j < MEASUREMENT_RUN_COUNT; j++)
            text_table_add(&table, "%s", rows[i].cell(&measurement->runs[j]).text);
    }
    text_table_write(&table, out);
    text_table_deinit(&table);
}

static void write_levels(const struct measurement_run *run, struct output *out)
{
    const char *headers[1 + BB_VISIT_COUNT + 2] = {"level"};
    for (size_t i = 0; i < BB_VISIT_COUNT; i++)
        headers[1 + i] = visit_name((enum bb_visit)i);
    headers[1 + BB_VISIT_COUNT] = "requests made";
    headers[2 + BB_VISIT_COUNT] = "avoided";
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    for (size_t level = 0; level < BB_LEVEL_COUNT; level++) {
        const struct bb_read_stats *reads = &run->levels[level];
        if (read_stats_visits(reads) == 0)
            continue;
        text_table_add(&table, "%zu", level);
        for (size_t i = 0; i < BB_VISIT_COUNT; i++)
            text_table_add(&table, "%s", number_grouped(reads->visits[i]).text);
        text_table_add(&table, "%s", number_grouped(reads->block_requests).text);
        text_table_add(&table, "%s", number_grouped(reads->avoided_requests).text);
    }
    output_print(out, "\ntable visits by level, %s\n", measurement_run_name(run));
    text_table_write(&table, out);
    text_table_deinit(&table);
}

static void write_target(const struct measurement *measurement, struct output *out)
{
    const struct measurement_run *run = &measurement->runs[MEASUREMENT_ON_COLD];
    output_print(out,
                 "\nwasted requests per absent lookup: target %s, expected from the filters %s, "
                 "measured %s\n",
                 measurement->target_wasted_reads > 0
                     ? number_rate(measurement->target_wasted_reads).text
                     : "none",
                 number_rate(measurement->total.expected_wasted_reads).text,
                 number_rate(measurement_wasted_rate(run)).text);
}

/* Writes the reasons to doubt the figures: a run that was not cold, missing counts, and filters
 * that could not be probed or rule out no key. */
static void write_doubts(const struct measurement *measurement, struct output *out)
{
    for (size_t i = 0; i < MEASUREMENT_RUN_COUNT; i++) {
        const struct measurement_run *run = &measurement->runs[i];
        const char *name = measurement_run_name(run);
        if (run->is_cold && run->page_cache.resident > 0)
            output_print(out,
                         "%s: NOT COLD, the system kept %s of %s pages of the tables in memory\n",
                         name, number_grouped(run->page_cache.resident).text,
                         number_grouped(run->page_cache.pages).text);
        if (run->reads.damaged_filters > 0)
            output_print(out, "%s: %s probes of damaged filters, which ruled out nothing\n", name,
                         number_grouped(run->reads.damaged_filters).text);
    }
    level_report_write_doubts(&measurement->total, out);
    if (!measurement->runs[0].has_system)
        output_print(out, "no counts of the operating system: %s\n", measurement->counters.reason);
}

void measurement_report_write_head(const struct measurement *m, struct output *out)
{
    output_print(out, "%s\n%s in %s of %s, %s; block cache ", m->directory,
                 number_of(m->total.entry_count, "entry", "entries").text,
                 number_of(m->total.table_count, "table", "tables").text,
                 number_of(m->total.run_count, "run", "runs").text,
                 number_bytes(m->total.file_bytes).text);
    output_print(out, "%s\n", m->store->db.cache_off ? "off" : number_bytes(m->cache_bytes).text);
    output_print(out, "%s, ", number_of(m->keys->count, "lookup", "lookups").text);
    output_print(out, "%s of absent keys", number_grouped(m->runs[0].absent).text);
    if (m->repeat > 1)
        output_print(out, "; a warm run repeats them %s times", number_grouped(m->repeat).text);
    output_print(out, "\n");
    write_doubts(m, out);
    output_print(out, "\n");
}

void measurement_report_write_details(const struct measurement *measurement,
                                      const struct measurement_checks *checks, struct output *out)
{
    write_runs(measurement, out);
    write_levels(&measurement->runs[MEASUREMENT_ON_COLD], out);
    write_target(measurement, out);
    output_print(out, "\naccounting\n");
    for (size_t i = 0; i < checks->count; i++)
        output_print(out, "  %-8s %s: %s\n", checks->list[i].is_ok ? "agrees" : "DIFFERS",
                     checks->list[i].name, checks->list[i].detail);
    output_print(out, "\n");
}
