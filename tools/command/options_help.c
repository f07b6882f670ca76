/* See options_help.h. */
#include "tools/command/options_help.h"

#include <stdio.h>

#include "tools/output/output.h"
#include "tools/output/paragraph.h"

/* Where the explanations begin. */
#define HELP_COLUMN 26

static void print_option(struct output *out, const struct option *option)
{
    char left[64] = "";
    int size = snprintf(left, sizeof(left), "  --%s%s%s", option->name,
                        option->argument == NULL ? "" : " ",
                        option->argument == NULL ? "" : option->argument);
    output_print(out, "%s", left);
    if (size < HELP_COLUMN) {
        paragraph_print(out, option->help, (size_t)size, HELP_COLUMN);
        return;
    }
    output_print(out, "\n");
    paragraph_print(out, option->help, 0, HELP_COLUMN);
}

static void print_group(struct output *out, const struct option_group *group)
{
    output_print(out, "\n%s:\n", group->title);
    for (size_t i = 0; i < group->count; i++)
        print_option(out, &group->options[i]);
}

enum exit_code options_help(const struct command *command, const struct option_group *groups,
                            size_t group_count)
{
    struct output out = {0};
    const struct option_group *shared = NULL;
    char usage[256];
    snprintf(usage, sizeof(usage), "usage: bloomblock %s [OPTION...] %s", command->name,
             command->arguments);
    paragraph_print(&out, usage, 0, 0);
    output_print(&out, "\n");
    paragraph_print_page(&out, command->description);
    for (size_t i = 0; i < group_count; i++) {
        if (groups[i].is_shared)
            shared = &groups[i];
        else
            print_group(&out, &groups[i]);
    }
    output_print(&out, "\n");
    if (shared != NULL)
        output_print(&out, "%s: `bloomblock %s --help-options`.\n", shared->title, command->name);
    output_print(&out, "Exit codes: `bloomblock --help`.\n");
    return command_finish(command, &out, EXIT_FOUND);
}

enum exit_code options_help_shared(const struct command *command, const struct option_group *groups,
                                   size_t group_count)
{
    struct output out = {0};
    bool has_shared = false;
    output_print(&out, "usage: bloomblock %s [OPTION...] ...\n", command->name);
    for (size_t i = 0; i < group_count; i++) {
        has_shared |= groups[i].is_shared;
        if (groups[i].is_shared)
            print_group(&out, &groups[i]);
    }
    if (!has_shared)
        output_print(&out, "\nAll its options: `bloomblock %s --help`.\n", command->name);
    return command_finish(command, &out, EXIT_FOUND);
}
