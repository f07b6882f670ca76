/* The options of single calls, as callers built against other versions of the header hand them over
 * (base/sized_struct.h), and as this one has them. */
#ifndef BB_KV_CALL_OPTIONS_H
#define BB_KV_CALL_OPTIONS_H

#include "bb/db.h"
#include "bb/db_files.h"

/* struct bb_get_options, with what its tables are asked by in one piece. */
struct bb_get_call {
    const struct bb_snapshot *snapshot;
    struct bb_read_options read;
    struct bb_read_stats *stats;
};

/* NULL: defaults, by all three. BB_INVALID: see bb_sized_struct_copy. */
BB_MUST_CHECK enum bb_status bb_call_options_get(const struct bb_get_options *options,
                                                 struct bb_get_call *ret_call);
BB_MUST_CHECK enum bb_status bb_call_options_write(const struct bb_write_options *options,
                                                   bool *ret_sync);
BB_MUST_CHECK enum bb_status bb_call_options_scrub(const struct bb_db_scrub_options *options,
                                                   struct bb_db_scrub_options *ret_known);
BB_MUST_CHECK enum bb_status bb_call_options_ingest(const struct bb_ingest_options *options,
                                                    bool *ret_verify);

#endif
