/* bloomblock filter add, filter remove: keys into a filter, and out of it. */
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "tools/commands/cmd_filter.h"
#include "tools/filter/filter_file.h"
#include "tools/filter/filter_growth.h"
#include "tools/filter/filter_keys.h"
#include "tools/filter/filter_report.h"
#include "tools/output/number_text.h"
#include "tools/command/options.h"
#include "tools/output/output.h"

struct change {
    struct output out;
    struct filter_keys keys;
    bool is_removal;
    int lock;
    struct filter_file file;
    struct bb_filter_file parts; /* of the file as it will be */
    struct filter_growth growth;
    struct bb_filter_info info;
};

static enum bb_status change_key(void *context, struct bb_bytes key)
{
    struct change *change = context;
    uint64_t hash = bb_filter_file_hash(&change->parts, key);
    return change->is_removal ? filter_growth_remove(&change->growth, hash)
                              : filter_growth_add(&change->growth, hash);
}

static enum bb_status load_growth(struct change *change, const char *path)
{
    change->parts = change->file.parts;
    enum bb_status status =
        change->is_removal ? filter_growth_check_removable(change->info.kind) : BB_OK;
    if (status == BB_OK)
        status = filter_growth_load(&change->growth, change->parts.envelope,
                                    change->parts.planned_key_count);
    return status == BB_OK ? BB_OK : bb_fail_context(status, "%s", path);
}

static enum bb_status open_filter(struct change *change, const char *path)
{
    enum bb_status status = filter_file_check_target(path, true);
    if (status == BB_OK)
        status = filter_file_lock(path, &change->lock);
    if (status == BB_OK)
        status = filter_file_read(path, &change->file);
    if (status == BB_OK)
        status = filter_file_check_hash(&change->file, path);
    if (status == BB_OK)
        status = filter_file_context(&change->file, path,
                                     bb_filter_info(change->file.parts.envelope, &change->info));
    return status == BB_OK ? load_growth(change, path) : status;
}

static enum bb_status store(struct change *change, const char *path)
{
    change->parts.envelope = bb_buf_bytes(&change->growth.envelope);
    enum bb_status status = bb_filter_info(change->parts.envelope, &change->info);
    if (status == BB_OK && change->parts.planned_key_count == 0 &&
        filter_growth_has_space(change->info.kind))
        change->parts.planned_key_count = change->info.key_count;
    return status == BB_OK ? filter_file_write(path, &change->parts, true) : status;
}

static enum bb_status change_keys(struct change *change, const struct arguments *arguments)
{
    const char *path = arguments->values[0];
    const char *label = change->is_removal ? "removing keys" : "adding keys";
    enum bb_status status = open_filter(change, path);
    if (status == BB_OK)
        status = filter_keys_visit(&change->keys, label, arguments->values + 1,
                                   arguments->count - 1, change_key, change);
    if (status == BB_OK)
        status = filter_growth_finish(&change->growth);
    return status == BB_OK ? store(change, path) : status;
}

static void report_text(struct change *change, const char *path)
{
    const struct filter_growth *growth = &change->growth;
    uint64_t count = change->is_removal ? growth->absent_count : growth->new_count;
    output_print(&change->out, "%s read, %s of them %s\n",
                 number_of(growth->read_count, "key", "keys").text, number_grouped(count).text,
                 change->is_removal ? "absent" : "new");
    filter_report_line(&change->out, path, &change->info);
}

static void report_json(struct change *change, const char *path)
{
    const struct filter_growth *growth = &change->growth;
    json_t *document = json_object();
    json_set_text(document, "file", path);
    json_set_count(document, "keys_read", growth->read_count);
    if (change->is_removal)
        json_set_count(document, "keys_absent", growth->absent_count);
    else
        json_set_count(document, "keys_new", growth->new_count);
    filter_report_json(document, &change->info, &change->parts);
    output_json(&change->out, document);
}

static enum exit_code report(struct change *change, const struct command *command, const char *path)
{
    if (change->out.is_json)
        report_json(change, path);
    else
        report_text(change, path);
    if (change->is_removal)
        return change->growth.absent_count > 0 ? EXIT_ABSENT : EXIT_FOUND;
    return filter_report_target(command, &change->info, &change->parts, 0);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct change change = {.is_removal = command == &command_filter_remove, .lock = -1};
    const struct option own[] = {
        {"hex", NULL, OPTION_FLAG, &change.keys.is_hex, "keys are hexadecimal digits"},
        {"null", NULL, OPTION_FLAG, &change.keys.is_null,
         "keys end with a zero byte instead of a newline"},
        {"json", NULL, OPTION_FLAG, &change.out.is_json, "report as JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = change_keys(&change, &arguments);
    code = status == BB_OK ? report(&change, command, arguments.values[0])
                           : command_fail(command, status);
    filter_growth_deinit(&change.growth);
    filter_file_deinit(&change.file);
    filter_file_unlock(change.lock);
    return command_finish(command, &change.out, code);
}

const struct command command_filter_add = {
    .name = "filter add",
    .summary = "add keys to a filter that accepts them",
    .arguments = "FILTER [FILE...]",
    .description =
        "Adds the lines of the files (without any, of standard input) to a filter of a Bloom kind "
        "(bloom,\n"
        "blocked-bloom, split-block, partitioned, counting, scalable) and replaces the file "
        "atomically. A filter\n"
        "is sized for its original keys, or for `filter create --keys N`; a scalable filter grows. "
        "With more keys\n"
        "its expected rate exceeds the target. If its predicted rate does so by more than chance, "
        "a "
        "message appears\n"
        "on standard error and the exit code is 7, until a larger filter is created. A "
        "ribbon is\n"
        "solved for all its keys together and cannot be extended.\n"
        "\n"
        "Examples:\n"
        "  bloomblock filter create seen.bbf --kind bloom --keys 1000000 < /dev/null\n"
        "  bloomblock filter add seen.bbf monday.txt\n"
        "  bloomblock filter add seen.bbf tuesday.txt wednesday.txt\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};

const struct command command_filter_remove = {
    .name = "filter remove",
    .summary = "remove keys from a counting filter",
    .arguments = "FILTER [FILE...]",
    .description =
        "Removes the lines of the files (without any, of standard input) from a filter of kind "
        "counting. It\n"
        "counts its keys: a key added twice must be removed twice. Remove only keys that were "
        "added: removing\n"
        "a false positive changes counters of other keys, which may then be ruled out. Keys that "
        "are\n"
        "certainly absent are ignored; the exit code is then 1.\n"
        "\n"
        "Examples:\n"
        "  bloomblock filter create online.bbf --kind counting --keys 50000 < /dev/null\n"
        "  bloomblock filter add online.bbf came.txt\n"
        "  bloomblock filter remove online.bbf left.txt\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
