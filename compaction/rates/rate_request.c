/* See rate_request.h. */
#include "compaction/rates/rate_request.h"

#include <math.h>

#include "base/assert.h"
#include "compaction/levels/descent.h"

static bool is_output_run(const struct bb_rate_request *request, int level, uint64_t run)
{
    return level > 0 && level == request->output_level && run == request->output_run;
}

static uint64_t removed_run(const struct bb_rate_request *request, size_t i)
{
    if (request->removed_levels[i] == 0)
        return request->removed[i]->number;
    return request->removed_runs == NULL ? 0 : request->removed_runs[i];
}

double bb_rate_request_run_weight(const struct bb_levels *levels,
                                  const struct bb_read_weights *weights, int level, uint64_t run,
                                  int last_level)
{
    const struct bb_run *oldest = bb_levels_oldest_run(levels, level);
    bool is_last = level == last_level && (oldest == NULL || run <= oldest->number);
    return bb_read_weights_planned(weights, level, is_last ? level : level + 1);
}

/* The tables of a run that stay. */
struct remainder {
    size_t tables;
    uint64_t keys;
    double rate_keys;
};

static struct remainder remainder_of(const struct bb_rate_request *request, int level,
                                     const struct bb_run *run)
{
    struct remainder rest = {run->count, run->key_count, run->rate_keys};
    for (size_t i = 0; i < request->removed_count; i++) {
        if (request->removed_levels[i] != level || removed_run(request, i) != run->number)
            continue;
        const struct bb_table_file *file = request->removed[i];
        rest.tables--;
        rest.keys -= file->meta.key_count;
        rest.rate_keys -= file->filter_rate * (double)file->meta.key_count;
    }
    return rest;
}

static void merge_part(const struct bb_rate_merge *merge, int level, struct bb_rate_part *part)
{
    if (level == 0) {
        part->keys = fmax(0, part->keys - merge->keys);
        part->runs -= merge->runs < part->runs ? merge->runs : part->runs;
    } else if (level == merge->level) {
        part->keys += merge->keys;
        part->runs += part->runs == 0;
    }
}

struct bb_rate_part bb_rate_request_part(const struct bb_rate_request *request, int number,
                                         int last_level)
{
    const struct bb_level *level = &request->levels->levels[number];
    struct bb_rate_part part = {0};
    for (size_t i = 0; i < level->run_count; i++) {
        const struct bb_run *run = &level->runs[i];
        struct remainder rest = remainder_of(request, number, run);
        /* Without remaining tables, rate_keys is only a rounding error. */
        if (rest.tables == 0)
            continue;
        part.keys += (double)rest.keys;
        if (is_output_run(request, number, run->number)) {
            part.run_rate_keys = rest.rate_keys;
            part.run_keys = (double)rest.keys;
            continue;
        }
        part.runs++;
        if (rest.keys > 0)
            part.waste += rest.rate_keys / (double)rest.keys *
                          bb_descent_share(request->levels, number, run) *
                          bb_rate_request_run_weight(request->levels, request->weights, number,
                                                     run->number, last_level);
    }
    if (request->merge != NULL)
        merge_part(request->merge, number, &part);
    return part;
}

/* Tables of level 0 have another number of keys per byte, so they count only if no other tables
 * exist. */
static double keys_per_byte(const struct bb_levels *levels)
{
    double bytes = 0;
    double keys = 0;
    for (int level = BB_LEVEL_COUNT - 1; level > 0 || (level == 0 && bytes == 0); level--) {
        bytes += (double)levels->levels[level].file_bytes;
        keys += (double)levels->levels[level].key_count;
    }
    return bytes == 0 ? 0 : keys / bytes;
}

static bool is_tiered(const struct bb_rate_request *request, int level)
{
    return bb_shape_is_tiered(request->shape, level, bb_rate_request_last_level(request));
}

/* The number of keys that later runs of a level can add. They are expected to be as large as the
 * output if it is in this level, else as large as the runs of level 0. WHY not as large as the
 * write buffer: that is a poor estimate of the resulting table. */
static double free_keys_for_runs(const struct bb_rate_request *request, int level,
                                 const struct bb_rate_part *part)
{
    bool is_output = level == request->output_level;
    double run_keys = is_output ? (double)request->output_keys + part->run_keys
                                : (double)request->levels->level0_run_keys;
    return bb_rate_request_runs_to_come(request, level, part) * run_keys;
}

double bb_rate_request_full_keys(const struct bb_rate_request *request, int level)
{
    BB_DEBUG_ASSERT(request->shape != NULL && level > 0);
    return bb_shape_level_bytes(request->shape, level) * keys_per_byte(request->levels);
}

double bb_rate_request_free_keys(const struct bb_rate_request *request, int level,
                                 const struct bb_rate_part *part)
{
    BB_DEBUG_ASSERT(request->shape != NULL);
    if (level == 0 || (level == request->output_level && is_tiered(request, level)))
        return free_keys_for_runs(request, level, part);
    return fmax(0, bb_rate_request_full_keys(request, level) - part->keys);
}

static double planned_runs(const struct bb_rate_request *request, int level)
{
    double runs =
        (double)bb_shape_run_count(request->shape, level, bb_rate_request_last_level(request));
    bool has_own_plan = level == 0 && request->budget != NULL && request->budget->level0_runs > 0;
    return has_own_plan ? fmin(runs, request->budget->level0_runs) : runs;
}

double bb_rate_request_runs_to_come(const struct bb_rate_request *request, int level,
                                    const struct bb_rate_part *part)
{
    BB_DEBUG_ASSERT(request->shape != NULL);
    if (level > 0 && !is_tiered(request, level))
        return part->runs == 0;
    double there = (double)part->runs + (level == request->output_level);
    return fmax(0, planned_runs(request, level) - there);
}

bool bb_rate_request_fills_first(const struct bb_rate_request *request, int level)
{
    if (request->shape == NULL)
        return false;
    return level == 0 || level < request->output_level ||
           (level == request->output_level && is_tiered(request, level));
}

bool bb_rate_request_opens(const struct bb_levels *levels, const struct bb_shape *shape, int level)
{
    return bb_shape_is_leveled(shape) && level > 0 && level < BB_LEVEL_COUNT - 1 &&
           level == bb_levels_deepest(levels) &&
           (double)levels->levels[level].file_bytes >= bb_shape_level_bytes(shape, level);
}

static bool keeps_tables(const struct bb_rate_request *request, int level)
{
    size_t count = bb_levels_table_count(request->levels, level);
    for (size_t i = 0; i < request->removed_count; i++)
        count -= request->removed_levels[i] == level;
    return count > 0;
}

int bb_rate_request_last_level(const struct bb_rate_request *request)
{
    int last = request->output_level > 1 ? request->output_level : 1;
    if (request->merge != NULL && request->merge->level > last)
        last = request->merge->level;
    for (int level = last + 1; level < BB_LEVEL_COUNT; level++) {
        if (keeps_tables(request, level))
            last = level;
    }
    bool is_output = last == request->output_level && request->shape != NULL;
    return last + (is_output && bb_rate_request_opens(request->levels, request->shape, last));
}
