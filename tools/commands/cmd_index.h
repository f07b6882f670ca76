/* The commands of `bloomblock index`. */
#ifndef BB_TOOLS_COMMANDS_CMD_INDEX_H
#define BB_TOOLS_COMMANDS_CMD_INDEX_H

#include "tools/command/command.h"

extern const struct command command_index_create;
extern const struct command command_index_drop;
extern const struct command command_index_list;
extern const struct command command_index_materialize;
extern const struct command command_index_advise;
extern const struct command command_index_estimate;

/* `index create --file FILE`; the rest as of a command's run. */
enum exit_code index_file_run_create(const struct command *command, int argc, char **argv);
/* `index list --file FILE`, `index drop --file FILE`. */
enum exit_code index_file_run_list(const struct command *command, int argc, char **argv);
enum exit_code index_file_run_drop(const struct command *command, int argc, char **argv);

#endif
