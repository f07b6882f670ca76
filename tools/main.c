/* The command `bloomblock`: finds the sub-command and hands over. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "tools/command.h"
#include "tools/output.h"
#include "tools/standard_files.h"

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
    "bloomblock keeps keys and values in sorted tables on disk. Every block of a table has a small "
    "filter\n"
    "that is probed before the block is read, so that an absent key costs almost no reads.\n"
    "\n"
    "Getting started:\n"
    "  bloomblock load /tmp/words /usr/share/dict/words   # a store from a list of words, a key "
    "per line\n"
    "  bloomblock get /tmp/words zebra                    # exit code 0: present; 1: absent\n"
    "  bloomblock scan /tmp/words --prefix zeb            # keys in order\n"
    "  bloomblock stat /tmp/words                         # levels, tables, filters\n"
    "  bloomblock measure /tmp/words --keys FILE          # count the reads that the filters "
    "avoid\n"
    "  bloomblock filters /tmp/words/000005.bbt           # the filters of one table, block by "
    "block\n"
    "  bloomblock verify /tmp/words                       # reads and checks every byte\n"
    "\n"
    "Values can be searched by conditions; indexes avoid reading most blocks:\n"
    "  bloomblock load /tmp/access --lines access.log --format clf --index 'tokens(agent)'\n"
    "  bloomblock select /tmp/access --where \"status = 404 and has_token(agent, 'sqlmap')\"\n"
    "\n"
    "Filters work without a store, too: bloomblock filter --help\n";

static const char exit_codes[] =
    "Exit codes:\n"
    "  0  done; the key was found\n"
    "  1  get, explain, filter check: a key is absent; select: no record matches\n"
    "  2  usage: an option, argument, key or value is not acceptable\n"
    "  3  input or output: a system error, no such store, in use, disk full\n"
    "  4  corrupt: bytes of a file are not valid\n"
    "  5  unsupported: written by a newer version; import: an unsupported form\n"
    "  6  measure: the accounting of reads does not add up\n"
    "  7  filter create, add, union: done, but the filter holds more keys than planned\n"
    "  8  done, but opening the store dropped or repaired synced data\n"
    "130  select, index: Ctrl-C; the output is correct but incomplete\n";

/* The tool as a command, for messages and output that belong to no subcommand. */
static const struct command tool = {.name = "help"};

static enum exit_code print_help(void)
{
    struct output out = {0};
    output_print(&out, "usage: bloomblock COMMAND [OPTION...] [ARGUMENT...]\n\n%s\nCommands:\n",
                 description);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(commands); i++)
        output_print(&out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    output_print(&out,
                 "\n`bloomblock COMMAND --help` explains one. Every command takes --json.\n\n%s",
                 exit_codes);
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
    if (is_one_of(argv[1], "--help", "-h", "help"))
        return (int)print_help();
    if (is_one_of(argv[1], "--version", "-V", "version"))
        return (int)print_version();
    const struct command *command = find_command(argv[1]);
    if (command == NULL) {
        fprintf(stderr,
                "bloomblock: there is no command or option \"%.100s\"\nTry: bloomblock --help\n",
                argv[1]);
        return EXIT_USAGE;
    }
    return (int)command->run(command, argc - 2, argv + 2);
}
