/* A command in the protocol of Redis.
 *
 *     *3\r\n                    the number of words; written when the command is sent
 *     $6\r\nBB.PUT\r\n  $3\r\nkey\r\n  ...
 */
#ifndef BB_TOOLS_CLUSTER_WORDS_H
#define BB_TOOLS_CLUSTER_WORDS_H

#include "bb/base.h"

/* A zeroed struct is a command without words. Owned: words_deinit. */
struct words {
    struct bb_buf text; /* without the first line */
    size_t count;
};

void words_deinit(struct words *words);
void words_reset(struct words *words);
BB_MUST_CHECK enum bb_status words_add(struct words *words, struct bb_bytes word);
BB_MUST_CHECK enum bb_status words_add_text(struct words *words, const char *word);
BB_MUST_CHECK enum bb_status words_add_number(struct words *words, uint64_t number);
/* Adds the words of another command. */
BB_MUST_CHECK enum bb_status words_add_all(struct words *words, const struct words *more);

#endif
