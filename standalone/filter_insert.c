/* Keys that come to a filter which is finished already (bb/filter.h). */
#include "base/buf.h"
#include "base/status.h"
#include "standalone/kind/kind.h"

static enum bb_status refuse(enum bb_filter_kind kind)
{
    const char *name = bb_filter_kind_name(kind);
    if (kind == BB_FILTER_SCALABLE || kind == BB_FILTER_COUNTING)
        return bb_fail(BB_UNSUPPORTED,
                       "a %s filter takes keys by bb_%s_filter_decode and bb_%s_filter_add", name,
                       name, name);
    return bb_fail(BB_UNSUPPORTED,
                   "a %s filter is made for its keys as a whole: no key can be inserted", name);
}

static enum bb_status check_insertable(const struct bb_envelope *envelope)
{
    const char *name = bb_filter_kind_name(envelope->kind);
    if (bb_kind_ops(envelope->kind)->add == NULL)
        return refuse(envelope->kind);
    if (envelope->key_count == 0)
        return bb_fail(BB_INVALID,
                       "a %s filter of no keys has no space: build one of the new keys instead",
                       name);
    return BB_OK;
}

/* How many were not there before: the others change nothing. */
static uint64_t insert_all(const struct bb_envelope *envelope, const struct bb_filter_view *view,
                           uint8_t *payload, const uint64_t *hashes, size_t count)
{
    const struct bb_kind_ops *ops = bb_kind_ops(envelope->kind);
    uint64_t inserted = 0;
    for (size_t i = 0; i < count; i++) {
        if (bb_filter_may_contain(view, hashes[i]))
            continue;
        ops->add(envelope->parameters, payload,
                 bb_kind_hash(ops, view->parameters[BB_VIEW_DOMAIN], hashes[i]));
        inserted++;
    }
    return inserted;
}

enum bb_status bb_filter_insert(struct bb_buf *envelope, const uint64_t *hashes, size_t count,
                                uint64_t *ret_inserted)
{
    struct bb_envelope fields;
    struct bb_filter_view view;
    enum bb_status status = bb_envelope_decode(bb_buf_bytes(envelope), &fields);
    if (status == BB_OK)
        status = check_insertable(&fields);
    if (status == BB_OK && count > BB_FILTER_KEY_COUNT_MAX - fields.key_count)
        status = bb_fail(BB_TOO_LARGE, "%zu keys for a filter of %llu, the limit is %llu", count,
                         (unsigned long long)fields.key_count,
                         (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    if (status == BB_OK)
        status = bb_filter_view_init(&view, bb_buf_bytes(envelope));
    if (status != BB_OK)
        return status;
    uint64_t inserted =
        insert_all(&fields, &view, envelope->data + BB_ENVELOPE_HEADER_SIZE, hashes, count);
    bb_envelope_recount(envelope, fields.key_count + inserted);
    *ret_inserted = inserted;
    return BB_OK;
}
