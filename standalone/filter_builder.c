/* Building standalone filters: collecting hashes and writing the envelope (bb/filter.h). */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "bb/filter.h"
#include "bloomblock/hash_sort.h"
#include "standalone/kind/kind.h"

#define CAPACITY_MIN 1024
/* From this size on the array grows by a quarter instead of doubling, so that the unused part stays
 * below the 2 bytes per hash that bb/filter.h documents. */
#define CAPACITY_DOUBLED 65536

struct bb_filter_builder {
    struct bb_filter_options options; /* resolved */
    const struct bb_kind_ops *ops;
    uint64_t domain;
    uint64_t *hashes; /* owned; hashes of the domain, or key hashes if the kind takes them */
    size_t count;
    size_t capacity;
    enum bb_status status; /* the first failure */
};

static enum bb_status check_parameters(const struct bb_filter_options *options)
{
    struct bb_filter_plan plan;
    if (options->parameters[0] == 0 && options->parameters[1] == 0)
        return BB_OK;
    if (options->kind == BB_FILTER_NONE || options->kind == BB_FILTER_RIBBON)
        return bb_fail(BB_INVALID, "the parameters of a %s filter follow from its keys",
                       bb_filter_kind_name(options->kind));
    return bb_filter_predict(options->kind, 1, options->parameters, &plan);
}

static enum bb_status resolve(struct bb_filter_options *options)
{
    const char *name = bb_filter_kind_name(options->kind);
    if (name == NULL)
        return bb_fail(BB_INVALID, "there are no filters of kind %d", (int)options->kind);
    if (options->kind == BB_FILTER_DEFAULT)
        options->kind = BB_FILTER_RIBBON;
    if (bb_kind_ops(options->kind)->choose == NULL)
        return bb_fail(BB_INVALID, "filters of kind %s are not built from a set of keys", name);
    if (options->salt != 0 && bb_kind_ops(options->kind)->takes_key_hashes)
        return bb_fail(BB_INVALID,
                       "the salt is %016llx: filters of kind %s have no salt, it must be 0",
                       (unsigned long long)options->salt, name);
    if (options->target_rate == 0)
        options->target_rate = BB_ENVELOPE_RATE_DEFAULT;
    enum bb_status status = bb_envelope_check_plan(0, options->target_rate);
    if (status != BB_OK)
        return status;
    if (!(options->slack >= 0 && options->slack <= BB_FILTER_SLACK_MAX))
        return bb_fail(BB_INVALID, "the filter's slack is %g, allowed are 0 to %g", options->slack,
                       BB_FILTER_SLACK_MAX);
    if (options->kind == BB_FILTER_NONE)
        options->target_rate = 1;
    return check_parameters(options);
}

enum bb_status bb_filter_builder_create(const struct bb_filter_options *options,
                                        struct bb_filter_builder **ret_builder)
{
    struct bb_filter_options resolved = options == NULL ? (struct bb_filter_options){0} : *options;
    enum bb_status status = resolve(&resolved);
    if (status != BB_OK)
        return status;
    struct bb_filter_builder *builder = bb_alloc_zeroed(1, sizeof(*builder));
    if (builder == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a filter builder");
    builder->options = resolved;
    builder->ops = bb_kind_ops(resolved.kind);
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

/* Never above the key limit, so that the first hash beyond it is rejected when it is added. */
static size_t next_capacity(size_t capacity)
{
    if (capacity == 0)
        return CAPACITY_MIN;
    size_t next = capacity < CAPACITY_DOUBLED ? capacity * 2 : capacity + capacity / 4;
    return next < BB_FILTER_KEY_COUNT_MAX ? next : BB_FILTER_KEY_COUNT_MAX;
}

static enum bb_status grow(struct bb_filter_builder *builder)
{
    if (builder->count >= BB_FILTER_KEY_COUNT_MAX)
        return bb_fail(BB_TOO_LARGE, "a filter has more than %llu keys",
                       (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    size_t capacity = next_capacity(builder->capacity);
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
    hash = bb_kind_hash(builder->ops, builder->domain, hash);
    if (builder->count > 0 && builder->hashes[builder->count - 1] == hash)
        return BB_OK;
    if (builder->count == builder->capacity)
        builder->status = grow(builder);
    if (builder->status != BB_OK)
        return builder->status;
    builder->hashes[builder->count++] = hash;
    return BB_OK;
}

/* --- The envelope --- */

/* The given parameters, or parameters that meet the target. */
static enum bb_status choose_parameters(const struct bb_filter_builder *builder,
                                        struct bb_envelope *fields)
{
    const uint64_t *given = builder->options.parameters;
    if (given[0] == 0)
        return bb_kind_ops(fields->kind)->choose(fields);
    memcpy(fields->parameters, given, sizeof(fields->parameters));
    return BB_OK;
}

static enum bb_status append_envelope(const struct bb_filter_builder *builder,
                                      struct bb_envelope *fields, struct bb_buf *buf)
{
    const struct bb_kind_ops *ops = builder->ops;
    bool empty = bb_kind_is_empty(ops, fields);
    size_t start = buf->size;
    enum bb_status status = empty ? BB_OK : choose_parameters(builder, fields);
    if (status == BB_OK)
        status = bb_envelope_encode(fields, buf);
    if (status == BB_OK && !empty)
        status = bb_kind_append(fields, builder->hashes, buf);
    return bb_envelope_finish(buf, start, status);
}

enum bb_status bb_filter_builder_finish(struct bb_filter_builder *builder, struct bb_buf *envelope)
{
    if (builder->status != BB_OK)
        return builder->status;
    builder->count = bb_hash_sort(builder->hashes, builder->count);
    struct bb_envelope fields = {.kind = builder->options.kind,
                                 .salt = builder->options.salt,
                                 .key_count = builder->count,
                                 .target_rate = builder->options.target_rate,
                                 .slack = builder->options.slack};
    builder->status = append_envelope(builder, &fields, envelope);
    if (builder->status == BB_OK)
        builder->count = 0;
    return builder->status;
}
