/* Filters from which keys can be removed (bb/filter_sets.h): counting_bloom.h in memory, with its
 * way into an envelope and back. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/status.h"
#include "bloomblock/bloom/bloom.h"
#include "standalone/bloom/counting_bloom.h"
#include "standalone/kind/kind.h"
#include "bloomblock/sizing/rate.h"

struct bb_counting_filter {
    struct bb_envelope fields; /* payload: the counters */
    uint64_t domain;
    uint8_t *counters; /* owned */
};

static uint64_t counter_count(const struct bb_counting_filter *filter)
{
    return filter->fields.parameters[0];
}

static uint32_t probes(const struct bb_counting_filter *filter)
{
    return (uint32_t)filter->fields.parameters[1];
}

/* A filter whose counters are all 0. fields: all fields except the payload. */
static enum bb_status create(const struct bb_envelope *fields, struct bb_counting_filter **ret)
{
    size_t size = bb_counting_bloom_size(fields->parameters[0]);
    struct bb_counting_filter *filter = bb_alloc_zeroed(1, sizeof(*filter));
    uint8_t *counters = bb_alloc_zeroed(size, 1);
    if (filter == NULL || counters == NULL) {
        bb_free(filter);
        bb_free(counters);
        return bb_fail(BB_NO_MEMORY, "no memory for a counting filter of %zu bytes", size);
    }
    filter->fields = *fields;
    filter->fields.payload = (struct bb_bytes){counters, size};
    filter->domain = bb_domain(BB_DOMAIN_ENVELOPE, fields->salt);
    filter->counters = counters;
    *ret = filter;
    return BB_OK;
}

enum bb_status bb_counting_filter_create(const struct bb_counting_filter_options *options,
                                         struct bb_counting_filter **ret_filter)
{
    struct bb_counting_filter_options resolved =
        options == NULL ? (struct bb_counting_filter_options){0} : *options;
    struct bb_envelope fields = {
        .kind = BB_FILTER_COUNTING, .target_rate = resolved.target_rate, .salt = resolved.salt};
    if (fields.target_rate == 0)
        fields.target_rate = BB_ENVELOPE_RATE_DEFAULT;
    if (resolved.key_count == 0)
        return bb_fail(BB_INVALID, "a counting filter is made for a number of keys, which is 0");
    enum bb_status status = bb_envelope_check_plan(resolved.key_count, fields.target_rate);
    if (status != BB_OK)
        return status;
    fields.parameters[1] =
        bb_rate_bloom_best_probes(resolved.key_count, fields.target_rate, &fields.parameters[0]);
    return create(&fields, ret_filter);
}

void bb_counting_filter_destroy(struct bb_counting_filter *filter)
{
    if (filter == NULL)
        return;
    bb_free(filter->counters);
    bb_free(filter);
}

enum bb_status bb_counting_filter_add(struct bb_counting_filter *filter, uint64_t hash)
{
    if (filter->fields.key_count >= BB_FILTER_KEY_COUNT_MAX)
        return bb_fail(BB_TOO_LARGE, "a counting filter has %llu keys, which is the limit",
                       (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    bb_counting_bloom_add(filter->counters, counter_count(filter), probes(filter),
                          bb_domain_hash(filter->domain, hash));
    filter->fields.key_count++;
    return BB_OK;
}

enum bb_status bb_counting_filter_remove(struct bb_counting_filter *filter, uint64_t hash)
{
    if (filter->fields.key_count == 0 ||
        !bb_counting_bloom_remove(filter->counters, counter_count(filter), probes(filter),
                                  bb_domain_hash(filter->domain, hash)))
        return bb_fail(BB_NOT_FOUND, "the key with hash %016llx is certainly not in the filter",
                       (unsigned long long)hash);
    filter->fields.key_count--;
    return BB_OK;
}

bool bb_counting_filter_may_contain(const struct bb_counting_filter *filter, uint64_t hash)
{
    return bb_counting_bloom_may_contain(filter->counters, counter_count(filter), probes(filter),
                                         bb_domain_hash(filter->domain, hash));
}

void bb_counting_filter_info(const struct bb_counting_filter *filter,
                             struct bb_filter_info *ret_info)
{
    *ret_info = bb_kind_describe(&filter->fields);
}

enum bb_status bb_counting_filter_encode(const struct bb_counting_filter *filter,
                                         struct bb_buf *envelope)
{
    return bb_envelope_append(&filter->fields, envelope);
}

enum bb_status bb_counting_filter_decode(struct bb_bytes envelope,
                                         struct bb_counting_filter **ret_filter)
{
    struct bb_envelope fields;
    struct bb_counting_filter *filter = NULL;
    enum bb_status status = bb_envelope_decode_kind(envelope, BB_FILTER_COUNTING, &fields);
    if (status == BB_OK)
        status = create(&fields, &filter);
    if (status != BB_OK)
        return status;
    memcpy(filter->counters, fields.payload.data, fields.payload.size);
    *ret_filter = filter;
    return BB_OK;
}

enum bb_status bb_counting_filter_encode_bloom(const struct bb_counting_filter *filter,
                                               struct bb_buf *envelope)
{
    struct bb_envelope fields = filter->fields;
    struct bb_buf bits = {0};
    uint8_t *space = NULL;
    enum bb_status status = BB_OK;
    fields.kind = BB_FILTER_BLOOM;
    if (fields.key_count == 0)
        fields.parameters[0] = fields.parameters[1] = 0;
    else
        status = bb_buf_extend(&bits, bb_bloom_size(fields.parameters[0]), &space);
    if (space != NULL)
        bb_counting_bloom_fold(filter->counters, filter->fields.payload.size, 1, space);
    fields.payload = bb_buf_bytes(&bits);
    if (status == BB_OK)
        status = bb_envelope_append(&fields, envelope);
    bb_buf_deinit(&bits);
    return status;
}
