/* See manual_page.h. */
#include "tools/reference/manual_page.h"

#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#include "tools/command/command_list.h"
#include "tools/reference/manual_text.h"

/* Builds of distributions fix the date, so that their results can be compared. */
static time_t page_time(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    return epoch != NULL ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
}

/* "bloomblock-filter-create"; name: NULL for the tool. */
static void write_page_name(const char *name, bool is_capital, struct output *out)
{
    for (const char *at = "bloomblock"; *at != '\0'; at++)
        output_print(out, "%c", is_capital ? toupper(*at) : *at);
    for (const char *at = name; at != NULL && *at != '\0'; at++) {
        if (at == name)
            output_print(out, "\\-");
        if (*at == ' ')
            output_print(out, "\\-");
        else
            output_print(out, "%c", is_capital ? toupper(*at) : *at);
    }
}

static void write_head(const char *name, const char *summary, struct output *out)
{
    char date[32];
    time_t now = page_time();
    struct tm parts;
    strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &parts));
    output_print(out, ".TH ");
    write_page_name(name, true, out);
    output_print(out, " 1 \"%s\" \"bloomblock %s\" \"bloomblock\"\n.SH NAME\n", date, bb_version());
    write_page_name(name, false, out);
    output_print(out, " \\- ");
    manual_text_write(summary, out);
    output_print(out, "\n.SH SYNOPSIS\n");
}

static void write_usage(const struct command *command, bool has_options, struct output *out)
{
    output_print(out, "\\fBbloomblock %s\\fR ", command->name);
    if (has_options)
        output_print(out, "[\\fIOPTION\\fR...] ");
    manual_text_write_arguments(command->arguments, out);
    output_print(out, "\n");
}

/* "bloomblock-load(1)". */
static void write_link(const char *name, struct output *out)
{
    output_print(out, "\\fB");
    write_page_name(name, false, out);
    output_print(out, "\\fR(1)");
}

static void write_commands(const struct command *const *commands, size_t count, struct output *out)
{
    output_print(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < count; i++) {
        output_print(out, ".TP\n");
        write_link(commands[i]->name, out);
        output_print(out, "\n");
        manual_text_write(commands[i]->summary, out);
        output_print(out, "\n");
    }
}

static void write_option(const struct option *option, struct output *out)
{
    output_print(out, ".TP\n\\fB\\-\\-");
    for (const char *at = option->name; *at != '\0'; at++)
        output_print(out, *at == '-' ? "\\-" : "%c", *at);
    output_print(out, "\\fR");
    if (option->argument != NULL) {
        output_print(out, " ");
        manual_text_write_font('I', option->argument, out);
    }
    output_print(out, "\n");
    manual_text_write(option->help, out);
    output_print(out, "\n");
}

static void write_options(const struct command_tables *tables, struct output *out)
{
    if (tables->option_count == 0)
        return;
    output_print(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < tables->own_count; i++)
        write_option(&tables->options[i], out);
    if (tables->own_count < tables->option_count)
        output_print(out, ".SH OPTIONS OF THE STORE\n");
    for (size_t i = tables->own_count; i < tables->option_count; i++)
        write_option(&tables->options[i], out);
}

static void write_tail(const char *name, struct output *out)
{
    output_print(out, ".SH SEE ALSO\n");
    if (name != NULL)
        output_print(out, "\\fBbloomblock\\fR(1),\n");
    output_print(out, "\\fBbloomblock\\fR(3),\n\\fBbloomblock\\fR(5)\n");
}

void manual_page_write(const struct command_tables *tables, struct output *out)
{
    const struct command *command = &tables->command;
    write_head(command->name, command->summary, out);
    write_usage(command, tables->option_count > 0, out);
    if (tables->file_form.name != NULL) {
        output_print(out, ".PP\n");
        write_usage(&tables->file_form, true, out);
    }
    output_print(out, ".SH DESCRIPTION\n");
    manual_text_write_page(command->description, out);
    if (tables->file_form.name != NULL) {
        output_print(out, ".SH FILES INSTEAD OF STORES\n");
        manual_text_write_page(tables->file_form.description, out);
    }
    write_options(tables, out);
    if (tables->command_count > 0)
        write_commands(tables->commands, tables->command_count, out);
    output_print(out, ".SH EXIT STATUS\nSee \\fBbloomblock\\fR(1).\n");
    write_tail(command->name, out);
}

void manual_page_write_tool(struct output *out)
{
    size_t count = 0;
    while (command_list[count] != NULL)
        count++;
    write_head(NULL, "a storage engine with a filter for every block", out);
    output_print(out, "\\fBbloomblock\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] "
                      "[\\fIARGUMENT\\fR...]\n.PP\n\\fBbloomblock help\\fR \\fICOMMAND\\fR\n"
                      ".SH DESCRIPTION\n");
    manual_text_write_page(command_list_description, out);
    write_commands(command_list, count, out);
    output_print(out, ".SH EXIT STATUS\n");
    manual_text_write_page(command_list_exit_codes, out);
    write_tail(NULL, out);
}
