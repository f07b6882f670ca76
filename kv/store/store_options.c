/* See store_options.h. */
#include "kv/store/store_options.h"

#include "kv/options.h"

enum bb_status bb_store_options_take(struct bb_db *db, const struct bb_stored_options *stored)
{
    struct bb_db_options resolved;
    struct bb_stored_options merged;
    enum bb_status status = bb_options_resolve_stored(&db->given, stored, &resolved, &merged);
    if (status != BB_OK)
        return bb_fail_context(status, "%s", db->directory);
    db->options = resolved;
    db->stored_options = db->given.read_only ? *stored : merged;
    db->spare.capacity_bytes = resolved.write_buffer_bytes;
    return BB_OK;
}

void bb_db_stored_options(const struct bb_db *db, struct bb_db_options *ret_options)
{
    *ret_options = (struct bb_db_options){0};
    bb_stored_options_fill(&db->stored_options, ret_options);
}
