/* bloomblock select --file: lines of a file by a condition on their attributes. */
#include <stdio.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/commands/cmd_select.h"
#include "tools/output/interrupt.h"
#include "tools/records/attribute_text.h"
#include "tools/records/line_file.h"
#include "tools/records/select_form.h"

struct select_file {
    const struct command *command;
    const char *file;
    struct select_form form;
    struct bb_buf path;
    struct bb_lines *lines;
};

/* ---- a line ---- */

static void write_json_line(struct select_file *self, const struct bb_line *line)
{
    struct output *out = &self->form.out;
    select_form_begin_json(&self->form);
    output_print(out, "\"offset\": %llu,", (unsigned long long)line->offset);
    bytes_write_json(out, "line", line->record);
    output_write(out, bb_bytes_of("}", 1));
}

/* The bytes of the file, including the end of the line, which the last line may lack. */
static void write_raw_line(struct output *out, const struct bb_line *line)
{
    output_write(out, line->bytes);
    if (line->bytes.size == 0 || line->bytes.data[line->bytes.size - 1] != '\n')
        output_write(out, bb_bytes_of("\n", 1));
}

static void write_text_line(struct select_file *self, const struct bb_line *line)
{
    struct output *out = &self->form.out;
    if (!self->form.is_tsv && !self->form.is_terminal) {
        write_raw_line(out, line);
        return;
    }
    if (self->form.is_tsv)
        output_print(out, "%llu\t", (unsigned long long)line->offset);
    output_bytes(out, line->record, false);
    output_write(out, bb_bytes_of("\n", 1));
}

static enum bb_status write_line(struct select_file *self, struct bb_lines_select *select)
{
    char offset[24];
    const struct bb_line *line = bb_lines_select_line(select);
    int size = snprintf(offset, sizeof(offset), "%llu", (unsigned long long)line->offset);
    struct shown_record record = {.key = bb_bytes_of(offset, (size_t)size), .value = line->record};
    enum bb_status status = BB_OK;
    if (self->form.columns.needs_attributes)
        status = bb_lines_select_attributes(select, &record.attributes);
    if (status != BB_OK || select_form_write_columns(&self->form, &record))
        return status;
    if (self->form.out.is_json)
        write_json_line(self, line);
    else
        write_text_line(self, line);
    return BB_OK;
}

/* ---- selecting ---- */

static bool go_on(void *context, const struct bb_lines_account *account)
{
    struct select_file *self = context;
    return select_form_go_on(&self->form, account->data_read_bytes);
}

static enum bb_status print_lines(struct select_file *self, struct bb_lines_select *select)
{
    bool has_line = true;
    enum bb_status status = BB_OK;
    while (status == BB_OK && has_line && !self->form.out.has_failed) {
        status = select_form_interrupted();
        if (status == BB_OK)
            status = bb_lines_select_next(select, &has_line);
        if (status == BB_OK && has_line)
            status = write_line(self, select);
        self->form.count += status == BB_OK && has_line;
    }
    return status;
}

/* After a cancellation the count is the number of lines returned so far, a lower bound. */
static enum bb_status count_lines(struct select_file *self, struct bb_lines_select *select)
{
    struct bb_lines_account account;
    enum bb_status status = bb_lines_select_count(select, &self->form.count);
    bb_lines_select_account(select, &account);
    if (status != BB_OK)
        self->form.count = account.records_returned;
    return status;
}

static enum bb_status select_lines(void *context)
{
    struct select_file *self = context;
    struct bb_lines_select_options options = {.condition = self->form.condition,
                                              .schema = self->form.schema,
                                              .ignore_indexes = self->form.ignores_indexes,
                                              .limit = self->form.limit,
                                              .progress = go_on,
                                              .progress_context = self};
    struct bb_lines_select *select = NULL;
    enum bb_status status = bb_lines_select(self->lines, &options, &select);
    if (status != BB_OK)
        return status;
    status = self->form.is_count_only ? count_lines(self, select) : print_lines(self, select);
    struct bb_error failure = *bb_error_last();
    enum bb_status reported = account_report_of_file(self->lines, select, &self->form.account);
    bb_lines_select_destroy(select);
    return status == BB_OK ? reported : bb_error_restore(&failure);
}

/* ---- before and after ---- */

