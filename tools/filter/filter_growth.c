/* See filter_growth.h. */
#include "tools/filter/filter_growth.h"

#include "base/buf.h"
#include "base/status.h"

/* Of bb/filter.h. */
#define TARGET_RATE_DEFAULT 0.01

/* Hashes that are inserted together: each time the whole filter is read and checked. */
#define BATCH_BYTES ((size_t)8 * 1024 * 1024)

/* --- Kinds --- */

/* Kinds whose bits are set in place. */
static bool is_insertable(enum bb_filter_kind kind)
{
    return kind == BB_FILTER_BLOOM || kind == BB_FILTER_BLOCKED_BLOOM ||
           kind == BB_FILTER_SPLIT_BLOCK || kind == BB_FILTER_PARTITIONED;
}

bool filter_growth_takes(enum bb_filter_kind kind)
{
    return is_insertable(kind) || kind == BB_FILTER_COUNTING || kind == BB_FILTER_SCALABLE;
}

bool filter_growth_has_space(enum bb_filter_kind kind)
{
    return filter_growth_takes(kind) && kind != BB_FILTER_SCALABLE;
}

static enum bb_status check_kind(enum bb_filter_kind kind)
{
    if (filter_growth_takes(kind))
        return BB_OK;
    return bb_fail(BB_UNSUPPORTED,
                   "a %s filter is made for its keys as a whole and takes no more; kinds that do "
                   "are bloom, blocked-bloom, split-block, partitioned, counting and scalable",
                   bb_filter_kind_name(kind));
}

/* --- Beginning and end --- */

static enum bb_status begin_counting(struct filter_growth *growth, uint64_t planned_key_count)
{
    struct bb_counting_filter_options options = {.key_count = planned_key_count,
                                                 .target_rate = growth->options.target_rate,
                                                 .salt = growth->options.salt};
    return bb_counting_filter_create(&options, &growth->counting);
}

static enum bb_status begin_scalable(struct filter_growth *growth, uint64_t first_key_count,
                                     double ratio)
{
    struct bb_scalable_filter_options options = {.first_key_count = first_key_count,
                                                 .target_rate = growth->options.target_rate,
                                                 .ratio = ratio,
                                                 .salt = growth->options.salt};
    return bb_scalable_filter_create(&options, &growth->scalable);
}

/* The parameters of an empty filter that is sized for a number of keys. */
static enum bb_status make_space(struct filter_growth *growth, uint64_t planned_key_count)
{
    struct bb_filter_question question = {.kind = growth->options.kind,
                                          .key_count = planned_key_count,
                                          .target_rate = growth->options.target_rate};
    struct bb_filter_plan plan;
    if (planned_key_count == 0)
        return BB_OK;
    enum bb_status status = bb_filter_plan(&question, &plan);
    if (status != BB_OK)
        return status;
    growth->options.parameters[0] = plan.parameters[0];
    growth->options.parameters[1] = plan.parameters[1];
    return BB_OK;
}

enum bb_status filter_growth_init(struct filter_growth *growth,
                                  const struct bb_filter_options *options,
                                  uint64_t planned_key_count, double ratio)
{
    *growth = (struct filter_growth){.options = *options};
    if (growth->options.kind == BB_FILTER_DEFAULT)
        growth->options.kind = BB_FILTER_RIBBON;
    if (growth->options.target_rate == 0)
        growth->options.target_rate = TARGET_RATE_DEFAULT;
    enum bb_status status = check_kind(growth->options.kind);
    if (status != BB_OK)
        return status;
    if (growth->options.kind == BB_FILTER_COUNTING)
        return begin_counting(growth, planned_key_count);
    if (growth->options.kind == BB_FILTER_SCALABLE)
        return begin_scalable(growth, planned_key_count, ratio);
    return make_space(growth, planned_key_count);
}

enum bb_status filter_growth_load(struct filter_growth *growth, struct bb_bytes envelope,
                                  uint64_t planned_key_count)
{
    struct bb_filter_info info;
    *growth = (struct filter_growth){0};
    enum bb_status status = bb_filter_info(envelope, &info);
    if (status != BB_OK)
        return status;
    growth->options = (struct bb_filter_options){
        .kind = info.kind, .target_rate = info.target_rate, .salt = info.salt};
    status = check_kind(info.kind);
    if (status != BB_OK)
        return status;
    if (info.kind == BB_FILTER_COUNTING)
        return bb_counting_filter_decode(envelope, &growth->counting);
    if (info.kind == BB_FILTER_SCALABLE)
        return bb_scalable_filter_decode(envelope, &growth->scalable);
    if (info.key_count == 0)
        return make_space(growth, planned_key_count);
    return bb_buf_assign(&growth->envelope, envelope);
}

