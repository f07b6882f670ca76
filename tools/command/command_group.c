/* See command_group.h. */
#include "tools/command/command_group.h"

#include <string.h>

#include "base/status.h"
#include "tools/command/command_summary.h"
#include "tools/command/command_tables.h"
#include "tools/command/suggestion.h"

static enum exit_code print_help(const struct command *group, const struct command *const *commands,
                                 size_t count)
{
    struct output out = {0};
    output_print(&out, "usage: bloomblock %s %s\n\n", group->name, group->arguments);
    paragraph_print_page(&out, group->description);
    output_print(&out, "\nCommands:\n");
    for (size_t i = 0; i < count; i++)
        command_print_summary(&out, commands[i], 21);
    output_print(&out,
                 "\n`bloomblock help %s COMMAND` explains one. Every command takes --json.\n"
                 "Exit codes: `bloomblock --help`.\n",
                 group->name);
    return command_finish(group, &out, EXIT_FOUND);
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

static enum bb_status fail_unknown(const struct command *group,
                                   const struct command *const *commands, size_t count,
                                   const char *name)
{
    size_t prefix = strlen(group->name) + 1;
    struct suggestion suggestion;
    suggestion_init(&suggestion, name, strlen(name));
    for (size_t i = 0; i < count; i++)
        suggestion_add(&suggestion, commands[i]->name + prefix);
    return bb_fail(BB_INVALID, "there is no command or option \"%.100s\"%s", name,
                   suggestion_text(&suggestion, ""));
}

enum exit_code command_group_run(const struct command *group, const struct command *const *commands,
                                 size_t count, int argc, char **argv)
{
    if (group->tables != NULL) {
        command_tables_add_group(group->tables, group, commands, count);
        return EXIT_FOUND;
    }
    /* `bloomblock index help create` is `bloomblock index create --help`. */
    char option[] = "--help";
    if (argc > 1 && strcmp(argv[0], "help") == 0)
        return command_group_run(group, commands, count, 2, (char *[]){argv[1], option});
    if (argc > 0 && is_help(argv[0]))
        return print_help(group, commands, count);
    const struct command *command = argc > 0 ? find_command(group, commands, count, argv[0]) : NULL;
    if (command != NULL)
        return command->run(command, argc - 1, argv + 1);
    enum bb_status status = argc == 0
                                ? bb_fail(BB_INVALID, "arguments are missing: %s", group->arguments)
                                : fail_unknown(group, commands, count, argv[0]);
    enum exit_code code = command_fail(group, status);
    command_hint(group);
    return code;
}
