/* Filters that stand alone: collecting hashes and writing the envelope (bb/filter.h). */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/status.h"
#include "bb/filter.h"
#include "bloomblock/blocked_bloom.h"
#include "bloomblock/bloom.h"
#include "bloomblock/domain.h"
#include "bloomblock/envelope.h"
#include "bloomblock/hash_sort.h"
#include "bloomblock/rate.h"
#include "bloomblock/shard.h"
#include "bloomblock/shard_directory.h"

#define TARGET_RATE_DEFAULT 0.01
#define CAPACITY_MIN        1024

struct bb_filter_builder {
    struct bb_filter_options options; /* resolved */
    uint64_t domain;
    uint64_t *hashes; /* owned; domain hashes */
    size_t count;
    size_t capacity;
    enum bb_status status; /* the first failure */
};

static enum bb_status resolve(struct bb_filter_options *options)
{
    const char *name = bb_filter_kind_name(options->kind);
    if (name == NULL)
        return bb_fail(BB_INVALID, "there are no filters of kind %d", (int)options->kind);
    if (options->kind > BB_FILTER_BLOOM)
        return bb_fail(BB_UNSUPPORTED, "filters of kind %s are not there yet", name);
    if (options->kind == BB_FILTER_DEFAULT)
        options->kind = BB_FILTER_RIBBON;
    if (options->target_rate == 0)
        options->target_rate = TARGET_RATE_DEFAULT;
    if (!(options->target_rate >= BB_FILTER_RATE_MIN && options->target_rate <= BB_FILTER_RATE_MAX))
        return bb_fail(BB_INVALID, "the filter's target rate is %g, allowed are %g to %g",
                       options->target_rate, BB_FILTER_RATE_MIN, BB_FILTER_RATE_MAX);
    if (options->kind == BB_FILTER_NONE)
        options->target_rate = 1;
    return BB_OK;
}

