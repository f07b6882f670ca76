/* bloomblock filter add: more keys into a filter that takes them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "tools/cmd_filter.h"
#include "tools/filter_file.h"
#include "tools/filter_growth.h"
#include "tools/filter_keys.h"
#include "tools/filter_report.h"
#include "tools/number_text.h"
#include "tools/options.h"
#include "tools/output.h"

struct add {
    struct output out;
    struct filter_keys keys;
    int lock;
    struct filter_file file;
    struct bb_filter_file parts; /* of the file as it will be */
    struct filter_growth growth;
    struct bb_filter_info info;
};

static enum bb_status add_key(void *context, struct bb_bytes key)
{
    struct add *add = context;
    return filter_growth_add(&add->growth, bb_filter_file_hash(&add->parts, key));
}

static enum bb_status open_filter(struct add *add, const char *path)
{
    enum bb_status status = filter_file_check_target(path, true);
    if (status == BB_OK)
        status = filter_file_lock(path, &add->lock);
    if (status == BB_OK)
        status = filter_file_read(path, &add->file);
    if (status == BB_OK)
        status = filter_file_check_hash(&add->file, path);
    if (status != BB_OK)
        return status;
    add->parts = add->file.parts;
    return filter_file_context(
        &add->file, path,
        filter_growth_load(&add->growth, add->parts.envelope, add->parts.planned_key_count));
}

static enum bb_status store(struct add *add, const char *path)
{
    add->parts.envelope = bb_buf_bytes(&add->growth.envelope);
    enum bb_status status = bb_filter_info(add->parts.envelope, &add->info);
    if (status == BB_OK && add->parts.planned_key_count == 0)
        add->parts.planned_key_count = add->info.key_count;
    return status == BB_OK ? filter_file_write(path, &add->parts, true) : status;
}

static enum bb_status add_keys(struct add *add, const struct arguments *arguments)
{
    const char *path = arguments->values[0];
    enum bb_status status = open_filter(add, path);
    if (status == BB_OK)
        status = filter_keys_visit(&add->keys, "adding keys", arguments->values + 1,
                                   arguments->count - 1, add_key, add);
    if (status == BB_OK)
        status = filter_growth_finish(&add->growth);
    return status == BB_OK ? store(add, path) : status;
}

static void report(struct add *add, const char *path)
{
    struct output *out = &add->out;
    const struct filter_growth *growth = &add->growth;
    if (!out->is_json) {
        output_print(out, "%s keys read, %s of them new\n", number_grouped(growth->read_count).text,
                     number_grouped(growth->new_count).text);
        filter_report_line(out, path, &add->info);
        return;
    }
    json_t *document = json_object();
    json_set_text(document, "file", path);
    json_set_count(document, "keys_read", growth->read_count);
    json_set_count(document, "keys_new", growth->new_count);
    filter_report_json(document, &add->info, &add->parts);
    output_json(out, document);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct add add = {.lock = -1};
    const struct option own[] = {
        {"hex", NULL, OPTION_FLAG, &add.keys.is_hex, "keys are hexadecimal digits"},
        {"null", NULL, OPTION_FLAG, &add.keys.is_null,
         "keys end with a zero byte instead of a newline"},
        {"json", NULL, OPTION_FLAG, &add.out.is_json, "report as JSON"},
    };
    const struct option_group group = {"Options", own, BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = add_keys(&add, &arguments);
    if (status == BB_OK) {
        report(&add, arguments.values[0]);
        code = filter_report_overfull(command, &add.info, &add.parts);
    } else {
        code = command_fail(command, status);
    }
    filter_growth_deinit(&add.growth);
    filter_file_deinit(&add.file);
    filter_file_unlock(add.lock);
    return output_finish(&add.out, command, code);
}

const struct command command_filter_add = {
    .name = "filter add",
    .summary = "more keys into a filter that takes them",
    .arguments = "FILTER [FILE...]",
    .description = "Adds the lines of the files (without any, of standard input) to a filter of a "
                   "Bloom kind (bloom,\n"
                   "blocked-bloom, split-block, partitioned) and writes it anew, whole or not at "
                   "all. A filter has room for\n"
                   "as many keys as it was made of, or as `filter create --keys N` planned. It "
                   "takes more, but then more\n"
                   "absent keys pass than were asked for: standard error says so and the exit code "
                   "is 7, until a larger one\n"
                   "is made. A ribbon is solved for its keys as a whole and takes no more.\n"
                   "\n"
                   "Examples:\n"
                   "  bloomblock filter create seen.bbf --kind bloom --keys 1000000 < /dev/null\n"
                   "  bloomblock filter add seen.bbf monday.txt\n"
                   "  bloomblock filter add seen.bbf tuesday.txt wednesday.txt\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
