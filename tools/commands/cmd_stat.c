/* bloomblock stat: the parts of a store. */
#include "base/assert.h"
#include "tools/store/level_report.h"
#include "tools/output/number_text.h"
#include "tools/output/output.h"
#include "tools/records/index_report.h"
#include "tools/store/recovery_report.h"
#include "tools/store/store_options.h"
#include "tools/store/stored_report.h"
#include "tools/store/table_report.h"

struct stat_report {
    struct store_options store;
    struct output out;
    bool with_tables;
    struct bb_db *db;
    struct bb_db_stats stats;
    struct bb_db_table_list tables;
    struct index_report indexes;
};

static enum bb_status read_store(struct stat_report *report, const char *directory)
{
    enum bb_status status = store_open_to_read(&report->store, directory, &report->db);
    if (status != BB_OK)
        return status;
    bb_db_stats(report->db, &report->stats);
    status = bb_db_tables(report->db, &report->tables);
    return status == BB_OK ? index_report_read(report->db, &report->indexes) : status;
}

/* A reader's own value is not stored. */
static uint64_t tombstone_age_max(const struct stat_report *report)
{
    struct bb_db_options stored;
    bb_db_stored_options(report->db, &stored);
    uint64_t given = report->store.db.tombstone_age_max;
    return given > 0 ? given : stored.tombstone_age_max;
}

static void write_tombstones(struct stat_report *report)
{
    const struct bb_db_stats *stats = &report->stats;
    uint64_t age_max = tombstone_age_max(report);
    output_print(&report->out, "tombstones in tables: %s, the oldest %s operations old",
                 number_grouped(stats->tombstone_count).text,
                 number_grouped(stats->oldest_tombstone_age).text);
    if (age_max > 0)
        output_print(&report->out, ", allowed are %s", number_grouped(age_max).text);
    output_print(&report->out, "\n");
}

static void write_recovery(struct stat_report *report)
{
    const struct bb_db_recovery *found = &report->store.recovered;
    uint64_t dropped = found->dropped_bytes + found->dropped_manifest_bytes + found->zeroed_logs;
    if (found->records + dropped == 0)
        return;
    output_print(
        &report->out, "opening: %s of %s; dropped %s of %s, with %s, and %s of the manifest\n",
        number_of(found->records, "batch", "batches").text,
        number_of(found->logs, "log", "logs").text, number_bytes(found->dropped_bytes).text,
        number_of(found->dropped_logs, "log", "logs").text,
        number_of(found->dropped_records, "whole batch", "whole batches").text,
        number_bytes(found->dropped_manifest_bytes).text);
    if (found->zeroed_logs > 0)
        output_print(&report->out,
                     "opening: %s in zeros: what they replaced, if anything, is lost\n",
                     number_of(found->zeroed_logs, "log ends", "logs end").text);
}

static void write_text(struct stat_report *report)
{
    struct bb_db_options stored;
    struct output *out = &report->out;
    const struct bb_db_stats *stats = &report->stats;
    level_report_write(stats, out);
    output_print(out, "wasted requests per %s: target %s, expected %s\n",
                 level_report_is_weighted(stats) ? "lookup, weighted" : "absent lookup",
                 stats->target_wasted_reads > 0 ? number_rate(stats->target_wasted_reads).text
                                                : "none",
                 number_rate(stats->expected_wasted_reads).text);
    struct bb_level_stats total = level_report_total(stats);
    level_report_write_doubts(&total, out);
    if (stats->filter_budget_bytes > 0)
        output_print(out, "filters: %s of a budget of %s, %.1f %%; %.2f bits per key\n",
                     number_bytes(stats->filter_bytes).text,
                     number_bytes(stats->filter_budget_bytes).text,
                     100 * (double)stats->filter_bytes / (double)stats->filter_budget_bytes,
                     stats->filter_bits_per_key);
    output_print(out,
                 "an absent key searches at most %s; space at most %.2f times the largest run\n",
                 number_of(stats->run_count, "run", "runs").text, stats->space_amplification);
    write_tombstones(report);
    output_print(
        out, "in memory: writes %s (%s held), indexes %s; last sequence %s\n",
        number_bytes(stats->memtable_bytes).text, number_bytes(stats->memtable_held_bytes).text,
        number_bytes(stats->table_memory_bytes).text, number_grouped(stats->last_sequence).text);
    bb_db_stored_options(report->db, &stored);
    stored_report_write(&stored, out);
    write_recovery(report);
    index_report_write_files(&report->indexes, out);
    if (report->indexes.list.count > 0)
        index_report_write(&report->indexes, out);
    if (report->with_tables)
        table_report_write(&report->tables, out);
}

