/* bloomblock cluster stat: where the partitions of a collection are, and the reads avoided. */
#include "base/assert.h"
#include "tools/cluster/cluster_options.h"
#include "tools/cluster/totals.h"
#include "tools/commands/cmd_cluster.h"
#include "tools/output/interrupt.h"
#include "tools/output/number_text.h"
#include "tools/output/output.h"
#include "tools/output/text_table.h"

struct stat_report {
    struct cluster_options options;
    struct output out;
    struct cluster cluster;
    struct collection collection;
    struct collection_totals totals;
};

static void add_counts(struct text_table *table, const struct totals *totals)
{
    const uint64_t *values = totals->values;
    text_table_add(table, "%s", number_grouped(totals->partitions).text);
    text_table_add(table, "%s", number_grouped(values[TOTAL_FIELDS]).text);
    text_table_add(table, "%s", number_grouped(values[TOTAL_TABLES]).text);
    text_table_add(table, "%s", number_bytes(values[TOTAL_FILE_BYTES]).text);
    text_table_add(table, "%s", number_bytes(values[TOTAL_FILTER_BYTES]).text);
    text_table_add(table, "%s", number_bytes(values[TOTAL_MEMORY_BYTES]).text);
}

static void write_table(struct stat_report *report)
{
    static const char *const headers[] = {"node", "partitions", "fields", "tables",
                                          "size", "filters",    "memory"};
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    for (size_t i = 0; i < report->totals.node_count; i++) {
        const struct address *address = &report->totals.nodes[i].node->address;
        text_table_add(&table, "%s:%u", address->host, address->port);
        add_counts(&table, &report->totals.nodes[i].totals);
    }
    text_table_add(&table, "all");
    add_counts(&table, &report->totals.all);
    text_table_write(&table, &report->out);
    text_table_deinit(&table);
}

static void write_text(struct stat_report *report)
{
    const struct totals *all = &report->totals.all;
    const uint64_t *values = all->values;
    struct output *out = &report->out;
    write_table(report);
    output_print(out, "lookups: %s, of which %s found their field; they visited %s\n",
                 number_grouped(values[TOTAL_LOOKUPS]).text,
                 number_grouped(values[TOTAL_LOOKUPS_FOUND]).text,
                 number_of(values[TOTAL_VISITS], "table", "tables").text);
    output_print(out, "filters avoided %.1f %% of the block requests: %s of %s\n",
                 100 * totals_avoided_share(all), number_grouped(values[TOTAL_AVOIDED]).text,
                 number_grouped(values[TOTAL_AVOIDED] + values[TOTAL_REQUESTS]).text);
    output_print(out, "wasted block requests: %s, %s per lookup of an absent field\n",
                 number_grouped(values[TOTAL_WASTED]).text, number_rate(totals_waste(all)).text);
    if (values[TOTAL_INCOMPLETE] > 0)
        output_print(out, "%s incomplete: writes to them were not made\n",
                     number_of(values[TOTAL_INCOMPLETE], "partition is", "partitions are").text);
}

static void set_counts(json_t *object, const struct totals *totals)
{
    json_set_count(object, "partitions", totals->partitions);
    for (size_t i = 0; i < TOTAL_COUNT; i++)
        json_set_count(object, totals_names[i], totals->values[i]);
}

static void write_json(struct stat_report *report)
{
    json_t *document = json_object();
    json_t *nodes = json_array();
    for (size_t i = 0; i < report->totals.node_count; i++) {
        const struct node_totals *node = &report->totals.nodes[i];
        json_t *row = json_object();
        json_set_text(row, "host", node->node->address.host);
        json_set_count(row, "port", node->node->address.port);
        set_counts(row, &node->totals);
        json_array_append_new(nodes, row);
    }
    json_object_set_new(document, "nodes", nodes);
    set_counts(document, &report->totals.all);
    json_set_real(document, "avoided_share", totals_avoided_share(&report->totals.all));
    json_set_real(document, "wasted_per_absent_lookup", totals_waste(&report->totals.all));
    output_json(&report->out, document);
}

static enum bb_status describe(struct stat_report *report, const char *name)
{
    enum bb_status status =
        cluster_options_open(&report->options, name, &report->cluster, &report->collection);
    if (status == BB_OK)
        status = collection_check(&report->collection);
    if (status == BB_OK)
        status = collection_totals_read(&report->collection, &report->totals);
    if (status == BB_OK)
        report->out.is_json ? write_json(report) : write_text(report);
    return status;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct stat_report report = {0};
    const struct option own[] = {
        {"json", NULL, OPTION_FLAG, &report.out.is_json, "print JSON, with further counts"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        cluster_options_group(&report.options)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    interrupt_watch_reads();
    enum bb_status status = describe(&report, arguments.values[0]);
    if (status != BB_OK)
        code = command_fail(command, status);
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    collection_totals_deinit(&report.totals);
    collection_deinit(&report.collection);
    cluster_deinit(&report.cluster);
    return command_finish(command, &report.out, code);
}

const struct command command_cluster_stat = {
    .name = "cluster stat",
    .summary = "where the partitions are, and the reads that filters avoided",
    .arguments = "NAME",
    .description =
        "Prints a row per node: its partitions of the collection, their fields (an estimate), "
        "tables, files, filters and memory. Below are the lookups since the nodes loaded the "
        "partitions, and the block requests that filters avoided, over the whole cluster.\n"
        "\n"
        "Example:\n"
        "  bloomblock cluster stat --seed 127.0.0.1:7101 words\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
