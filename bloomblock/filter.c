/* Questions to filters that stand alone: bb/filter.h. The bytes are described in envelope.h. */
#include "bb/filter.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "bloomblock/block_filter.h"
#include "bloomblock/blocked_bloom.h"
#include "bloomblock/bloom.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/domain.h"
#include "bloomblock/envelope.h"
#include "bloomblock/rate.h"
#include "bloomblock/ribbon.h"
#include "bloomblock/ribbon_bits.h"
#include "bloomblock/shard_directory.h"
#include "bloomblock/shard_hash.h"

static const char *const kind_names[] = {
    [BB_FILTER_DEFAULT] = "default",
    [BB_FILTER_NONE] = "none",
    [BB_FILTER_RIBBON] = "ribbon",
    [BB_FILTER_BLOCKED_BLOOM] = "blocked-bloom",
    [BB_FILTER_BLOOM] = "bloom",
    [BB_FILTER_SPLIT_BLOCK] = "split-block",
    [BB_FILTER_COUNTING] = "counting",
    [BB_FILTER_SCALABLE] = "scalable",
    [BB_FILTER_PARTITIONED] = "partitioned",
};

const char *bb_filter_kind_name(enum bb_filter_kind kind)
{
    size_t index = (size_t)kind;
    return index < BB_ARRAY_LENGTH(kind_names) ? kind_names[index] : NULL;
}

enum bb_status bb_filter_kind_find(const char *name, enum bb_filter_kind *ret_kind)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kind_names); i++) {
        if (strcmp(kind_names[i], name) != 0)
            continue;
        if (i > BB_FILTER_BLOOM)
            return bb_fail(BB_UNSUPPORTED, "filters of kind %s are not there yet", name);
        *ret_kind = (enum bb_filter_kind)i;
        return BB_OK;
    }
    return bb_fail(BB_INVALID,
                   "there are no filters of kind \"%s\"; "
                   "there are default, none, ribbon, blocked-bloom, bloom",
                   name);
}

/* --- Views --- */

/* How a view is asked. view->kind points to one. */
struct view_kind {
    bool (*may_contain)(const struct bb_filter_view *view, uint64_t domain_hash);
};

/* The parameters of a view. */
enum {
    SIZE = 0,   /* parameter 0 of the envelope: shards, lines or bits */
    PROBES = 1, /* parameter 1: rank or probes */
    DOMAIN = 2,
    DATA = 3, /* ribbon: offset of the first shard's payload */
};

static bool ribbon_may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    uint32_t shard = bb_shard_of(hash, (uint32_t)view->parameters[SIZE]);
    struct bb_shard_entry entry = bb_shard_directory_entry(view->payload.data, shard);
    if (entry.descriptor == BB_DESCRIPTOR_NONE)
        return true;
    size_t offset = (size_t)(view->parameters[DATA] + entry.offset);
    const uint8_t *payload = view->payload.data + offset;
    size_t readable = view->payload.size - offset;
    uint32_t rank = (uint32_t)view->parameters[PROBES];
    if (bb_ribbon_descriptor_is_bit_exact(entry.descriptor))
        return bb_ribbon_bits_may_contain_bounded(payload, readable, entry.descriptor, rank, hash);
    return bb_ribbon_may_contain_bounded(payload, readable, entry.descriptor, rank, hash);
}

static bool blocked_bloom_may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    return bb_blocked_bloom_may_contain(view->payload.data, (uint32_t)view->parameters[SIZE],
                                        (uint32_t)view->parameters[PROBES], hash);
}

static bool bloom_may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    return bb_bloom_may_contain(view->payload.data, view->parameters[SIZE],
                                (uint32_t)view->parameters[PROBES], hash);
}

static bool everything_may_be_there(const struct bb_filter_view *view, uint64_t hash)
{
    (void)view;
    (void)hash;
    return true;
}

static bool nothing_is_there(const struct bb_filter_view *view, uint64_t hash)
{
    (void)view;
    (void)hash;
    return false;
}

static const struct view_kind *view_kind_of(const struct bb_envelope *envelope)
{
    static const struct view_kind none = {everything_may_be_there};
    static const struct view_kind empty = {nothing_is_there};
    static const struct view_kind ribbon = {ribbon_may_contain};
    static const struct view_kind blocked_bloom = {blocked_bloom_may_contain};
    static const struct view_kind bloom = {bloom_may_contain};
    if (envelope->kind == BB_FILTER_NONE)
        return &none;
    if (envelope->key_count == 0)
        return &empty;
    switch (envelope->kind) {
    case BB_FILTER_RIBBON:
        return &ribbon;
    case BB_FILTER_BLOCKED_BLOOM:
        return &blocked_bloom;
    case BB_FILTER_BLOOM:
        return &bloom;
    default:
        return NULL;
    }
}

