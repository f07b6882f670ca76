/* See table_filter_bits.h. */
#include "compaction/rates/table_filter_bits.h"

#include <math.h>

#include "compaction/rates/forecast.h"
#include "sstable/filter/filter_split.h"

double bb_table_filter_bits(double largest_bits, double largest_keys, double run_keys, double rate)
{
    if (!(rate < 1))
        return 0;
    double more = largest_keys > run_keys && run_keys > 0 ? log2(largest_keys / run_keys) : 0;
    return fmin(largest_bits + more, -log2(rate));
}

static double largest_run(const struct bb_forecast *forecast)
{
    double largest = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        largest = fmax(largest, forecast->keys[level] / fmax(1, forecast->runs[level]));
    return largest;
}

/* A run that is the only one of its level has all keys of the level. */
static double keys_of_run(const struct bb_rate_request *request, const struct bb_forecast *forecast)
{
    int level = request->output_level;
    return level == 0 || forecast->runs[level] > 1 ? (double)request->output_keys
                                                   : forecast->keys[level];
}

double bb_table_filter_bits_for_run(const struct bb_rate_request *request, double rate,
                                    double largest_bits)
{
    struct bb_forecast forecast;
    bb_forecast_init(&forecast, request, 1);
    return bb_table_filter_bits(largest_bits, largest_run(&forecast),
                                keys_of_run(request, &forecast), rate);
}

void bb_table_filter_bits_set(const struct bb_rate_request *request, double rate,
                              struct bb_table_options *table)
{
    table->filter_rate = rate;
    if (!(table->table_filter_bits > 0) || !(rate < 1))
        return;
    double bits = bb_table_filter_bits_for_run(request, rate, table->table_filter_bits);
    if (request->budget != NULL && !bb_filter_cost_splits(&request->budget->cost, rate))
        bits = -log2(rate);
    table->table_filter_bits = fmin(fmax(bits, BB_TABLE_FILTER_BITS_MIN), BB_TABLE_FILTER_BITS_MAX);
}
