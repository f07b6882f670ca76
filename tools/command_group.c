/* See command_group.h. */
#include "tools/command_group.h"

#include <string.h>

#include "base/status.h"
#include "tools/output.h"

static enum exit_code print_help(const struct command *group, const struct command *const *commands,
                                 size_t count)
{
    struct output out = {0};
    output_print(&out, "usage: bloomblock %s %s\n\n%s\nCommands:\n", group->name, group->arguments,
                 group->description);
    for (size_t i = 0; i < count; i++)
        output_print(&out, "  %-18s %s\n", commands[i]->name, commands[i]->summary);
    output_print(&out,
                 "\n`bloomblock %s COMMAND --help` explains one. Every command takes --json.\n"
                 "Exit codes: `bloomblock --help`.\n",
                 group->name);
    return output_finish(&out, group, EXIT_FOUND);
}

static bool is_help(const char *text)
{
    return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0 || strcmp(text, "help") == 0;
}

static const struct command *find_command(const struct command *group,
                                          const struct command *const *commands, size_t count,
                                          const char *name)
{
    size_t prefix = strlen(group->name) + 1;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(commands[i]->name + prefix, name) == 0)
            return commands[i];
    }
    return NULL;
}

enum exit_code command_group_run(const struct command *group, const struct command *const *commands,
                                 size_t count, int argc, char **argv)
{
    if (argc > 0 && is_help(argv[0]))
        return print_help(group, commands, count);
    const struct command *command = argc > 0 ? find_command(group, commands, count, argv[0]) : NULL;
    if (command != NULL)
        return command->run(command, argc - 1, argv + 1);
    enum bb_status status =
        argc == 0 ? bb_fail(BB_INVALID, "arguments are missing: %s", group->arguments)
                  : bb_fail(BB_INVALID, "there is no command or option \"%.100s\"", argv[0]);
    enum exit_code code = command_fail(group, status);
    command_hint(group);
    return code;
}
