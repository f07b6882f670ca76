/* bloomblock dump: the parts of a table file. */
#include <stdio.h>

#include "base/assert.h"
#include "base/status.h"
#include "tools/command/options.h"
#include "tools/dump/index_dump.h"
#include "tools/dump/salvage_dump.h"
#include "tools/dump/table_dump.h"
#include "tools/store/table_report.h"

#define LIMIT_DEFAULT 1000

struct dump_options {
    struct output out;
    bool with_blocks;
    bool with_entries;
    bool with_values;
    bool is_hex;
    uint64_t limit;
};

static void apply_options(struct table_dump *dump, const struct dump_options *options)
{
    dump->limit = options->limit == 0 ? UINT64_MAX : options->limit;
    dump->with_blocks = options->with_blocks;
    dump->with_entries = options->with_entries || options->with_values;
    dump->with_values = options->with_values;
    dump->is_hex = options->is_hex;
}

/* A dump of a damaged table is still printed; the exit code reports that something is missing. */
static enum bb_status report_damage(const struct table_dump *dump)
{
    size_t count = json_array_size(dump->damages);
    if (count == 0)
        return BB_OK;
    return bb_fail(BB_CORRUPT, "%zu part%s cannot be read; first: %s", count, count == 1 ? "" : "s",
                   dump->first_damage);
}

static enum bb_status dump_salvaged(const char *path, struct dump_options *options)
{
    struct salvage_dump dump = {
        .out = &options->out,
        .limit = options->limit == 0 ? UINT64_MAX : options->limit,
        .with_blocks = options->with_blocks,
        .with_entries = options->with_entries || options->with_values,
        .with_values = options->with_values,
        .is_hex = options->is_hex,
    };
    return salvage_dump_write(&dump, path);
}

static enum bb_status dump_table(const char *path, struct dump_options *options)
{
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_open(path, NULL, &table);
    if (status == BB_CORRUPT)
        return dump_salvaged(path, options);
    if (status != BB_OK)
        return status;
    struct table_dump dump;
    table_dump_init(&dump, table, &options->out);
    apply_options(&dump, options);
    status = table_dump_write(&dump);
    if (status == BB_OK)
        status = report_damage(&dump);
    table_dump_deinit(&dump);
    bb_table_close(table);
    return status;
}

static enum bb_status dump_index(const char *path, struct dump_options *options)
{
    struct index_dump dump = {.out = &options->out,
                              .with_granules = true,
                              .limit = options->limit == 0 ? UINT64_MAX : options->limit};
    if (options->with_blocks || options->with_entries || options->with_values)
        return bb_fail(BB_INVALID, "%s: an index file has no blocks and no entries", path);
    return index_dump_write(&dump, path);
}

static enum bb_status dump_path(const char *path, struct dump_options *options)
{
    if (table_report_is_for(path))
        return table_report_show(path, &options->out);
    return index_dump_is_one(path) ? dump_index(path, options) : dump_table(path, options);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct dump_options options = {.limit = LIMIT_DEFAULT};
    const struct option own[] = {
        {"blocks", NULL, OPTION_FLAG, &options.with_blocks, "a row per block"},
        {"entries", NULL, OPTION_FLAG, &options.with_entries, "the entries, without their values"},
        {"values", NULL, OPTION_FLAG, &options.with_values, "the entries with their values"},
        {"hex", NULL, OPTION_FLAG, &options.is_hex, "keys and values as hexadecimal digits"},
        {"limit", "N", OPTION_COUNT, &options.limit, "rows of each kind (1000); 0: all"},
        {"max-output", "SIZE", OPTION_SIZE, &options.out.size_max, "print at most this much"},
        {"json", NULL, OPTION_FLAG, &options.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = BB_OK;
    if (options.out.is_json && options.out.size_max != 0)
        status = bb_fail(BB_INVALID, "options --json and --max-output exclude each other: a "
                                     "truncated JSON document is invalid; --limit bounds the rows");
    if (status == BB_OK)
        status = dump_path(arguments.values[0], &options);
    if (options.out.is_cut)
        command_note(command, "the output was cut at --max-output");
    if (status != BB_OK)
        code = command_fail(command, status);
    return command_finish(command, &options.out, code);
}

const struct command command_dump = {
    .name = "dump",
    .summary = "print the parts of a table or index file, down to its entries",
    .arguments = "FILE|DIR",
    .description =
        "Prints footer, sections with their sizes, properties and index pages of a table file; "
        "blocks and\n"
        "entries on request. The hash secret is not shown. Control characters are escaped.\n"
        "Where index pages or blocks are damaged the rest is shown, the damage is listed with the "
        "range of\n"
        "keys that is lost, and the exit code is 4. A table that cannot be opened is salvaged: its "
        "blocks are found\n"
        "by their checksums (keys in bytewise order), and all that is shown is marked so.\n"
        "For a directory it lists the tables of the store.\n"
        "Of an index file (.bbi) its indexes and granules are printed: place (the first block), "
        "records, and\n"
        "for how many of them each attribute is null, missing or malformed.\n"
        "\n"
        "Examples:\n"
        "  bloomblock dump /tmp/words/000005.bbt --blocks --limit 20\n"
        "  bloomblock dump /tmp/words/000005.bbt --values --json | jq .entries\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
