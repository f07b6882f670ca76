/* See reference.h. */
#include "tools/reference/reference.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "tools/command/command_list.h"
#include "tools/reference/completion.h"
#include "tools/reference/manual_page.h"

static const struct command reference = {.name = "reference"};

static const char usage[] = "usage: bloomblock reference names | man [PAGE] | bash | zsh | fish\n";

static enum exit_code fail_usage(void)
{
    fputs(usage, stderr);
    return EXIT_USAGE;
}

static enum exit_code print_help(void)
{
    struct output out = {0};
    output_print(
        &out,
        "%s\nPrints what an installation has: the names of the commands, manual pages, and "
        "the\ncompletions of shells.\n",
        usage);
    return command_finish(&reference, &out, EXIT_FOUND);
}

static void write_names(struct output *out)
{
    struct command_tables tables;
    for (size_t i = 0; command_list[i] != NULL; i++) {
        command_tables_read(command_list[i], &tables);
        output_print(out, "%s\n", command_list[i]->name);
        for (size_t j = 0; j < tables.command_count; j++)
            output_print(out, "%s\n", tables.commands[j]->name);
    }
}

/* name: with the name of its group. */
static bool find_tables(const char *name, struct command_tables *ret_tables)
{
    struct command_tables group;
    for (size_t i = 0; command_list[i] != NULL; i++) {
        command_tables_read(command_list[i], &group);
        if (strcmp(command_list[i]->name, name) == 0) {
            *ret_tables = group;
            return true;
        }
        for (size_t j = 0; j < group.command_count; j++) {
            if (strcmp(group.commands[j]->name, name) != 0)
                continue;
            command_tables_read(group.commands[j], ret_tables);
            return true;
        }
    }
    return false;
}

static enum exit_code write_page(struct output *out, const char *name)
{
    struct command_tables tables;
    if (name == NULL)
        manual_page_write_tool(out);
    else if (find_tables(name, &tables))
        manual_page_write(&tables, out);
    else
        return command_fail(&reference, bb_fail(BB_INVALID, "there is no page \"%.100s\"", name));
    return EXIT_FOUND;
}

enum exit_code reference_run(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(struct output *out);
    } forms[] = {{"names", write_names},
                 {"bash", completion_write_bash},
                 {"zsh", completion_write_zsh},
                 {"fish", completion_write_fish}};
    struct output out = {0};
    if (argc >= 1 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
        return print_help();
    if (argc >= 1 && argc <= 2 && strcmp(argv[0], "man") == 0) {
        enum exit_code code = write_page(&out, argc == 2 ? argv[1] : NULL);
        return command_finish(&reference, &out, code);
    }
    for (size_t i = 0; i < BB_ARRAY_LENGTH(forms) && argc == 1; i++) {
        if (strcmp(argv[0], forms[i].name) == 0) {
            forms[i].write(&out);
            return command_finish(&reference, &out, EXIT_FOUND);
        }
    }
    return fail_usage();
}
