/* See rate_request.h. */
#include "compaction/rate_request.h"

static double larger(double a, double b)
{
    return a > b ? a : b;
}

struct bb_rate_part bb_rate_request_part(const struct bb_rate_request *request, int number)
{
    const struct bb_level *level = &request->levels->levels[number];
    uint64_t keys = level->key_count;
    struct bb_rate_part part = {
        .rates = level->rate_sum, .rate_keys = level->rate_keys, .tables = level->count};
    for (size_t i = 0; i < request->removed_count; i++) {
        if (request->removed_levels[i] != number)
            continue;
        const struct bb_table_file *file = request->removed[i];
        part.rates -= file->filter_rate;
        part.rate_keys -= file->filter_rate * (double)file->meta.key_count;
        part.tables--;
        keys -= file->meta.key_count;
    }
    part.keys = (double)keys;
    /* What rounding leaves of a difference is no rate. */
    return part.tables == 0 ? (struct bb_rate_part){0} : part;
}

/* Level 0 is packed otherwise: it counts only while there is nothing else. */
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

/* Keys that level 0 can still take, beside an output there. What is to come is taken to be like the
 * output, else like the last runs: the write buffer's size says little of the table it becomes. */
static double room_in_level0(const struct bb_rate_request *request, const struct bb_rate_part *part)
{
    bool is_output = request->output_level == 0;
    double there = (double)part->tables + is_output;
    double run_keys =
        is_output ? (double)request->output_keys : (double)request->levels->level0_run_keys;
    return larger(0, (double)request->shape->level0_run_count - there) * run_keys;
}

double bb_rate_request_full(const struct bb_rate_request *request, int number)
{
    return bb_shape_level_bytes(request->shape, number) * keys_per_byte(request->levels);
}

double bb_rate_request_room(const struct bb_rate_request *request, int number,
                            const struct bb_rate_part *part)
{
    if (number == 0)
        return room_in_level0(request, part);
    return larger(0, bb_rate_request_full(request, number) - part->keys);
}

double bb_rate_request_runs_to_come(const struct bb_rate_request *request, int number,
                                    const struct bb_rate_part *part)
{
    if (number > 0)
        return part->tables == 0;
    double there = (double)part->tables + (request->output_level == 0);
    return larger(0, (double)request->shape->level0_run_count - there);
}

bool bb_rate_request_opens(const struct bb_levels *levels, const struct bb_shape *shape, int level)
{
    return level > 0 && level < BB_LEVEL_COUNT - 1 && level == bb_levels_deepest(levels) &&
           (double)levels->levels[level].file_bytes >= bb_shape_level_bytes(shape, level);
}

int bb_rate_request_last_level(const struct bb_rate_request *request)
{
    int last = request->output_level > 1 ? request->output_level : 1;
    for (int level = last + 1; level < BB_LEVEL_COUNT; level++) {
        if (bb_rate_request_part(request, level).tables > 0)
            last = level;
    }
    bool is_output = last == request->output_level && request->shape != NULL;
    return last + (is_output && bb_rate_request_opens(request->levels, request->shape, last));
}
