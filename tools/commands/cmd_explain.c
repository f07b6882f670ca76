/* bloomblock explain: the steps of a lookup. */
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "bb/db_explain.h"
#include "tools/store/explain_json.h"
#include "tools/keys/key_argument.h"
#include "tools/output/number_text.h"
#include "tools/store/store_options.h"
#include "tools/output/text_table.h"

struct explain {
    struct store_options store;
    struct output out;
    bool is_hex;
    struct bb_buf key;
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* ---- cells ---- */

static void add_place(struct text_table *table, const struct bb_explain_step *step)
{
    if (step->kind != BB_EXPLAIN_MEMTABLE)
        text_table_add(table, "level %d", step->level);
    else
        text_table_add(table, step->memtable == 0 ? "memory" : "memory, being flushed");
    text_table_add(table, "%s", step->path != NULL ? file_name(step->path) : "-");
}

static void add_filter(struct text_table *table, const struct bb_filter_explain *filter)
{
    if (filter->verdict == BB_VERDICT_NOT_PROBED)
        text_table_add(table, "-");
    else if (filter->kind == BB_FILTER_DEFAULT)
        text_table_add(table, "%s", bb_verdict_name(filter->verdict));
    else
        text_table_add(table, "%s (%s, %s, passes %s)", bb_verdict_name(filter->verdict),
                       bb_filter_kind_name(filter->kind), number_bytes(filter->size_bytes).text,
                       number_rate(filter->rate).text);
}

static void add_part(struct text_table *table, enum bb_source source, uint64_t offset,
                     uint32_t size)
{
    if (source == BB_SOURCE_NOT_READ)
        text_table_add(table, "-");
    else
        text_table_add(table, "%s: %u B at %llu", source == BB_SOURCE_FILE ? "read" : "cached",
                       size, (unsigned long long)offset);
}

static const char *result_text(const struct bb_explain_step *step)
{
    if (step->found == BB_EXPLAIN_VALUE)
        return "value";
    if (step->found == BB_EXPLAIN_TOMBSTONE)
        return step->table.range_sequence == step->sequence && step->sequence > 0
                   ? "range tombstone"
                   : "tombstone";
    if (step->kind == BB_EXPLAIN_NO_TABLE)
        return "no table's bounds hold the key";
    if (step->kind == BB_EXPLAIN_MEMTABLE)
        return "nothing";
    switch (step->table.visit) {
    case BB_VISIT_OUT_OF_BOUNDS:
        return "outside of the bounds";
    case BB_VISIT_TABLE_FILTER_NEGATIVE:
        return "nothing: table filter";
    case BB_VISIT_FILTER_NEGATIVE:
        return "nothing: filter";
    case BB_VISIT_NOT_VISIBLE:
        return "newer versions only";
    default:
        return "nothing: false positive";
    }
}

static void add_result(struct text_table *table, const struct bb_explain_step *step)
{
    if (step->found == BB_EXPLAIN_NOTHING)
        text_table_add(table, "%s", result_text(step));
    else
        text_table_add(table, "%s, sequence %llu", result_text(step),
                       (unsigned long long)step->sequence);
}

static void write_steps(const struct bb_explain *report, struct output *out)
{
    static const char *const headers[] = {"where",  "table", "table filter", "index page",
                                          "filter", "block", "found"};
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    table.left_columns = UINT32_MAX;
    for (size_t i = 0; i < report->step_count; i++) {
        const struct bb_explain_step *step = &report->steps[i];
        const struct bb_table_explain *part = &step->table;
        add_place(&table, step);
        add_filter(&table, &part->table_filter);
        add_part(&table, part->page, part->page_offset, part->page_size_bytes);
        add_filter(&table, &part->filter);
        add_part(&table, part->block, part->block_offset, part->block_size_bytes);
        add_result(&table, step);
    }
    text_table_write(&table, out);
    text_table_deinit(&table);
}

static void write_sums(const struct bb_explain *report, struct output *out)
{
    const struct bb_read_stats *reads = &report->reads;
    output_print(out,
                 "\nreads: %llu of blocks, %llu of index pages, %llu of table filters; %s\n"
                 "avoided: %s, of which %llu would have been %s\n",
                 (unsigned long long)reads->block_reads, (unsigned long long)reads->page_reads,
                 (unsigned long long)reads->table_filter_reads,
                 number_bytes(reads->block_read_bytes + reads->page_read_bytes +
                              reads->table_filter_read_bytes)
                     .text,
                 number_of(reads->avoided_requests, "block request", "block requests").text,
                 (unsigned long long)reads->avoided_reads,
                 reads->avoided_reads == 1 ? "a read" : "reads");
    if (report->tables_opened > 0)
        output_print(out, "opened: %s, of which footer and root were read\n",
                     number_of(report->tables_opened, "table", "tables").text);
    if (reads->damaged_filters > 0)
        output_print(out, "ignored: %s\n",
                     number_of(reads->damaged_filters, "damaged filter", "damaged filters").text);
}

static void write_text(const struct explain *explain, const struct bb_explain *report,
                       struct output *out)
{
    output_bytes(out, bb_buf_bytes(&explain->key), explain->is_hex);
    output_print(out, ": %s, as of sequence %llu\n\n", report->is_found ? "found" : "absent",
                 (unsigned long long)report->sequence);
    write_steps(report, out);
    write_sums(report, out);
}

static enum bb_status explain_key(struct explain *explain, struct bb_db *db, bool *ret_is_found)
{
    struct bb_get_options options = {.account_avoided = true};
    struct bb_explain report;
    enum bb_status status = bb_db_explain(db, &options, bb_buf_bytes(&explain->key), NULL, &report);
    if (status != BB_OK)
        return status;
    *ret_is_found = report.is_found;
    if (explain->out.is_json)
        explain_json_write(&report, bb_buf_bytes(&explain->key), explain->is_hex, &explain->out);
    else
        write_text(explain, &report, &explain->out);
    bb_explain_deinit(&report);
    return BB_OK;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct explain explain = {0};
    store_options_init_to_read(&explain.store, command);
    const struct option own[] = {
        {"hex", NULL, OPTION_FLAG, &explain.is_hex,
         "the key is hexadecimal digits, in the output too"},
        {"json", NULL, OPTION_FLAG, &explain.out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&explain.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    bool is_found = false;
    struct bb_db *db = NULL;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = key_argument_decode(arguments.values[1], explain.is_hex, &explain.key);
    if (status == BB_OK)
        status = store_open_to_read(&explain.store, arguments.values[0], &db);
    if (status == BB_OK)
        status = explain_key(&explain, db, &is_found);
    if (status != BB_OK)
        code = command_fail(command, status);
    else
        code = is_found ? EXIT_FOUND : EXIT_ABSENT;
    bb_buf_deinit(&explain.key);
    code = store_close(&explain.store, db, code);
    return command_finish(command, &explain.out, code);
}

const struct command command_explain = {
    .name = "explain",
    .summary = "look up a key and print each step and read",
    .arguments = "DIR KEY",
    .description = "Looks the key up and prints a row for each step, newest first: memtables, and "
                   "tables with the results of\n"
                   "their table filters, the source of the index page, the result of the block "
                   "filter, the source of the\n"
                   "block, and the version found. \"passes\" is the share of absent keys for which "
                   "a filter returns maybe. A\n"
                   "store that was just opened has empty caches.\n"
                   "The exit code is 0 if the key exists and 1 if not.\n"
                   "\n"
                   "Examples:\n"
                   "  bloomblock explain /tmp/words zebra\n"
                   "  bloomblock explain /tmp/words --hex 7a65627261 --json\n",
    .argument_count_min = 2,
    .argument_count_max = 2,
    .run = run,
};
