/* The rows of the text. See report_figures.h. */
#include "bench/report_figures.h"

#include <math.h>

static double microseconds_per_operation(const struct report *report,
                                         const struct run_result *result, enum phase phase)
{
    const struct phase_result *measured = &result->phases[phase];
    (void)report;
    return (double)measured->nanoseconds / (double)measured->operations / 1e3;
}

static double load_until_quiet(const struct report *report, const struct run_result *result,
                               enum phase phase)
{
    const struct phase_result *load = &result->phases[phase];
    (void)report;
    return (double)(load->nanoseconds + result->phases[PHASE_SETTLE].nanoseconds) /
           (double)load->operations / 1e3;
}

static double seconds(const struct report *report, const struct run_result *result,
                      enum phase phase)
{
    (void)report;
    return (double)result->phases[phase].nanoseconds / 1e9;
}

static double load_processor(const struct report *report, const struct run_result *result,
                             enum phase phase)
{
    (void)report;
    return (double)(result->phases[phase].counters.cpu_nanoseconds +
                    result->phases[PHASE_SETTLE].counters.cpu_nanoseconds) /
           1e9;
}

static double compaction_processor(const struct report *report, const struct run_result *result,
                                   enum phase phase)
{
    (void)report;
    return (double)result->phases[phase].counters.cpu_nanoseconds / 1e9;
}

static double reads_per_operation(const struct report *report, const struct run_result *result,
                                  enum phase phase)
{
    (void)report;
    return (double)result->phases[phase].counters.read_calls /
           (double)result->phases[phase].operations;
}

static double bytes_per_operation(const struct report *report, const struct run_result *result,
                                  enum phase phase)
{
    (void)report;
    return (double)result->phases[phase].counters.read_bytes /
           (double)result->phases[phase].operations;
}

static double faults_per_operation(const struct report *report, const struct run_result *result,
                                   enum phase phase)
{
    (void)report;
    const struct counters *counters = &result->phases[phase].counters;
    return (double)(counters->minor_faults + counters->major_faults) /
           (double)result->phases[phase].operations;
}

static double device_bytes_per_operation(const struct report *report,
                                         const struct run_result *result, enum phase phase)
{
    (void)report;
    return (double)result->phases[phase].counters.device_read /
           (double)result->phases[phase].operations;
}

static double writes_per_operation(const struct report *report, const struct run_result *result,
                                   enum phase phase)
{
    (void)report;
    return (double)result->phases[phase].counters.write_calls /
           (double)result->phases[phase].operations;
}

static double data_bytes(const struct report *report)
{
    const struct workload_options *workload = &report->options->workload;
    return (double)workload->key_count * (double)(workload->key_size + workload->value_size);
}

/* Bytes made dirty by load and background work for each byte of keys and values. */
static double write_amplification(const struct report *report, const struct run_result *result,
                                  enum phase phase)
{
    return (double)(result->phases[phase].counters.device_written +
                    result->phases[PHASE_SETTLE].counters.device_written) /
           data_bytes(report);
}

static double size_loaded(const struct report *report, const struct run_result *result,
                          enum phase phase)
{
    (void)report;
    (void)phase;
    return (double)result->size_loaded / 1048576;
}

static double size_compacted(const struct report *report, const struct run_result *result,
                             enum phase phase)
{
    (void)report;
    (void)phase;
    return (double)result->size_compacted / 1048576;
}

static double memory(const struct report *report, const struct run_result *result, enum phase phase)
{
    (void)report;
    (void)phase;
    return (double)result->memory_bytes / 1048576;
}

static const struct report_row time_rows[] = {
    {"load, to the last put", microseconds_per_operation, PHASE_LOAD, NULL},
    {"load, until quiet", load_until_quiet, PHASE_LOAD, load_processor},
    {"get present, as loaded", microseconds_per_operation, PHASE_PRESENT_LOADED, NULL},
    {"get absent, as loaded", microseconds_per_operation, PHASE_ABSENT_LOADED, NULL},
    {"seek + 10, as loaded", microseconds_per_operation, PHASE_SEEK_LOADED, NULL},
    {"get present, compacted", microseconds_per_operation, PHASE_PRESENT_COMPACTED, NULL},
    {"get absent, compacted", microseconds_per_operation, PHASE_ABSENT_COMPACTED, NULL},
    {"seek + 10, compacted", microseconds_per_operation, PHASE_SEEK_COMPACTED, NULL},
    {"full scan, per entry", microseconds_per_operation, PHASE_SCAN, NULL},
    {"operations of the mix", microseconds_per_operation, PHASE_MIX, NULL},
    {"overwrite", microseconds_per_operation, PHASE_OVERWRITE, NULL},
    {"delete", microseconds_per_operation, PHASE_DELETE, NULL},
    {"get", microseconds_per_operation, PHASE_GET, NULL},
    {"get, never stored", microseconds_per_operation, PHASE_GET_NEVER, NULL},
    {"get of 10 keys, per key", microseconds_per_operation, PHASE_GET_10, NULL},
    {"get of 100 keys, per key", microseconds_per_operation, PHASE_GET_100, NULL},
    {"seek + 10", microseconds_per_operation, PHASE_SEEK, NULL},
    {"iterator bounded to 10", microseconds_per_operation, PHASE_RANGE_10, NULL},
    {"iterator bounded to 100", microseconds_per_operation, PHASE_RANGE_100, NULL},
    {"iterator of a prefix", microseconds_per_operation, PHASE_PREFIX, NULL},
};

