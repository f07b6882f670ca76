/* A command with subcommands: `bloomblock filter create`, `bloomblock index list`. */
#ifndef BB_TOOLS_COMMAND_COMMAND_GROUP_H
#define BB_TOOLS_COMMAND_COMMAND_GROUP_H

#include "tools/command/command.h"

/* Runs the command that argv[0] names, or prints the help of the group. The name of each command is
 * the name of the group, a blank, and the word in argv[0]. */
enum exit_code command_group_run(const struct command *group, const struct command *const *commands,
                                 size_t count, int argc, char **argv);

#endif
