/* bloomblock filter create: a filter from keys. */
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "tools/commands/cmd_filter.h"
#include "tools/filter/filter_file.h"
#include "tools/filter/filter_keys.h"
#include "tools/filter/filter_maker.h"
#include "tools/filter/filter_report.h"
#include "tools/command/options.h"
#include "tools/output/output.h"

struct create {
    struct output out;
    struct filter_keys keys;
    const char *like_path;
    const char *secret_seed;
    bool is_replacing;
    struct filter_maker maker;
    struct bb_filter_file parts;
};

/* Options that are not given are taken from another filter. */
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
        create->parts.hash = other.parts.hash;
        create->parts.secret = other.parts.secret;
        create->maker.options.salt = info.salt;
        if (create->maker.options.kind == BB_FILTER_DEFAULT)
            create->maker.options.kind = info.kind;
        if (create->maker.options.target_rate == 0 && create->maker.size_bytes == 0)
            create->maker.options.target_rate = info.target_rate;
        if (create->maker.planned_key_count == 0 && filter_growth_takes(create->maker.options.kind))
            create->maker.planned_key_count = other.parts.planned_key_count;
    }
    filter_file_deinit(&other);
    return status;
}

/* Parquet's kind has Parquet's hash, which knows no secret. */
static enum bb_status choose_hash(struct create *create)
{
    uint64_t seed = 0;
    bool is_parquet = create->maker.options.kind == BB_FILTER_SPLIT_BLOCK;
    create->parts.hash = is_parquet ? BB_FILTER_HASH_XXH64 : BB_FILTER_HASH_KEYED;
    if (create->secret_seed == NULL)
        return is_parquet ? BB_OK : bb_hash_secret_random(&create->parts.secret);
    enum bb_status status = option_size_decode("secret-seed", create->secret_seed, &seed);
    if (status == BB_OK && is_parquet)
        return bb_fail(BB_INVALID, "option --secret-seed: split-block filters have no secret");
    if (status == BB_OK)
        bb_hash_secret_from_seed(seed, &create->parts.secret);
    return status;
}

static enum bb_status check_like(const struct create *create)
{
    bool is_parquet = create->maker.options.kind == BB_FILTER_SPLIT_BLOCK;
    if (is_parquet != (create->parts.hash == BB_FILTER_HASH_XXH64))
        return bb_fail(BB_INVALID, "option --like: split-block filters have another hash");
    return BB_OK;
}

static enum bb_status apply_options(struct create *create, const char *path)
{
    if (create->maker.size_bytes != 0 && create->maker.options.target_rate != 0)
        return bb_fail(BB_INVALID, "option --size excludes --rate");
    if (create->like_path != NULL && create->secret_seed != NULL)
        return bb_fail(BB_INVALID, "option --like excludes --secret-seed");
    if (create->maker.options.slack != 0 && create->maker.options.kind > BB_FILTER_RIBBON)
        return bb_fail(BB_INVALID, "option --slack is for ribbons");
    if (create->maker.ratio != 0 && create->maker.options.kind != BB_FILTER_SCALABLE)
        return bb_fail(BB_INVALID, "option --ratio is for kind scalable");
    enum bb_status status = filter_file_check_target(path, create->is_replacing);
    if (status == BB_OK)
        status = create->like_path != NULL ? be_like(create) : choose_hash(create);
    if (status == BB_OK)
        status = check_like(create);
    return status == BB_OK ? filter_maker_begin(&create->maker) : status;
}

static enum bb_status add_key(void *context, struct bb_bytes key)
{
    struct create *create = context;
    return filter_maker_add(&create->maker, bb_filter_file_hash(&create->parts, key));
}

static enum bb_status build(struct create *create, const struct arguments *arguments)
{
    const char *path = arguments->values[0];
    enum bb_status status = apply_options(create, path);
    if (status == BB_OK)
        status = filter_keys_visit(&create->keys, "reading keys", arguments->values + 1,
                                   arguments->count - 1, add_key, create);
    if (status == BB_OK)
        status = filter_maker_finish(&create->maker);
    if (status != BB_OK)
        return status;
    create->parts.envelope = bb_buf_bytes(&create->maker.envelope);
    create->parts.planned_key_count = create->maker.planned_key_count;
    return filter_file_write(path, &create->parts, create->is_replacing);
}

