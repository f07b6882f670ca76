/* bloomblock select: records by a condition on their values. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/commands/cmd_select.h"
#include "tools/keys/key_range.h"
#include "tools/output/interrupt.h"
#include "tools/records/attribute_text.h"
#include "tools/records/definitions.h"
#include "tools/records/select_form.h"
#include "tools/store/store_options.h"

struct select {
    struct store_options store;
    struct select_form form;
    /* Options of this form. */
    const char *file; /* is never set: see run */
    struct key_range range;
    bool is_hex;
    bool is_reverse;
    /* At work. */
    struct bb_db *db;
};

/* ---- a record ---- */

static void write_json_record(struct select *select, const struct shown_record *record)
{
    struct output *out = &select->form.out;
    select_form_begin_json(&select->form);
    if (select->is_hex) {
        output_print(out, "\"key_hex\":\"");
        output_bytes(out, record->key, true);
        output_print(out, "\",\"value_hex\":\"");
        output_bytes(out, record->value, true);
        output_print(out, "\"}");
        return;
    }
    bytes_write_json(out, "key", record->key);
    output_write(out, bb_bytes_of(",", 1));
    bytes_write_json(out, "value", record->value);
    output_write(out, bb_bytes_of("}", 1));
}

static void write_text_record(struct select *select, const struct shown_record *record)
{
    struct output *out = &select->form.out;
    if (select->form.is_tsv) {
        output_bytes(out, record->key, select->is_hex);
        output_write(out, bb_bytes_of("\t", 1));
    }
    if (select->form.is_tsv || select->is_hex || select->form.is_terminal)
        output_bytes(out, record->value, select->is_hex);
    else
        output_write(out, record->value);
    output_write(out, bb_bytes_of("\n", 1));
}

static enum bb_status write_record(struct select *select, struct bb_select *records)
{
    struct shown_record record = {.key = bb_select_key(records), .value = bb_select_value(records)};
    enum bb_status status = BB_OK;
    if (select->form.columns.needs_attributes)
        status = bb_select_attributes(records, &record.attributes);
    if (status != BB_OK || select_form_write_columns(&select->form, &record))
        return status;
    if (select->form.out.is_json)
        write_json_record(select, &record);
    else
        write_text_record(select, &record);
    return BB_OK;
}

/* ---- selecting ---- */

static bool go_on(void *context, const struct bb_select_account *account)
{
    struct select *select = context;
    return select_form_go_on(&select->form, account->data_read_bytes);
}

static enum bb_status print_records(struct select *select, struct bb_select *records)
{
    bool has_record = true;
    enum bb_status status = BB_OK;
    while (status == BB_OK && has_record && !select->form.out.has_failed) {
        status = select_form_interrupted();
        if (status == BB_OK)
            status = bb_select_next(records, &has_record);
        if (status == BB_OK && has_record)
            status = write_record(select, records);
        select->form.count += status == BB_OK && has_record;
    }
    return status;
}

/* After a cancellation the count is the number of records returned so far, a lower bound. */
static enum bb_status count_records(struct select *select, struct bb_select *records)
{
    struct bb_select_account account;
    enum bb_status status = bb_select_count(records, &select->form.count);
    bb_select_account(records, &account);
    if (status != BB_OK)
        select->form.count = account.records_returned;
    return status;
}

static enum bb_status run_selection(struct select *select, const struct bb_select_options *options)
{
    struct bb_select *records = NULL;
    enum bb_status status = bb_db_select(select->db, options, &records);
    if (status != BB_OK)
        return status;
    status = select->form.is_count_only ? count_records(select, records)
                                        : print_records(select, records);
    struct bb_error failure = *bb_error_last();
    enum bb_status reported = account_report_of_store(records, &select->form.account);
    bb_select_destroy(records);
    return status == BB_OK ? reported : bb_error_restore(&failure);
}

