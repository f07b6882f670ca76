/* bloomblock select: records by a condition on their values. */
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/commands/cmd_select.h"
#include "tools/output/interrupt.h"
#include "tools/keys/key_range.h"
#include "tools/output/progress.h"
#include "tools/records/account_report.h"
#include "tools/records/attribute_text.h"
#include "tools/records/caret.h"
#include "tools/records/columns.h"
#include "tools/records/definitions.h"
#include "tools/store/store_options.h"

struct select {
    struct store_options store;
    struct output out;
    /* Options. */
    const char *file; /* is never set: see run */
    const char *where;
    const char *columns_text;
    struct option_texts attributes;
    struct key_range range;
    uint64_t limit;
    bool is_hex;
    bool is_tsv;
    bool is_reverse;
    bool is_count_only;
    bool with_account;
    bool ignores_indexes;
    /* At work. */
    struct bb_db *db;
    struct bb_schema *schema;
    struct bb_condition *condition;
    struct columns columns;
    struct progress progress;
    bool is_terminal;
    bool is_interrupted;
    uint64_t count;
    struct account_report account;
};

/* ---- a record ---- */

static void write_json_record(struct select *select, const struct shown_record *record)
{
    struct output *out = &select->out;
    output_print(out, "%s{", select->count == 0 ? "\n" : ",\n");
    if (select->columns.count > 0) {
        columns_write_json(&select->columns, record, out);
    } else {
        bytes_write_json(out, "key", record->key);
        output_write(out, bb_bytes_of(",", 1));
        bytes_write_json(out, "value", record->value);
    }
    output_write(out, bb_bytes_of("}", 1));
}

static void write_text_record(struct select *select, const struct shown_record *record)
{
    struct output *out = &select->out;
    if (select->columns.count > 0) {
        columns_write_tsv(&select->columns, record, out);
    } else if (select->is_tsv) {
        output_bytes(out, record->key, select->is_hex);
        output_write(out, bb_bytes_of("\t", 1));
        output_bytes(out, record->value, select->is_hex);
    } else if (select->is_hex || select->is_terminal) {
        output_bytes(out, record->value, select->is_hex);
    } else {
        output_write(out, record->value);
    }
    output_write(out, bb_bytes_of("\n", 1));
}

static enum bb_status write_record(struct select *select, struct bb_select *records)
{
    struct shown_record record = {.key = bb_select_key(records), .value = bb_select_value(records)};
    enum bb_status status = BB_OK;
    if (select->columns.needs_attributes)
        status = bb_select_attributes(records, &record.attributes);
    if (status != BB_OK)
        return status;
    if (select->out.is_json)
        write_json_record(select, &record);
    else
        write_text_record(select, &record);
    return BB_OK;
}

/* ---- selecting ---- */

static bool go_on(void *context, const struct bb_select_account *account)
{
    struct select *select = context;
    atomic_store_explicit(&select->progress.done, account->data_read_bytes, memory_order_relaxed);
    return !interrupt_is_wanted();
}

static enum bb_status next(struct bb_select *records, bool *ret_has_record)
{
    if (interrupt_is_wanted())
        return bb_fail(BB_BUSY, "the selection was cancelled");
    return bb_select_next(records, ret_has_record);
}

static enum bb_status print_records(struct select *select, struct bb_select *records)
{
    bool has_record = true;
    enum bb_status status = next(records, &has_record);
    while (status == BB_OK && has_record && !select->out.has_failed) {
        status = write_record(select, records);
        if (status != BB_OK)
            break;
        select->count++;
        status = next(records, &has_record);
    }
    return status;
}

/* After a cancellation the count is the number of records returned so far, a lower bound. */
static enum bb_status count_records(struct select *select, struct bb_select *records)
{
    struct bb_select_account account;
    enum bb_status status = bb_select_count(records, &select->count);
    bb_select_account(records, &account);
    if (status != BB_OK)
        select->count = account.records_returned;
    return status;
}

