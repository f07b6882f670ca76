/* bloomblock cluster scan: entries in order, merged from all partitions. */
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/cluster/cluster_options.h"
#include "tools/cluster/merge.h"
#include "tools/commands/cmd_cluster.h"
#include "tools/output/interrupt.h"
#include "tools/output/output.h"

struct scan {
    struct cluster_options options;
    struct output out;
    struct key_range range;
    uint64_t limit;
    bool is_reverse;
    bool is_keys_only;
    bool is_hex;
    bool is_count_only;
    /* At work. */
    struct cluster cluster;
    struct collection collection;
    struct merge merge;
    uint64_t count;
};

static void print_json_entry(struct scan *scan)
{
    output_print(&scan->out, scan->count == 0 ? "\n" : ",\n");
    json_t *row = json_object();
    json_set_bytes(row, "key", merge_key(&scan->merge));
    if (!scan->is_keys_only)
        json_set_bytes(row, "value", merge_value(&scan->merge));
    output_json_compact(&scan->out, row);
}

static void print_entry(struct scan *scan)
{
    struct output *out = &scan->out;
    if (out->is_json) {
        print_json_entry(scan);
        return;
    }
    output_bytes(out, merge_key(&scan->merge), scan->is_hex);
    if (!scan->is_keys_only) {
        output_write(out, bb_bytes_of("\t", 1));
        output_bytes(out, merge_value(&scan->merge), scan->is_hex);
    }
    output_write(out, bb_bytes_of("\n", 1));
}

static enum bb_status print_entries(struct scan *scan)
{
    struct merge *merge = &scan->merge;
    enum bb_status status =
        merge_init(merge, &scan->collection, &scan->range, scan->is_reverse, scan->limit);
    while (status == BB_OK && merge_valid(merge) && scan->count < scan->limit &&
           !scan->out.has_failed) {
        if (!scan->is_count_only)
            print_entry(scan);
        if (++scan->count < scan->limit)
            status = interrupt_is_wanted() ? bb_fail(BB_BUSY, "interrupted") : merge_next(merge);
    }
    return status;
}

static enum bb_status scan_collection(struct scan *scan, const char *name)
{
    struct output *out = &scan->out;
    enum bb_status status = key_range_decode(&scan->range, scan->is_hex);
    if (status == BB_OK)
        status = cluster_options_open(&scan->options, name, &scan->cluster, &scan->collection);
    if (status == BB_OK)
        status = collection_check(&scan->collection);
    if (status != BB_OK)
        return status;
    if (out->is_json)
        output_print(out, "{\"entries\": [");
    status = print_entries(scan);
    if (out->is_json)
        output_print(out, "\n], \"count\": %llu, \"complete\": %s}\n",
                     (unsigned long long)scan->count, status == BB_OK ? "true" : "false");
    else if (scan->is_count_only)
        output_print(out, "%llu\n", (unsigned long long)scan->count);
    merge_deinit(&scan->merge);
    return status;
}

static bool parse(struct scan *scan, const struct command *command, int argc, char **argv,
                  struct arguments *ret_arguments, enum exit_code *ret_code)
{
    const struct option own[] = {
        {"from", "KEY", OPTION_TEXT, &scan->range.from, "first key of the range, inclusive"},
        {"to", "KEY", OPTION_TEXT, &scan->range.to, "end of the range, exclusive"},
        {"prefix", "P", OPTION_TEXT, &scan->range.prefix, "keys that begin with these bytes"},
        {"reverse", NULL, OPTION_FLAG, &scan->is_reverse,
         "from the last key of the range to the first"},
        {"limit", "N", OPTION_COUNT, &scan->limit, "maximum number of entries"},
        {"keys-only", NULL, OPTION_FLAG, &scan->is_keys_only, "no values"},
        {"count", NULL, OPTION_FLAG, &scan->is_count_only, "only how many there are"},
        {"hex", NULL, OPTION_FLAG, &scan->is_hex,
         "keys and values as hexadecimal digits, in options too"},
        {"json", NULL, OPTION_FLAG, &scan->out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        cluster_options_group(&scan->options)};
    return options_parse(command, groups, 2, argc, argv, ret_arguments, ret_code);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct scan scan = {.limit = UINT64_MAX};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!parse(&scan, command, argc, argv, &arguments, &code))
        return code;
    interrupt_watch_reads();
    enum bb_status status = scan_collection(&scan, arguments.values[0]);
    if (status != BB_OK)
        code = command_fail(command, status);
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    key_range_deinit(&scan.range);
    collection_deinit(&scan.collection);
    cluster_deinit(&scan.cluster);
    return command_finish(command, &scan.out, code);
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
