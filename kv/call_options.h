/* The options of single calls. */
#ifndef BB_KV_CALL_OPTIONS_H
#define BB_KV_CALL_OPTIONS_H

#include "bb/db.h"

/* struct bb_get_options, with the options for its tables in one field. */
struct bb_get_call {
    const struct bb_snapshot *snapshot;
    struct bb_read_options read;
    struct bb_read_stats *stats;
};

/* NULL: the defaults. */
static inline struct bb_get_call bb_call_options_get(const struct bb_get_options *options)
{
    if (options == NULL)
        return (struct bb_get_call){0};
    return (struct bb_get_call){
        .snapshot = options->snapshot,
        .read = {.ignore_filters = options->ignore_filters,
                 .account_avoided = options->account_avoided,
                 .bypass_fill = options->bypass_fill},
        .stats = options->stats,
    };
}

#endif
