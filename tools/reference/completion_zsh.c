/* See completion.h. */
#include <string.h>

#include "tools/command/command_list.h"
#include "tools/reference/completion.h"

#define QUOTE "'\\''"

/* 'name:summary' */
static void write_name(const char *name, const char *summary, struct output *out)
{
    output_print(out, " '%s:", name);
    completion_write_quoted(summary, QUOTE, "", out);
    output_print(out, "'");
}

static void write_value(const struct option *option, struct output *out)
{
    output_print(out, ":");
    completion_write_quoted(option->argument, QUOTE, "", out);
    switch (completion_value_of(option)) {
    case COMPLETION_FILE:
        output_print(out, ":_files");
        break;
    case COMPLETION_CHOICE:
        output_print(out, ":(");
        completion_write_choices(option, out);
        output_print(out, ")");
        break;
    default:
        output_print(out, ": ");
        break;
    }
}

static void write_option(const struct option *option, struct output *out)
{
    output_print(out, " \\\n            '%s--%s%s[", option->type == OPTION_TEXTS ? "*" : "",
                 option->name, option->argument != NULL ? "=" : "");
    completion_write_quoted(option->help, QUOTE, "[]\\", out);
    output_print(out, "]");
    if (option->argument != NULL)
        write_value(option, out);
    output_print(out, "'");
}

static void write_command(const struct command_tables *tables, struct output *out)
{
    bool is_of_group = strchr(tables->command.name, ' ') != NULL;
    output_print(out, "    '%s '*)\n        (( CURRENT -= %d ))\n        shift %d words\n",
                 tables->command.name, is_of_group ? 2 : 1, is_of_group ? 2 : 1);
    output_print(out, "        _arguments -S");
    for (size_t i = 0; i < tables->option_count; i++)
        write_option(&tables->options[i], out);
    output_print(out,
                 " \\\n            '--help[explain the command]' '*:file:_files'\n        ;;\n");
}

static void write_group(const struct command *group, struct output *out)
{
    struct command_tables tables;
    command_tables_read(group, &tables);
    if (tables.command_count == 0)
        return;
    output_print(out, "    %s)\n        commands=(", group->name);
    for (size_t i = 0; i < tables.command_count; i++)
        write_name(tables.commands[i]->name + strlen(group->name) + 1, tables.commands[i]->summary,
                   out);
    output_print(out, ")\n        ;;\n");
}

void completion_write_zsh(struct output *out)
{
    output_print(out,
                 "#compdef bloomblock\n"
                 "# zsh completion of bloomblock %s, written by `bloomblock reference zsh`.\n"
                 "_bloomblock() {\n"
                 "    local -a commands\n"
                 "    case ${(j: :)words[2,CURRENT-1]} in\n"
                 "    '' | help)\n"
                 "        commands=(",
                 bb_version());
    for (size_t i = 0; command_list[i] != NULL; i++)
        write_name(command_list[i]->name, command_list[i]->summary, out);
    output_print(out, ")\n        ;;\n");
    for (size_t i = 0; command_list[i] != NULL; i++)
        write_group(command_list[i], out);
    output_print(out, "    esac\n"
                      "    if (( $#commands )); then\n"
                      "        _describe command commands\n"
                      "        return\n"
                      "    fi\n"
                      "    case \"${(j: :)words[2,CURRENT-1]} \" in\n");
    completion_visit(write_command, out);
    output_print(out, "    esac\n}\n"
                      "if [ \"$funcstack[1]\" = _bloomblock ]; then\n"
                      "    _bloomblock \"$@\"\n"
                      "else\n"
                      "    compdef _bloomblock bloomblock\n"
                      "fi\n");
}
