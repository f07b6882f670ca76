/* Filters that grow (bb/filter_sets.h): scalable_bloom.h with a salt, and its way into an envelope.
 */
#include "base/alloc.h"
#include "base/status.h"
#include "bloomblock/domain.h"
#include "standalone/bloom/scalable_bloom.h"

#define FIRST_KEYS_DEFAULT 1024

struct bb_scalable_filter {
    uint64_t salt;
    uint64_t domain;
    struct bb_scalable_bloom bloom;
};

static enum bb_status resolve(struct bb_scalable_filter_options *options)
{
    if (options->first_key_count == 0)
        options->first_key_count = FIRST_KEYS_DEFAULT;
    if (options->target_rate == 0)
        options->target_rate = BB_ENVELOPE_RATE_DEFAULT;
    if (options->ratio == 0)
        options->ratio = BB_SCALABLE_RATIO_DEFAULT;
    if (options->first_key_count < BB_SCALABLE_FIRST_KEYS_MIN)
        return bb_fail(BB_INVALID,
                       "the first stage of a scalable filter is for %llu keys, at "
                       "least %d are allowed",
                       (unsigned long long)options->first_key_count, BB_SCALABLE_FIRST_KEYS_MIN);
    if (!(options->ratio >= BB_SCALABLE_RATIO_MIN && options->ratio <= BB_SCALABLE_RATIO_MAX))
        return bb_fail(BB_INVALID, "the tightening ratio is %g, allowed are %g to %g",
                       options->ratio, BB_SCALABLE_RATIO_MIN, BB_SCALABLE_RATIO_MAX);
    return bb_envelope_check_plan(options->first_key_count, options->target_rate);
}

static enum bb_status create(uint64_t salt, struct bb_scalable_filter **ret_filter)
{
    struct bb_scalable_filter *filter = bb_alloc_zeroed(1, sizeof(*filter));
    if (filter == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a scalable filter (%zu bytes)",
                       sizeof(*filter));
    filter->salt = salt;
    filter->domain = bb_domain(BB_DOMAIN_ENVELOPE, salt);
    *ret_filter = filter;
    return BB_OK;
}

enum bb_status bb_scalable_filter_create(const struct bb_scalable_filter_options *options,
                                         struct bb_scalable_filter **ret_filter)
{
    struct bb_scalable_filter_options resolved =
        options == NULL ? (struct bb_scalable_filter_options){0} : *options;
    struct bb_scalable_filter *filter = NULL;
    enum bb_status status = resolve(&resolved);
    if (status == BB_OK)
        status = create(resolved.salt, &filter);
    if (status == BB_OK)
        status = bb_scalable_bloom_init(&filter->bloom, resolved.target_rate, resolved.ratio,
                                        resolved.first_key_count);
    if (status == BB_OK)
        *ret_filter = filter;
    else
        bb_scalable_filter_destroy(filter);
    return status;
}

void bb_scalable_filter_destroy(struct bb_scalable_filter *filter)
{
    if (filter == NULL)
        return;
    bb_scalable_bloom_deinit(&filter->bloom);
    bb_free(filter);
}

enum bb_status bb_scalable_filter_add(struct bb_scalable_filter *filter, uint64_t hash,
                                      bool *ret_added)
{
    uint64_t domain_hash = bb_domain_hash(filter->domain, hash);
    bool added = !bb_scalable_bloom_may_contain(&filter->bloom, domain_hash);
    enum bb_status status = added ? bb_scalable_bloom_add(&filter->bloom, domain_hash) : BB_OK;
    if (status == BB_OK)
        *ret_added = added;
    return status;
}

bool bb_scalable_filter_may_contain(const struct bb_scalable_filter *filter, uint64_t hash)
{
    return bb_scalable_bloom_may_contain(&filter->bloom, bb_domain_hash(filter->domain, hash));
}

uint64_t bb_scalable_filter_key_count(const struct bb_scalable_filter *filter)
{
    return bb_scalable_bloom_key_count(&filter->bloom);
}

enum bb_status bb_scalable_filter_encode(const struct bb_scalable_filter *filter,
                                         struct bb_buf *envelope)
{
    size_t start = envelope->size;
    struct bb_envelope fields = {.kind = BB_FILTER_SCALABLE,
                                 .salt = filter->salt,
                                 .key_count = bb_scalable_bloom_key_count(&filter->bloom),
                                 .target_rate = filter->bloom.target_rate,
                                 .parameters = {filter->bloom.first_key_count, BB_SCALABLE_GROWTH}};
    enum bb_status status = bb_envelope_encode(&fields, envelope);
    if (status == BB_OK)
        status = bb_scalable_bloom_encode(&filter->bloom, envelope);
    return bb_envelope_finish(envelope, start, status);
}

enum bb_status bb_scalable_filter_decode(struct bb_bytes envelope,
                                         struct bb_scalable_filter **ret_filter)
{
    struct bb_envelope fields;
    struct bb_scalable_filter *filter = NULL;
    enum bb_status status = bb_envelope_decode_kind(envelope, BB_FILTER_SCALABLE, &fields);
    if (status == BB_OK)
        status = create(fields.salt, &filter);
    if (status == BB_OK)
        status = bb_scalable_bloom_decode(&filter->bloom, &fields);
    if (status == BB_OK)
        *ret_filter = filter;
    else
        bb_scalable_filter_destroy(filter);
    return status;
}
