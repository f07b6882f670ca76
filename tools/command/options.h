/* Options of a command line, from tables that serve both parsing and --help.
 *
 * Options are long: --name, --name VALUE or --name=VALUE, anywhere among the arguments. After "--"
 * all words are arguments; "-" is an argument (standard input). A name cannot be abbreviated, so a
 * new option never changes the meaning of an old script. An option with one value is refused if it
 * comes again.
 */
#ifndef BB_TOOLS_COMMAND_OPTIONS_H
#define BB_TOOLS_COMMAND_OPTIONS_H

#include "bb/filter.h"
#include "tools/command/command.h"

enum option_type {
    OPTION_FLAG,              /* bool */
    OPTION_TEXT,              /* const char *, borrowed from the command line */
    OPTION_TEXTS,             /* struct option_texts: may be given several times */
    OPTION_COUNT,             /* uint64_t */
    OPTION_COUNT32,           /* uint32_t */
    OPTION_SIZE,              /* uint64_t bytes; K, M, G multiply by 1024 */
    OPTION_SIZE32,            /* uint32_t bytes */
    OPTION_REAL,              /* double, above 0 */
    OPTION_FILTER_KIND,       /* enum bb_filter_kind, by name */
    OPTION_TABLE_FILTER_KIND, /* the same, of the kinds of tables */
    OPTION_GRANULARITY,       /* uint32_t blocks, or "page" */
};

#define OPTION_TEXTS_MAX 256

/* The values of an option that is given several times, borrowed from the command line. */
struct option_texts {
    const char *values[OPTION_TEXTS_MAX];
    size_t count;
};

struct option {
    const char *name;
    const char *argument; /* its name in the help; NULL for a flag */
    enum option_type type;
    void *value; /* of the type's C type; unchanged when the option is not given */
    const char *help;
};

struct option_group {
    const char *title; /* "Options" */
    const struct option *options;
    size_t count;
    bool is_shared; /* by many commands: `--help-options` shows it, `--help` does not */
};

/* The arguments that are not options. values: borrowed from argv, which the parser reorders. */
struct arguments {
    char **values;
    size_t count;
};

/* Parses argv[0 ... argc - 1], the arguments after the command's name. True: continue. False: end
 * with *ret_code; the help or the error is already printed. */
bool options_parse(const struct command *command, const struct option_group *groups,
                   size_t group_count, int argc, char **argv, struct arguments *ret_arguments,
                   enum exit_code *ret_code);

/* True when the option is among the arguments: for commands that have two forms. name: with its
 * dashes. */
bool options_have(int argc, char **argv, const char *name);

/* A number with an optional K, M, G (or KiB, MiB, GiB): BB_INVALID names the option. */
BB_MUST_CHECK enum bb_status option_size_decode(const char *name, const char *text,
                                                uint64_t *ret_bytes);

#endif
