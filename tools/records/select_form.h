/* One form of `bloomblock select`: of a store, or of a file of lines. Both share the condition, the
 * columns and the frame of the output.
 *
 * Call order: zeroed, options parsed, check, prepare, run, deinit. One thread.
 */
#ifndef BB_TOOLS_RECORDS_SELECT_FORM_H
#define BB_TOOLS_RECORDS_SELECT_FORM_H

#include "bb/skip.h"
#include "tools/command/command.h"
#include "tools/command/options.h"
#include "tools/output/output.h"
#include "tools/output/progress.h"
#include "tools/records/account_report.h"
#include "tools/records/columns.h"

struct select_form {
    struct output out;
    /* Options. */
    const char *where;
    const char *columns_text;
    struct option_texts attributes;
    uint64_t limit;
    bool is_tsv;
    bool is_count_only;
    bool with_account;
    bool ignores_indexes;
    /* At work. Owned. */
    struct bb_schema *schema; /* set before prepare */
    struct bb_condition *condition;
    struct columns columns;
    struct progress progress;
    bool is_terminal;
    bool is_interrupted;
    uint64_t count;                /* of printed or counted records */
    struct account_report account; /* of the selection; set by the callback of run */
};

/* Prints or counts the records. context: as given to run. */
typedef enum bb_status (*select_form_fn)(void *context);

/* BB_INVALID: options that exclude each other. */
BB_MUST_CHECK enum bb_status select_form_check(const struct select_form *form);
/* Parses condition and columns. BB_INVALID: shows where the condition is wrong. */
BB_MUST_CHECK enum bb_status select_form_prepare(struct select_form *form);
/* Calls select, which prints the records, and prints the frame and the account. noun: "records". */
enum exit_code select_form_run(struct select_form *form, const struct command *command,
                               select_form_fn select, void *context, const char *noun);
void select_form_deinit(struct select_form *form);

/* For the progress callback of a selection. False after Ctrl-C. */
bool select_form_go_on(struct select_form *form, uint64_t read_bytes);
/* BB_BUSY after Ctrl-C. */
BB_MUST_CHECK enum bb_status select_form_interrupted(void);
/* The brace that begins a record, after a comma if it is not the first. */
void select_form_begin_json(struct select_form *form);
/* The record's columns, if the options name columns; otherwise returns false. */
bool select_form_write_columns(struct select_form *form, const struct shown_record *record);

#endif
