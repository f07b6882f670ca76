/* bloomblock select --file: lines of a file by a condition on their attributes. */
#include <stdio.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/commands/cmd_select.h"
#include "tools/output/interrupt.h"
#include "tools/output/output.h"
#include "tools/output/progress.h"
#include "tools/records/account_report.h"
#include "tools/records/attribute_text.h"
#include "tools/records/caret.h"
#include "tools/records/columns.h"
#include "tools/records/line_file.h"

struct select_file {
    const struct command *command;
    struct output out;
    /* Options. */
    const char *file;
    const char *where;
    const char *columns_text;
    struct option_texts attributes;
    uint64_t limit;
    bool is_tsv;
    bool is_count_only;
    bool with_account;
    bool ignores_indexes;
    /* At work. */
    struct bb_buf path;
    struct bb_lines *lines;
    struct bb_schema *schema;
    struct bb_condition *condition;
    struct columns columns;
    struct progress progress;
    bool is_terminal;
    bool is_interrupted;
    uint64_t count;
    struct account_report account;
};

/* ---- a line ---- */

static void write_json_line(struct select_file *self, const struct bb_line *line,
                            const struct shown_record *record)
{
    struct output *out = &self->out;
    output_print(out, "%s{", self->count == 0 ? "\n" : ",\n");
    if (self->columns.count > 0) {
        columns_write_json(&self->columns, record, out);
    } else {
        output_print(out, "\"offset\": %llu,", (unsigned long long)line->offset);
        bytes_write_json(out, "line", line->record);
    }
    output_write(out, bb_bytes_of("}", 1));
}

/* The bytes of the file, including the end of the line, which the last line may lack. */
static void write_raw_line(struct output *out, const struct bb_line *line)
{
    output_write(out, line->bytes);
    if (line->bytes.size == 0 || line->bytes.data[line->bytes.size - 1] != '\n')
        output_write(out, bb_bytes_of("\n", 1));
}

static void write_text_line(struct select_file *self, const struct bb_line *line,
                            const struct shown_record *record)
{
    struct output *out = &self->out;
    if (self->columns.count == 0 && !self->is_tsv && !self->is_terminal) {
        write_raw_line(out, line);
        return;
    }
    if (self->columns.count > 0)
        columns_write_tsv(&self->columns, record, out);
    if (self->columns.count == 0 && self->is_tsv)
        output_print(out, "%llu\t", (unsigned long long)line->offset);
    if (self->columns.count == 0)
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
    if (self->columns.needs_attributes)
        status = bb_lines_select_attributes(select, &record.attributes);
    if (status != BB_OK)
        return status;
    if (self->out.is_json)
        write_json_line(self, line, &record);
    else
        write_text_line(self, line, &record);
    return BB_OK;
}

/* ---- selecting ---- */

static bool go_on(void *context, const struct bb_lines_account *account)
{
    struct select_file *self = context;
    atomic_store_explicit(&self->progress.done, account->data_read_bytes, memory_order_relaxed);
    return !interrupt_is_wanted();
}

static enum bb_status print_lines(struct select_file *self, struct bb_lines_select *select)
{
    bool has_line = true;
    enum bb_status status = BB_OK;
    while (status == BB_OK && has_line && !self->out.has_failed) {
        status = interrupt_is_wanted() ? bb_fail(BB_BUSY, "the selection was cancelled")
                                       : bb_lines_select_next(select, &has_line);
        if (status == BB_OK && has_line)
            status = write_line(self, select);
        self->count += status == BB_OK && has_line;
    }
    return status;
}

/* After a cancellation the count is the number of lines returned so far, a lower bound. */
static enum bb_status count_lines(struct select_file *self, struct bb_lines_select *select)
{
    struct bb_lines_account account;
    enum bb_status status = bb_lines_select_count(select, &self->count);
    bb_lines_select_account(select, &account);
    if (status != BB_OK)
        self->count = account.records_returned;
    return status;
}

static enum bb_status run_selection(struct select_file *self,
                                    const struct bb_lines_select_options *options)
{
    struct bb_lines_select *select = NULL;
    enum bb_status status = bb_lines_select(self->lines, options, &select);
    if (status != BB_OK)
        return status;
    status = self->is_count_only ? count_lines(self, select) : print_lines(self, select);
    struct bb_error failure = *bb_error_last();
    enum bb_status reported = account_report_of_file(self->lines, select, &self->account);
    bb_lines_select_destroy(select);
    return status == BB_OK ? reported : bb_error_restore(&failure);
}

