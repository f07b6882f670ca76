/* Tables for people: a column per engine, a row per figure. See report.h. */
#include <inttypes.h>
#include <string.h>

#include "bench/report.h"

#define LABEL_WIDTH  34
#define COLUMN_WIDTH 14

struct columns {
    const struct report *report;
    struct run_result medians[COMPARE_ENGINES_MAX];
    size_t reference; /* the column of bloomblock; engine_count: not there */
    FILE *file;
};

/* A figure of an engine. */
typedef double (*figure_function)(const struct columns *columns, const struct run_result *result,
                                  enum phase phase);

struct row {
    const char *label;
    figure_function figure;
    enum phase phase;
};

static double microseconds_per_operation(const struct columns *columns,
                                         const struct run_result *result, enum phase phase)
{
    const struct phase_result *measured = &result->phases[phase];
    (void)columns;
    return (double)measured->nanoseconds / (double)measured->operations / 1e3;
}

static double load_until_quiet(const struct columns *columns, const struct run_result *result,
                               enum phase phase)
{
    const struct phase_result *load = &result->phases[phase];
    (void)columns;
    return (double)(load->nanoseconds + result->phases[PHASE_SETTLE].nanoseconds) /
           (double)load->operations / 1e3;
}

static double seconds(const struct columns *columns, const struct run_result *result,
                      enum phase phase)
{
    (void)columns;
    return (double)result->phases[phase].nanoseconds / 1e9;
}

static double load_processor(const struct columns *columns, const struct run_result *result,
                             enum phase phase)
{
    (void)columns;
    return (double)(result->phases[phase].counters.cpu_nanoseconds +
                    result->phases[PHASE_SETTLE].counters.cpu_nanoseconds) /
           1e9;
}

static double reads_per_operation(const struct columns *columns, const struct run_result *result,
                                  enum phase phase)
{
    (void)columns;
    return (double)result->phases[phase].counters.read_calls /
           (double)result->phases[phase].operations;
}

static double bytes_per_operation(const struct columns *columns, const struct run_result *result,
                                  enum phase phase)
{
    (void)columns;
    return (double)result->phases[phase].counters.read_bytes /
           (double)result->phases[phase].operations;
}

static double faults_per_operation(const struct columns *columns, const struct run_result *result,
                                   enum phase phase)
{
    (void)columns;
    const struct counters *counters = &result->phases[phase].counters;
    return (double)(counters->minor_faults + counters->major_faults) /
           (double)result->phases[phase].operations;
}

static double device_bytes_per_operation(const struct columns *columns,
                                         const struct run_result *result, enum phase phase)
{
    (void)columns;
    return (double)result->phases[phase].counters.device_read /
           (double)result->phases[phase].operations;
}

static double writes_per_operation(const struct columns *columns, const struct run_result *result,
                                   enum phase phase)
{
    (void)columns;
    return (double)result->phases[phase].counters.write_calls /
           (double)result->phases[phase].operations;
}

static double data_bytes(const struct columns *columns)
{
    const struct workload_options *workload = &columns->report->options->workload;
    return (double)workload->key_count * (double)(workload->key_size + workload->value_size);
}

/* Bytes made dirty by load and background work for each byte of keys and values. */
static double write_amplification(const struct columns *columns, const struct run_result *result,
                                  enum phase phase)
{
    return (double)(result->phases[phase].counters.device_written +
                    result->phases[PHASE_SETTLE].counters.device_written) /
           data_bytes(columns);
}

static double size_loaded(const struct columns *columns, const struct run_result *result,
                          enum phase phase)
{
    (void)columns;
    (void)phase;
    return (double)result->size_loaded / 1048576;
}

static double size_compacted(const struct columns *columns, const struct run_result *result,
                             enum phase phase)
{
    (void)columns;
    (void)phase;
    return (double)result->size_compacted / 1048576;
}

static double memory(const struct columns *columns, const struct run_result *result,
                     enum phase phase)
{
    (void)columns;
    (void)phase;
    return (double)result->memory_bytes / 1048576;
}