static void report(struct create *create, const char *path)
{
    if (!create->out.is_json) {
        filter_report_line(&create->out, path, &create->maker.info);
        return;
    }
    json_t *document = json_object();
    json_set_text(document, "file", path);
    filter_report_json(document, &create->maker.info, &create->parts);
    output_json(&create->out, document);
}

static bool parse(struct create *create, const struct command *command, int argc, char **argv,
                  struct arguments *ret_arguments, enum exit_code *ret_code)
{
    const struct option own[] = {
        {"kind", "KIND", OPTION_FILTER_KIND, &create->maker.options.kind,
         "ribbon (the smallest, the default), bloom, blocked-bloom, split-block, partitioned, "
         "counting, scalable, none"},
        {"rate", "RATE", OPTION_REAL, &create->maker.options.target_rate,
         "share of absent keys for which the filter returns maybe (0.01)"},
        {"size", "SIZE", OPTION_SIZE, &create->maker.size_bytes,
         "instead of a rate: the memory, from which the rate follows"},
        {"ratio", "RATIO", OPTION_REAL, &create->maker.ratio,
         "scalable: ratio of the rates of a stage and the previous one, 0.1 to 0.95 (0.5)"},
        {"slack", "SHARE", OPTION_REAL, &create->maker.options.slack,
         "ribbon: space given for a quicker build, up to 0.25 (0)"},
        {"keys", "N", OPTION_COUNT, &create->maker.planned_key_count,
         "planned number of keys, added now or later, not for a ribbon"},
        {"like", "FILTER", OPTION_TEXT, &create->like_path,
         "secret, salt, kind, rate and capacity of a filter"},
        {"force", NULL, OPTION_FLAG, &create->is_replacing, "replace a file that exists"},
        {"hex", NULL, OPTION_FLAG, &create->keys.is_hex, "keys are hexadecimal digits"},
        {"null", NULL, OPTION_FLAG, &create->keys.is_null,
         "keys end with a zero byte instead of a newline"},
        {"secret-seed", "N", OPTION_TEXT, &create->secret_seed,
         "secret from a number instead of a random one, for tests"},
        {"json", NULL, OPTION_FLAG, &create->out.is_json, "report as JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    return options_parse(command, &group, 1, argc, argv, ret_arguments, ret_code);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct create create = {0};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!parse(&create, command, argc, argv, &arguments, &code))
        return code;
    double target_rate = create.maker.options.target_rate; /* kind none forgets it */
    enum bb_status status = build(&create, &arguments);
    if (status == BB_OK) {
        report(&create, arguments.values[0]);
        code = filter_report_target(command, &create.maker.info, &create.parts, target_rate);
    } else {
        code = command_fail(command, status);
    }
    filter_maker_deinit(&create.maker);
    return command_finish(command, &create.out, code);
}

const struct command command_filter_create = {
    .name = "filter create",
    .summary = "create a filter from the lines of files",
    .arguments = "OUT [FILE...]",
    .description =
        "Reads keys, one per line (without files, from standard input), and writes a "
        "filter of them to OUT, atomically, with mode 0600: it contains the secret that"
        " prevents others from choosing keys that pass. The build needs eight to ten "
        "bytes of memory per key; with --keys only the size of the filter.\n"
        "\n"
        "Kinds: ribbon is the smallest and cannot be extended. The others can (`filter "
        "add`), up to --keys. blocked-bloom is fast; split-block is Parquet's filter, "
        "bit for bit; counting allows `filter remove`; scalable is for an unknown "
        "number of keys. If its rate is above the target by more than chance, "
        "a message has the rate and the reason, and the exit code is 7.\n"
        "\n"
        "Examples:\n"
        "  bloomblock filter create words.bbf /usr/share/dict/words --rate 0.001\n"
        "  zcat seen.gz | bloomblock filter create seen.bbf --kind bloom --keys 5000000\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