static void write_json(struct stat_report *report)
{
    const struct bb_db_stats *stats = &report->stats;
    struct bb_level_stats total = level_report_total(stats);
    json_t *document = json_object();
    struct bb_db_options stored;
    bb_db_stored_options(report->db, &stored);
    json_object_set_new(document, "stored_options", stored_report_json(&stored));
    json_object_set_new(document, "levels", level_report_json(stats));
    json_set_count(document, "runs", total.run_count);
    json_set_real(document, "space_amplification", stats->space_amplification);
    json_set_count(document, "table_count", total.table_count);
    json_set_count(document, "entries", total.entry_count);
    json_set_count(document, "file_bytes", total.file_bytes);
    json_set_count(document, "filter_bytes", total.filter_bytes);
    json_set_count(document, "filter_budget_bytes", stats->filter_budget_bytes);
    json_set_real(document, "filter_bits_per_key", stats->filter_bits_per_key);
    json_set_real(document, "target_wasted_reads", stats->target_wasted_reads);
    json_set_real(document, "expected_wasted_reads", stats->expected_wasted_reads);
    json_set_count(document, "passing_tables", total.passing_table_count);
    json_set_count(document, "unpredicted_tables", total.unpredicted_table_count);
    json_set_count(document, "memtable_bytes", stats->memtable_bytes);
    json_set_count(document, "memtable_held_bytes", stats->memtable_held_bytes);
    json_set_count(document, "table_memory_bytes", stats->table_memory_bytes);
    json_set_count(document, "last_sequence", stats->last_sequence);
    json_set_count(document, "tombstones", stats->tombstone_count);
    json_set_count(document, "oldest_tombstone_age", stats->oldest_tombstone_age);
    json_set_count(document, "tombstone_age_max", tombstone_age_max(report));
    json_object_set_new(document, "recovery", recovery_json(&report->store.recovered));
    json_set_count(document, "raw_bytes", report->indexes.raw_bytes);
    json_set_count(document, "index_files", report->indexes.list.file_count);
    json_set_count(document, "index_file_bytes", report->indexes.list.file_bytes);
    json_object_set_new(document, "indexes", index_report_json(&report->indexes));
    json_object_set_new(document, "tables", table_report_json(&report->tables));
    output_json(&report->out, document);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct stat_report report = {0};
    store_options_init_to_read(&report.store, command);
    const struct option own[] = {
        {"tables", NULL, OPTION_FLAG, &report.with_tables, "also a row for each table"},
        {"json", NULL, OPTION_FLAG, &report.out.is_json, "print JSON, tables included"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&report.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = read_store(&report, arguments.values[0]);
    if (status != BB_OK)
        code = command_fail(command, status);
    else if (report.out.is_json)
        write_json(&report);
    else
        write_text(&report);
    bb_db_table_list_deinit(&report.tables);
    index_report_deinit(&report.indexes);
    code = store_close(&report.store, report.db, code);
    return command_finish(command, &report.out, code);
}

const struct command command_stat = {
    .name = "stat",
    .summary = "levels, tables and filters of a store",
    .arguments = "DIR",
    .description = "Prints a row per level: runs, tables, size, entries, filters, and the expected "
                   "rate of wasted block\n"
                   "requests; and the sum of these rates with the target. Rows for indexes over "
                   "values follow.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock stat /tmp/words --tables\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
