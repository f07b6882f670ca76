/* See ribbon.h. */
#include "redis/filter/ribbon.h"

#include <string.h>

#include "redis/server/redis_module.h"

struct bb_redis_ribbon *bb_redis_ribbon_create(void)
{
    struct bb_redis_ribbon *ribbon = RedisModule_TryAlloc(sizeof(*ribbon));
    if (ribbon != NULL)
        ribbon->part_count = 0;
    return ribbon;
}

void bb_redis_ribbon_destroy(struct bb_redis_ribbon *ribbon)
{
    if (ribbon == NULL)
        return;
    for (uint32_t i = 0; i < ribbon->part_count; i++) {
        RedisModule_Free(ribbon->parts[i]->envelope);
        RedisModule_Free(ribbon->parts[i]);
    }
    RedisModule_Free(ribbon);
}

/* Checks the envelope, and fills in the view and the figures of the part. */
static enum bb_status open_part(struct bb_redis_ribbon_part *part)
{
    struct bb_bytes envelope = {part->envelope, part->size};
    struct bb_filter_info info;
    enum bb_status status = bb_filter_info(envelope, &info);
    if (status == BB_OK && info.kind != BB_FILTER_RIBBON)
        status = bb_error_set(BB_UNSUPPORTED, "the filter is not a ribbon");
    if (status == BB_OK)
        status = bb_filter_view_init(&part->view, envelope);
    if (status != BB_OK)
        return status;
    part->key_count = info.key_count;
    part->target_rate = info.target_rate;
    part->predicted_rate = info.predicted_rate;
    return BB_OK;
}

/* Appends an open part. */
static enum bb_status append(struct bb_redis_ribbon *ribbon,
                             const struct bb_redis_ribbon_part *part)
{
    struct bb_redis_ribbon_part *copy = RedisModule_TryAlloc(sizeof(*copy));
    if (copy == NULL)
        return bb_error_set(BB_NO_MEMORY, "no memory for a filter");
    *copy = *part;
    ribbon->parts[ribbon->part_count++] = copy;
    return BB_OK;
}

enum bb_status bb_redis_ribbon_take(struct bb_redis_ribbon *ribbon, uint8_t *envelope, size_t size)
{
    struct bb_redis_ribbon_part part = {.envelope = envelope, .size = size};
    enum bb_status status = BB_OK;
    if (ribbon->part_count == BB_REDIS_RIBBON_PARTS_MAX)
        status = bb_error_set(BB_TOO_LARGE, "a filter has at most 64 ribbons: build one of all");
    if (status == BB_OK)
        status = open_part(&part);
    if (status == BB_OK)
        status = append(ribbon, &part);
    if (status != BB_OK)
        RedisModule_Free(envelope);
    return status;
}

enum bb_status bb_redis_ribbon_copy_part(struct bb_redis_ribbon *ribbon, struct bb_bytes envelope)
{
    uint8_t *copy = RedisModule_TryAlloc(envelope.size);
    if (copy == NULL)
        return bb_error_set(BB_NO_MEMORY, "no memory for a filter");
    memcpy(copy, envelope.data, envelope.size);
    return bb_redis_ribbon_take(ribbon, copy, envelope.size);
}

enum bb_status bb_redis_ribbon_unite(struct bb_redis_ribbon *ribbon,
                                     const struct bb_redis_ribbon *other)
{
    enum bb_status status = BB_OK;
    for (uint32_t i = 0; i < other->part_count && status == BB_OK; i++) {
        struct bb_bytes envelope = {other->parts[i]->envelope, other->parts[i]->size};
        status = bb_redis_ribbon_copy_part(ribbon, envelope);
    }
    return status;
}

bool bb_redis_ribbon_may_contain(const struct bb_redis_ribbon *ribbon, uint64_t hash)
{
    for (uint32_t i = 0; i < ribbon->part_count; i++) {
        if (bb_filter_may_contain(&ribbon->parts[i]->view, hash))
            return true;
    }
    return false;
}

struct bb_redis_ribbon_totals bb_redis_ribbon_totals(const struct bb_redis_ribbon *ribbon)
{
    struct bb_redis_ribbon_totals totals = {.memory =
                                                RedisModule_MallocSize((void *)(uintptr_t)ribbon)};
    double none_by_target = 1;
    double none_predicted = 1;
    for (uint32_t i = 0; i < ribbon->part_count; i++) {
        const struct bb_redis_ribbon_part *part = ribbon->parts[i];
        totals.memory += RedisModule_MallocSize((void *)(uintptr_t)part);
        totals.memory += RedisModule_MallocSize(part->envelope);
        totals.size += part->size;
        totals.key_count += part->key_count;
        none_by_target *= 1 - part->target_rate;
        none_predicted *= 1 - part->predicted_rate;
    }
    totals.target_rate = 1 - none_by_target;
    totals.predicted_rate = 1 - none_predicted;
    return totals;
}
