/* The sub-commands of `bloomblock filter`, each in a separate file. */
#ifndef BB_TOOLS_COMMANDS_CMD_FILTER_H
#define BB_TOOLS_COMMANDS_CMD_FILTER_H

#include "tools/command/command.h"

extern const struct command command_filter_create;
extern const struct command command_filter_add;
extern const struct command command_filter_remove;
extern const struct command command_filter_check;
extern const struct command command_filter_info;
extern const struct command command_filter_union;
extern const struct command command_filter_plan;
extern const struct command command_filter_top;

#endif
