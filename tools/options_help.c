/* See options_help.h. */
#include "tools/options_help.h"

#include <stdio.h>

#include "base/bytes.h"
#include "tools/output.h"

/* Where the explanations begin. */
#define HELP_COLUMN 26

static void print_option(struct output *out, const struct option *option)
{
    char left[64] = "";
    int size = snprintf(left, sizeof(left), "  --%s%s%s", option->name,
                        option->argument == NULL ? "" : " ",
                        option->argument == NULL ? "" : option->argument);
    if (size < HELP_COLUMN)
        output_print(out, "%-*s%s\n", HELP_COLUMN, left, option->help);
    else
        output_print(out, "%s\n%*s%s\n", left, HELP_COLUMN, "", option->help);
}

enum exit_code options_help(const struct command *command, const struct option_group *groups,
                            size_t group_count)
{
    struct output out = {0};
    output_print(&out, "usage: bloomblock %s [OPTION...] %s\n\n%s", command->name,
                 command->arguments, command->description);
    for (size_t i = 0; i < group_count; i++) {
        output_print(&out, "\n%s:\n", groups[i].title);
        for (size_t j = 0; j < groups[i].count; j++)
            print_option(&out, &groups[i].options[j]);
    }
    output_print(&out, "\nExit codes: `bloomblock --help`.\n");
    return output_finish(&out, command, EXIT_FOUND);
}
