/* Tables for people: a column per engine, a row per figure. See report.h. */
#include <inttypes.h>
#include <string.h>

#include "bench/report_figures.h"

#define LABEL_WIDTH  34
#define COLUMN_WIDTH 14

/* A long name widens its column. */
static int width_of(const struct report *report, size_t engine)
{
    int width = (int)strlen(report->options->engines[engine]->name) + 2;
    return width > COLUMN_WIDTH ? width : COLUMN_WIDTH;
}

static void print_figure(FILE *file, int width, double figure)
{
    int decimals = figure >= 1000 ? 0 : figure >= 100 ? 1 : figure >= 10 ? 2 : 3;
    fprintf(file, "%*.*f", width, decimals, figure);
}

static void print_heading(const struct report *report, const char *title, bool with_reference,
                          FILE *file)
{
    fprintf(file, "\n%-*s", LABEL_WIDTH, title);
    for (size_t i = 0; i < report->options->engine_count; i++) {
        if (with_reference || i != report->reference)
            fprintf(file, "%*s", width_of(report, i), report->options->engines[i]->name);
    }
    fputc('\n', file);
}

static void print_row(const struct report *report, const struct report_row *row, FILE *file)
{
    fprintf(file, "%-*s", LABEL_WIDTH, row->label);
    for (size_t engine = 0; engine < report->options->engine_count; engine++) {
        if (report->is_failed[engine])
            fprintf(file, "%*s", width_of(report, engine), "failed");
        else
            print_figure(file, width_of(report, engine),
                         row->figure(report, &report->medians[engine], row->phase));
    }
    fputc('\n', file);
}

static void print_rows(const struct report *report, const char *title,
                       const struct report_rows *rows, FILE *file)
{
    print_heading(report, title, true, file);
    for (size_t i = 0; i < rows->count; i++) {
        if (report_has(report, &rows->rows[i]))
            print_row(report, &rows->rows[i], file);
    }
}

static void print_ratio_row(const struct report *report, const struct report_row *row,
                            enum report_clock clock, FILE *file)
{
    fprintf(file, "%-*s", LABEL_WIDTH, row->label);
    for (size_t engine = 0; engine < report->options->engine_count; engine++) {
        if (engine == report->reference)
            continue;
        if (report->is_failed[engine])
            fprintf(file, "%*s", width_of(report, engine), "failed");
        else
            fprintf(file, "%*.2f", width_of(report, engine),
                    report_ratio(report, row, engine, clock));
    }
    fputc('\n', file);
}

/* Of the rows that have this time; without rows there is no heading. */
static void print_ratios(const struct report *report, const char *title, enum report_clock clock,
                         FILE *file)
{
    bool is_first = true;
    for (size_t i = 0; i < report_times.count; i++) {
        const struct report_row *row = &report_times.rows[i];
        if (!report_has(report, row) || !report_has_clock(report, row, clock) ||
            (clock != REPORT_CLOCK && !phase_is_sliced(row->phase)))
            continue;
        if (is_first)
            print_heading(report, title, false, file);
        is_first = false;
        print_ratio_row(report, row, clock, file);
    }
}

static void print_all_ratios(const struct report *report, FILE *file)
{
    if (!report_has_reference(report))
        return;
    print_ratios(report, "peer's time / bloomblock's time", REPORT_CLOCK, file);
    print_ratios(report, "the same, of the processor", REPORT_PROCESSOR, file);
    print_ratios(report, "the same, of all threads", REPORT_PROCESS, file);
}

/* ---- where a peer is ahead ---- */

static bool is_ahead(const struct report *report, const struct report_row *row, size_t engine)
{
    return report_ratio(report, row, engine, REPORT_CLOCK) < 1 ||
           report_ratio(report, row, engine, REPORT_PROCESSOR) < 1 ||
           report_ratio(report, row, engine, REPORT_PROCESS) < 1;
}

static void print_ahead(const struct report *report, const struct report_row *row, size_t engine,
                        FILE *file)
{
    fprintf(file, "%-*s%18s", LABEL_WIDTH, row->label, report->options->engines[engine]->name);
    for (enum report_clock clock = REPORT_CLOCK; clock <= REPORT_PROCESS; clock++) {
        if (report_has_clock(report, row, clock))
            fprintf(file, "%14.3f", report_ratio(report, row, engine, clock));
        else
            fprintf(file, "%14s", "-");
    }
    fputc('\n', file);
}

