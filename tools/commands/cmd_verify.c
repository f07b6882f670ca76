/* bloomblock verify: reads and checks every byte of a table or a store. */
#include <errno.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/status.h"
#include "bb/db_files.h"
#include "tools/number_text.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress.h"

static void report_table(struct output *out, const struct bb_table_verify_report *report)
{
    if (!out->is_json) {
        output_print(out,
                     "table is sound: %s in %s blocks, %s index pages; %s entries of %s keys; %s "
                     "filters, of which ",
                     number_bytes(report->bytes).text, number_grouped(report->blocks).text,
                     number_grouped(report->pages).text, number_grouped(report->entries).text,
                     number_grouped(report->keys).text, number_grouped(report->filters).text);
        output_print(out, "%s were rebuilt and are the same",
                     number_grouped(report->filters_compared).text);
        if (report->summary_chunks > 0)
            output_print(out, "; a summary of %s chunks, of which %s were",
                         number_grouped(report->summary_chunks).text,
                         number_grouped(report->summary_chunks_compared).text);
        output_print(out, "\n");
        return;
    }
    json_t *document = json_object();
    json_set_text(document, "kind", "table");
    json_set_bool(document, "sound", true);
    json_set_count(document, "bytes", report->bytes);
    json_set_count(document, "blocks", report->blocks);
    json_set_count(document, "pages", report->pages);
    json_set_count(document, "entries", report->entries);
    json_set_count(document, "keys", report->keys);
    json_set_count(document, "filters", report->filters);
    json_set_count(document, "filters_compared", report->filters_compared);
    json_set_count(document, "summary_chunks", report->summary_chunks);
    json_set_count(document, "summary_chunks_compared", report->summary_chunks_compared);
    output_json(out, document);
}

static void report_store(struct output *out, const struct bb_db_verify_report *report)
{
    if (!out->is_json) {
        output_print(out, "store is sound: %s tables, %s, %s entries; %s logs with %s records",
                     number_grouped(report->tables).text, number_bytes(report->bytes).text,
                     number_grouped(report->entries).text, number_grouped(report->logs).text,
                     number_grouped(report->log_records).text);
        if (report->indexes > 0)
            output_print(out, ", %s index files that miss no record",
                         number_grouped(report->indexes).text);
        if (report->log_bytes_dropped > 0)
            output_print(out, ", %s of an interrupted write at the end",
                         number_bytes(report->log_bytes_dropped).text);
        output_print(out, "; files that nothing needs: %s", number_grouped(report->orphans).text);
        if (report->tables_unnamed + report->logs_unnamed > 0)
            output_print(out, " (whole tables: %s, logs: %s)",
                         number_grouped(report->tables_unnamed).text,
                         number_grouped(report->logs_unnamed).text);
        output_print(out, "; foreign files: %s\n", number_grouped(report->foreign).text);
        return;
    }
    json_t *document = json_object();
    json_set_text(document, "kind", "store");
    json_set_bool(document, "sound", true);
    json_set_count(document, "tables", report->tables);
    json_set_count(document, "indexes", report->indexes);
    json_set_count(document, "bytes", report->bytes);
    json_set_count(document, "entries", report->entries);
    json_set_count(document, "logs", report->logs);
    json_set_count(document, "log_records", report->log_records);
    json_set_count(document, "log_bytes_dropped", report->log_bytes_dropped);
    json_set_count(document, "orphans", report->orphans);
    json_set_count(document, "foreign", report->foreign);
    json_set_count(document, "tables_unnamed", report->tables_unnamed);
    json_set_count(document, "logs_unnamed", report->logs_unnamed);
    output_json(out, document);
}

static void report_damage(struct output *out, const char *kind, enum bb_status status)
{
    if (!out->is_json)
        return;
    json_t *document = json_object();
    json_set_text(document, "kind", kind);
    json_set_bool(document, "sound", false);
    json_set_text(document, "status", bb_status_name(status));
    json_set_text(document, "message", bb_error_last()->message);
    output_json(out, document);
}

static enum bb_status verify_store(const char *path, struct output *out)
{
    struct bb_db_verify_report report = {0};
    enum bb_status status = bb_db_verify(path, NULL, &report);
    if (status == BB_OK)
        report_store(out, &report);
    else
        report_damage(out, "store", status);
    return status;
}

static enum bb_status verify_table(const char *path, struct output *out)
{
    struct bb_table_verify_report report = {0};
    enum bb_status status = bb_table_verify(path, NULL, &report);
    if (status == BB_OK)
        report_table(out, &report);
    else
        report_damage(out, "table", status);
    return status;
}

static enum bb_status verify(const char *path, struct output *out)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return bb_fail_errno(errno, "stat", path);
    struct progress progress;
    progress_start(&progress, "verifying", 0, true);
    enum bb_status status =
        S_ISDIR(file.st_mode) ? verify_store(path, out) : verify_table(path, out);
    progress_stop(&progress);
    return status;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct output out = {0};
    const struct option own[] = {{"json", NULL, OPTION_FLAG, &out.is_json, "report as JSON"}};
    const struct option_group group = {"Options", own, BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = verify(arguments.values[0], &out);
    if (status != BB_OK)
        code = command_fail(command, status);
    return output_finish(&out, command, code);
}

const struct command command_verify = {
    .name = "verify",
    .summary = "read and check every byte of a table or a store",
    .arguments = "PATH",
    .description =
        "PATH is a table file or the directory of a store that nobody has open. Reads every byte; "
        "checks every\n"
        "checksum, order and count; asks every filter for every key of its block, and rebuilds and "
        "compares\n"
        "the filters that this version wrote. Stops at the first defect and names file and "
        "offset.\n"
        "Exit code 0: sound, 4: damaged, 5: written by a newer version. Changes nothing.\n"
        "\n"
        "Examples:\n"
        "  bloomblock verify /tmp/words\n"
        "  bloomblock verify /tmp/words/000005.bbt --json\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
