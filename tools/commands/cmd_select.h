/* bloomblock select: its form for files of lines. */
#ifndef BB_TOOLS_COMMANDS_CMD_SELECT_H
#define BB_TOOLS_COMMANDS_CMD_SELECT_H

#include "tools/command/command.h"

/* `select --file FILE`; the rest as of a command's run. */
enum exit_code select_file_run(const struct command *command, int argc, char **argv);

#endif
