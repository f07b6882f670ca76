/* See command.h. */
#include "tools/command/command.h"

#include <stdio.h>
#include <string.h>

#include "tools/output/escape.h"
#include "tools/output/output.h"

static void say(const struct command *command, const char *prefix, const char *message)
{
    struct bb_bytes text = {.data = (const uint8_t *)message, .size = strlen(message)};
    struct bb_buf line = {0};
    const char *name = command->name == NULL ? "" : command->name;
    const char *blank = command->name == NULL ? "" : " ";
    /* A message quotes paths and keys, which may contain control characters. It is written in one
     * call, because other threads may write too. */
    if (escape_append(&line, text, ESCAPE_KEEP_BACKSLASH) == BB_OK)
        fprintf(stderr, "bloomblock%s%s: %s%.*s\n", blank, name, prefix, (int)line.size,
                (const char *)line.data);
    else
        fprintf(stderr, "bloomblock%s%s: %sout of memory\n", blank, name, prefix);
    bb_buf_deinit(&line);
}

void command_warn(const struct command *command, const char *message)
{
    say(command, "", message);
}

void command_note(const struct command *command, const char *message)
{
    say(command, "note: ", message);
}

enum exit_code command_finish(const struct command *command, struct output *out,
                              enum exit_code code)
{
    enum bb_status status = output_end(out);
    if (status == BB_OK)
        return code;
    enum exit_code failure = command_fail(command, status);
    bool is_done = code == EXIT_FOUND || code == EXIT_ABSENT || code == EXIT_ABOVE_TARGET;
    return is_done ? failure : code;
}

void command_hint(const struct command *command)
{
    if (command->name == NULL)
        fprintf(stderr, "Try: bloomblock --help\n");
    else
        fprintf(stderr, "Try: bloomblock %s --help\n", command->name);
}

enum exit_code command_fail(const struct command *command, enum bb_status status)
{
    /* A copy, because command_warn calls the library, which may record another error. */
    struct bb_error error = *bb_error_last();
    command_warn(command, error.status == status ? error.message : bb_status_name(status));
    return exit_code_of(status);
}
