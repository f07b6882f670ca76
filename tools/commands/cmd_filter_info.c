/* bloomblock filter info: the parameters of a filter, and whether it is complete. */
#include <inttypes.h>

#include "base/assert.h"
#include "base/coding.h"
#include "base/status.h"
#include "tools/commands/cmd_filter.h"
#include "tools/filter/filter_file.h"
#include "tools/filter/filter_report.h"
#include "tools/output/number_text.h"
#include "tools/command/options.h"

struct info {
    struct output out;
    const char *path;
    struct filter_file file;
    struct bb_filter_info filter;
};

static const char *hash_text(const struct filter_file *file)
{
    if (file->is_bare)
        return "not known: this is an envelope without a file header";
    return file->parts.hash == BB_FILTER_HASH_XXH64 ? "XXH64 with seed 0, no secret"
                                                    : "XXH3-64 under a secret (not shown)";
}

static const char *hash_name(const struct filter_file *file)
{
    if (file->is_bare)
        return "unknown";
    return file->parts.hash == BB_FILTER_HASH_XXH64 ? "xxh64" : "xxh3-64-secret";
}

/* The places of the two parameters of the kind in an envelope (docs/filters.md, section 6). */
#define PARAMETER_0 48
#define PARAMETER_1 56

static uint64_t parameter(const struct info *info, size_t offset)
{
    return bb_load64(info->file.parts.envelope.data + offset);
}

static const char *parameter_names(enum bb_filter_kind kind)
{
    switch (kind) {
    case BB_FILTER_RIBBON:
        return "shards and fingerprint bits";
    case BB_FILTER_BLOCKED_BLOOM:
        return "lines of 64 bytes, and probes";
    case BB_FILTER_SPLIT_BLOCK:
        return "blocks of 32 bytes, and probes";
    case BB_FILTER_COUNTING:
        return "counters and probes";
    case BB_FILTER_SCALABLE:
        return "keys of the first stage, and growth";
    case BB_FILTER_COUNT_MIN:
        return "columns and rows";
    default:
        return "bits and probes";
    }
}

static enum filter_verdict verdict_of(const struct info *info)
{
    return filter_report_verdict(&info->filter);
}

static void write_predicted(struct info *info)
{
    const struct bb_filter_info *filter = &info->filter;
    bool has_target = filter->target_rate < 1 && filter->kind != BB_FILTER_COUNT_MIN;
    output_print(&info->out, "predicted    %s, from the bits that are set%s%s\n",
                 number_rate(filter->predicted_rate).text, has_target ? ": " : "",
                 has_target ? filter_verdict_text(verdict_of(info)) : "");
}

static void write_text(struct info *info)
{
    struct output *out = &info->out;
    const struct bb_filter_info *filter = &info->filter;
    output_print(out, "format       %senvelope of version %" PRIu32 "; sound\n",
                 info->file.is_bare ? "" : "filter's file, ", filter->version);
    output_print(out, "kind         %s\n", bb_filter_kind_name(filter->kind));
    output_print(out, "keys         %s", number_grouped(filter->key_count).text);
    if (info->file.parts.planned_key_count != 0)
        output_print(out, " of %s planned%s",
                     number_grouped(info->file.parts.planned_key_count).text,
                     filter_report_is_overfull(filter, &info->file.parts) ? ": OVERFULL" : "");
    output_print(out, "\n");
    output_print(out, "size         %s, %s of it the envelope\n",
                 number_bytes(info->file.contents.size).text,
                 number_bytes(filter->size_bytes).text);
    output_print(out, "bits/key     %.2f; no filter of this rate takes less than %.2f\n",
                 filter->bits_per_key, filter_report_limit(filter->predicted_rate));
    output_print(out, "target rate  %s\n",
                 filter->target_rate < 1 ? number_rate(filter->target_rate).text : "none");
    write_predicted(info);
    output_print(out, "fill         %.4f of the bits are set\n", filter->fill);
    output_print(out, "per probe    %" PRIu32 " %s\n", filter->bits_per_probe,
                 filter->kind == BB_FILTER_RIBBON ? "bits of fingerprint" : "bits");
    output_print(out, "parameters   %" PRIu64 ", %" PRIu64 ": %s\n", parameter(info, PARAMETER_0),
                 parameter(info, PARAMETER_1), parameter_names(filter->kind));
    if (filter->kind == BB_FILTER_COUNTING)
        output_print(out, "counters     %s full: they stay full after removals\n",
                     number_grouped(filter->saturated_count).text);
    if (filter->kind == BB_FILTER_SCALABLE)
        output_print(out, "stages       %" PRIu32 "\n", filter->stage_count);
    output_print(out, "salt         %016" PRIx64 "\n", filter->salt);
    output_print(out, "hash         %s\n", hash_text(&info->file));
}

static void write_json(struct info *info)
{
    json_t *document = json_object();
    json_set_text(document, "file", info->path);
    json_set_bool(document, "sound", true);
    json_set_bool(document, "bare_envelope", info->file.is_bare);
    json_set_text(document, "hash", hash_name(&info->file));
    json_set_count(document, "file_bytes", info->file.contents.size);
    filter_report_json(document, &info->filter, &info->file.parts);
    json_set_text(document, "verdict", filter_verdict_name(verdict_of(info)));
    json_set_bool(document, "within_target", verdict_of(info) != FILTER_ABOVE);
    json_t *parameters = json_array();
    json_array_append_new(parameters, json_integer((json_int_t)parameter(info, PARAMETER_0)));
    json_array_append_new(parameters, json_integer((json_int_t)parameter(info, PARAMETER_1)));
    json_object_set_new(document, "parameters", parameters);
    output_json(&info->out, document);
}

static void write_damage(struct info *info, enum bb_status status)
{
    if (!info->out.is_json)
        return;
    json_t *document = json_object();
    json_set_text(document, "file", info->path);
    json_set_bool(document, "sound", false);
    json_set_text(document, "status", bb_status_name(status));
    json_set_text(document, "message", bb_error_last()->message);
    output_json(&info->out, document);
}

static enum bb_status describe(struct info *info)
{
    enum bb_status status = filter_file_read(info->path, &info->file);
    if (status == BB_OK)
        status = filter_file_context(&info->file, info->path,
                                     bb_filter_info(info->file.parts.envelope, &info->filter));
    if (status != BB_OK)
        write_damage(info, status);
    else if (info->out.is_json)
        write_json(info);
    else
        write_text(info);
    return status;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct info info = {0};
    const struct option own[] = {
        {"json", NULL, OPTION_FLAG, &info.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    info.path = arguments.values[0];
    enum bb_status status = describe(&info);
    if (status != BB_OK)
        code = command_fail(command, status);
    filter_file_deinit(&info.file);
    return command_finish(command, &info.out, code);
}

const struct command command_filter_info = {
    .name = "filter info",
    .summary = "describe a filter (kind, size, rates) and check it",
    .arguments = "FILTER",
    .description = "Prints the filter's kind, its number of distinct keys, its size, its target "
                   "rate, and the rate predicted\n"
                   "from its set bits: the share of absent keys that pass. The target limits the "
                   "expected rate: by chance\n"
                   "the bits of every second valid filter give a slightly higher rate.\n"
                   "The whole file is checked. For a damaged filter the message has the reason and "
                   "the offset, and the\n"
                   "exit code is 4 (corrupt) or 5 (unsupported). Also describes an envelope "
                   "without a file header, as a\n"
                   "program keeps it in memory. The secret is not shown.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock filter info words.bbf\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
