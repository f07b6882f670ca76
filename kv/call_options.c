/* See call_options.h. */
#include "kv/call_options.h"

#include "base/sized_struct.h"

static const struct bb_sized_struct get_struct = {
    "struct bb_get_options", sizeof(struct bb_get_options), sizeof(struct bb_get_options)};
static const struct bb_sized_struct write_struct = {
    "struct bb_write_options", sizeof(struct bb_write_options), sizeof(struct bb_write_options)};
static const struct bb_sized_struct ingest_struct = {
    "struct bb_ingest_options", sizeof(struct bb_ingest_options), sizeof(struct bb_ingest_options)};
static const struct bb_sized_struct scrub_struct = {"struct bb_db_scrub_options",
                                                    sizeof(struct bb_db_scrub_options),
                                                    sizeof(struct bb_db_scrub_options)};

enum bb_status bb_call_options_get(const struct bb_get_options *options,
                                   struct bb_get_call *ret_call)
{
    struct bb_get_options known = {.struct_size = sizeof(known)};
    enum bb_status status =
        options == NULL ? BB_OK : bb_sized_struct_copy(&get_struct, options, &known);
    if (status != BB_OK)
        return status;
    *ret_call = (struct bb_get_call){
        .snapshot = known.snapshot,
        .read = {.ignore_filters = known.ignore_filters,
                 .account_avoided = known.account_avoided,
                 .bypass_fill = known.bypass_fill},
        .stats = known.stats,
    };
    return BB_OK;
}

enum bb_status bb_call_options_write(const struct bb_write_options *options, bool *ret_sync)
{
    struct bb_write_options known = {.struct_size = sizeof(known)};
    enum bb_status status =
        options == NULL ? BB_OK : bb_sized_struct_copy(&write_struct, options, &known);
    if (status == BB_OK)
        *ret_sync = known.sync;
    return status;
}

enum bb_status bb_call_options_scrub(const struct bb_db_scrub_options *options,
                                     struct bb_db_scrub_options *ret_known)
{
    struct bb_db_scrub_options known = {.struct_size = sizeof(known)};
    enum bb_status status =
        options == NULL ? BB_OK : bb_sized_struct_copy(&scrub_struct, options, &known);
    if (status == BB_OK)
        *ret_known = known;
    return status;
}

enum bb_status bb_call_options_ingest(const struct bb_ingest_options *options, bool *ret_verify)
{
    struct bb_ingest_options known = {.struct_size = sizeof(known)};
    enum bb_status status =
        options == NULL ? BB_OK : bb_sized_struct_copy(&ingest_struct, options, &known);
    if (status == BB_OK)
        *ret_verify = known.verify;
    return status;
}
