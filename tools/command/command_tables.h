/* The contents of a command's help, for other forms of it: manual pages and completions
 * (tools/reference). */
#ifndef BB_TOOLS_COMMAND_COMMAND_TABLES_H
#define BB_TOOLS_COMMAND_COMMAND_TABLES_H

#include "tools/command/options.h"

#define COMMAND_OPTION_COUNT_MAX 80

struct command_tables {
    struct command command;
    struct command file_form; /* `select --file FILE`; without one its name is NULL */
    /* Of a group; count is 0 for others. */
    const struct command *const *commands;
    size_t command_count;
    /* Of both forms: first the command's own options, then the options that many commands share.
     * Their values are NULL. */
    struct option options[COMMAND_OPTION_COUNT_MAX];
    size_t own_count;
    size_t option_count;
};

/* Fills in *ret_tables, which must stay where it is during the call. */
void command_tables_read(const struct command *command, struct command_tables *ret_tables);

/* For the parser of options and for groups, while command->tables is set. */
void command_tables_add(struct command_tables *tables, const struct command *command,
                        const struct option_group *groups, size_t group_count);
void command_tables_add_group(struct command_tables *tables, const struct command *group,
                              const struct command *const *commands, size_t count);

#endif