enum bb_status bb_filter_builder_create(const struct bb_filter_options *options,
                                        struct bb_filter_builder **ret_builder)
{
    struct bb_filter_options resolved = *options;
    enum bb_status status = resolve(&resolved);
    if (status != BB_OK)
        return status;
    struct bb_filter_builder *builder = bb_alloc_zeroed(1, sizeof(*builder));
    if (builder == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a filter builder");
    builder->options = resolved;
    builder->domain = bb_domain(BB_DOMAIN_ENVELOPE, resolved.salt);
    *ret_builder = builder;
    return BB_OK;
}

void bb_filter_builder_destroy(struct bb_filter_builder *builder)
{
    if (builder == NULL)
        return;
    bb_free(builder->hashes);
    bb_free(builder);
}

static enum bb_status grow(struct bb_filter_builder *builder)
{
    if (builder->count >= BB_FILTER_KEY_COUNT_MAX)
        return bb_fail(BB_TOO_LARGE, "a filter has more than %llu keys",
                       (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    size_t capacity = builder->capacity == 0 ? CAPACITY_MIN : builder->capacity * 2;
    uint64_t *hashes = bb_realloc(builder->hashes, capacity * sizeof(hashes[0]));
    if (hashes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu hashes of a filter", capacity);
    builder->hashes = hashes;
    builder->capacity = capacity;
    return BB_OK;
}

enum bb_status bb_filter_builder_add(struct bb_filter_builder *builder, uint64_t hash)
{
    if (builder->status != BB_OK)
        return builder->status;
    uint64_t domain_hash = bb_domain_hash(builder->domain, hash);
    if (builder->count > 0 && builder->hashes[builder->count - 1] == domain_hash)
        return BB_OK;
    if (builder->count == builder->capacity)
        builder->status = grow(builder);
    if (builder->status != BB_OK)
        return builder->status;
    builder->hashes[builder->count++] = domain_hash;
    return BB_OK;
}

/* --- Payloads --- */

static enum bb_status append_bloom(const struct bb_filter_builder *builder,
                                   const struct bb_envelope *envelope, struct bb_buf *buf)
{
    uint64_t bits = envelope->parameters[0];
    uint8_t *payload = NULL;
    enum bb_status status = bb_buf_extend(buf, bb_bloom_size(bits), &payload);
    for (size_t i = 0; i < builder->count && status == BB_OK; i++)
        bb_bloom_add(payload, bits, (uint32_t)envelope->parameters[1], builder->hashes[i]);
    return status;
}

static enum bb_status append_blocked_bloom(const struct bb_filter_builder *builder,
                                           const struct bb_envelope *envelope, struct bb_buf *buf)
{
    uint32_t lines = (uint32_t)envelope->parameters[0];
    uint8_t *payload = NULL;
    enum bb_status status = bb_buf_extend(buf, (size_t)lines * BB_LINE_SIZE, &payload);
    for (size_t i = 0; i < builder->count && status == BB_OK; i++)
        bb_blocked_bloom_add(payload, lines, (uint32_t)envelope->parameters[1], builder->hashes[i]);
    return status;
}

/* The shards behind the directory, whose room begins at offset directory of the buffer. */
static enum bb_status append_shards(const struct bb_filter_builder *builder,
                                    struct bb_shard_builder *shards, uint32_t shard_count,
                                    size_t directory, struct bb_buf *buf)
{
    size_t data = buf->size;
    double weight = (double)builder->count / shard_count;
    size_t start = 0;
    for (uint32_t i = 0; i < shard_count; i++) {
        struct bb_shard_entry entry = {.offset = buf->size - data};
        size_t end = bb_shard_end(builder->hashes, builder->count, start, i, shard_count);
        enum bb_status status = bb_shard_encode(shards, builder->hashes + start, end - start,
                                                weight, buf, &entry.descriptor);
        if (status != BB_OK)
            return status;
        bb_shard_directory_store(buf->data + directory, i, entry);
        start = end;
    }
    return BB_OK;
}

static enum bb_status append_ribbon(const struct bb_filter_builder *builder,
                                    const struct bb_envelope *envelope, struct bb_buf *buf)
{
    uint32_t shard_count = (uint32_t)envelope->parameters[0];
    struct bb_block_filter_format format;
    size_t directory = buf->size;
    uint8_t *room = NULL;
    struct bb_shard_builder *shards = bb_alloc(sizeof(*shards));
    enum bb_status status =
        shards == NULL
            ? bb_fail(BB_NO_MEMORY, "no memory for a filter's solver (%zu bytes)", sizeof(*shards))
            : bb_block_filter_format_init(&format, BB_FILTER_RIBBON, envelope->target_rate, 0);
    if (status == BB_OK)
        status = bb_buf_extend(buf, (size_t)bb_shard_directory_size(shard_count), &room);
    if (status == BB_OK) {
        bb_shard_builder_init(shards, &format);
        status = append_shards(builder, shards, shard_count, directory, buf);
    }
    bb_free(shards);
    return status;
}

static enum bb_status append_payload(const struct bb_filter_builder *builder,
                                     const struct bb_envelope *envelope, struct bb_buf *buf)
{
    if (envelope->parameters[0] == 0) /* no filter, or no keys */
        return BB_OK;
    switch (envelope->kind) {
    case BB_FILTER_RIBBON:
        return append_ribbon(builder, envelope, buf);
    case BB_FILTER_BLOCKED_BLOOM:
        return append_blocked_bloom(builder, envelope, buf);
    default:
        return append_bloom(builder, envelope, buf);
    }
}

/* Parameters that meet the target for that many keys. */
static void choose_parameters(struct bb_envelope *envelope)
{
    double target = envelope->target_rate;
    uint64_t key_count = envelope->key_count;
    struct bb_rate_line line;
    if (envelope->kind == BB_FILTER_RIBBON) {
        envelope->parameters[0] = bb_shard_count(key_count);
        envelope->parameters[1] = bb_rate_ribbon_rank(target);
    } else if (envelope->kind == BB_FILTER_BLOCKED_BLOOM) {
        envelope->parameters[1] = bb_rate_blocked_bloom_probes(target);
        bb_rate_line_init(&line, (uint32_t)envelope->parameters[1], key_count);
        envelope->parameters[0] = bb_rate_blocked_bloom_lines(&line, key_count, target);
    } else {
        envelope->parameters[1] =
            bb_rate_bloom_best_probes(key_count, target, &envelope->parameters[0]);
    }
}

enum bb_status bb_filter_builder_finish(struct bb_filter_builder *builder, struct bb_buf *envelope)
{
    if (builder->status != BB_OK)
        return builder->status;
    size_t start = envelope->size;
    builder->count = bb_hash_sort(builder->hashes, builder->count);
    struct bb_envelope fields = {.kind = builder->options.kind,
                                 .salt = builder->options.salt,
                                 .key_count = builder->count,
                                 .target_rate = builder->options.target_rate};
    if (fields.kind != BB_FILTER_NONE && fields.key_count > 0)
        choose_parameters(&fields);
    enum bb_status status = bb_envelope_encode(&fields, envelope);
    if (status == BB_OK)
        status = append_payload(builder, &fields, envelope);
    if (status == BB_OK)
        status = bb_envelope_finish(envelope, start);
    if (status != BB_OK)
        envelope->size = start;
    builder->status = status;
    builder->count = status == BB_OK ? 0 : builder->count;
    return status;
}