static const struct row time_rows[] = {
    {"load, to the last put", microseconds_per_operation, PHASE_LOAD},
    {"load, until quiet", load_until_quiet, PHASE_LOAD},
    {"get present, as loaded", microseconds_per_operation, PHASE_PRESENT_LOADED},
    {"get absent, as loaded", microseconds_per_operation, PHASE_ABSENT_LOADED},
    {"seek + 10, as loaded", microseconds_per_operation, PHASE_SEEK_LOADED},
    {"get present, compacted", microseconds_per_operation, PHASE_PRESENT_COMPACTED},
    {"get absent, compacted", microseconds_per_operation, PHASE_ABSENT_COMPACTED},
    {"seek + 10, compacted", microseconds_per_operation, PHASE_SEEK_COMPACTED},
    {"full scan, per entry", microseconds_per_operation, PHASE_SCAN},
};

static const struct row read_rows[] = {
    {"get present, as loaded: calls", reads_per_operation, PHASE_PRESENT_LOADED},
    {"                        bytes", bytes_per_operation, PHASE_PRESENT_LOADED},
    {"                        faults", faults_per_operation, PHASE_PRESENT_LOADED},
    {"get absent, as loaded:  calls", reads_per_operation, PHASE_ABSENT_LOADED},
    {"                        bytes", bytes_per_operation, PHASE_ABSENT_LOADED},
    {"                        faults", faults_per_operation, PHASE_ABSENT_LOADED},
    {"get present, compacted: calls", reads_per_operation, PHASE_PRESENT_COMPACTED},
    {"                        bytes", bytes_per_operation, PHASE_PRESENT_COMPACTED},
    {"get absent, compacted:  calls", reads_per_operation, PHASE_ABSENT_COMPACTED},
    {"                        bytes", bytes_per_operation, PHASE_ABSENT_COMPACTED},
    {"seek + 10, compacted:   calls", reads_per_operation, PHASE_SEEK_COMPACTED},
    {"full scan, per entry:   bytes", bytes_per_operation, PHASE_SCAN},
};

static const struct row device_rows[] = {
    {"get present, as loaded", device_bytes_per_operation, PHASE_PRESENT_LOADED},
    {"get absent, as loaded", device_bytes_per_operation, PHASE_ABSENT_LOADED},
    {"get present, compacted", device_bytes_per_operation, PHASE_PRESENT_COMPACTED},
    {"get absent, compacted", device_bytes_per_operation, PHASE_ABSENT_COMPACTED},
    {"seek + 10, compacted", device_bytes_per_operation, PHASE_SEEK_COMPACTED},
};

