/* See command_tables.h. */
#include "tools/command/command_tables.h"

#include <string.h>

#include "base/assert.h"

static bool has_option(const struct command_tables *tables, const char *name)
{
    for (size_t i = 0; i < tables->option_count; i++)
        if (strcmp(tables->options[i].name, name) == 0)
            return true;
    return false;
}

/* An option of both forms is listed once. */
static void add_option(struct command_tables *tables, const struct option *option, bool is_shared)
{
    if (has_option(tables, option->name))
        return;
    BB_ASSERT(tables->option_count < COMMAND_OPTION_COUNT_MAX);
    size_t at = is_shared ? tables->option_count : tables->own_count;
    memmove(&tables->options[at + 1], &tables->options[at],
            (tables->option_count - at) * sizeof(*option));
    tables->options[at] = *option;
    tables->options[at].value = NULL;
    tables->option_count++;
    tables->own_count += !is_shared;
}

void command_tables_add(struct command_tables *tables, const struct command *command,
                        const struct option_group *groups, size_t group_count)
{
    if (tables->command.name == NULL)
        tables->command = *command;
    else if (command->description != tables->command.description)
        tables->file_form = *command;
    for (size_t i = 0; i < group_count; i++)
        for (size_t j = 0; j < groups[i].count; j++)
            add_option(tables, &groups[i].options[j], groups[i].is_shared);
}

void command_tables_add_group(struct command_tables *tables, const struct command *group,
                              const struct command *const *commands, size_t count)
{
    tables->command = *group;
    tables->commands = commands;
    tables->command_count = count;
}

void command_tables_read(const struct command *command, struct command_tables *ret_tables)
{
    char file[] = "--file";
    struct command copy = *command;
    *ret_tables = (struct command_tables){0};
    copy.tables = ret_tables;
    (void)copy.run(&copy, 0, NULL);
    if (ret_tables->command_count == 0)
        (void)copy.run(&copy, 1, (char *[]){file});
}
