/* See completion.h. */
#include <stdio.h>
#include <string.h>

#include "tools/command/command_list.h"
#include "tools/reference/completion.h"

static const char head[] =
    "function __bloomblock_in --description 'the command line begins with these words'\n"
    "    set -l words (commandline -opc)\n"
    "    set -l last (math 1 + (count $argv))\n"
    "    test (count $words) -ge $last; and test \"$words[2..$last]\" = \"$argv\"\n"
    "end\n"
    "function __bloomblock_after --description 'these words are all of it'\n"
    "    test (count (commandline -opc)) -eq (math 1 + (count $argv)); or return 1\n"
    "    test (count $argv) -eq 0; or __bloomblock_in $argv\n"
    "end\n";

static void write_text(const char *text, struct output *out)
{
    output_print(out, "'");
    completion_write_quoted(text, "\\'", "\\", out);
    output_print(out, "'");
}

/* A word after the words of where. */
static void write_word(const char *where, const char *word, const char *summary, struct output *out)
{
    output_print(out, "complete -c bloomblock -f -n '__bloomblock_after%s%s' -a %s -d ",
                 where[0] == '\0' ? "" : " ", where, word);
    write_text(summary, out);
    output_print(out, "\n");
}

static void write_option(const char *command, const struct option *option, struct output *out)
{
    output_print(out, "complete -c bloomblock -n '__bloomblock_in %s' -l %s", command,
                 option->name);
    switch (completion_value_of(option)) {
    case COMPLETION_NOTHING:
        break;
    case COMPLETION_ANY:
        output_print(out, " -x");
        break;
    case COMPLETION_FILE:
        output_print(out, " -r -F");
        break;
    case COMPLETION_CHOICE:
        output_print(out, " -x -a '");
        completion_write_choices(option, out);
        output_print(out, "'");
        break;
    }
    output_print(out, " -d ");
    write_text(option->help, out);
    output_print(out, "\n");
}

static void write_command(const struct command_tables *tables, struct output *out)
{
    for (size_t i = 0; i < tables->option_count; i++)
        write_option(tables->command.name, &tables->options[i], out);
}

static void write_group(const struct command *group, struct output *out)
{
    struct command_tables tables;
    char help[64];
    snprintf(help, sizeof(help), "help %s", group->name);
    command_tables_read(group, &tables);
    for (size_t i = 0; i < tables.command_count; i++) {
        const struct command *command = tables.commands[i];
        const char *word = command->name + strlen(group->name) + 1;
        write_word(group->name, word, command->summary, out);
        write_word(help, word, command->summary, out);
    }
}

void completion_write_fish(struct output *out)
{
    output_print(out,
                 "# fish completion of bloomblock %s, written by `bloomblock reference fish`.\n%s",
                 bb_version(), head);
    for (size_t i = 0; command_list[i] != NULL; i++) {
        write_word("", command_list[i]->name, command_list[i]->summary, out);
        write_word("help", command_list[i]->name, command_list[i]->summary, out);
        write_group(command_list[i], out);
    }
    completion_visit(write_command, out);
}
