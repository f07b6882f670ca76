/* bloomblock filter check: probes a filter for keys. */
#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/commands/cmd_filter.h"
#include "tools/filter/filter_file.h"
#include "tools/filter/filter_keys.h"
#include "tools/keys/key_argument.h"
#include "tools/output/number_text.h"
#include "tools/command/options.h"
#include "tools/output/output.h"

struct check {
    struct output out;
    struct filter_keys keys;
    struct option_texts key_texts;
    bool is_count_only;
    bool lists_absent; /* and not the others */
    bool lists_maybe;
    bool is_raw;
    bool is_quiet;
    /* At work. */
    struct filter_file file;
    struct bb_filter_view view;
    enum bb_status damage; /* why the filter lets everything through; BB_OK: it does not */
    uint64_t maybe;
    uint64_t absent;
    uint64_t printed;
};

static void print_json_row(struct check *check, struct bb_bytes key, bool may)
{
    output_print(&check->out, check->printed == 0 ? "\n" : ",\n");
    json_t *row = json_object();
    json_set_shown(row, "key", key, check->keys.is_hex);
    json_set_text(row, "answer", may ? "maybe" : "absent");
    output_json_compact(&check->out, row);
}

static void print_text_row(struct check *check, struct bb_bytes key, bool may)
{
    if (!check->lists_absent && !check->lists_maybe)
        output_print(&check->out, may ? "maybe\t" : "absent\t");
    if (check->is_raw)
        output_write(&check->out, key);
    else
        output_bytes(&check->out, key, check->keys.is_hex);
    output_write(&check->out, bb_bytes_of(check->is_raw && check->keys.is_null ? "" : "\n", 1));
}

static enum bb_status check_key(void *context, struct bb_bytes key)
{
    struct check *check = context;
    bool may = bb_filter_may_contain(&check->view, bb_filter_file_hash(&check->file.parts, key));
    *(may ? &check->maybe : &check->absent) += 1;
    if (output_is_over(&check->out))
        return BB_NOT_FOUND; /* the reader of the answers has closed */
    if (check->is_count_only || check->is_quiet || (may ? check->lists_absent : check->lists_maybe))
        return BB_OK;
    if (check->out.is_json)
        print_json_row(check, key, may);
    else
        print_text_row(check, key, may);
    check->printed++;
    return BB_OK;
}

static enum bb_status check_argument(struct check *check, const char *text)
{
    struct bb_buf key = {0};
    enum bb_status status = key_argument_decode(text, check->keys.is_hex, &key);
    if (status == BB_OK)
        status = check_key(check, bb_buf_bytes(&key));
    bb_buf_deinit(&key);
    return status;
}

