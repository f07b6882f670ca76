/* The cost of a selection, in a store or a file of lines, for people and programs. */
#ifndef BB_TOOLS_RECORDS_ACCOUNT_REPORT_H
#define BB_TOOLS_RECORDS_ACCOUNT_REPORT_H

#include <stdio.h>

#include "bb/lines.h"
#include "bb/select.h"
#include "tools/output/output.h"

struct account_report {
    bool is_of_file; /* of lines: there are no tables, blocks and versions */
    struct bb_select_account total;
    uint64_t unindexed_bytes; /* of a file */
    struct bb_buf indexes;    /* struct index_account, of each queried index */
};

/* Of a selection up to now. BB_NO_MEMORY. Owned: account_report_deinit. */
BB_MUST_CHECK enum bb_status account_report_of_store(const struct bb_select *select,
                                                     struct account_report *ret_report);
BB_MUST_CHECK enum bb_status account_report_of_file(const struct bb_lines *lines,
                                                    const struct bb_lines_select *select,
                                                    struct account_report *ret_report);
void account_report_deinit(struct account_report *report);

/* The number of indexes that were needed and are damaged, so that records were read; in a store
 * once for each table. (A file whose index file cannot be used at all is another case.) */
uint64_t account_report_damaged(const struct account_report *report);

/* The share of the granules without a match that was read; NaN without such granules. */
double account_false_share(const struct bb_select_account *account);

/* Lines to `file`. */
void account_report_write(const struct account_report *report, FILE *file);
json_t *account_report_json(const struct account_report *report);
/* The totals that only a store has. */
json_t *account_json(const struct bb_select_account *account);

#endif
