/* One form of `bloomblock select`. See select_form.h. One thread. */
#include "tools/records/select_form.h"

#include <unistd.h>

#include "base/bytes.h"
#include "base/status.h"
#include "tools/output/interrupt.h"
#include "tools/output/number_text.h"
#include "tools/records/caret.h"

enum bb_status select_form_check(const struct select_form *form)
{
    if (form->out.is_json && form->is_tsv)
        return bb_fail(BB_INVALID, "options --json and --tsv exclude each other");
    if (form->is_count_only && form->columns_text != NULL)
        return bb_fail(BB_INVALID, "options --count and --columns exclude each other");
    return BB_OK;
}

enum bb_status select_form_prepare(struct select_form *form)
{
    enum bb_status status = BB_OK;
    if (form->columns_text != NULL)
        status = columns_parse(&form->columns, form->columns_text, form->schema);
    if (status != BB_OK || form->where == NULL)
        return status;
    return caret_parse_condition(form->schema, form->where, &form->condition);
}

bool select_form_go_on(struct select_form *form, uint64_t read_bytes)
{
    atomic_store_explicit(&form->progress.done, read_bytes, memory_order_relaxed);
    return !interrupt_is_wanted();
}

enum bb_status select_form_interrupted(void)
{
    return interrupt_is_wanted() ? bb_fail(BB_BUSY, "the selection was cancelled") : BB_OK;
}

void select_form_begin_json(struct select_form *form)
{
    output_print(&form->out, "%s{", form->count == 0 ? "\n" : ",\n");
}

bool select_form_write_columns(struct select_form *form, const struct shown_record *record)
{
    struct output *out = &form->out;
    if (form->columns.count == 0)
        return false;
    if (out->is_json) {
        select_form_begin_json(form);
        columns_write_json(&form->columns, record, out);
        output_write(out, bb_bytes_of("}", 1));
    } else {
        columns_write_tsv(&form->columns, record, out);
        output_write(out, bb_bytes_of("\n", 1));
    }
    return true;
}

static enum bb_status execute(struct select_form *form, select_form_fn select, void *context)
{
    progress_start(&form->progress, "reading", 0, true);
    enum bb_status status = select(context);
    progress_stop(&form->progress);
    form->is_interrupted = status == BB_BUSY && interrupt_is_wanted();
    return status;
}

static void end_json(struct select_form *form, bool is_complete)
{
    struct output *out = &form->out;
    output_print(out, "%s\"count\": %llu, \"complete\": %s", form->is_count_only ? "{" : "\n], ",
                 (unsigned long long)form->count, is_complete ? "true" : "false");
    if (form->with_account) {
        output_print(out, ", \"account\": ");
        output_json_compact(out, account_report_json(&form->account));
    }
    output_print(out, "}\n");
}

static void end_output(struct select_form *form, bool is_complete)
{
    if (form->out.is_json)
        end_json(form, is_complete);
    else if (form->is_count_only && (is_complete || form->is_interrupted))
        output_print(&form->out, "%llu\n", (unsigned long long)form->count);
    output_flush(&form->out);
    if (form->with_account && !form->out.is_json)
        account_report_write(&form->account, stderr);
}

static void warn_of_interrupt(const struct command *command, const char *noun)
{
    char text[80];
    (void)snprintf(text, sizeof(text), "interrupted: the printed %s are correct, but not all",
                   noun);
    command_warn(command, text);
}

static void warn_of_damage(const struct command *command, const struct account_report *account)
{
    char text[200];
    (void)snprintf(
        text, sizeof(text),
        "records were read because of %s; bloomblock index %s replaces the index file",
        number_of(account_report_damaged(account), "damaged index", "damaged indexes").text,
        account->is_of_file ? "create --file" : "materialize");
    command_warn(command, text);
}

enum exit_code select_form_run(struct select_form *form, const struct command *command,
                               select_form_fn select, void *context, const char *noun)
{
    form->is_terminal = isatty(STDOUT_FILENO) != 0;
    if (form->out.is_json && !form->is_count_only)
        output_print(&form->out, "{\"records\": [");
    enum bb_status status = execute(form, select, context);
    enum exit_code code = form->count > 0 ? EXIT_FOUND : EXIT_ABSENT;
    if (form->is_interrupted)
        warn_of_interrupt(command, noun);
    else if (status != BB_OK)
        code = command_fail(command, status);
    end_output(form, status == BB_OK);
    if (account_report_damaged(&form->account) > 0)
        warn_of_damage(command, &form->account);
    return form->is_interrupted ? EXIT_INTERRUPTED : code;
}

void select_form_deinit(struct select_form *form)
{
    account_report_deinit(&form->account);
    columns_deinit(&form->columns);
    bb_condition_destroy(form->condition);
    bb_schema_destroy(form->schema);
}