void filter_growth_deinit(struct filter_growth *growth)
{
    bb_counting_filter_destroy(growth->counting);
    bb_scalable_filter_destroy(growth->scalable);
    bb_buf_deinit(&growth->envelope);
    bb_buf_deinit(&growth->hashes);
}

/* --- Bits set in place --- */

/* The first keys, or none. */
static enum bb_status build(struct filter_growth *growth, const uint64_t *hashes, size_t count,
                            uint64_t *ret_inserted)
{
    struct bb_filter_builder *builder = NULL;
    struct bb_filter_info info;
    enum bb_status status = bb_filter_builder_create(&growth->options, &builder);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = bb_filter_builder_add(builder, hashes[i]);
    if (status == BB_OK)
        status = bb_filter_builder_finish(builder, &growth->envelope);
    if (status == BB_OK)
        status = bb_filter_info(bb_buf_bytes(&growth->envelope), &info);
    if (status == BB_OK)
        *ret_inserted = info.key_count;
    bb_filter_builder_destroy(builder);
    return status;
}

static enum bb_status insert_batch(struct filter_growth *growth)
{
    const uint64_t *hashes = (const uint64_t *)(const void *)growth->hashes.data;
    size_t count = growth->hashes.size / sizeof(hashes[0]);
    uint64_t inserted = 0;
    enum bb_status status = growth->envelope.size == 0
                                ? build(growth, hashes, count, &inserted)
                                : bb_filter_insert(&growth->envelope, hashes, count, &inserted);
    growth->new_count += inserted;
    bb_buf_reset(&growth->hashes);
    return status;
}

static enum bb_status insert(struct filter_growth *growth, uint64_t hash)
{
    enum bb_status status = bb_buf_append(&growth->hashes, &hash, sizeof(hash));
    /* Without a plan the first batch is all keys: the filter is sized for it. */
    bool has_space = growth->envelope.size != 0 || growth->options.parameters[0] != 0;
    bool is_full = has_space && growth->hashes.size >= BATCH_BYTES;
    return status == BB_OK && is_full ? insert_batch(growth) : status;
}

/* --- All kinds --- */

static enum bb_status add_counting(struct filter_growth *growth, uint64_t hash)
{
    growth->new_count += !bb_counting_filter_may_contain(growth->counting, hash);
    return bb_counting_filter_add(growth->counting, hash);
}

static enum bb_status add_scalable(struct filter_growth *growth, uint64_t hash)
{
    bool is_new = false;
    enum bb_status status = bb_scalable_filter_add(growth->scalable, hash, &is_new);
    growth->new_count += is_new;
    return status;
}

enum bb_status filter_growth_add(struct filter_growth *growth, uint64_t hash)
{
    growth->read_count++;
    if (growth->counting != NULL)
        return add_counting(growth, hash);
    if (growth->scalable != NULL)
        return add_scalable(growth, hash);
    return insert(growth, hash);
}

enum bb_status filter_growth_check_removable(enum bb_filter_kind kind)
{
    if (kind == BB_FILTER_COUNTING)
        return BB_OK;
    return bb_fail(
        BB_UNSUPPORTED,
        "keys cannot be removed from a filter of kind %s; only kind counting removes keys",
        bb_filter_kind_name(kind));
}

enum bb_status filter_growth_remove(struct filter_growth *growth, uint64_t hash)
{
    growth->read_count++;
    enum bb_status status = bb_counting_filter_remove(growth->counting, hash);
    if (status == BB_NOT_FOUND)
        growth->absent_count++;
    return status == BB_NOT_FOUND ? BB_OK : status;
}

enum bb_status filter_growth_finish(struct filter_growth *growth)
{
    if (growth->counting != NULL)
        return bb_counting_filter_encode(growth->counting, &growth->envelope);
    if (growth->scalable != NULL)
        return bb_scalable_filter_encode(growth->scalable, &growth->envelope);
    bool is_done = growth->hashes.size == 0 && growth->envelope.size != 0;
    return is_done ? BB_OK : insert_batch(growth);
}
