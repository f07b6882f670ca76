/* bloomblock repair: makes a damaged store usable from its readable parts. */
#include "base/assert.h"
#include "bb/db_files.h"
#include "tools/output/number_text.h"
#include "tools/command/options.h"
#include "tools/output/output.h"
#include "tools/output/process_reads.h"
#include "tools/output/progress.h"

struct findings {
    struct output *out;
    json_t *seen; /* has a member for each finding: several steps read the same damage */
    json_t *list; /* NULL: they are printed immediately */
};

static void on_event(void *context, const struct bb_event *event)
{
    struct findings *findings = context;
    if (json_object_get(findings->seen, event->message) != NULL)
        return;
    json_object_set_new(findings->seen, event->message, json_true());
    if (findings->list != NULL)
        json_array_append_new(findings->list, json_string(event->message));
    else
        output_print(findings->out, "%s\n", event->message);
}

static const char *state_name(const struct bb_db_repair_report *report)
{
    if (!report->has_manifest)
        return "none that can be read";
    return report->is_manifest_current ? "sound" : "not certain to be the last state";
}

static void print_tables(struct output *out, const struct bb_db_repair_report *report)
{
    output_print(out, "manifest       %s\n", state_name(report));
    output_print(
        out, "tables         %s kept, %s salvaged, %s lost, %s not taken; %s merged\n",
        number_grouped(report->tables_kept).text, number_grouped(report->tables_salvaged).text,
        number_grouped(report->tables_lost).text, number_grouped(report->tables_unnamed).text,
        number_grouped(report->tables_merged).text);
    if (report->indexes_kept + report->indexes_dropped > 0)
        output_print(out, "indexes        %s files kept, %s dropped: they only save reads\n",
                     number_grouped(report->indexes_kept).text,
                     number_grouped(report->indexes_dropped).text);
    if (report->tables_ranges_lost > 0)
        output_print(out, "ranges         of %s tables the deleted ranges are lost, or may be\n",
                     number_grouped(report->tables_ranges_lost).text);
    output_print(out, "entries        %s kept, %s salvaged, %s lost\n",
                 number_grouped(report->entries_kept).text,
                 number_grouped(report->entries_salvaged).text,
                 number_grouped(report->entries_lost).text);
    output_print(out, "blocks         %s lost; %s of tables could not be read\n",
                 number_grouped(report->blocks_lost).text, number_bytes(report->bytes_lost).text);
}

/* Entries, deletions or batches are lost, or cannot be read. Other findings cost nothing: a footer
 * that the blocks replace, an index file, a table that a compaction has replaced. */
static bool loses_data(const struct bb_db_repair_report *report)
{
    uint64_t parts = report->tables_lost + report->tables_ranges_lost + report->entries_lost +
                     report->blocks_lost + report->logs_lost + report->log_bytes_lost +
                     report->log_holes;
    /* Without a count of the table's entries, any of its bytes may have been an entry. */
    return parts > 0 || (report->bytes_lost > 0 && report->deletions_may_return);
}

static void print_report(struct output *out, const struct bb_db_repair_report *report, bool is_dry)
{
    print_tables(out, report);
    output_print(out, "logs           %s kept, %s read, %s lost; %s batches, %s lost, %s holes\n",
                 number_grouped(report->logs_kept).text, number_grouped(report->logs_read).text,
                 number_grouped(report->logs_lost).text, number_grouped(report->log_records).text,
                 number_bytes(report->log_bytes_lost).text, number_grouped(report->log_holes).text);
    output_print(out, "last sequence  %s\n", number_grouped(report->last_sequence).text);
    if (report->deletions_may_return)
        output_print(out, "Deleted keys and older values may show again where parts are lost.\n");
    if (is_dry)
        output_print(out, "Nothing was changed: this was a dry run.\n");
    else
        output_print(out, "The store is repaired; %s set aside as *.lost.\n",
                     number_of(report->files_set_aside, "file was", "files were").text);
}