enum bb_status bb_filter_view_init(struct bb_filter_view *view, struct bb_bytes bytes)
{
    struct bb_envelope envelope;
    *view = (struct bb_filter_view){0};
    enum bb_status status = bb_envelope_decode(bytes, &envelope);
    if (status != BB_OK)
        return status;
    view->kind = view_kind_of(&envelope);
    view->payload = envelope.payload;
    view->salt = envelope.salt;
    view->parameters[SIZE] = envelope.parameters[0];
    view->parameters[PROBES] = envelope.parameters[1];
    view->parameters[DOMAIN] = bb_domain(BB_DOMAIN_ENVELOPE, envelope.salt);
    if (envelope.kind == BB_FILTER_RIBBON)
        view->parameters[DATA] = bb_shard_directory_size((uint32_t)envelope.parameters[0]);
    return BB_OK;
}

bool bb_filter_may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    const struct view_kind *kind = view->kind;
    if (kind == NULL)
        return true;
    return kind->may_contain(view, bb_domain_hash(view->parameters[DOMAIN], hash));
}

/* --- Descriptions --- */

/* Foreign keys are spread over the shards evenly, however many keys these have. */
static void describe_ribbon(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_block_filter_format format = {.kind = BB_FILTER_RIBBON,
                                            .rank = (uint32_t)envelope->parameters[1]};
    uint32_t shard_count = (uint32_t)envelope->parameters[0];
    const uint8_t *shards = envelope->payload.data + bb_shard_directory_size(shard_count);
    double rates = 0, bits = 0, set_bits = 0;
    info->bits_per_probe = format.rank;
    for (uint32_t i = 0; i < shard_count; i++) {
        struct bb_block_filter_info shard = {0};
        struct bb_shard_entry entry = bb_shard_directory_entry(envelope->payload.data, i);
        size_t size = 0;
        bool possible =
            bb_block_filter_size(&format, entry.descriptor, &size) &&
            bb_block_filter_info(&format, entry.descriptor,
                                 (struct bb_bytes){shards + entry.offset, size}, &shard);
        BB_ASSERT(possible); /* the envelope was checked */
        rates += shard.predicted_rate;
        bits += (double)shard.slots * shard.bits_per_probe;
        set_bits += (double)shard.slots * shard.bits_per_probe * shard.fill;
        if (shard.bits_per_probe > info->bits_per_probe)
            info->bits_per_probe = shard.bits_per_probe;
    }
    info->predicted_rate = rates / shard_count;
    info->fill = bits > 0 ? set_bits / bits : 0;
}

static void describe_bloom(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_bytes payload = envelope->payload;
    double set_bits = (double)bb_bloom_set_count(payload.data, payload.size);
    info->bits_per_probe = (uint32_t)envelope->parameters[1];
    if (envelope->kind == BB_FILTER_BLOCKED_BLOOM) {
        info->fill = set_bits / ((double)payload.size * 8);
        info->predicted_rate = bb_blocked_bloom_rate(
            payload.data, (uint32_t)envelope->parameters[0], info->bits_per_probe);
    } else {
        info->fill = set_bits / (double)envelope->parameters[0];
        info->predicted_rate = pow(info->fill, info->bits_per_probe);
    }
}

enum bb_status bb_filter_info(struct bb_bytes bytes, struct bb_filter_info *ret_info)
{
    struct bb_envelope envelope;
    enum bb_status status = bb_envelope_decode(bytes, &envelope);
    if (status != BB_OK)
        return status;
    struct bb_filter_info info = {.kind = envelope.kind,
                                  .version = envelope.version,
                                  .key_count = envelope.key_count,
                                  .size_bytes = bytes.size,
                                  .target_rate = envelope.target_rate,
                                  .salt = envelope.salt};
    if (info.key_count > 0)
        info.bits_per_key = (double)bytes.size * 8 / (double)info.key_count;
    if (envelope.kind == BB_FILTER_NONE)
        info.predicted_rate = 1;
    else if (info.key_count > 0 && envelope.kind == BB_FILTER_RIBBON)
        describe_ribbon(&envelope, &info);
    else if (info.key_count > 0)
        describe_bloom(&envelope, &info);
    *ret_info = info;
    return BB_OK;
}
