/* See options.h. */
#include "tools/command/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "bb/table.h"
#include "tools/command/command_tables.h"
#include "tools/command/options_help.h"
#include "tools/command/suggestion.h"

/* More than any command has. */
#define OPTIONS_GIVEN_MAX 128

enum help { HELP_NONE, HELP_OWN, HELP_SHARED };

struct parser {
    const struct command *command;
    const struct option_group *groups;
    size_t group_count;
    int argc;
    char **argv;
    int next;
    enum help help;
    const struct option *given[OPTIONS_GIVEN_MAX]; /* with a single value */
    size_t given_count;
};

static enum bb_status decode_number(const char *name, const char *text, uint64_t *ret_number,
                                    const char **ret_rest)
{
    char *rest = NULL;
    errno = 0;
    /* strtoull takes signs and blanks, and turns -1 into a huge number. */
    unsigned long long number = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &rest, 10) : 0;
    if (rest == NULL)
        return bb_fail(BB_INVALID, "option --%s: \"%s\" is not a number", name, text);
    if (errno != 0)
        return bb_fail(BB_INVALID, "option --%s: \"%s\" is too large", name, text);
    *ret_number = number;
    *ret_rest = rest;
    return BB_OK;
}

static bool unit_shift(const char *unit, unsigned *ret_shift)
{
    static const struct {
        const char *names[3];
        unsigned shift;
    } units[] = {{{"", "B", "b"}, 0},
                 {{"K", "k", "KiB"}, 10},
                 {{"M", "m", "MiB"}, 20},
                 {{"G", "g", "GiB"}, 30}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        for (size_t j = 0; j < 3; j++) {
            if (strcmp(unit, units[i].names[j]) == 0) {
                *ret_shift = units[i].shift;
                return true;
            }
        }
    }
    return false;
}

enum bb_status option_size_decode(const char *name, const char *text, uint64_t *ret_bytes)
{
    uint64_t number = 0;
    const char *rest = NULL;
    enum bb_status status = decode_number(name, text, &number, &rest);
    if (status != BB_OK)
        return status;
    unsigned shift = 0;
    if (*rest == '.' || *rest == ',')
        return bb_fail(BB_INVALID,
                       "option --%s: \"%s\" is not a whole number; K, M and G may follow one", name,
                       text);
    if (!unit_shift(rest, &shift))
        return bb_fail(BB_INVALID, "option --%s: \"%s\" has an unknown unit; K, M and G are known",
                       name, text);
    if (number > UINT64_MAX >> shift)
        return bb_fail(BB_INVALID, "option --%s: \"%s\" is too large", name, text);
    *ret_bytes = number << shift;
    return BB_OK;
}

static enum bb_status decode_count(const char *name, const char *text, uint64_t *ret_count)
{
    const char *rest = NULL;
    uint64_t number = 0;
    enum bb_status status = decode_number(name, text, &number, &rest);
    if (status == BB_OK && *rest != '\0')
        return bb_fail(BB_INVALID, "option --%s: \"%s\" is not a whole number", name, text);
    if (status == BB_OK)
        *ret_count = number;
    return status;
}

static enum bb_status narrow(const char *name, const char *text, uint64_t wide, uint32_t *value)
{
    if (wide > UINT32_MAX)
        return bb_fail(BB_INVALID, "option --%s: \"%s\" is too large", name, text);
    *value = (uint32_t)wide;
    return BB_OK;
}

static enum bb_status decode_count32(const char *name, const char *text, uint32_t *value)
{
    uint64_t wide = 0;
    enum bb_status status = decode_count(name, text, &wide);
    return status == BB_OK ? narrow(name, text, wide, value) : status;
}

static enum bb_status decode_size32(const char *name, const char *text, uint32_t *value)
{
    uint64_t wide = 0;
    enum bb_status status = option_size_decode(name, text, &wide);
    return status == BB_OK ? narrow(name, text, wide, value) : status;
}

