/* Tree to text: one text for one tree, which parses to the same tree. */
#ifndef BB_SKIP_CONDITION_PRINT_H
#define BB_SKIP_CONDITION_PRINT_H

#include "skip/condition/tree.h"

/* Appends. */
BB_MUST_CHECK enum bb_status bb_print(const struct bb_condition *condition, struct bb_buf *buf);

#endif
