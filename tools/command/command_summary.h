/* A command's line in the list of commands. */
#ifndef BB_TOOLS_COMMAND_COMMAND_SUMMARY_H
#define BB_TOOLS_COMMAND_COMMAND_SUMMARY_H

#include "tools/output/paragraph.h"

/* Prints name and summary. column: where summaries begin. */
static inline void command_print_summary(struct output *out, const struct command *command,
                                         size_t column)
{
    output_print(out, "  %-*s", (int)column - 2, command->name);
    paragraph_print(out, command->summary, column, column);
}

#endif
