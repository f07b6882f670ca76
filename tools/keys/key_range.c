/* See key_range.h. */
#include "tools/keys/key_range.h"

#include "base/buf.h"
#include "base/status.h"
#include "tools/keys/key_argument.h"

enum bb_status key_range_decode(struct key_range *range, bool is_hex)
{
    if (range->prefix != NULL && (range->from != NULL || range->to != NULL))
        return bb_fail(BB_INVALID, "option --prefix excludes --from and --to");
    enum bb_status status = BB_OK;
    const char *low = range->prefix != NULL ? range->prefix : range->from;
    if (low != NULL)
        status = key_argument_decode(low, is_hex, &range->low);
    if (status == BB_OK && range->to != NULL)
        status = key_argument_decode(range->to, is_hex, &range->high);
    return status;
}

static enum bb_status create_iter(const struct key_range *range, struct bb_db *db,
                                  bool is_keys_only, struct bb_db_iter **ret_iter)
{
    struct bb_get_options options = {.bypass_fill = true};
    struct bb_bytes low = bb_buf_bytes(&range->low);
    struct bb_bytes high = bb_buf_bytes(&range->high);
    const struct bb_key_range keys = {.low = range->from != NULL ? &low : NULL,
                                      .high = range->to != NULL ? &high : NULL};
    if (range->prefix != NULL)
        return is_keys_only ? bb_db_iter_create_prefix_keys(db, &options, low, ret_iter)
                            : bb_db_iter_create_prefix(db, &options, low, ret_iter);
    return is_keys_only ? bb_db_iter_create_keys(db, &options, &keys, ret_iter)
                        : bb_db_iter_create_range(db, &options, &keys, ret_iter);
}

enum bb_status key_range_iter_create(const struct key_range *range, struct bb_db *db,
                                     struct bb_db_iter **ret_iter)
{
    return create_iter(range, db, false, ret_iter);
}

enum bb_status key_range_iter_create_keys(const struct key_range *range, struct bb_db *db,
                                          struct bb_db_iter **ret_iter)
{
    return create_iter(range, db, true, ret_iter);
}

bool key_range_is_everything(const struct key_range *range)
{
    return range->from == NULL && range->to == NULL && range->prefix == NULL;
}

void key_range_deinit(struct key_range *range)
{
    bb_buf_deinit(&range->low);
    bb_buf_deinit(&range->high);
}
