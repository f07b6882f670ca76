/* bloomblock index: indexes over the values of a store. Finds the sub-command and hands over. */
#include "tools/commands/cmd_index.h"

#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "tools/command/command_group.h"
#include "tools/command/options.h"

/* The command, if it is one that has no form for files of lines, or NULL. */
static const struct command *find_for_stores(int argc, char **argv)
{
    static const struct command *const commands[] = {
        &command_index_materialize, &command_index_advise, &command_index_estimate};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(commands) && argc > 0; i++)
        if (strcmp(commands[i]->name + strlen("index "), argv[0]) == 0)
            return commands[i];
    return NULL;
}

static enum exit_code fail_file(const struct command *command)
{
    enum exit_code code = command_fail(
        command, bb_fail(BB_INVALID, "unknown option --file: this command works on stores only; "
                                     "of a file `bloomblock index create --file` makes the index"));
    command_hint(command);
    return code;
}

static enum exit_code run(const struct command *group, int argc, char **argv)
{
    static const struct command *const commands[] = {
        &command_index_create,      &command_index_drop,   &command_index_list,
        &command_index_materialize, &command_index_advise, &command_index_estimate,
    };
    const struct command *for_stores = find_for_stores(argc, argv);
    if (for_stores != NULL && options_have(argc, argv, "--file"))
        return fail_file(for_stores);
    return command_group_run(group, commands, BB_ARRAY_LENGTH(commands), argc, argv);
}

const struct command command_index = {
    .name = "index",
    .summary = "over values: create, drop, list, materialize, advise, estimate",
    .arguments = "COMMAND [OPTION...] [ARGUMENT...]",
    .description =
        "An index is a summary of one attribute that excludes granules without a record"
        " that satisfies a condition; excluded granules are not read. A granule is some"
        " data blocks, 64 KiB of values. An index never changes a result.\n"
        "\n"
        "Kinds:\n"
        "  min_max(a)                bounds: ranges and = on values that grow with the\n"
        "                            key, such as a time\n"
        "  set(a, values=100)        every distinct value: few values, all comparisons\n"
        "  values(a, rate=0.001)     = and IN: addresses, names, numbers\n"
        "  tokens(a, rate=0.0001)    words: has_token, LIKE, matches; fold=lower.\n"
        "                            tokenizer=unicode: has_word; fold=unicode: ihas_word\n"
        "  ngrams(a, n=3, rate=0.1)  parts of text: contains, LIKE, matches; fold=lower\n"
        "  column(a)                 the values themselves: any condition and its count\n"
        "  text(a, counts=no)        words and parts of words, exactly; counts=yes:\n"
        "                            counts of a word\n"
        "\n"
        "Getting started:\n"
        "  bloomblock index create /tmp/access 'tokens(agent)' 'values(host)'\n"
        "  bloomblock index materialize /tmp/access     # for data that is already loaded\n"
        "  bloomblock index list /tmp/access\n"
        "  bloomblock select /tmp/access --where \"has_token(agent, 'sqlmap')\" --explain\n",
    .run = run,
};
