/* All commands of the tool. */
#ifndef BB_TOOLS_COMMAND_COMMAND_LIST_H
#define BB_TOOLS_COMMAND_COMMAND_LIST_H

#include "tools/command/command.h"

/* In the order of the help; ends with NULL. */
extern const struct command *const command_list[];

/* NULL if there is no such command. */
const struct command *command_list_find(const char *name);

/* The sentences before the list of commands in `bloomblock --help`, and the list of exit codes
 * after it. */
extern const char command_list_description[];
extern const char command_list_exit_codes[];

#endif