/* Reports an index file that exists and is not used. */
static void tell_of_index(struct select_file *self)
{
    char text[1200];
    struct bb_lines_info info;
    bb_lines_info(self->lines, &info);
    bool is_unreadable = info.index_state == BB_LINES_INDEX_UNREADABLE;
    if (!is_unreadable && info.index_state != BB_LINES_INDEX_STALE)
        return;
    (void)snprintf(text, sizeof(text), "%s%s", is_unreadable ? "the index file is not used: " : "",
                   info.index_reason);
    command_warn(self->command, text);
}

static enum bb_status check_attributes(const struct select_file *self)
{
    if (self->form.where == NULL || bb_schema_count(self->form.schema) > 0)
        return BB_OK;
    return bb_fail(BB_INVALID,
                   "no attributes are known: there is no index file that has them; define "
                   "them with --attribute, as in --attribute 'line bytes = value'");
}

static enum bb_status prepare(struct select_file *self)
{
    enum bb_status status = select_form_check(&self->form);
    if (status == BB_OK)
        status = line_file_path(self->file, &self->path);
    if (status == BB_OK)
        status = bb_lines_open((const char *)self->path.data, NULL, &self->lines);
    if (status != BB_OK)
        return status;
    tell_of_index(self);
    status = line_file_schema(self->lines, &self->form.attributes, &self->form.schema);
    if (status == BB_OK)
        status = check_attributes(self);
    return status == BB_OK ? select_form_prepare(&self->form) : status;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct select_file self = {.command = command};
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &self.file, "the file; its index file is FILE.bbi"},
        {"where", "CONDITION", OPTION_TEXT, &self.form.where, "which lines; without it all"},
        {"attribute", "DEFINITION", OPTION_TEXTS, &self.form.attributes,
         "an attribute, in addition to the index file's; may be given again"},
        {"columns", "A,B", OPTION_TEXT, &self.form.columns_text,
         "attributes to print, key (the line's offset) and value among them, as TSV or JSON"},
        {"count", NULL, OPTION_FLAG, &self.form.is_count_only, "only how many there are"},
        {"limit", "N", OPTION_COUNT, &self.form.limit, "maximum number of lines; 0: all"},
        {"explain", NULL, OPTION_FLAG, &self.form.with_account,
         "the work done and saved, on standard error or in the JSON"},
        {"no-index", NULL, OPTION_FLAG, &self.form.ignores_indexes, "read everything"},
        {"tsv", NULL, OPTION_FLAG, &self.form.is_tsv, "offset, tab, line, escaped; or the columns"},
        {"json", NULL, OPTION_FLAG, &self.form.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    interrupt_watch();
    enum bb_status status = prepare(&self);
    code = status == BB_OK ? select_form_run(&self.form, command, select_lines, &self, "lines")
                           : command_fail(command, status);
    select_form_deinit(&self.form);
    bb_lines_close(self.lines);
    bb_buf_deinit(&self.path);
    return command_finish(command, &self.form.out, code);
}

static const struct command command_select_file = {
    .name = "select",
    .summary = "print the lines of a file that satisfy a condition on their attributes",
    .arguments = "--file FILE",
    .description =
        "Prints the lines unchanged, in the order of the file; escaped on a terminal. The index "
        "file\n"
        "FILE.bbi (`bloomblock index create --file`) saves reads. Without it, and where the file "
        "has "
        "grown\n"
        "since, lines are read. If it is of another file, or damaged, a message reports it and "
        "everything is\n"
        "read. A file that grows must keep its earlier lines: an edit of them is only noticed if "
        "the "
        "file does\n"
        "not grow, or near its ends. `index create --file --rebuild` indexes it again.\n"
        "\n"
        "Exit code 0: lines were found; 1: no line, as for grep; 130: Ctrl-C.\n"
        "\n"
        "Examples:\n"
        "  bloomblock select --file access.log --where \"has_token(agent, 'sqlmap')\"\n"
        "  bloomblock select --file notes --attribute 'line bytes = value' \\\n"
        "      --where \"line like '%todo%'\"\n",
    .argument_count_min = 0,
    .argument_count_max = 0,
    .run = run,
};

enum exit_code select_file_run(const struct command *command, int argc, char **argv)
{
    struct command form = command_select_file;
    form.tables = command->tables;
    return run(&form, argc, argv);
}
