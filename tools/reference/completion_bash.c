/* See completion.h. The words before the cursor select the options that are offered. */
#include <string.h>

#include "tools/command/command_list.h"
#include "tools/reference/completion.h"

static const char head[] = "_bloomblock()\n"
                           "{\n"
                           "    local IFS=$' \\t\\n' word=${COMP_WORDS[COMP_CWORD]} "
                           "previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                           "    local words= values=\n"
                           "    COMPREPLY=()\n"
                           "    # --option=value are three words.\n"
                           "    if [ \"$word\" = = ]; then\n"
                           "        word=\n"
                           "    elif [ \"$previous\" = = ]; then\n"
                           "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
                           "    fi\n"
                           "    case \"${COMP_WORDS[*]:1:COMP_CWORD-1} \" in\n";

static const char tail[] = "    esac\n"
                           "    if [ -n \"$values\" ]; then\n"
                           "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
                           "    elif [[ $word == -* ]]; then\n"
                           "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                           "    fi\n"
                           "}\n"
                           "complete -o default -F _bloomblock bloomblock\n";

/* The patterns "--a | --b" of the options with such a value; false without any. */
static bool write_patterns(const struct command_tables *tables, enum completion_value value,
                           struct output *out)
{
    bool is_any = false;
    for (size_t i = 0; i < tables->option_count; i++) {
        if (completion_value_of(&tables->options[i]) != value)
            continue;
        output_print(out, "%s--%s", is_any ? " | " : "        ", tables->options[i].name);
        is_any = true;
    }
    return is_any;
}

static void write_choice(const struct option *option, struct output *out)
{
    output_print(out, "        --%s) values=\"", option->name);
    completion_write_choices(option, out);
    output_print(out, "\" ;;\n");
}

static void write_command(const struct command_tables *tables, struct output *out)
{
    output_print(out, "    \"%s \"*)\n        words=\"", tables->command.name);
    for (size_t i = 0; i < tables->option_count; i++)
        output_print(out, "--%s ", tables->options[i].name);
    output_print(out, "--help --help-options\"\n        case $previous in\n");
    for (size_t i = 0; i < tables->option_count; i++)
        if (completion_value_of(&tables->options[i]) == COMPLETION_CHOICE)
            write_choice(&tables->options[i], out);
    if (write_patterns(tables, COMPLETION_FILE, out))
        output_print(out, ") return ;;\n");
    if (write_patterns(tables, COMPLETION_ANY, out))
        output_print(out, ") compopt +o default && return ;;\n");
    output_print(out, "        esac\n        ;;\n");
}

static void write_group(const struct command *group, struct output *out)
{
    struct command_tables tables;
    command_tables_read(group, &tables);
    if (tables.command_count == 0)
        return;
    output_print(out, "    \"%s \" | \"help %s \") values=\"", group->name, group->name);
    for (size_t i = 0; i < tables.command_count; i++)
        output_print(out, "%s%s", i == 0 ? "" : " ",
                     tables.commands[i]->name + strlen(group->name) + 1);
    output_print(out, "\" ;;\n");
}

void completion_write_bash(struct output *out)
{
    output_print(out,
                 "# bash completion of bloomblock %s, written by `bloomblock reference bash`.\n%s",
                 bb_version(), head);
    output_print(out, "    \" \") values=\"");
    for (size_t i = 0; command_list[i] != NULL; i++)
        output_print(out, "%s ", command_list[i]->name);
    output_print(out, "help --help --version\" ;;\n    \"help \") values=\"");
    for (size_t i = 0; command_list[i] != NULL; i++)
        output_print(out, "%s%s", i == 0 ? "" : " ", command_list[i]->name);
    output_print(out, "\" ;;\n");
    for (size_t i = 0; command_list[i] != NULL; i++)
        write_group(command_list[i], out);
    completion_visit(write_command, out);
    output_print(out, "%s", tail);
}
