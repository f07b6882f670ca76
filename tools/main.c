/* The command `bloomblock`: finds the sub-command and hands over. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "tools/command.h"
#include "tools/output.h"
#include "tools/command_summary.h"
#include "tools/standard_files.h"
#include "tools/suggestion.h"

#ifndef BB_VERSION
#define BB_VERSION "unknown"
#endif

static const struct command *const commands[] = {
    /* keys and values */
    &command_load,
    &command_get,
    &command_scan,
    &command_delete,
    /* records by their values */
    &command_select,
    &command_attribute,
    &command_index,
    /* the state of the internals */
    &command_stat,
    &command_explain,
    &command_measure,
    &command_filters,
    &command_dump,
    /* the store as a whole */
    &command_compact,
    &command_checkpoint,
    &command_verify,
    &command_repair,
    &command_destroy,
    /* to and from elsewhere */
    &command_import,
    &command_export,
    &command_ingest,
    /* without a store */
    &command_filter,
};

static const char description[] =
    "bloomblock keeps keys and values in sorted tables on disk. Every block of a "
    "table has a small filter that is probed before the block is read, so that an "
    "absent key costs almost no reads.\n"
    "\n"
    "Getting started:\n"
    "  bloomblock load /tmp/words /usr/share/dict/words   # a key per line\n"
    "  bloomblock get /tmp/words zebra                    # 0: present; 1: absent\n"
    "  bloomblock scan /tmp/words --prefix zeb            # keys in order\n"
    "  bloomblock stat /tmp/words                         # levels, tables, filters\n"
    "  bloomblock measure /tmp/words --keys FILE          # counts the avoided reads\n"
    "  bloomblock verify /tmp/words                       # checks every byte\n"
    "\n"
    "Values can be searched by conditions; indexes avoid reading most blocks:\n"
    "  bloomblock load /tmp/access --lines access.log --format clf\n"
    "  bloomblock index create /tmp/access 'tokens(agent)'\n"
    "  bloomblock index materialize /tmp/access\n"
    "  bloomblock select /tmp/access --where \"has_token(agent, 'sqlmap')\"\n"
    "\n"
    "Filters work without a store, too: bloomblock help filter\n";

static const char exit_codes[] =
    "Exit codes:\n"
    "  0  done; the key was found\n"
    "  1  get, explain, filter check: a key is absent; select: no record matches\n"
    "  2  usage: an option, argument, key or value is not acceptable\n"
    "  3  input or output: a system error, no such store, in use, disk full\n"
    "  4  corrupt: bytes of a file are not valid\n"
    "  5  unsupported: written by a newer version; import: an unsupported form\n"
    "  6  measure: the accounting of reads does not add up\n"
    "  7  filter create, add, union: done, but more keys than planned\n"
    "  8  done, but opening the store dropped or repaired synced data\n"
    "130  Ctrl-C; the result is correct but incomplete\n";

/* The tool as a command, for messages and output that belong to no subcommand. */
static const struct command tool = {.name = "help"};

static enum exit_code print_help(void)
{
    struct output out = {0};
    output_print(&out, "usage: bloomblock COMMAND [OPTION...] [ARGUMENT...]\n\n");
    paragraph_print_page(&out, description);
    output_print(&out, "\nCommands:\n");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(commands); i++)
        command_print_summary(&out, commands[i], 13);
    output_print(&out, "\n");
    paragraph_print_page(&out,
                         "`bloomblock help COMMAND` explains one. Every command takes --json.\n");
    output_print(&out, "\n%s", exit_codes);
    return output_finish(&out, &tool, EXIT_FOUND);
}

static enum exit_code print_version(void)
{
    struct output out = {0};
    output_print(&out, "bloomblock %s\n", BB_VERSION);
    return output_finish(&out, &tool, EXIT_FOUND);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(commands); i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static int fail_unknown(const char *name)
{
    struct suggestion suggestion;
    suggestion_init(&suggestion, name, strlen(name));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(commands); i++)
        suggestion_add(&suggestion, commands[i]->name);
    fprintf(stderr, "bloomblock: there is no command or option \"%.100s\"%s\n", name,
            suggestion_text(&suggestion, ""));
    fprintf(stderr, "Try: bloomblock --help\n");
    return EXIT_USAGE;
}

/* argv: the words after the command's name. */
static int run(const char *name, int argc, char **argv)
{
    const struct command *command = find_command(name);
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
        return (int)print_version();
    return run(argv[1], argc - 2, argv + 2);
}
