/* Twenty sets of options that must not change any result. Each name states the difference. */
#ifndef BB_TESTS_MODEL_OPTION_SETS_H
#define BB_TESTS_MODEL_OPTION_SETS_H

#include "bb/db.h"

struct option_set {
    const char *name;
    /* Changes the options of the first set; NULL: no change. */
    void (*change)(struct bb_db_options *options);
    bool has_indexes; /* the store has an index of every kind */
};

extern const struct option_set option_sets[];
extern const size_t option_set_count;

/* Small buffers, blocks and tables, all work on the caller's thread. */
struct bb_db_options option_set_options(const struct option_set *set,
                                        struct bb_file_system *file_system);

#endif
