/* The options of single calls. Callers built against other versions of the header pass them in
 * their own form (base/sized_struct.h); these functions convert them to this version's. */
#ifndef BB_KV_CALL_OPTIONS_H
#define BB_KV_CALL_OPTIONS_H

#include "bb/db.h"
#include "bb/db_files.h"

/* struct bb_get_options, with the options for its tables in one field. */
struct bb_get_call {
    const struct bb_snapshot *snapshot;
    struct bb_read_options read;
    struct bb_read_stats *stats;
};

/* NULL: defaults. Errors: BB_INVALID, see bb_sized_struct_copy. */
BB_MUST_CHECK enum bb_status bb_call_options_get(const struct bb_get_options *options,
                                                 struct bb_get_call *ret_call);
BB_MUST_CHECK enum bb_status bb_call_options_write(const struct bb_write_options *options,
                                                   bool *ret_sync);
BB_MUST_CHECK enum bb_status bb_call_options_scrub(const struct bb_db_scrub_options *options,
                                                   struct bb_db_scrub_options *ret_known);
BB_MUST_CHECK enum bb_status bb_call_options_ingest(const struct bb_ingest_options *options,
                                                    bool *ret_verify);

#endif
