/* What a selection cost (struct bb_select_account), for people and programs. */
#ifndef BB_TOOLS_RECORDS_ACCOUNT_REPORT_H
#define BB_TOOLS_RECORDS_ACCOUNT_REPORT_H

#include <stdio.h>

#include "bb/select.h"
#include "tools/output.h"

/* Of the granules that hold no match, the share that was read; NaN when there is none. */
double account_false_share(const struct bb_select_account *account);

/* Lines to `file`. */
void account_write(const struct bb_select_account *account, FILE *file);
json_t *account_json(const struct bb_select_account *account);

#endif
