/* bloomblock filter create: a filter from keys. */
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "tools/cmd_filter.h"
#include "tools/filter_file.h"
#include "tools/filter_keys.h"
#include "tools/filter_report.h"
#include "tools/options.h"
#include "tools/output.h"

struct create {
    struct output out;
    struct filter_keys keys;
    struct bb_filter_options options;
    const char *like_path;
    const char *secret_seed;
    bool is_replacing;
    /* At work. */
    struct bb_filter_file parts;
    struct bb_filter_builder *builder;
    struct bb_buf envelope;
    struct bb_filter_info info;
};

/* What is not asked for otherwise is as in another filter. */
static enum bb_status be_like(struct create *create)
{
    struct filter_file other = {0};
    struct bb_filter_info info = {0};
    enum bb_status status = filter_file_read(create->like_path, &other);
    if (status == BB_OK)
        status = filter_file_check_hash(&other, create->like_path);
    if (status == BB_OK)
        status = filter_file_context(&other, create->like_path,
                                     bb_filter_info(other.parts.envelope, &info));
    if (status == BB_OK) {
        create->parts = other.parts;
        create->options.salt = info.salt;
        if (create->options.kind == BB_FILTER_DEFAULT)
            create->options.kind = info.kind;
        if (create->options.target_rate == 0)
            create->options.target_rate = info.target_rate;
    }
    filter_file_deinit(&other);
    return status;
}

static enum bb_status choose_secret(struct create *create)
{
    uint64_t seed = 0;
    create->parts.hash = BB_FILTER_HASH_KEYED;
    if (create->secret_seed == NULL)
        return bb_hash_secret_random(&create->parts.secret);
    enum bb_status status = option_size_decode("secret-seed", create->secret_seed, &seed);
    if (status == BB_OK)
        bb_hash_secret_from_seed(seed, &create->parts.secret);
    return status;
}

static enum bb_status apply_options(struct create *create, const char *path)
{
    if (create->like_path != NULL && create->secret_seed != NULL)
        return bb_fail(BB_INVALID, "option --like excludes --secret-seed");
    enum bb_status status = filter_file_check_target(path, create->is_replacing);
    if (status == BB_OK)
        status = create->like_path != NULL ? be_like(create) : choose_secret(create);
    if (status == BB_OK)
        status = bb_filter_builder_create(&create->options, &create->builder);
    return status;
}

static enum bb_status add_key(void *context, struct bb_bytes key)
{
    struct create *create = context;
    return bb_filter_builder_add(create->builder, bb_filter_file_hash(&create->parts, key));
}

static enum bb_status build(struct create *create, const struct arguments *arguments)
{
    const char *path = arguments->values[0];
    enum bb_status status = apply_options(create, path);
    if (status == BB_OK)
        status = filter_keys_visit(&create->keys, "reading keys", arguments->values + 1,
                                   arguments->count - 1, add_key, create);
    if (status == BB_OK)
        status = bb_filter_builder_finish(create->builder, &create->envelope);
    if (status != BB_OK)
        return status;
    create->parts.envelope = bb_buf_bytes(&create->envelope);
    status = bb_filter_info(create->parts.envelope, &create->info);
    return status == BB_OK ? filter_file_write(path, &create->parts, create->is_replacing) : status;
}

static void report(struct create *create, const char *path)
{
    if (!create->out.is_json) {
        filter_report_line(&create->out, path, &create->info);
        return;
    }
    json_t *document = json_object();
    json_set_text(document, "file", path);
    filter_report_json(document, &create->info, &create->parts);
    output_json(&create->out, document);
}

static bool parse(struct create *create, const struct command *command, int argc, char **argv,
                  struct arguments *ret_arguments, enum exit_code *ret_code)
{
    const struct option own[] = {
        {"kind", "KIND", OPTION_FILTER_KIND, &create->options.kind,
         "ribbon (the smallest), bloom, blocked-bloom, none"},
        {"rate", "RATE", OPTION_REAL, &create->options.target_rate,
         "absent keys that may pass: 0.01 is one in a hundred (0.01)"},
        {"like", "FILTER", OPTION_TEXT, &create->like_path,
         "secret and salt, kind and rate of another filter"},
        {"force", NULL, OPTION_FLAG, &create->is_replacing, "replace a file that exists"},
        {"hex", NULL, OPTION_FLAG, &create->keys.is_hex, "keys are hexadecimal digits"},
        {"null", NULL, OPTION_FLAG, &create->keys.is_null,
         "keys end with a zero byte instead of a newline"},
        {"secret-seed", "N", OPTION_TEXT, &create->secret_seed,
         "secret from a number instead of a random one, for tests"},
        {"json", NULL, OPTION_FLAG, &create->out.is_json, "report as JSON"},
    };
    const struct option_group group = {"Options", own, BB_ARRAY_LENGTH(own)};
    return options_parse(command, &group, 1, argc, argv, ret_arguments, ret_code);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct create create = {0};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!parse(&create, command, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = build(&create, &arguments);
    if (status == BB_OK)
        report(&create, arguments.values[0]);
    else
        code = command_fail(command, status);
    bb_filter_builder_destroy(create.builder);
    bb_buf_deinit(&create.envelope);
    return output_finish(&create.out, command, code);
}

const struct command command_filter_create = {
    .name = "filter create",
    .summary = "a filter from the lines of files",
    .arguments = "OUT [FILE...]",
    .description =
        "Reads keys, a line each (without files, from standard input), and writes a filter of them "
        "to OUT. Keys\n"
        "are taken as they are, empty lines too; keys that come again cost nothing. You say which "
        "share of\n"
        "absent keys may pass, and the filter takes as few bits as that needs. Eight bytes of "
        "memory per key\n"
        "are needed meanwhile.\n"
        "\n"
        "OUT appears whole or not at all, and is for its owner alone (mode 0600): it holds the "
        "secret that keeps\n"
        "others from choosing keys that pass. Filters that are to be united need one secret: "
        "--like.\n"
        "\n"
        "Examples:\n"
        "  bloomblock filter create words.bbf /usr/share/dict/words\n"
        "  bloomblock filter create words.bbf /usr/share/dict/words --rate 0.001 --force\n"
        "  zcat seen.gz | bloomblock filter create seen.bbf --kind blocked-bloom\n"
        "  find . -print0 | bloomblock filter create files.bbf --null\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
