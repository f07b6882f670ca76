/* One subcommand of `bloomblock`.
 *
 * Names of the tool have no prefix; names that start with bb_ belong to the library. The tool uses
 * the library through include/bb. The commands that read single tables (`dump`, `filters`) also use
 * the few inner headers that tools/checks/check_layers.py lists. */
#ifndef BB_TOOLS_COMMAND_COMMAND_H
#define BB_TOOLS_COMMAND_COMMAND_H

#include "tools/command/exit_code.h"

struct command_tables;
struct output;

struct command {
    const char *name;        /* NULL: the tool itself, for messages that belong to no subcommand */
    const char *summary;     /* half a line for the list of commands */
    const char *arguments;   /* as in the usage line: "DIR KEY..." */
    const char *description; /* purpose, output, examples; complete lines */
    size_t argument_count_min;
    size_t argument_count_max;
    enum exit_code (*run)(const struct command *command, int argc, char **argv);
    /* NULL: a user runs the command. Otherwise run only fills in these. */
    struct command_tables *tables;
};

#define ARGUMENT_COUNT_ANY SIZE_MAX

extern const struct command command_load;
extern const struct command command_get;
extern const struct command command_scan;
extern const struct command command_explain;
extern const struct command command_delete;
extern const struct command command_select;
extern const struct command command_attribute;
extern const struct command command_index;
extern const struct command command_compact;
extern const struct command command_destroy;
extern const struct command command_checkpoint;
extern const struct command command_ingest;
extern const struct command command_stat;
extern const struct command command_dump;
extern const struct command command_filters;
extern const struct command command_filter;
extern const struct command command_verify;
extern const struct command command_repair;
extern const struct command command_measure;
extern const struct command command_export;
extern const struct command command_import;
extern const struct command command_cluster;

/* Prints the error to stderr: "bloomblock NAME: MESSAGE", control bytes escaped. Returns the exit
 * code. status: of the thread's latest failure (bb_error_last). */
enum exit_code command_fail(const struct command *command, enum bb_status status);

/* Ends the output, and returns the exit code: code, or EXIT_IO if writing failed for another reason
 * than a closed pipe, and code reports neither a failure nor a loss of data. */
enum exit_code command_finish(const struct command *command, struct output *out,
                              enum exit_code code);

/* Prints to stderr where to find help. */
void command_hint(const struct command *command);

/* Prints a warning to stderr: "bloomblock NAME: MESSAGE". */
void command_warn(const struct command *command, const char *message);
/* Prints a note to stderr: "bloomblock NAME: note: MESSAGE". */
void command_note(const struct command *command, const char *message);

#endif
