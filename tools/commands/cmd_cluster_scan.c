/* bloomblock cluster scan: entries in order, merged from all partitions. */
#include "base/status.h"
#include "tools/cluster/cluster_options.h"
#include "tools/cluster/merge.h"
#include "tools/commands/cmd_cluster.h"
#include "tools/output/interrupt.h"
#include "tools/store/scan_output.h"

struct scan {
    struct cluster_options options;
    struct scan_output entries;
    /* At work. */
    struct cluster cluster;
    struct collection collection;
    struct merge merge;
};

static enum bb_status print_entries(struct scan *scan)
{
    struct merge *merge = &scan->merge;
    struct scan_output *entries = &scan->entries;
    enum bb_status status =
        merge_init(merge, &scan->collection, &entries->range, entries->is_reverse, entries->limit);
    while (status == BB_OK && merge_valid(merge) && scan_output_wants(entries)) {
        scan_output_add(entries, merge_key(merge), merge_value(merge));
        if (scan_output_wants(entries))
            status = interrupt_is_wanted() ? bb_fail(BB_BUSY, "interrupted") : merge_next(merge);
    }
    return status;
}

static enum bb_status scan_collection(struct scan *scan, const char *name)
{
    enum bb_status status = key_range_decode(&scan->entries.range, scan->entries.is_hex);
    if (status == BB_OK)
        status = cluster_options_open(&scan->options, name, &scan->cluster, &scan->collection);
    if (status == BB_OK)
        status = collection_check(&scan->collection);
    if (status != BB_OK)
        return status;
    scan_output_begin(&scan->entries);
    status = print_entries(scan);
    scan_output_end(&scan->entries, status == BB_OK);
    merge_deinit(&scan->merge);
    return status;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct scan scan = {0};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    scan_output_init(&scan.entries);
    const struct option_group groups[] = {scan_output_group(&scan.entries),
                                          cluster_options_group(&scan.options)};
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    interrupt_watch_reads();
    enum bb_status status = scan_collection(&scan, arguments.values[0]);
    if (status != BB_OK)
        code = command_fail(command, status);
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    key_range_deinit(&scan.entries.range);
    collection_deinit(&scan.collection);
    cluster_deinit(&scan.cluster);
    return command_finish(command, &scan.entries.out, code);
}

const struct command command_cluster_scan = {
    .name = "cluster scan",
    .summary = "print keys and values in order, merged from all partitions",
    .arguments = "NAME",
    .description =
        "Prints the entries of a range, one per line: key, tab, value, escaped as `bloomblock get` "
        "does. In JSON the field \"complete\" is false if reading failed midway; the exit code "
        "shows this too. It is no snapshot: a write during the scan may be printed or not.\n"
        "\n"
        "Examples:\n"
        "  bloomblock cluster scan --seed 127.0.0.1:7101 words --prefix zeb\n"
        "  bloomblock cluster scan --seed 127.0.0.1:7101 words --reverse --limit 10\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