static enum bb_status decode_real(const char *name, const char *text, double *value)
{
    char *rest = NULL;
    double number = strtod(text, &rest);
    if (rest == text || *rest != '\0' || !isfinite(number) || number <= 0)
        return bb_fail(BB_INVALID, "option --%s: \"%s\" is not a number above 0", name, text);
    *value = number;
    return BB_OK;
}

static enum bb_status decode_granularity(const char *name, const char *text, uint32_t *value)
{
    if (strcmp(text, "page") == 0) {
        *value = BB_GRANULARITY_PAGE;
        return BB_OK;
    }
    return decode_count32(name, text, value);
}

static enum bb_status decode_filter_kind(const char *name, const char *text, uint32_t kinds,
                                         enum bb_filter_kind *value)
{
    enum bb_status status = bb_filter_kind_find(text, kinds, value);
    return status == BB_OK ? BB_OK : bb_fail_context(status, "option --%s", name);
}

static enum bb_status add_text(const char *name, const char *text, struct option_texts *texts)
{
    if (texts->count == OPTION_TEXTS_MAX)
        return bb_fail(BB_INVALID, "option --%s is given more than %d times", name,
                       OPTION_TEXTS_MAX);
    texts->values[texts->count++] = text;
    return BB_OK;
}

static enum bb_status decode_value(const struct option *option, const char *text)
{
    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)option->value = true;
        return BB_OK;
    case OPTION_TEXT:
        *(const char **)option->value = text;
        return BB_OK;
    case OPTION_TEXTS:
        return add_text(option->name, text, option->value);
    case OPTION_COUNT:
        return decode_count(option->name, text, option->value);
    case OPTION_COUNT32:
        return decode_count32(option->name, text, option->value);
    case OPTION_SIZE:
        return option_size_decode(option->name, text, option->value);
    case OPTION_SIZE32:
        return decode_size32(option->name, text, option->value);
    case OPTION_REAL:
        return decode_real(option->name, text, option->value);
    case OPTION_FILTER_KIND:
        return decode_filter_kind(option->name, text, BB_FILTER_KINDS_OF_SETS, option->value);
    case OPTION_TABLE_FILTER_KIND:
        return decode_filter_kind(option->name, text, BB_FILTER_KINDS_OF_TABLES, option->value);
    case OPTION_GRANULARITY:
        return decode_granularity(option->name, text, option->value);
    }
    return bb_fail(BB_INVALID, "option --%s", option->name);
}

/* A second value would silently replace the first one. A flag that is given again says the same. */
static enum bb_status note_given(struct parser *parser, const struct option *option)
{
    if (option->type == OPTION_FLAG || option->type == OPTION_TEXTS)
        return BB_OK;
    for (size_t i = 0; i < parser->given_count; i++)
        if (parser->given[i] == option)
            return bb_fail(BB_INVALID, "option --%s is given twice, it takes one value",
                           option->name);
    BB_ASSERT(parser->given_count < OPTIONS_GIVEN_MAX);
    parser->given[parser->given_count++] = option;
    return BB_OK;
}

static const struct option *find_option(const struct parser *parser, const char *name,
                                        size_t name_size)
{
    for (size_t i = 0; i < parser->group_count; i++) {
        const struct option_group *group = &parser->groups[i];
        for (size_t j = 0; j < group->count; j++) {
            const char *known = group->options[j].name;
            if (strlen(known) == name_size && memcmp(known, name, name_size) == 0)
                return &group->options[j];
        }
    }
    return NULL;
}

static enum bb_status fail_unknown(const struct parser *parser, const char *name, size_t name_size)
{
    struct suggestion suggestion;
    suggestion_init(&suggestion, name, name_size);
    for (size_t i = 0; i < parser->group_count; i++)
        for (size_t j = 0; j < parser->groups[i].count; j++)
            suggestion_add(&suggestion, parser->groups[i].options[j].name);
    return bb_fail(BB_INVALID, "unknown option --%.*s%s", (int)name_size, name,
                   suggestion_text(&suggestion, "--"));
}

