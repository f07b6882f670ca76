/* Keys for the sub-commands of `filter`: from files or standard input, with a bar while it takes
 * long. Threads: one. */
#ifndef BB_TOOLS_FILTER_FILTER_KEYS_H
#define BB_TOOLS_FILTER_FILTER_KEYS_H

#include "tools/keys/key_reader.h"

/* The first two are set by the options --hex and --null. */
struct filter_keys {
    bool is_hex;
    bool is_null; /* keys end with a zero byte instead of a newline */
    /* Not NULL: lines longer than a key can be are skipped and counted here. */
    uint64_t *skipped_count;
};

/* Calls visit for every key, until a call fails, or returns BB_NOT_FOUND to stop. label: the text
 * of the progress bar. No paths: standard input.
 */
BB_MUST_CHECK enum bb_status
filter_keys_visit(const struct filter_keys *keys, const char *label, char *const *paths,
                  size_t path_count, enum bb_status (*visit)(void *context, struct bb_bytes key),
                  void *context);

#endif
