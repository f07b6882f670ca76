/* A filter that keys are added to, or removed from. It takes the memory of the filter and of a
 * batch, for any number of keys. Threads: one. */
#ifndef BB_TOOLS_FILTER_FILTER_GROWTH_H
#define BB_TOOLS_FILTER_FILTER_GROWTH_H

#include "bb/filter.h"

struct filter_growth {
    struct bb_filter_options options;    /* of the filter, with the parameters for its size */
    struct bb_counting_filter *counting; /* of that kind; NULL: others */
    struct bb_scalable_filter *scalable; /* of that kind; NULL: others */
    struct bb_buf envelope; /* others: of all batches so far, or empty; all kinds: when finished */
    struct bb_buf hashes;   /* others: uint64_t each, the batch */
    uint64_t read_count;    /* keys received */
    uint64_t new_count;     /* of these, keys that the filter ruled out before */
    uint64_t absent_count;  /* keys to remove that were certainly absent */
};

/* True if keys can be added to a finished filter of the kind. */
bool filter_growth_takes(enum bb_filter_kind kind);

/* Whether it is sized for a number of keys, beyond which its rate exceeds the target. */
bool filter_growth_has_space(enum bb_filter_kind kind);

/* A new filter sized for a number of keys. A scalable one starts with this size and grows with the
 * tightening ratio, 0 for its default. BB_UNSUPPORTED, with the reason, for kinds that are built
 * from all keys together. Owned in any case: filter_growth_deinit. */
BB_MUST_CHECK enum bb_status filter_growth_init(struct filter_growth *growth,
                                                const struct bb_filter_options *options,
                                                uint64_t planned_key_count, double ratio);
/* Copies an existing filter; planned_key_count sizes it if it has no keys yet. Fails as
 * filter_growth_init does. Owned in any case. */
BB_MUST_CHECK enum bb_status filter_growth_load(struct filter_growth *growth,
                                                struct bb_bytes envelope,
                                                uint64_t planned_key_count);
void filter_growth_deinit(struct filter_growth *growth);

BB_MUST_CHECK enum bb_status filter_growth_add(struct filter_growth *growth, uint64_t hash);

/* BB_UNSUPPORTED, with the reason, when keys cannot be removed from filters of the kind. */
BB_MUST_CHECK enum bb_status filter_growth_check_removable(enum bb_filter_kind kind);
/* Removes a key. Certainly absent keys are counted instead. Only for kinds that pass the check
 * above. */
BB_MUST_CHECK enum bb_status filter_growth_remove(struct filter_growth *growth, uint64_t hash);

/* growth->envelope then holds the result. */
BB_MUST_CHECK enum bb_status filter_growth_finish(struct filter_growth *growth);

#endif
