/* All figures of all rounds as one JSON document. Names are ours and need no escapes; texts are
 * escaped. See report.h. */
#include <inttypes.h>

#include "bench/report.h"

static void write_text(FILE *file, const char *name, const char *text)
{
    fprintf(file, "\"%s\": \"", name);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc((unsigned char)*text < 0x20 ? ' ' : *text, file);
    }
    fputc('"', file);
}

static void write_conditions(const struct report *report, FILE *file)
{
    const struct compare_options *options = report->options;
    const struct workload_options *workload = &options->workload;
    const struct machine *machine = &report->machine;
    fprintf(file,
            "  \"workload\": {\"name\": \"%s\", \"threads\": %" PRIu64 ", \"operations\": %" PRIu64
            ", \"keys\": %" PRIu64 ", \"lookups\": %" PRIu64 ", \"seeks\": %" PRIu64
            ", \"seek_length\": %" PRIu64
            ", \"key_size\": %zu, \"value_size\": %zu, \"seed\": %" PRIu64
            ", \"cache_bytes\": %" PRIu64 ", \"write_buffer_bytes\": %" PRIu64
            ", \"cold\": %s, \"rounds\": %" PRIu64 ", \"slices\": %" PRIu64 "},\n",
            report_workload(report), options->mixed.thread_count, options->mixed.operation_count,
            workload->key_count, workload->lookup_count, workload->seek_count,
            workload->seek_length, workload->key_size, workload->value_size, workload->seed,
            options->cache_bytes, options->write_buffer_bytes, options->is_cold ? "true" : "false",
            options->rounds, options->slice_count);
    fprintf(file, "  \"machine\": {");
    write_text(file, "processor", machine->processor);
    fprintf(file, ", \"processors\": %ld, \"memory_mib\": %ld, ", machine->processor_count,
            machine->memory_mib);
    write_text(file, "kernel", machine->kernel);
    fprintf(file, ", ");
    write_text(file, "file_system", machine->file_system);
    fprintf(file, ", ");
    write_text(file, "compiler", machine->compiler);
    fprintf(file, ", \"load_average\": %.2f, ", machine->load_average);
    write_text(file, "date", machine->date);
    fprintf(file, "},\n");
}

static void write_slices(FILE *file, const struct phase_result *result, uint64_t slice_count)
{
    fprintf(file, ", \"slice_nanoseconds\": [");
    for (uint64_t i = 0; i < slice_count; i++)
        fprintf(file, "%s%" PRIu64, i == 0 ? "" : ", ", result->slices[i].clock);
    fprintf(file, "], \"slice_processor_nanoseconds\": [");
    for (uint64_t i = 0; i < slice_count; i++)
        fprintf(file, "%s%" PRIu64, i == 0 ? "" : ", ", result->slices[i].processor);
    fprintf(file, "], \"slice_process_nanoseconds\": [");
    for (uint64_t i = 0; i < slice_count; i++)
        fprintf(file, "%s%" PRIu64, i == 0 ? "" : ", ", result->slices[i].process);
    fprintf(file, "]");
}

/* A slice_count of 0: without the slices. */
static void write_phase(FILE *file, enum phase phase, const struct phase_result *result,
                        uint64_t slice_count)
{
    fprintf(file, "          \"%s\": {\"operations\": %" PRIu64 ", \"nanoseconds\": %" PRIu64,
            phase_name(phase), result->operations, result->nanoseconds);
    fprintf(file, ", \"operations_checksum\": %" PRIu64, result->checksum);
#define WRITE_COUNTER(name) fprintf(file, ", \"" #name "\": %" PRIu64, result->counters.name);
    COUNTERS_FIELDS(WRITE_COUNTER)
#undef WRITE_COUNTER
    if (slice_count > 0 && result->operations > 0 && phase_is_sliced(phase))
        write_slices(file, result, slice_count);
    fprintf(file, "}%s\n", phase + 1 == PHASE_COUNT ? "" : ",");
}

static void write_result(FILE *file, const struct run_result *result, uint64_t slice_count)
{
    fprintf(file,
            "{\n        \"disk_bytes_loaded\": %" PRIu64 ", \"disk_bytes_compacted\": %" PRIu64
            ", \"anonymous_memory_bytes\": %" PRIu64 ",\n        \"phases\": {\n",
            result->size_loaded, result->size_compacted, result->memory_bytes);
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        write_phase(file, (enum phase)phase, &result->phases[phase], slice_count);
    fprintf(file, "        }\n      }");
}

static void write_engine(const struct report *report, size_t engine, FILE *file)
{
    fprintf(file, "    {");
    write_text(file, "name", report->options->engines[engine]->name);
    fprintf(file, ", ");
    write_text(file, "version", report->options->engines[engine]->version);
    fprintf(file, ",\n      ");
    write_text(file, "options", report->options->engines[engine]->options);
    fprintf(file, ",\n      \"failed\": %s", report->is_failed[engine] ? "true" : "false");
    if (!report->is_failed[engine]) {
        fprintf(file, ",\n      \"median\": ");
        write_result(file, &report->medians[engine], 0);
        fprintf(file, ",\n      \"rounds\": [");
        for (uint64_t round = 0; round < report->options->rounds; round++) {
            fprintf(file, "%s", round == 0 ? "" : ", ");
            write_result(file, &report->results[engine][round], report->options->slice_count);
        }
        fprintf(file, "]");
    }
    fprintf(file, "}%s\n", engine + 1 == report->options->engine_count ? "" : ",");
}

void report_write_json(const struct report *report, FILE *file)
{
    fprintf(file, "{\n  \"format\": \"bloomblock-compare/1\",\n");
    write_conditions(report, file);
    fprintf(file, "  \"engines\": [\n");
    for (size_t i = 0; i < report->options->engine_count; i++)
        write_engine(report, i, file);
    fprintf(file, "  ]\n}\n");
}
