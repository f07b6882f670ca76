/* The subcommands of `bloomblock cluster`, each in a separate file. They are built only with
 * hiredis. */
#ifndef BB_TOOLS_COMMANDS_CMD_CLUSTER_H
#define BB_TOOLS_COMMANDS_CMD_CLUSTER_H

#include "tools/command/command.h"

extern const struct command command_cluster_load;
extern const struct command command_cluster_get;
extern const struct command command_cluster_scan;
extern const struct command command_cluster_stat;

#endif