static enum bb_status check_arguments(struct check *check)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < check->key_texts.count && status == BB_OK; i++)
        status = check_argument(check, check->key_texts.values[i]);
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static double percent(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

static void print_counts(struct check *check)
{
    uint64_t all = check->maybe + check->absent;
    output_print(&check->out, "%s: %s maybe (%.4g %%), %s absent\n",
                 number_of(all, "key", "keys").text, number_grouped(check->maybe).text,
                 percent(check->maybe, all), number_grouped(check->absent).text);
}

static enum bb_status check_keys(struct check *check, const struct arguments *arguments)
{
    struct output *out = &check->out;
    bool has_rows = out->is_json && !check->is_count_only && !check->is_quiet;
    enum bb_status status = BB_OK;
    if (out->is_json)
        output_print(out, has_rows ? "{\"answers\": [" : "{");
    if (check->key_texts.count > 0)
        status = check_arguments(check);
    else
        status = filter_keys_visit(&check->keys, "checking", arguments->values + 1,
                                   arguments->count - 1, check_key, check);
    if (out->is_json)
        output_print(out,
                     "%s\"keys\": %" PRIu64 ", \"maybe\": %" PRIu64 ", \"absent\": %" PRIu64
                     ", \"sound\": %s, \"complete\": %s}\n",
                     has_rows ? "\n], " : "", check->maybe + check->absent, check->maybe,
                     check->absent, check->damage == BB_OK ? "true" : "false",
                     status == BB_OK ? "true" : "false");
    else if (check->is_count_only && !check->is_quiet)
        print_counts(check);
    return status;
}

static bool is_damage(enum bb_status status)
{
    return status == BB_CORRUPT || status == BB_UNSUPPORTED;
}

/* Damage is no failure: the zeroed view returns maybe for every key, as a damaged filter must. */
static enum bb_status open_filter(struct check *check, const char *path)
{
    enum bb_status status = filter_file_read(path, &check->file);
    if (status == BB_OK)
        status = filter_file_check_hash(&check->file, path);
    if (status == BB_OK)
        status = filter_file_view(&check->file, path, &check->view);
    if (!is_damage(status))
        return status;
    check->damage = status;
    return BB_OK;
}

static enum bb_status check_options(const struct check *check, const struct arguments *arguments)
{
    if (check->key_texts.count > 0 && arguments->count > 1)
        return bb_fail(BB_INVALID, "option --key excludes files of keys");
    if (check->lists_absent && check->lists_maybe)
        return bb_fail(BB_INVALID, "option --absent excludes --maybe");
    if (check->is_raw && check->out.is_json)
        return bb_fail(BB_INVALID, "option --raw excludes --json");
    return BB_OK;
}

static enum exit_code code_of(const struct check *check, const struct command *command,
                              enum bb_status status)
{
    if (status != BB_OK)
        return command_fail(command, status);
    if (check->damage != BB_OK)
        return exit_code_of(check->damage);
    return check->absent > 0 ? EXIT_ABSENT : EXIT_FOUND;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct check check = {0};
    const struct option own[] = {
        {"key", "KEY", OPTION_TEXTS, &check.key_texts,
         "only this key, no files; may be given again"},
        {"count", NULL, OPTION_FLAG, &check.is_count_only, "only how many there are of each"},
        {"absent", NULL, OPTION_FLAG, &check.lists_absent,
         "list only the keys that are certainly absent"},
        {"maybe", NULL, OPTION_FLAG, &check.lists_maybe, "list only the keys that may be present"},
        {"hex", NULL, OPTION_FLAG, &check.keys.is_hex,
         "keys are hexadecimal digits, in the output too"},
        {"null", NULL, OPTION_FLAG, &check.keys.is_null,
         "keys end with a zero byte instead of a newline, also in the output of --raw"},
        {"raw", NULL, OPTION_FLAG, &check.is_raw, "print the bytes of keys unescaped"},
        {"quiet", NULL, OPTION_FLAG, &check.is_quiet, "print nothing; the exit code is the result"},
        {"json", NULL, OPTION_FLAG, &check.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = check_options(&check, &arguments);
    if (status == BB_OK)
        status = open_filter(&check, arguments.values[0]);
    if (status == BB_OK && check.damage != BB_OK) {
        (void)command_fail(command, check.damage);
        command_warn(command, "the filter rules nothing out: every key may be there");
    }
    if (status == BB_OK)
        status = check_keys(&check, &arguments);
    code = code_of(&check, command, status);
    filter_file_deinit(&check.file);
    return command_finish(command, &check.out, code);
}

const struct command command_filter_check = {
    .name = "filter check",
    .summary = "ask a filter for keys; exit code 1 when one is absent",
    .arguments = "FILTER [FILE...]",
    .description =
        "Prints for each line of the files (without any, of standard input) \"maybe\" or "
        "\"absent\", a tab, and the key, escaped as `get` does. \"absent\" is certain. "
        "\"maybe\" is wrong for about the share of absent keys that `filter info` calls "
        "predicted. The exit code is 0 if every key may be present and 1 if one is "
        "absent. A damaged filter rules out no key: every result is \"maybe\", standard "
        "error has the reason, and the exit code is 4 (corrupt) or 5 (unsupported).\n"
        "\n"
        "Examples:\n"
        "  bloomblock filter check words.bbf --key zebra\n"
        "  bloomblock filter check words.bbf --absent --raw < typed.txt\n"
        "  bloomblock filter check words.bbf --count typed.txt\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