/* text: the argument after "--"; its value follows "=", or is the next argument. */
static enum bb_status parse_option(struct parser *parser, const char *text)
{
    size_t name_size = strcspn(text, "=");
    bool has_value = text[name_size] == '=';
    const struct option *option = find_option(parser, text, name_size);
    if (option == NULL)
        return fail_unknown(parser, text, name_size);
    enum bb_status status = note_given(parser, option);
    if (status != BB_OK)
        return status;
    if (option->type == OPTION_FLAG)
        return has_value ? bb_fail(BB_INVALID, "option --%s takes no value", option->name)
                         : decode_value(option, NULL);
    if (has_value)
        return decode_value(option, text + name_size + 1);
    if (parser->next >= parser->argc)
        return bb_fail(BB_INVALID, "option --%s needs a value: %s", option->name, option->argument);
    return decode_value(option, parser->argv[parser->next++]);
}

/* Records a request for help; true when there is one. */
static bool note_help(struct parser *parser, const char *argument)
{
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
        parser->help = HELP_OWN;
    else if (strcmp(argument, "--help-options") == 0)
        parser->help = HELP_SHARED;
    return parser->help != HELP_NONE;
}

/* Moves the arguments that are no options to the front of argv. */
static enum bb_status parse_all(struct parser *parser, struct arguments *arguments)
{
    bool are_options_over = false;
    enum bb_status status = BB_OK;
    while (parser->next < parser->argc && status == BB_OK) {
        char *argument = parser->argv[parser->next++];
        bool is_plain = are_options_over || argument[0] != '-' || argument[1] == '\0';
        if (is_plain)
            arguments->values[arguments->count++] = argument;
        else if (strcmp(argument, "--") == 0)
            are_options_over = true;
        else if (note_help(parser, argument))
            break;
        else if (argument[1] == '-')
            status = parse_option(parser, argument + 2);
        else
            status = bb_fail(
                BB_INVALID,
                "unknown option %s (options are long; \"--\" before a key that begins with -)",
                argument);
    }
    return status;
}

static enum bb_status check_count(const struct command *command, const struct arguments *arguments)
{
    if (arguments->count < command->argument_count_min)
        return bb_fail(BB_INVALID, "arguments are missing: %s", command->arguments);
    if (arguments->count > command->argument_count_max)
        return bb_fail(BB_INVALID, "unexpected argument \"%s\"; expected are: %s",
                       arguments->values[command->argument_count_max], command->arguments);
    return BB_OK;
}

bool options_parse(const struct command *command, const struct option_group *groups,
                   size_t group_count, int argc, char **argv, struct arguments *ret_arguments,
                   enum exit_code *ret_code)
{
    if (command->tables != NULL) {
        command_tables_add(command->tables, command, groups, group_count);
        *ret_code = EXIT_FOUND;
        return false;
    }
    struct parser parser = {.command = command,
                            .groups = groups,
                            .group_count = group_count,
                            .argc = argc,
                            .argv = argv};
    struct arguments arguments = {.values = argv};
    enum bb_status status = parse_all(&parser, &arguments);
    if (parser.help != HELP_NONE) {
        *ret_code = parser.help == HELP_OWN ? options_help(command, groups, group_count)
                                            : options_help_shared(command, groups, group_count);
        return false;
    }
    if (status == BB_OK)
        status = check_count(command, &arguments);
    if (status != BB_OK) {
        *ret_code = command_fail(command, status);
        command_hint(command);
        return false;
    }
    *ret_arguments = arguments;
    return true;
}

bool options_have(int argc, char **argv, const char *name)
{
    size_t size = strlen(name);
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], name, size) == 0 && (argv[i][size] == '\0' || argv[i][size] == '='))
            return true;
    return false;
}
