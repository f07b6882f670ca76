/* bloomblock filter: filters that stand alone in files. Finds the sub-command and hands over. */
#include "tools/commands/cmd_filter.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "tools/output.h"

static const struct command *const commands[] = {
    &command_filter_create, &command_filter_add,   &command_filter_remove, &command_filter_check,
    &command_filter_info,   &command_filter_union, &command_filter_plan,   &command_filter_top,
};

static enum exit_code print_help(const struct command *group)
{
    struct output out = {0};
    output_print(&out, "usage: bloomblock %s %s\n\n%s\nCommands:\n", group->name, group->arguments,
                 group->description);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(commands); i++)
        output_print(&out, "  %-14s %s\n", commands[i]->name, commands[i]->summary);
    output_print(&out,
                 "\n`bloomblock filter COMMAND --help` explains one. Every command takes --json.\n"
                 "Exit codes: `bloomblock --help`.\n");
    return output_finish(&out, group, EXIT_FOUND);
}

static bool is_help(const char *text)
{
    return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0 || strcmp(text, "help") == 0;
}

/* The names of the commands are those of the group, a blank, and what the user types. */
static const struct command *find_command(const struct command *group, const char *name)
{
    size_t prefix = strlen(group->name) + 1;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(commands); i++) {
        if (strcmp(commands[i]->name + prefix, name) == 0)
            return commands[i];
    }
    return NULL;
}

static enum exit_code run(const struct command *group, int argc, char **argv)
{
    if (argc > 0 && is_help(argv[0]))
        return print_help(group);
    const struct command *command = argc > 0 ? find_command(group, argv[0]) : NULL;
    if (command != NULL)
        return command->run(command, argc - 1, argv + 1);
    enum bb_status status =
        argc == 0 ? bb_fail(BB_INVALID, "arguments are missing: %s", group->arguments)
                  : bb_fail(BB_INVALID, "there is no command or option \"%.100s\"", argv[0]);
    enum exit_code code = command_fail(group, status);
    command_hint(group);
    return code;
}

const struct command command_filter = {
    .name = "filter",
    .summary = "filters alone in files: create, add, remove, check, info, union, plan, top",
    .arguments = "COMMAND [OPTION...] [ARGUMENT...]",
    .description =
        "A filter is a small summary of a set of keys. Asked for a key it answers \"absent\", "
        "which is certain,\n"
        "or \"maybe\", which is wrong for as small a share of the absent keys as you ask for. It "
        "does not hold\n"
        "the keys: 1 % of wrong answers takes 7 bits per key, however long the keys are.\n"
        "\n"
        "A first walk (keys are lines):\n"
        "  bloomblock filter create words.bbf /usr/share/dict/words --rate 0.01\n"
        "  bloomblock filter check words.bbf --key zebra      # exit code 0: maybe; 1: absent\n"
        "  bloomblock filter check words.bbf --absent < typed.txt\n"
        "  bloomblock filter info words.bbf\n",
    .run = run,
};
