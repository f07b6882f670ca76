/* bloomblock destroy: removes a store. */
#include "base/assert.h"
#include "bb/db_files.h"
#include "tools/output/number_text.h"
#include "tools/command/options.h"
#include "tools/output/output.h"

static void report(struct output *out, const struct bb_db_destroy_report *report)
{
    if (!out->is_json) {
        output_print(out, "removed %s, %s", number_of(report->removed, "file", "files").text,
                     number_bytes(report->removed_bytes).text);
        if (report->directory_removed)
            output_print(out, ", and the directory\n");
        else
            output_print(out, "; the directory is kept, with %s\n",
                         number_of(report->foreign, "other file", "other files").text);
        return;
    }
    json_t *document = json_object();
    json_set_count(document, "removed", report->removed);
    json_set_count(document, "removed_bytes", report->removed_bytes);
    json_set_count(document, "foreign", report->foreign);
    json_set_bool(document, "directory_removed", report->directory_removed);
    output_json(out, document);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct output out = {0};
    bool is_sure = false;
    const struct option own[] = {
        {"yes", NULL, OPTION_FLAG, &is_sure, "confirm: without this no file is removed"},
        {"json", NULL, OPTION_FLAG, &out.is_json, "report as JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    if (!is_sure) {
        command_warn(command, "this removes all data of the store; confirm it with --yes");
        return EXIT_USAGE;
    }
    struct bb_db_destroy_report destroyed = {0};
    enum bb_status status = bb_db_destroy(arguments.values[0], NULL, &destroyed);
    if (status != BB_OK)
        code = command_fail(command, status);
    else
        report(&out, &destroyed);
    return command_finish(command, &out, code);
}

const struct command command_destroy = {
    .name = "destroy",
    .summary = "remove a store",
    .arguments = "DIR",
    .description = "Removes the files of a store that is not open, intact or damaged, and the "
                   "directory if it is then empty.\n"
                   "Other files are kept and counted. A directory is rejected if it has files, "
                   "but none that is recognisably a\n"
                   "store's. After an interruption the next run completes the removal.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock destroy /tmp/words --yes\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
