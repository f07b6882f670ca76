/* See syntax.h. A parser by recursive descent over a constant line. */
#include "redis/command/syntax.h"

#include <ctype.h>
#include <string.h>

#define LIST_MAX 16

struct list {
    struct RedisModuleCommandArg arguments[LIST_MAX];
    size_t count;
    bool is_choice;
};

static void skip_blanks(struct bb_redis_syntax *syntax)
{
    while (*syntax->at == ' ')
        syntax->at++;
}

static bool accept(struct bb_redis_syntax *syntax, const char *text)
{
    if (strncmp(syntax->at, text, strlen(text)) != 0)
        return false;
    syntax->at += strlen(text);
    return true;
}

static bool is_word_character(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_' || c == '-';
}

/* Copies the word into the text. NULL: no word, or no space. */
static char *copy_word(struct bb_redis_syntax *syntax)
{
    size_t size = 0;
    while (is_word_character(syntax->at[size]))
        size++;
    size_t space = (size_t)(syntax->text + sizeof(syntax->text) - syntax->text_end);
    if (size == 0 || size >= space)
        return NULL;
    char *word = memcpy(syntax->text_end, syntax->at, size);
    word[size] = '\0';
    syntax->text_end += size + 1;
    syntax->at += size;
    return word;
}

static char *copy_in_lower_case(struct bb_redis_syntax *syntax, const char *token)
{
    const char *at = syntax->at;
    syntax->at = token;
    char *copy = copy_word(syntax);
    syntax->at = at;
    for (char *c = copy; c != NULL && *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

static bool parse_type(struct bb_redis_syntax *syntax, struct RedisModuleCommandArg *argument)
{
    argument->type = REDISMODULE_ARG_TYPE_STRING;
    bool is_key = strcmp(argument->name, "key") == 0;
    if (accept(syntax, ":integer"))
        argument->type = REDISMODULE_ARG_TYPE_INTEGER;
    else if (accept(syntax, ":double"))
        argument->type = REDISMODULE_ARG_TYPE_DOUBLE;
    else if (accept(syntax, ":key"))
        is_key = true;
    if (is_key) {
        argument->type = REDISMODULE_ARG_TYPE_KEY;
        argument->key_spec_index = syntax->key_count++;
    }
    return *syntax->at != ':';
}

static void parse_repetition(struct bb_redis_syntax *syntax, struct RedisModuleCommandArg *argument)
{
    if (!accept(syntax, "..."))
        return;
    argument->flags |= REDISMODULE_CMD_ARG_MULTIPLE;
    syntax->is_open = true;
}

static bool parse_list(struct bb_redis_syntax *syntax, char end, bool is_optional,
                       struct list *list);

static bool parse_word(struct bb_redis_syntax *syntax, bool is_optional,
                       struct RedisModuleCommandArg *argument)
{
    char *word = copy_word(syntax);
    if (word == NULL)
        return false;
    if (!is_optional)
        syntax->required++;
    argument->name = word;
    if (!isupper((unsigned char)*word))
        return parse_type(syntax, argument);
    skip_blanks(syntax);
    if (islower((unsigned char)*syntax->at)) {
        bool is_parsed = parse_word(syntax, is_optional, argument);
        argument->token = word;
        return is_parsed;
    }
    argument->type = REDISMODULE_ARG_TYPE_PURE_TOKEN;
    argument->token = word;
    argument->name = copy_in_lower_case(syntax, word);
    return argument->name != NULL;
}

/* Moves the list into the pool, with its end. */
static struct RedisModuleCommandArg *keep(struct bb_redis_syntax *syntax, const struct list *list)
{
    if (BB_REDIS_SYNTAX_ARGUMENTS_MAX - syntax->count < list->count + 1)
        return NULL;
    struct RedisModuleCommandArg *kept = &syntax->arguments[syntax->count];
    memcpy(kept, list->arguments, list->count * sizeof(kept[0]));
    syntax->count += list->count + 1;
    return kept;
}

static bool parse_group(struct bb_redis_syntax *syntax, char end, bool is_optional,
                        struct RedisModuleCommandArg *argument)
{
    struct list list = {.count = 0};
    syntax->at++;
    if (!parse_list(syntax, end, is_optional || end == ']', &list) || list.count == 0)
        return false;
    if (list.count == 1) {
        *argument = list.arguments[0];
    } else {
        argument->name = list.arguments[0].name;
        argument->type = list.is_choice ? REDISMODULE_ARG_TYPE_ONEOF : REDISMODULE_ARG_TYPE_BLOCK;
        argument->subargs = keep(syntax, &list);
        if (argument->subargs == NULL)
            return false;
    }
    if (end == ']') {
        argument->flags |= REDISMODULE_CMD_ARG_OPTIONAL;
        syntax->is_open = true;
    }
    return true;
}

static bool parse_item(struct bb_redis_syntax *syntax, bool is_optional,
                       struct RedisModuleCommandArg *argument)
{
    bool is_parsed = false;
    *argument = (struct RedisModuleCommandArg){.key_spec_index = -1};
    if (*syntax->at == '[' || *syntax->at == '(')
        is_parsed = parse_group(syntax, *syntax->at == '[' ? ']' : ')', is_optional, argument);
    else
        is_parsed = parse_word(syntax, is_optional, argument);
    parse_repetition(syntax, argument);
    return is_parsed;
}

static bool parse_list(struct bb_redis_syntax *syntax, char end, bool is_optional,
                       struct list *list)
{
    for (skip_blanks(syntax); *syntax->at != end; skip_blanks(syntax)) {
        if (list->count == LIST_MAX || *syntax->at == '\0')
            return false;
        if (!parse_item(syntax, is_optional, &list->arguments[list->count++]))
            return false;
        skip_blanks(syntax);
        list->is_choice |= accept(syntax, "|");
    }
    if (end != '\0')
        syntax->at++;
    return true;
}

struct RedisModuleCommandArg *bb_redis_syntax_parse(struct bb_redis_syntax *syntax,
                                                    const char *line)
{
    memset(syntax, 0, sizeof(*syntax));
    syntax->at = line;
    syntax->text_end = syntax->text;
    struct list list = {.count = 0};
    return parse_list(syntax, '\0', false, &list) ? keep(syntax, &list) : NULL;
}

int bb_redis_syntax_arity(const struct bb_redis_syntax *syntax)
{
    int words = syntax->required + 1;
    return syntax->is_open ? -words : words;
}
