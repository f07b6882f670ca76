/* Probes of standalone filters: bb/filter.h. envelope.h describes the bytes, kind.h the
 * differences between kinds. */
#include "bb/filter.h"

#include "standalone/kind/kind.h"

/* --- Views --- */

static bool nothing_is_there(const struct bb_filter_view *view, uint64_t hash)
{
    (void)view;
    (void)hash;
    return false;
}

/* Its numbers are in their places already. */
static void set_probe(struct bb_filter_view *view, const struct bb_envelope *envelope)
{
    static const struct bb_kind_probe empty = {.may_contain = nothing_is_there};
    const struct bb_kind_ops *ops = bb_kind_ops(envelope->kind);
    bool is_empty = bb_kind_is_empty(ops, envelope);
    view->kind = is_empty ? &empty : &ops->probe;
    if (!is_empty && ops->prepare != NULL)
        ops->prepare(envelope, view);
    bb_kind_view_use(view, bb_cpu_best());
}

enum bb_status bb_filter_view_init(struct bb_filter_view *view, struct bb_bytes bytes)
{
    struct bb_envelope envelope;
    *view = (struct bb_filter_view){0};
    enum bb_status status = bb_envelope_decode(bytes, &envelope);
    if (status != BB_OK)
        return status;
    view->payload = envelope.payload;
    view->salt = envelope.salt;
    view->parameters[BB_VIEW_SIZE] = envelope.parameters[0];
    view->parameters[BB_VIEW_PROBES] = envelope.parameters[1];
    view->parameters[BB_VIEW_DOMAIN] = bb_domain(BB_DOMAIN_ENVELOPE, envelope.salt);
    set_probe(view, &envelope);
    return BB_OK;
}

bool bb_filter_may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    const struct bb_kind_probe *probe = view->kind;
    return probe == NULL || probe->may_contain(view, hash);
}

/* --- Descriptions --- */

enum bb_status bb_filter_info(struct bb_bytes bytes, struct bb_filter_info *ret_info)
{
    struct bb_envelope envelope;
    enum bb_status status = bb_envelope_decode(bytes, &envelope);
    if (status != BB_OK)
        return status;
    *ret_info = bb_kind_describe(&envelope);
    return BB_OK;
}
