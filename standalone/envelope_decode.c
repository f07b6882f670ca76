/* Checking an envelope from any source: first the frame (envelope.c), then, by the rules of its
 * kind, the parameters and the payload. */
#include "standalone/kind/kind.h"

#include "base/status.h"

static enum bb_status check_kind(const struct bb_envelope *envelope)
{
    if (envelope->kind < BB_FILTER_NONE)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_AT_KIND, "kind %d is not stored",
                          (int)envelope->kind);
    if (bb_kind_ops(envelope->kind) == NULL)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: at offset %d: has kind %d, which this library does not read",
                       bb_envelope_place.file, BB_ENVELOPE_AT_KIND, (int)envelope->kind);
    return BB_OK;
}

static enum bb_status check_target(const struct bb_envelope *envelope)
{
    double rate = envelope->target_rate;
    bool possible = rate >= BB_FILTER_RATE_MIN && rate <= BB_FILTER_RATE_MAX;
    if (rate == 1)
        possible = bb_kind_ops(envelope->kind)->may_have_no_target;
    else if (envelope->kind == BB_FILTER_NONE)
        possible = false;
    if (!possible)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_AT_TARGET_RATE, "target rate is %g", rate);
    return BB_OK;
}

static enum bb_status check_payload(const struct bb_envelope *envelope)
{
    const struct bb_kind_ops *ops = bb_kind_ops(envelope->kind);
    return bb_kind_is_empty(ops, envelope) ? bb_envelope_check_without_payload(envelope)
                                           : ops->check(envelope);
}

enum bb_status bb_envelope_decode(struct bb_bytes bytes, struct bb_envelope *ret_envelope)
{
    struct bb_envelope envelope;
    enum bb_status status = bb_envelope_decode_frame(bytes, &envelope);
    if (status == BB_OK)
        status = check_kind(&envelope);
    if (status == BB_OK)
        status = check_target(&envelope);
    if (status == BB_OK)
        status = check_payload(&envelope);
    if (status == BB_OK)
        *ret_envelope = envelope;
    return status;
}

enum bb_status bb_envelope_decode_kind(struct bb_bytes bytes, enum bb_filter_kind kind,
                                       struct bb_envelope *ret_envelope)
{
    struct bb_envelope envelope;
    enum bb_status status = bb_envelope_decode(bytes, &envelope);
    if (status != BB_OK)
        return status;
    if (envelope.kind != kind)
        return bb_fail(BB_INVALID, "the filter is of kind %s, expected %s",
                       bb_filter_kind_name(envelope.kind), bb_filter_kind_name(kind));
    *ret_envelope = envelope;
    return BB_OK;
}
