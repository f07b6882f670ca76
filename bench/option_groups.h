/* The stores that option_bench compares: in each group the first store has the group's reference
 * options, and each other store differs from it in one expert option. */
#ifndef BB_BENCH_OPTION_GROUPS_H
#define BB_BENCH_OPTION_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "bb/db_options.h"

struct option_store {
    const char *name; /* the option that differs, and its value */
    struct bb_db_options options;
    bool is_plain; /* on a file system that offers no windows: each put is a write */
};

/* What happens before the reads. */
enum option_load {
    OPTION_LOAD_PUTS,    /* every key, once, in random order */
    OPTION_LOAD_COMPACT, /* and a full compaction */
    OPTION_LOAD_DELETES, /* and then half of the keys are deleted, and the others put again */
};

struct option_group {
    const char *name;
    const char *text;
    enum option_load load;
    const struct option_store *stores;
    size_t store_count;
};

/* Static. */
const struct option_group *option_groups(size_t *ret_count);

#endif
