/* The output of `bloomblock COMMAND --help`: usage, description with examples, options. */
#ifndef BB_TOOLS_OPTIONS_HELP_H
#define BB_TOOLS_OPTIONS_HELP_H

#include "tools/options.h"

/* To standard output. */
enum exit_code options_help(const struct command *command, const struct option_group *groups,
                            size_t group_count);

#endif