/* Other settings of bloomblock are no peers. */
static bool is_peer(const struct report *report, size_t engine)
{
    return strncmp(report->options->engines[engine]->name, "bloomblock", 10) != 0 &&
           !report->is_failed[engine];
}

static size_t print_rows_ahead(const struct report *report, const struct report_rows *rows,
                               FILE *file)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct report_row *row = &rows->rows[i];
        bool is_time = rows == &report_times || row->process != NULL;
        for (size_t engine = 0; engine < report->options->engine_count; engine++) {
            if (!is_time || !is_peer(report, engine) || !report_has(report, row) ||
                !is_ahead(report, row, engine))
                continue;
            print_ahead(report, row, engine, file);
            count++;
        }
    }
    return count;
}

/* A phase is listed if one of its three ratios is below 1. */
static void print_behind(const struct report *report, FILE *file)
{
    if (!report_has_reference(report))
        return;
    fprintf(file, "\n%-*s%18s%14s%14s%14s\n", LABEL_WIDTH, "phases in which a peer is ahead",
            "peer", "time", "processor", "all threads");
    size_t count = print_rows_ahead(report, &report_times, file);
    count += print_rows_ahead(report, &report_whole, file);
    if (count == 0)
        fprintf(file, "none\n");
}

static void print_workload(const struct report *report, FILE *file)
{
    const struct compare_options *options = report->options;
    const struct workload_options *workload = &options->workload;
    fprintf(file,
            "%" PRIu64 " keys of %zu bytes, values of %zu bytes (half compressible)%s; per phase\n",
            workload->key_count, workload->key_size, workload->value_size,
            options->mixed.mix == NULL ? ", loaded in random order" : "");
    if (options->mixed.mix == NULL)
        fprintf(file, "%" PRIu64 " lookups, %" PRIu64 " range queries; ", workload->lookup_count,
                workload->seek_count);
    else
        fprintf(file, "%" PRIu64 " operations of %" PRIu64 " thread%s, workload %s; ",
                options->mixed.operation_count, options->mixed.thread_count,
                options->mixed.thread_count == 1 ? "" : "s", report_workload(report));
}

static void print_conditions(const struct report *report, FILE *file)
{
    const struct compare_options *options = report->options;
    const struct machine *machine = &report->machine;
    print_workload(report, file);
    fprintf(file,
            "cache %" PRIu64 " KiB, write buffer %" PRIu64 " KiB, seed %" PRIu64
            ", %s page cache, %" PRIu64 " round%s\n"
            "%s by turns, %" PRIu64 " slices of each phase: times are means over the slices, "
            "ratios medians of the ratios within a turn\n",
            options->cache_bytes / 1024, options->write_buffer_bytes / 1024, options->workload.seed,
            options->is_cold ? "cold" : "warm", options->rounds,
            options->rounds == 1 ? "" : "s (medians)",
            options->mixed.mix == NULL ? "reading" : "operations", options->slice_count);
    fprintf(file,
            "%s, %ld processors, %ld MiB, %s, %s, %s, load average %.2f at the beginning, %s\n",
            machine->processor, machine->processor_count, machine->memory_mib, machine->kernel,
            machine->file_system, machine->compiler, machine->load_average, machine->date);
}

static void print_options(const struct report *report, FILE *file)
{
    fprintf(file, "\n");
    for (size_t i = 0; i < report->options->engine_count; i++) {
        const struct bench_engine *engine = report->options->engines[i];
        fprintf(file, "%s %s: %s\n", engine->name, engine->version, engine->options);
    }
}

void report_write_text(const struct report *report, FILE *file)
{
    print_conditions(report, file);
    print_rows(report, "microseconds per operation", &report_times, file);
    print_all_ratios(report, file);
    if (report->options->mixed.mix == NULL)
        print_rows(report, "reads as the system counts them", &report_reads, file);
    if (report->options->is_cold && report->options->mixed.mix == NULL)
        print_rows(report, "bytes from the device per operation", &report_devices, file);
    print_rows(report, "the whole", &report_whole, file);
    print_options(report, file);
    print_behind(report, file);
}
