/* The command `bloomblock`: finds the sub-command and hands over. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tools/command/command_list.h"
#include "tools/output/output.h"
#include "tools/command/command_summary.h"
#include "tools/reference/reference.h"
#include "tools/output/standard_files.h"
#include "tools/command/suggestion.h"

/* The tool as a command, for messages and output that belong to no subcommand. */
static const struct command tool = {.name = "help"};

static enum exit_code print_help(void)
{
    struct output out = {0};
    output_print(&out, "usage: bloomblock COMMAND [OPTION...] [ARGUMENT...]\n\n");
    paragraph_print_page(&out, command_list_description);
    output_print(&out, "\nCommands:\n");
    for (size_t i = 0; command_list[i] != NULL; i++)
        command_print_summary(&out, command_list[i], 13);
    output_print(&out, "\n");
    paragraph_print_page(&out,
                         "`bloomblock help COMMAND` explains one. Each takes --json, and so does "
                         "`bloomblock version`.\n");
    output_print(&out, "\nExit codes:\n%s", command_list_exit_codes);
    return command_finish(&tool, &out, EXIT_FOUND);
}

static void print_version_json(struct output *out)
{
    json_t *document = json_object();
    json_set_text(document, "version", bb_version());
    output_json(out, document);
}

/* argv: the words after the command's name. */
static enum exit_code print_version(int argc, char **argv)
{
    struct output out = {0};
    bool is_json = argc > 0 && strcmp(argv[0], "--json") == 0;
    if (argc > is_json) {
        fprintf(stderr, "bloomblock version: unexpected \"%.100s\"; it takes only --json\n",
                argv[is_json]);
        return EXIT_USAGE;
    }
    if (is_json)
        print_version_json(&out);
    else
        output_print(&out, "bloomblock %s\n", bb_version());
    return command_finish(&tool, &out, EXIT_FOUND);
}

static int fail_unknown(const char *name)
{
    struct suggestion suggestion;
    suggestion_init(&suggestion, name, strlen(name));
    for (size_t i = 0; command_list[i] != NULL; i++)
        suggestion_add(&suggestion, command_list[i]->name);
    fprintf(stderr, "bloomblock: there is no command or option \"%.100s\"%s\n", name,
            suggestion_text(&suggestion, ""));
    fprintf(stderr, "Try: bloomblock --help\n");
    return EXIT_USAGE;
}

/* argv: the words after the command's name. */
static int run(const char *name, int argc, char **argv)
{
    const struct command *command = command_list_find(name);
    return command == NULL ? fail_unknown(name) : (int)command->run(command, argc, argv);
}

/* `bloomblock help index create` is `bloomblock index create --help`. argv: the words after
 * help. */
static int run_help(int argc, char **argv)
{
    char option[] = "--help";
    char *words[] = {argc > 1 ? argv[1] : option, option};
    return run(argv[0], argc > 1 ? 2 : 1, words);
}

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

int main(int argc, char **argv)
{
    /* The reader of our output may leave (`| head`): writing then fails. output.c distinguishes
     * this failure, and the store is closed in good order. */
    signal(SIGPIPE, SIG_IGN);
    /* A limit on the size of files (`ulimit -f`) is an error of the write, too, and not our end. */
    signal(SIGXFSZ, SIG_IGN);
    if (!standard_files_occupy())
        return EXIT_IO;
    if (argc < 2) {
        fprintf(stderr,
                "usage: bloomblock COMMAND [OPTION...] [ARGUMENT...]\nTry: bloomblock --help\n");
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2)
        return run_help(argc - 2, argv + 2);
    if (is_one_of(argv[1], "--help", "-h", "help"))
        return (int)print_help();
    if (is_one_of(argv[1], "--version", "-V", "version"))
        return (int)print_version(argc - 2, argv + 2);
    if (strcmp(argv[1], "reference") == 0)
        return (int)reference_run(argc - 2, argv + 2);
    return run(argv[1], argc - 2, argv + 2);
}