static const struct report_row read_rows[] = {
    {"get present, as loaded: calls", reads_per_operation, PHASE_PRESENT_LOADED, NULL},
    {"                        bytes", bytes_per_operation, PHASE_PRESENT_LOADED, NULL},
    {"                        faults", faults_per_operation, PHASE_PRESENT_LOADED, NULL},
    {"get absent, as loaded:  calls", reads_per_operation, PHASE_ABSENT_LOADED, NULL},
    {"                        bytes", bytes_per_operation, PHASE_ABSENT_LOADED, NULL},
    {"                        faults", faults_per_operation, PHASE_ABSENT_LOADED, NULL},
    {"get present, compacted: calls", reads_per_operation, PHASE_PRESENT_COMPACTED, NULL},
    {"                        bytes", bytes_per_operation, PHASE_PRESENT_COMPACTED, NULL},
    {"get absent, compacted:  calls", reads_per_operation, PHASE_ABSENT_COMPACTED, NULL},
    {"                        bytes", bytes_per_operation, PHASE_ABSENT_COMPACTED, NULL},
    {"seek + 10, compacted:   calls", reads_per_operation, PHASE_SEEK_COMPACTED, NULL},
    {"full scan, per entry:   bytes", bytes_per_operation, PHASE_SCAN, NULL},
};

static const struct report_row device_rows[] = {
    {"get present, as loaded", device_bytes_per_operation, PHASE_PRESENT_LOADED, NULL},
    {"get absent, as loaded", device_bytes_per_operation, PHASE_ABSENT_LOADED, NULL},
    {"get present, compacted", device_bytes_per_operation, PHASE_PRESENT_COMPACTED, NULL},
    {"get absent, compacted", device_bytes_per_operation, PHASE_ABSENT_COMPACTED, NULL},
    {"seek + 10, compacted", device_bytes_per_operation, PHASE_SEEK_COMPACTED, NULL},
};

static const struct report_row whole_rows[] = {
    {"write calls per put", writes_per_operation, PHASE_LOAD, NULL},
    {"bytes written per byte loaded", write_amplification, PHASE_LOAD, NULL},
    {"processor time of the load, s", load_processor, PHASE_LOAD, NULL},
    {"full compaction, s", seconds, PHASE_COMPACT, compaction_processor},
    {"on disk, as loaded, MiB", size_loaded, PHASE_LOAD, NULL},
    {"on disk, compacted, MiB", size_compacted, PHASE_COMPACT, NULL},
    {"anonymous memory, MiB", memory, PHASE_LOAD, NULL},
};

#define ROWS_OF(array)                                                                             \
    {                                                                                              \
        array, sizeof(array) / sizeof((array)[0])                                                  \
    }

const struct report_rows report_times = ROWS_OF(time_rows);
const struct report_rows report_reads = ROWS_OF(read_rows);
const struct report_rows report_devices = ROWS_OF(device_rows);
const struct report_rows report_whole = ROWS_OF(whole_rows);

bool report_has(const struct report *report, const struct report_row *row)
{
    for (size_t i = 0; i < report->options->engine_count; i++) {
        if (!report->is_failed[i] && report->medians[i].phases[row->phase].operations > 0)
            return true;
    }
    return false;
}

bool report_has_clock(const struct report *report, const struct report_row *row,
                      enum report_clock clock)
{
    const struct slice_time *slice =
        &report->medians[report->reference].phases[row->phase].slices[0];
    if (clock == REPORT_CLOCK)
        return true;
    if (!phase_is_sliced(row->phase))
        return clock == REPORT_PROCESS && row->process != NULL;
    return clock == REPORT_PROCESSOR || slice->process > 0;
}

static double ratio_of_whole(const struct report *report, const struct report_row *row,
                             size_t engine, report_figure *figure)
{
    return figure(report, &report->medians[engine], row->phase) /
           figure(report, &report->medians[report->reference], row->phase);
}

double report_ratio(const struct report *report, const struct report_row *row, size_t engine,
                    enum report_clock clock)
{
    struct turns turns;
    if (!report_has_clock(report, row, clock))
        return NAN;
    if (!phase_is_sliced(row->phase))
        return ratio_of_whole(report, row, engine,
                              clock == REPORT_CLOCK ? row->figure : row->process);
    report_turns(report, row->phase, clock, &turns);
    double ratio = turns_ratio(&turns, engine, report->reference);
    turns_deinit(&turns);
    return ratio;
}

bool report_has_reference(const struct report *report)
{
    size_t engine_count = report->options->engine_count;
    return report->reference != engine_count && engine_count > 1 &&
           !report->is_failed[report->reference];
}
