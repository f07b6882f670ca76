/* See filter_maker.h. */
#include "tools/filter/filter_maker.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/status.h"

/* The rate that results from an amount of memory and a number of keys. */
static enum bb_status choose_rate(struct filter_maker *maker, uint64_t key_count)
{
    struct bb_filter_question question = {
        .kind = maker->options.kind, .key_count = key_count, .size_bytes = maker->size_bytes};
    struct bb_filter_plan plan;
    if (maker->size_bytes == 0 || key_count == 0)
        return BB_OK;
    enum bb_status status = bb_filter_plan(&question, &plan);
    if (status != BB_OK)
        return bb_fail_context(status, "option --size");
    maker->options.target_rate = plan.target_rate;
    return BB_OK;
}

static enum bb_status begin_growing(struct filter_maker *maker)
{
    maker->is_growing = true;
    return filter_growth_init(&maker->growth, &maker->options, maker->planned_key_count,
                              maker->ratio);
}

enum bb_status filter_maker_begin(struct filter_maker *maker)
{
    bool is_planned = maker->planned_key_count != 0;
    if (maker->options.kind == BB_FILTER_SCALABLE && maker->size_bytes == 0)
        return begin_growing(maker);
    bool needs_number = maker->size_bytes != 0 || maker->options.kind == BB_FILTER_COUNTING;
    if (needs_number && !is_planned)
        return BB_OK; /* collected */
    enum bb_status status = choose_rate(maker, maker->planned_key_count);
    if (status != BB_OK)
        return status;
    /* A kind that cannot grow needs the number of keys only to compute its memory. */
    bool is_for_size = maker->size_bytes != 0 && !filter_growth_takes(maker->options.kind);
    if (is_planned && !is_for_size)
        return begin_growing(maker);
    return bb_filter_builder_create(&maker->options, &maker->builder);
}

enum bb_status filter_maker_add(struct filter_maker *maker, uint64_t hash)
{
    if (maker->builder != NULL)
        return bb_filter_builder_add(maker->builder, hash);
    if (maker->is_growing)
        return filter_growth_add(&maker->growth, hash);
    return bb_buf_append(&maker->hashes, &hash, sizeof(hash));
}

/* --- Collections --- */

static int compare_hashes(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* Distinct ones; sorts them. */
static uint64_t count_distinct(uint64_t *hashes, size_t count)
{
    uint64_t distinct = 0;
    if (count > 0)
        qsort(hashes, count, sizeof(hashes[0]), compare_hashes);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || hashes[i] != hashes[i - 1];
    return distinct;
}

/* All keys are added. A counting filter counts a repeated key each time. */
static enum bb_status make_of_collection(struct filter_maker *maker)
{
    uint64_t *hashes = (uint64_t *)(void *)maker->hashes.data;
    size_t count = maker->hashes.size / sizeof(hashes[0]);
    bool is_counting = maker->options.kind == BB_FILTER_COUNTING;
    uint64_t key_count = is_counting ? count : count_distinct(hashes, count);
    enum bb_status status = choose_rate(maker, key_count);
    if (status == BB_OK && is_counting) {
        maker->planned_key_count = key_count == 0 ? 1 : key_count;
        status = begin_growing(maker);
    } else if (status == BB_OK) {
        status = bb_filter_builder_create(&maker->options, &maker->builder);
    }
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = filter_maker_add(maker, hashes[i]);
    return status;
}

/* --- The result --- */

static enum bb_status take_envelope(struct filter_maker *maker)
{
    if (maker->builder != NULL)
        return bb_filter_builder_finish(maker->builder, &maker->envelope);
    enum bb_status status = filter_growth_finish(&maker->growth);
    struct bb_buf envelope = maker->growth.envelope;
    maker->growth.envelope = maker->envelope;
    maker->envelope = envelope;
    return status;
}

enum bb_status filter_maker_finish(struct filter_maker *maker)
{
    enum bb_status status = BB_OK;
    if (maker->builder == NULL && !maker->is_growing)
        status = make_of_collection(maker);
    if (status == BB_OK)
        status = take_envelope(maker);
    if (status == BB_OK)
        status = bb_filter_info(bb_buf_bytes(&maker->envelope), &maker->info);
    if (status == BB_OK && !maker->is_growing)
        maker->planned_key_count = maker->info.key_count;
    if (status == BB_OK && !filter_growth_has_space(maker->info.kind))
        maker->planned_key_count = 0;
    return status;
}

void filter_maker_deinit(struct filter_maker *maker)
{
    bb_filter_builder_destroy(maker->builder);
    filter_growth_deinit(&maker->growth);
    bb_buf_deinit(&maker->hashes);
    bb_buf_deinit(&maker->envelope);
}