static enum bb_status run_selection(struct select *select, const struct bb_select_options *options)
{
    struct bb_select *records = NULL;
    enum bb_status status = bb_db_select(select->db, options, &records);
    if (status != BB_OK)
        return status;
    status =
        select->is_count_only ? count_records(select, records) : print_records(select, records);
    struct bb_error failure = *bb_error_last();
    enum bb_status reported = account_report_of_store(records, &select->account);
    bb_select_destroy(records);
    return status == BB_OK ? reported : bb_error_restore(&failure);
}

static enum bb_status execute(struct select *select)
{
    struct bb_bytes low = bb_buf_bytes(&select->range.low);
    struct bb_bytes high = bb_buf_bytes(&select->range.high);
    struct bb_key_range range = {.low = select->range.from != NULL ? &low : NULL,
                                 .high = select->range.to != NULL ? &high : NULL};
    struct bb_select_options options = {.condition = select->condition,
                                        .schema = select->schema,
                                        .range = &range,
                                        .backward = select->is_reverse,
                                        .ignore_indexes = select->ignores_indexes,
                                        .limit = select->limit,
                                        .progress = go_on,
                                        .progress_context = select};
    progress_start(&select->progress, "reading", 0, true);
    enum bb_status status = run_selection(select, &options);
    progress_stop(&select->progress);
    select->is_interrupted = status == BB_BUSY && interrupt_is_wanted();
    return status;
}

/* ---- before and after ---- */

static enum bb_status parse_condition(struct select *select, const char *directory)
{
    if (select->where == NULL)
        return BB_OK;
    if (bb_schema_count(select->schema) == 0)
        return bb_fail(BB_INVALID,
                       "%s: the store has no attributes: define them with `bloomblock attribute "
                       "create`, or for this selection with --attribute",
                       directory);
    enum bb_status status =
        bb_condition_parse(select->schema, bb_bytes_of_text(select->where), &select->condition);
    if (status == BB_INVALID)
        caret_show(select->where);
    return status;
}

static enum bb_status prepare(struct select *select, const char *directory)
{
    enum bb_status status = key_range_decode(&select->range, select->is_hex);
    if (status == BB_OK && select->out.is_json && select->is_tsv)
        status = bb_fail(BB_INVALID, "options --json and --tsv exclude each other");
    if (status == BB_OK && select->is_count_only && select->columns_text != NULL)
        status = bb_fail(BB_INVALID, "options --count and --columns exclude each other");
    if (status == BB_OK)
        status = store_open_to_read(&select->store, directory, &select->db);
    if (status == BB_OK)
        status = definitions_schema(select->db, &select->attributes, &select->schema);
    if (status == BB_OK && select->columns_text != NULL)
        status = columns_parse(&select->columns, select->columns_text, select->schema);
    return status == BB_OK ? parse_condition(select, directory) : status;
}

static void begin_output(struct select *select)
{
    if (select->out.is_json && !select->is_count_only)
        output_print(&select->out, "{\"records\": [");
}

static void end_output(struct select *select, bool is_complete)
{
    struct output *out = &select->out;
    if (!out->is_json) {
        if (select->is_count_only && (is_complete || select->is_interrupted))
            output_print(out, "%llu\n", (unsigned long long)select->count);
        return;
    }
    output_print(out, "%s\"count\": %llu, \"complete\": %s", select->is_count_only ? "{" : "\n], ",
                 (unsigned long long)select->count, is_complete ? "true" : "false");
    if (select->with_account) {
        output_print(out, ", \"account\": ");
        output_json_compact(out, account_report_json(&select->account));
    }
    output_print(out, "}\n");
}

static enum exit_code select_and_print(struct select *select, const struct command *command)
{
    begin_output(select);
    enum bb_status status = execute(select);
    enum exit_code code = select->count > 0 ? EXIT_FOUND : EXIT_ABSENT;
    if (select->is_interrupted)
        command_warn(command, "interrupted: the printed records are correct, but not all");
    else if (status != BB_OK)
        code = command_fail(command, status);
    end_output(select, status == BB_OK);
    output_flush(&select->out);
    if (select->with_account && !select->out.is_json)
        account_report_write(&select->account, stderr);
    return select->is_interrupted ? EXIT_INTERRUPTED : code;
}

