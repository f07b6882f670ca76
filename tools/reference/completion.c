/* See completion.h. */
#include "tools/reference/completion.h"

#include <string.h>

#include "tools/command/command_list.h"

enum completion_value completion_value_of(const struct option *option)
{
    if (option->argument == NULL)
        return COMPLETION_NOTHING;
    if (option->type == OPTION_FILTER_KIND || strchr(option->argument, '|') != NULL)
        return COMPLETION_CHOICE;
    if (strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "FILTER") == 0)
        return COMPLETION_FILE;
    return COMPLETION_ANY;
}

static void write_filter_kinds(struct output *out)
{
    /* Count-min sketches come from no command. */
    for (int kind = BB_FILTER_NONE; kind < BB_FILTER_COUNT_MIN; kind++)
        output_print(out, "%s%s", kind == BB_FILTER_NONE ? "" : " ",
                     bb_filter_kind_name((enum bb_filter_kind)kind));
}

void completion_write_choices(const struct option *option, struct output *out)
{
    if (strchr(option->argument, '|') == NULL) {
        write_filter_kinds(out);
        return;
    }
    for (const char *at = option->argument; *at != '\0'; at++)
        output_print(out, "%c", *at == '|' ? ' ' : *at);
}

void completion_visit(void (*write)(const struct command_tables *tables, struct output *out),
                      struct output *out)
{
    struct command_tables tables;
    for (size_t i = 0; command_list[i] != NULL; i++) {
        command_tables_read(command_list[i], &tables);
        const struct command *const *commands = tables.commands;
        size_t count = tables.command_count;
        if (count == 0)
            write(&tables, out);
        for (size_t j = 0; j < count; j++) {
            command_tables_read(commands[j], &tables);
            write(&tables, out);
        }
    }
}

void completion_write_quoted(const char *text, const char *quote, const char *also_escaped,
                             struct output *out)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\'')
            output_print(out, "%s", quote);
        else
            output_print(out, "%s%c", strchr(also_escaped, *at) != NULL ? "\\" : "", *at);
    }
}
