/* The output of `bloomblock COMMAND --help`: usage, description with examples, options; 80 columns
 * wide. */
#ifndef BB_TOOLS_COMMAND_OPTIONS_HELP_H
#define BB_TOOLS_COMMAND_OPTIONS_HELP_H

#include "tools/command/options.h"

/* To standard output. Names `--help-options` for the groups that many commands share. */
enum exit_code options_help(const struct command *command, const struct option_group *groups,
                            size_t group_count);
/* `--help-options`: only these groups. */
enum exit_code options_help_shared(const struct command *command, const struct option_group *groups,
                                   size_t group_count);

#endif