static void add_counts(json_t *document, const struct bb_db_repair_report *report)
{
    json_set_count(document, "tables_kept", report->tables_kept);
    json_set_count(document, "indexes_kept", report->indexes_kept);
    json_set_count(document, "indexes_dropped", report->indexes_dropped);
    json_set_count(document, "tables_salvaged", report->tables_salvaged);
    json_set_count(document, "tables_lost", report->tables_lost);
    json_set_count(document, "tables_merged", report->tables_merged);
    json_set_count(document, "tables_unnamed", report->tables_unnamed);
    json_set_count(document, "tables_ranges_lost", report->tables_ranges_lost);
    json_set_count(document, "entries_kept", report->entries_kept);
    json_set_count(document, "entries_salvaged", report->entries_salvaged);
    json_set_count(document, "entries_lost", report->entries_lost);
    json_set_count(document, "blocks_lost", report->blocks_lost);
    json_set_count(document, "bytes_lost", report->bytes_lost);
    json_set_count(document, "logs_kept", report->logs_kept);
    json_set_count(document, "logs_read", report->logs_read);
    json_set_count(document, "logs_lost", report->logs_lost);
    json_set_count(document, "log_records", report->log_records);
    json_set_count(document, "log_bytes_lost", report->log_bytes_lost);
    json_set_count(document, "log_holes", report->log_holes);
    json_set_count(document, "files_set_aside", report->files_set_aside);
    if (report->is_whole) /* it is not known */
        return;
    json_set_count(document, "manifest_number", report->manifest_number);
    json_set_count(document, "last_sequence", report->last_sequence);
}

/* Takes the list. */
static void print_json(struct output *out, const struct bb_db_repair_report *report, bool is_dry,
                       json_t *list)
{
    json_t *document = json_object();
    json_set_bool(document, "whole", report->is_whole);
    json_set_bool(document, "dry_run", is_dry);
    json_set_bool(document, "has_manifest", report->has_manifest);
    json_set_bool(document, "manifest_is_current", report->is_manifest_current);
    json_set_bool(document, "data_lost", loses_data(report));
    json_set_bool(document, "deletions_may_return", report->deletions_may_return);
    add_counts(document, report);
    json_object_set_new(document, "findings", list);
    output_json(out, document);
}

static enum bb_status repair(const char *path, struct output *out,
                             const struct bb_db_repair_options *how, bool *ret_loses_data)
{
    struct findings findings = {
        .out = out, .seen = json_object(), .list = out->is_json ? json_array() : NULL};
    struct bb_db_options options = {.on_event = on_event, .event_context = &findings};
    struct bb_db_repair_report report = {0};
    struct progress progress;
    progress_start_reads(&progress, how->dry_run ? "examining" : "repairing",
                         process_reads_expected(path));
    enum bb_status status = bb_db_repair(path, &options, how, &report);
    progress_stop(&progress);
    json_decref(findings.seen);
    if (status != BB_OK) {
        json_decref(findings.list);
        return status;
    }
    if (out->is_json)
        print_json(out, &report, how->dry_run, findings.list);
    else if (report.is_whole)
        output_print(out, "The store is sound. Nothing was changed.\n");
    else
        print_report(out, &report, how->dry_run);
    *ret_loses_data = loses_data(&report);
    return BB_OK;
}

static enum exit_code warn_of_loss(const struct command *command, bool is_dry)
{
    command_warn(command, is_dry ? "a repair would lose data that cannot be read: see the counts"
                                 : "data that could not be read is lost: see the counts");
    return EXIT_RECOVERED;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct output out = {0};
    struct bb_db_repair_options how = {0};
    const struct option own[] = {
        {"dry-run", NULL, OPTION_FLAG, &how.dry_run,
         "report what a repair would do; change nothing"},
        {"unnamed-tables", NULL, OPTION_FLAG, &how.take_unnamed_tables,
         "also use tables that the manifest does not name"},
        {"json", NULL, OPTION_FLAG, &out.is_json, "report as JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    bool is_lossy = false;
    enum bb_status status = repair(arguments.values[0], &out, &how, &is_lossy);
    if (status != BB_OK)
        code = command_fail(command, status);
    else if (is_lossy)
        code = warn_of_loss(command, how.dry_run);
    return command_finish(command, &out, code);
}

const struct command command_repair = {
    .name = "repair",
    .summary = "repair a damaged store so that it opens",
    .arguments = "DIR",
    .description =
        "For a store that is not open and that `verify` reports as damaged. A backup is better: "
        "lost data stays\n"
        "lost, and then deleted keys and older values may be visible again. The report states "
        "this.\n"
        "New files are written next to the old ones. The old files keep their bytes and get the "
        "suffix \".lost\";\n"
        "remove them when you no longer need them. An intact store is not changed.\n"
        "\n"
        "Compactions have replaced the tables that the manifest does not name, so they are set "
        "aside. To use\n"
        "them nevertheless, restore their names (mv 000012.bbt.lost 000012.bbt) and repair with\n"
        "--unnamed-tables: all tables are then merged, and they may contain deleted data.\n"
        "Exit code 0: intact, or repaired without a loss; 8: data is lost, or with --dry-run would "
        "be; 4: no\n"
        "data is readable, and the store was not changed.\n"
        "\n"
        "Examples:\n"
        "  bloomblock repair /tmp/words --dry-run\n"
        "  bloomblock repair /tmp/words --json | jq .findings\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