static void release(struct select *select)
{
    account_report_deinit(&select->account);
    columns_deinit(&select->columns);
    bb_condition_destroy(select->condition);
    bb_schema_destroy(select->schema);
    key_range_deinit(&select->range);
}

static bool parse(struct select *select, const struct command *command, int argc, char **argv,
                  struct arguments *ret_arguments, enum exit_code *ret_code)
{
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &select->file,
         "lines of a file: `bloomblock select --file FILE --help`"},
        {"where", "CONDITION", OPTION_TEXT, &select->where, "which records; without it all"},
        {"columns", "A,B", OPTION_TEXT, &select->columns_text,
         "attributes to print, key and value among them, as TSV or JSON"},
        {"count", NULL, OPTION_FLAG, &select->is_count_only, "only how many there are"},
        {"limit", "N", OPTION_COUNT, &select->limit, "maximum number of records; 0: all"},
        {"reverse", NULL, OPTION_FLAG, &select->is_reverse, "from the last key to the first"},
        {"from", "KEY", OPTION_TEXT, &select->range.from, "first key, inclusive"},
        {"to", "KEY", OPTION_TEXT, &select->range.to, "end of the keys, exclusive"},
        {"explain", NULL, OPTION_FLAG, &select->with_account,
         "the work done and saved, on standard error or in the JSON"},
        {"no-index", NULL, OPTION_FLAG, &select->ignores_indexes, "read everything"},
        {"attribute", "DEFINITION", OPTION_TEXTS, &select->attributes,
         "one more attribute, for this selection; may be given again"},
        {"tsv", NULL, OPTION_FLAG, &select->is_tsv, "key, tab, value, escaped; or the columns"},
        {"hex", NULL, OPTION_FLAG, &select->is_hex,
         "keys and values as hexadecimal digits, in options too"},
        {"json", NULL, OPTION_FLAG, &select->out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&select->store)};
    return options_parse(command, groups, 2, argc, argv, ret_arguments, ret_code);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct select *select = bb_alloc_zeroed(1, sizeof(*select));
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (options_have(argc, argv, "--file")) {
        bb_free(select);
        return select_file_run(command, argc, argv);
    }
    if (select == NULL)
        return command_fail(command, bb_fail(BB_NO_MEMORY, "no memory for a selection"));
    store_options_init_to_read(&select->store, command);
    if (!parse(select, command, argc, argv, &arguments, &code)) {
        bb_free(select);
        return code;
    }
    select->is_terminal = isatty(STDOUT_FILENO) != 0;
    interrupt_watch();
    enum bb_status status = prepare(select, arguments.values[0]);
    code = status == BB_OK ? select_and_print(select, command) : command_fail(command, status);
    release(select);
    code = store_close(&select->store, select->db, code);
    code = command_finish(command, &select->out, code);
    bb_free(select);
    return code;
}

const struct command command_select = {
    .name = "select",
    .summary = "print the records that satisfy a condition on their values",
    .arguments = "DIR",
    .description = "Prints the values, a line each, in the order of their keys: unchanged, but "
                   "escaped on a terminal. With --columns their attributes, as TSV (escaped; NULL "
                   "is \\N) or JSON (null).\n"
                   "\n"
                   "Conditions: = != < <= > >=, [NOT] BETWEEN, IN, LIKE, ILIKE, IS [NOT] NULL, "
                   "starts_with, ends_with, contains, has_token, has_all_tokens, has_any_token, "
                   "has_word and its variants, matches; AND, OR, NOT with SQL's NULL. Strings in "
                   "quotes, times as strings.\n"
                   "\n"
                   "Exit code 0: records were found; 1: no record, as for grep; 130: Ctrl-C, after"
                   " printing the records found so far.\n"
                   "\n"
                   "Examples:\n"
                   "  bloomblock select /tmp/access --where \"has_token(agent, 'sqlmap')\"\n"
                   "  bloomblock select /tmp/access --where 'status >= 500' --count --explain\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
