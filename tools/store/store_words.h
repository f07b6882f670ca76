/* Translates messages of a failed opening into the terms of the command line: the library names
 * fields of struct bb_db_options, but the user typed options. */
#ifndef BB_TOOLS_STORE_STORE_WORDS_H
#define BB_TOOLS_STORE_STORE_WORDS_H

#include "bb/base.h"

/* Rewrites the thread's latest failure, which must come from opening a store, or from
 * bb_options_resolve. Returns its status.
 * filter_amount: the option that set it, such as "--target"; NULL: none did. */
enum bb_status store_words_fail(enum bb_status status, const char *filter_amount);

#endif