static const struct row whole_rows[] = {
    {"write calls per put", writes_per_operation, PHASE_LOAD},
    {"bytes written per byte loaded", write_amplification, PHASE_LOAD},
    {"processor time of the load, s", load_processor, PHASE_LOAD},
    {"full compaction, s", seconds, PHASE_COMPACT},
    {"on disk, as loaded, MiB", size_loaded, PHASE_LOAD},
    {"on disk, compacted, MiB", size_compacted, PHASE_LOAD},
    {"anonymous memory, MiB", memory, PHASE_LOAD},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A long name widens its column. */
static int width_of(const struct columns *columns, size_t engine)
{
    int width = (int)strlen(columns->report->options->engines[engine]->name) + 2;
    return width > COLUMN_WIDTH ? width : COLUMN_WIDTH;
}

static void print_figure(FILE *file, int width, double figure)
{
    int decimals = figure >= 1000 ? 0 : figure >= 100 ? 1 : figure >= 10 ? 2 : 3;
    fprintf(file, "%*.*f", width, decimals, figure);
}

static void print_heading(const struct columns *columns, const char *title, bool with_reference)
{
    fprintf(columns->file, "\n%-*s", LABEL_WIDTH, title);
    for (size_t i = 0; i < columns->report->options->engine_count; i++) {
        if (with_reference || i != columns->reference)
            fprintf(columns->file, "%*s", width_of(columns, i),
                    columns->report->options->engines[i]->name);
    }
    fputc('\n', columns->file);
}

static void print_rows(const struct columns *columns, const char *title, const struct row *rows,
                       size_t row_count)
{
    print_heading(columns, title, true);
    for (size_t i = 0; i < row_count; i++) {
        fprintf(columns->file, "%-*s", LABEL_WIDTH, rows[i].label);
        for (size_t engine = 0; engine < columns->report->options->engine_count; engine++) {
            if (columns->report->is_failed[engine])
                fprintf(columns->file, "%*s", width_of(columns, engine), "failed");
            else
                print_figure(columns->file, width_of(columns, engine),
                             rows[i].figure(columns, &columns->medians[engine], rows[i].phase));
        }
        fputc('\n', columns->file);
    }
}

/* Reading is compared slice by slice, the rest as a whole. */
static double ratio_of(const struct columns *columns, const struct row *row, size_t engine,
                       bool of_processor)
{
    double own = row->figure(columns, &columns->medians[columns->reference], row->phase);
    struct turns turns;
    if (!phase_is_reading(row->phase))
        return row->figure(columns, &columns->medians[engine], row->phase) / own;
    report_turns(columns->report, row->phase, of_processor, &turns);
    double ratio = turns_ratio(&turns, engine, columns->reference);
    turns_deinit(&turns);
    return ratio;
}

static void print_ratio_row(const struct columns *columns, const struct row *row, bool of_processor)
{
    const struct report *report = columns->report;
    fprintf(columns->file, "%-*s", LABEL_WIDTH, row->label);
    for (size_t engine = 0; engine < report->options->engine_count; engine++) {
        if (engine == columns->reference)
            continue;
        if (report->is_failed[engine])
            fprintf(columns->file, "%*s", width_of(columns, engine), "failed");
        else
            fprintf(columns->file, "%*.2f", width_of(columns, engine),
                    ratio_of(columns, row, engine, of_processor));
    }
    fputc('\n', columns->file);
}

static bool has_ratios(const struct columns *columns)
{
    size_t engine_count = columns->report->options->engine_count;
    return columns->reference != engine_count && engine_count > 1 &&
           !columns->report->is_failed[columns->reference];
}

static void print_ratios(const struct columns *columns, const struct row *rows, size_t row_count)
{
    if (!has_ratios(columns))
        return;
    print_heading(columns, "peer's time / bloomblock's time", false);
    for (size_t i = 0; i < row_count; i++)
        print_ratio_row(columns, &rows[i], false);
    print_heading(columns, "the same, of the processor", false);
    for (size_t i = 0; i < row_count; i++) {
        if (phase_is_reading(rows[i].phase))
            print_ratio_row(columns, &rows[i], true);
    }
}

static void print_conditions(const struct report *report, FILE *file)
{
    const struct compare_options *options = report->options;
    const struct machine *machine = &report->machine;
    fprintf(file,
            "%" PRIu64 " keys of %zu bytes, values of %zu bytes (half compressible), loaded in "
            "random order; per phase\n"
            "%" PRIu64 " lookups, %" PRIu64 " range queries; cache %" PRIu64
            " KiB, write buffer %" PRIu64 " KiB, seed %" PRIu64 ", %s page cache, %" PRIu64
            " round%s\n"
            "reading by turns, %" PRIu64 " slices of each phase: times are means over the slices, "
            "ratios medians of the ratios within a turn\n",
            options->workload.key_count, options->workload.key_size, options->workload.value_size,
            options->workload.lookup_count, options->workload.seek_count,
            options->cache_bytes / 1024, options->write_buffer_bytes / 1024, options->workload.seed,
            options->is_cold ? "cold" : "warm", options->rounds,
            options->rounds == 1 ? "" : "s (medians)", options->slice_count);
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
    static struct columns columns;
    columns = (struct columns){
        .report = report, .reference = report->options->engine_count, .file = file};
    for (size_t i = 0; i < report->options->engine_count; i++) {
        report_median(report, i, &columns.medians[i]);
        if (report->options->engines[i] == &bench_engine_bloomblock)
            columns.reference = i;
    }
    print_conditions(report, file);
    print_rows(&columns, "microseconds per operation", time_rows, COUNT_OF(time_rows));
    print_ratios(&columns, time_rows, COUNT_OF(time_rows));
    print_rows(&columns, "reads as the system counts them", read_rows, COUNT_OF(read_rows));
    if (report->options->is_cold)
        print_rows(&columns, "bytes from the device per operation", device_rows,
                   COUNT_OF(device_rows));
    print_rows(&columns, "the whole", whole_rows, COUNT_OF(whole_rows));
    print_options(report, file);
}
