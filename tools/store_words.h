/* What the library says when a store does not open, in the words of the command line: it knows the
 * fields of struct bb_db_options, where a user has typed options. */
#ifndef BB_TOOLS_STORE_WORDS_H
#define BB_TOOLS_STORE_WORDS_H

#include "bb/base.h"

/* Restates the thread's latest failure, which is that of opening a store. Gives its status. */
enum bb_status store_words_fail(enum bb_status status);

#endif
