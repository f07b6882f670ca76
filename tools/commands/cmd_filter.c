/* bloomblock filter: standalone filters in files. Finds the sub-command and runs it. */
#include "tools/commands/cmd_filter.h"

#include "base/assert.h"
#include "tools/command/command_group.h"

static const struct command *const commands[] = {
    &command_filter_create, &command_filter_add,   &command_filter_remove, &command_filter_check,
    &command_filter_info,   &command_filter_union, &command_filter_plan,   &command_filter_top,
};

static enum exit_code run(const struct command *group, int argc, char **argv)
{
    return command_group_run(group, commands, BB_ARRAY_LENGTH(commands), argc, argv);
}

const struct command command_filter = {
    .name = "filter",
    .summary = "in files: create, add, remove, check, info, union, plan, top",
    .arguments = "COMMAND [OPTION...] [ARGUMENT...]",
    .description =
        "A filter is a compact summary of a set of keys. For a key it returns \"absent\","
        " which is certain, or \"maybe\", which is wrong for at most the target share of "
        "absent keys. It does not contain the keys: a rate of 1 % takes 6.8 bits per key,"
        " independent of their length.\n"
        "\n"
        "Getting started (keys are lines):\n"
        "  bloomblock filter create words.bbf /usr/share/dict/words --rate 0.01\n"
        "  bloomblock filter check words.bbf --key zebra   # code 0: maybe; 1: absent\n"
        "  bloomblock filter check words.bbf --absent < typed.txt\n"
        "  bloomblock filter info words.bbf\n",
    .run = run,
};
