/* Completions for shells: commands, options, and the values of options that have a list. Each
 * writer prints a complete script. */
#ifndef BB_TOOLS_REFERENCE_COMPLETION_H
#define BB_TOOLS_REFERENCE_COMPLETION_H

#include "tools/command/command_tables.h"
#include "tools/output/output.h"

void completion_write_bash(struct output *out);
void completion_write_zsh(struct output *out);
void completion_write_fish(struct output *out);

/* The value of an option. */
enum completion_value {
    COMPLETION_NOTHING, /* the option takes no value */
    COMPLETION_ANY,     /* such as a number */
    COMPLETION_FILE,
    COMPLETION_CHOICE, /* one of a list of words */
};

enum completion_value completion_value_of(const struct option *option);

/* The words of a choice, with a blank between. */
void completion_write_choices(const struct option *option, struct output *out);

/* Calls write for each command that has options; the subcommands of a group come instead of it. */
void completion_visit(void (*write)(const struct command_tables *tables, struct output *out),
                      struct output *out);

/* Text within single quotes. quote: how the shell writes a quote there. also_escaped: characters
 * that get a backslash. */
void completion_write_quoted(const char *text, const char *quote, const char *also_escaped,
                             struct output *out);

#endif