static enum bb_status execute(struct select_file *self)
{
    struct bb_lines_select_options options = {.condition = self->condition,
                                              .schema = self->schema,
                                              .ignore_indexes = self->ignores_indexes,
                                              .limit = self->limit,
                                              .progress = go_on,
                                              .progress_context = self};
    progress_start(&self->progress, "reading", 0, true);
    enum bb_status status = run_selection(self, &options);
    progress_stop(&self->progress);
    self->is_interrupted = status == BB_BUSY && interrupt_is_wanted();
    return status;
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

static enum bb_status parse_condition(struct select_file *self)
{
    if (self->where == NULL)
        return BB_OK;
    if (bb_schema_count(self->schema) == 0)
        return bb_fail(BB_INVALID,
                       "no attributes are known: there is no index file that has them; define "
                       "them with --attribute, as in --attribute 'line bytes = value'");
    enum bb_status status =
        bb_condition_parse(self->schema, bb_bytes_of_text(self->where), &self->condition);
    if (status == BB_INVALID)
        caret_show(self->where);
    return status;
}

static enum bb_status prepare(struct select_file *self)
{
    enum bb_status status = BB_OK;
    if (self->out.is_json && self->is_tsv)
        status = bb_fail(BB_INVALID, "options --json and --tsv exclude each other");
    if (status == BB_OK && self->is_count_only && self->columns_text != NULL)
        status = bb_fail(BB_INVALID, "options --count and --columns exclude each other");
    if (status == BB_OK)
        status = line_file_path(self->file, &self->path);
    if (status == BB_OK)
        status = bb_lines_open((const char *)self->path.data, NULL, &self->lines);
    if (status != BB_OK)
        return status;
    tell_of_index(self);
    status = line_file_schema(self->lines, &self->attributes, &self->schema);
    if (status == BB_OK && self->columns_text != NULL)
        status = columns_parse(&self->columns, self->columns_text, self->schema);
    return status == BB_OK ? parse_condition(self) : status;
}

static void end_output(struct select_file *self, bool is_complete)
{
    struct output *out = &self->out;
    unsigned long long count = self->count;
    if (!out->is_json && self->is_count_only && (is_complete || self->is_interrupted))
        output_print(out, "%llu\n", count);
    if (!out->is_json)
        return;
    output_print(out, "%s\"count\": %llu, \"complete\": %s", self->is_count_only ? "{" : "\n], ",
                 count, is_complete ? "true" : "false");
    if (self->with_account) {
        output_print(out, ", \"account\": ");
        output_json_compact(out, account_report_json(&self->account));
    }
    output_print(out, "}\n");
}

static enum exit_code select_and_print(struct select_file *self)
{
    if (self->out.is_json && !self->is_count_only)
        output_print(&self->out, "{\"records\": [");
    enum bb_status status = execute(self);
    enum exit_code code = self->count > 0 ? EXIT_FOUND : EXIT_ABSENT;
    if (self->is_interrupted)
        command_warn(self->command, "interrupted: the printed lines are correct, but not all");
    else if (status != BB_OK)
        code = command_fail(self->command, status);
    end_output(self, status == BB_OK);
    output_flush(&self->out);
    if (self->with_account && !self->out.is_json)
        account_report_write(&self->account, stderr);
    return self->is_interrupted ? EXIT_INTERRUPTED : code;
}

static void release(struct select_file *self)
{
    account_report_deinit(&self->account);
    columns_deinit(&self->columns);
    bb_condition_destroy(self->condition);
    bb_schema_destroy(self->schema);
    bb_lines_close(self->lines);
    bb_buf_deinit(&self->path);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct select_file self = {.command = command};
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &self.file, "the file; its index file is FILE.bbi"},
        {"where", "CONDITION", OPTION_TEXT, &self.where, "which lines; without it all"},
        {"attribute", "DEFINITION", OPTION_TEXTS, &self.attributes,
         "an attribute, in addition to the index file's; may be given again"},
        {"columns", "A,B", OPTION_TEXT, &self.columns_text,
         "attributes to print, key (the line's offset) and value among them, as TSV or JSON"},
        {"count", NULL, OPTION_FLAG, &self.is_count_only, "only how many there are"},
        {"limit", "N", OPTION_COUNT, &self.limit, "maximum number of lines; 0: all"},
        {"explain", NULL, OPTION_FLAG, &self.with_account,
         "the work done and saved, on standard error or in the JSON"},
        {"no-index", NULL, OPTION_FLAG, &self.ignores_indexes, "read everything"},
        {"tsv", NULL, OPTION_FLAG, &self.is_tsv, "offset, tab, line, escaped; or the columns"},
        {"json", NULL, OPTION_FLAG, &self.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    self.is_terminal = isatty(STDOUT_FILENO) != 0;
    interrupt_watch();
    enum bb_status status = prepare(&self);
    code = status == BB_OK ? select_and_print(&self) : command_fail(command, status);
    release(&self);
    return command_finish(command, &self.out, code);
}

static const struct command command_select_file = {
    .name = "select",
    .summary = "print the lines of a file that satisfy a condition on their attributes",
    .arguments = "--file FILE",
    .description =
        "Prints the lines unchanged, in the order of the file; escaped on a terminal. The index "
        "file\n"
        "FILE.bbi (`bloomblock index create --file`) spares reading and never changes a result: "
        "without it,\n"
        "and where the file has grown since, lines are read. When it is of another file, or "
        "damaged, a\n"
        "message reports it and everything is read.\n"
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
