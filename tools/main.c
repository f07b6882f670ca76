/* The command `bloomblock`: finds the sub-command and hands over. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "tools/command/command_list.h"
#include "tools/output/output.h"
#include "tools/command/command_summary.h"
#include "tools/reference/reference.h"
#include "tools/output/standard_files.h"
#include "tools/command/suggestion.h"

/* For messages and output that belong to no command of the list. */
static const struct command tool = {.name = NULL};
static const struct command help = {.name = "help"};
static const struct command version = {.name = "version"};

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
    return command_finish(&help, &out, EXIT_FOUND);
}

static void print_version_json(struct output *out)
{
    json_t *document = json_object();
    json_set_text(document, "version", bb_version());
    output_json(out, document);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static enum exit_code print_version_help(void)
{
    struct output out = {0};
    output_print(&out, "usage: bloomblock version [--json]\n\nPrints the version.\n");
    return command_finish(&version, &out, EXIT_FOUND);
}

/* argv: the words after the command's name. */
static enum exit_code print_version(int argc, char **argv)
{
    struct output out = {0};
    bool is_json = argc > 0 && strcmp(argv[0], "--json") == 0;
    if (argc > 0 && is_help(argv[0]))
        return print_version_help();
    if (argc > is_json) {
        enum bb_status status =
            bb_fail(BB_INVALID, "unexpected \"%.100s\"; it takes only --json", argv[is_json]);
        return command_fail(&version, status);
    }
    if (is_json)
        print_version_json(&out);
    else
        output_print(&out, "bloomblock %s\n", bb_version());
    return command_finish(&version, &out, EXIT_FOUND);
}

static enum exit_code fail_unknown(const char *name)
{
    struct suggestion suggestion;
    suggestion_init(&suggestion, name, strlen(name));
    for (size_t i = 0; command_list[i] != NULL; i++)
        suggestion_add(&suggestion, command_list[i]->name);
    enum bb_status status = bb_fail(BB_INVALID, "there is no command or option \"%.100s\"%s", name,
                                    suggestion_text(&suggestion, ""));
    enum exit_code code = command_fail(&tool, status);
    command_hint(&tool);
    return code;
}

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

/* `bloomblock help index create` is `bloomblock index create --help`. argv: the words after the
 * command's name. */
static enum exit_code run(const char *name, int argc, char **argv)
{
    char option[] = "--help";
    bool is_about_command = strcmp(name, "help") == 0 && argc > 0 && !is_help(argv[0]);
    if (is_about_command)
        return run(argv[0], argc > 1 ? 2 : 1, (char *[]){argc > 1 ? argv[1] : option, option});
    if (is_one_of(name, "--help", "-h", "help"))
        return print_help();
    if (is_one_of(name, "--version", "-V", "version"))
        return print_version(argc, argv);
    if (strcmp(name, "reference") == 0)
        return reference_run(argc, argv);
    const struct command *command = command_list_find(name);
    return command == NULL ? fail_unknown(name) : command->run(command, argc, argv);
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
    return (int)run(argv[1], argc - 2, argv + 2);
}