static enum bb_status select_records(void *context)
{
    struct select *select = context;
    struct bb_bytes low = bb_buf_bytes(&select->range.low);
    struct bb_bytes high = bb_buf_bytes(&select->range.high);
    struct bb_key_range range = {.low = select->range.from != NULL ? &low : NULL,
                                 .high = select->range.to != NULL ? &high : NULL};
    struct bb_select_options options = {.condition = select->form.condition,
                                        .schema = select->form.schema,
                                        .range = &range,
                                        .backward = select->is_reverse,
                                        .ignore_indexes = select->form.ignores_indexes,
                                        .limit = select->form.limit,
                                        .progress = go_on,
                                        .progress_context = select};
    return run_selection(select, &options);
}

/* ---- before and after ---- */

static enum bb_status check_attributes(const struct select *select, const char *directory)
{
    if (select->form.where == NULL || bb_schema_count(select->form.schema) > 0)
        return BB_OK;
    return bb_fail(BB_INVALID,
                   "%s: the store has no attributes: define them with `bloomblock attribute "
                   "create`, or for this selection with --attribute",
                   directory);
}

static enum bb_status prepare(struct select *select, const char *directory)
{
    if (select->is_hex && select->form.columns_text != NULL)
        return bb_fail(BB_INVALID, "options --hex and --columns exclude each other");
    enum bb_status status = key_range_decode(&select->range, select->is_hex);
    if (status == BB_OK)
        status = select_form_check(&select->form);
    if (status == BB_OK)
        status = store_open_to_read(&select->store, directory, &select->db);
    if (status == BB_OK)
        status = definitions_schema(select->db, &select->form.attributes, &select->form.schema);
    if (status == BB_OK)
        status = check_attributes(select, directory);
    return status == BB_OK ? select_form_prepare(&select->form) : status;
}

static bool parse(struct select *select, const struct command *command, int argc, char **argv,
                  struct arguments *ret_arguments, enum exit_code *ret_code)
{
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &select->file,
         "lines of a file: `bloomblock select --file FILE --help`"},
        {"where", "CONDITION", OPTION_TEXT, &select->form.where, "which records; without it all"},
        {"columns", "A,B", OPTION_TEXT, &select->form.columns_text,
         "attributes to print, key and value among them, as TSV or JSON"},
        {"count", NULL, OPTION_FLAG, &select->form.is_count_only, "only how many there are"},
        {"limit", "N", OPTION_COUNT, &select->form.limit, "maximum number of records; 0: all"},
        {"reverse", NULL, OPTION_FLAG, &select->is_reverse, "from the last key to the first"},
        {"from", "KEY", OPTION_TEXT, &select->range.from, "first key, inclusive"},
        {"to", "KEY", OPTION_TEXT, &select->range.to, "end of the keys, exclusive"},
        {"explain", NULL, OPTION_FLAG, &select->form.with_account,
         "the work done and saved, on standard error or in the JSON"},
        {"no-index", NULL, OPTION_FLAG, &select->form.ignores_indexes, "read everything"},
        {"attribute", "DEFINITION", OPTION_TEXTS, &select->form.attributes,
         "one more attribute, for this selection; may be given again"},
        {"tsv", NULL, OPTION_FLAG, &select->form.is_tsv,
         "key, tab, value, escaped; or the columns"},
        {"hex", NULL, OPTION_FLAG, &select->is_hex,
         "keys and values as hexadecimal digits, in options too"},
        {"json", NULL, OPTION_FLAG, &select->form.out.is_json, "print JSON"},
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
    interrupt_watch();
    enum bb_status status = prepare(select, arguments.values[0]);
    code = status == BB_OK
               ? select_form_run(&select->form, command, select_records, select, "records")
               : command_fail(command, status);
    select_form_deinit(&select->form);
    key_range_deinit(&select->range);
    code = store_close(&select->store, select->db, code);
    code = command_finish(command, &select->form.out, code);
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
