/* See filter_cost.h. */
#include "compaction/rates/filter_cost.h"

#include <math.h>

#include "base/assert.h"
#include "sstable/filter/filter_split.h"

/* Number of halvings of the range of rates on a logarithmic scale: down to 6e-8 of it. */
#define BISECTIONS 24
/* Keys of a block if there is no table to count them. */
#define KEYS_PER_BLOCK 50
/* The blocks that share a filter count up to this number: an index page has about as many. */
#define BLOCKS_PER_FILTER_MAX 64
/* Block filters are added to a table filter if they cost at most this many bits more per key. */
#define SPLIT_BITS_MAX 4
/* Tables with fewer keys show the fixed cost of a filter, not the cost of a key. */
#define SAMPLE_KEYS_MIN 64
/* The fixed cost of a table filter per key in tables of usual size. */
#define FIXED_BITS 0.1
/* Lines of 64 bytes fill unevenly: a filter of b bits of information takes
 * (slope + LINE_CURVE * b * b) * b (docs/filters.md, section 9). */
#define LINE_CURVE 0.0012
/* Blocks have more keys than the mean, by up to this share of a line. */
#define LINE_SPREAD 0.3

static bool has_table_filter_alone(double table_filter_bits)
{
    return table_filter_bits == BB_TABLE_FILTER_ALL || table_filter_bits > 0;
}

/* The bits of a table filter without its overhead. */
static double bits_of_table_filter(double rate)
{
    enum bb_filter_kind kind = BB_TABLE_KIND_OF_TABLE_FILTERS;
    return bb_table_kind_find(kind)->slope * bb_table_kind_bits(kind, rate);
}

/* The bits per key of block filters that have whole lines. */
static double bits_of_lines(const struct bb_filter_cost *cost, double line_bits, double bits)
{
    double slope = cost->slope + LINE_CURVE * bits * bits;
    double lines = slope * bits * cost->keys_per_filter / line_bits;
    return ceil(lines + fmin(0.05 * lines, LINE_SPREAD)) * line_bits / cost->keys_per_filter;
}

/* The bits of block filters without their overhead. */
static double bits_of_block_filters(const struct bb_filter_cost *cost, double rate)
{
    double line_bits = bb_table_kind_find(cost->kind)->line_bits;
    double bits = bb_table_kind_bits(cost->kind, rate);
    return line_bits == 0 ? cost->slope * bits : bits_of_lines(cost, line_bits, bits);
}

/* The bits of a table with only a table filter, or only block filters, without the overhead. */
static double bits_alone(const struct bb_filter_cost *cost, double rate)
{
    return has_table_filter_alone(cost->table_filter_bits) ? bits_of_table_filter(rate)
                                                           : bits_of_block_filters(cost, rate);
}

/* The same with both. */
static double bits_split(const struct bb_filter_cost *cost, double rate)
{
    struct bb_filter_split split = bb_filter_split(rate, cost->table_filter_bits);
    double block_bits = split.block_rate < 1 ? bits_of_block_filters(cost, split.block_rate) : 0;
    return bits_of_table_filter(split.table_filter_rate) + block_bits;
}

/* The usual overheads. The slope is the kind's. */
static void set_usual(struct bb_filter_cost *cost)
{
    const struct bb_table_kind *facts = bb_table_kind_find(cost->kind);
    BB_DEBUG_ASSERT(facts != NULL);
    double block_bits = facts->filter_bits / cost->keys_per_filter;
    double table_filter_bits =
        bb_table_kind_find(BB_TABLE_KIND_OF_TABLE_FILTERS)->table_filter_overhead_bits;
    cost->slope = facts->slope;
    cost->overhead_bits =
        has_table_filter_alone(cost->table_filter_bits) ? table_filter_bits : block_bits;
    cost->split_overhead_bits = table_filter_bits + block_bits;
    cost->fixed_bits = cost->table_filter_bits == BB_TABLE_FILTER_NONE ? 0 : FIXED_BITS;
}

static double keys_per_block(const struct bb_levels *levels, double expected)
{
    double keys = 0;
    double blocks = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
            const struct bb_table_meta *meta = &bb_levels_table(levels, level, i)->meta;
            keys += (double)meta->key_count;
            blocks += (double)meta->block_count;
        }
    if (blocks > 0)
        return fmax(1, keys / blocks);
    return expected > 0 ? fmax(1, expected) : KEYS_PER_BLOCK;
}

/* Sums over the tables with filters. */
struct sample {
    double keys;
    double bits;
    double slope_bits; /* without overheads */
    double fixed_bits; /* of the table filters: bytes that each has once */
};

double bb_filter_cost_bytes(const struct bb_table_meta *meta, double uncounted_bytes)
{
    double uncounted = meta->key_count < SAMPLE_KEYS_MIN ? uncounted_bytes : 0;
    return (double)meta->filter_bytes - fmin((double)meta->table_filter_bytes, uncounted);
}

static void add_table(const struct bb_table_meta *meta, double bits_per_key, double uncounted_bytes,
                      struct sample *sample)
{
    double keys = (double)meta->key_count;
    sample->keys += keys;
    sample->bits += 8 * bb_filter_cost_bytes(meta, uncounted_bytes);
    sample->slope_bits += keys * bits_per_key;
    if (meta->table_filter_bytes > BB_FILTER_COST_TABLE_BYTES)
        sample->fixed_bits += 8 * BB_FILTER_COST_TABLE_BYTES;
}

static bool is_split(const struct bb_table_meta *meta)
{
    return meta->table_filter_bytes > 0 && meta->table_filter_bytes < meta->filter_bytes;
}

/* If all bytes of small tables count, and most tables are small, they are a sample too. */
static double sample_keys_min(const struct bb_levels *levels, double uncounted_bytes)
{
    double tables = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        tables += (double)bb_levels_table_count(levels, level);
    double mean = tables > 0 ? (double)bb_levels_key_count(levels) / tables : 0;
    return uncounted_bytes > 0 ? SAMPLE_KEYS_MIN : fmin(SAMPLE_KEYS_MIN, mean / 2);
}

static bool is_sample(const struct bb_table_meta *meta, double keys_min)
{
    return meta->filter_bytes > 0 && meta->filter_rate < 1 && (double)meta->key_count >= keys_min;
}

static void add_tables(const struct bb_levels *levels, const struct bb_filter_cost *cost,
                       double uncounted_bytes, struct sample *alone, struct sample *split)
{
    double keys_min = sample_keys_min(levels, uncounted_bytes);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
            const struct bb_table_meta *meta = &bb_levels_table(levels, level, i)->meta;
            if (is_sample(meta, keys_min) && is_split(meta))
                add_table(meta, bits_split(cost, meta->filter_rate), uncounted_bytes, split);
            else if (is_sample(meta, keys_min))
                add_table(meta, bits_alone(cost, meta->filter_rate), uncounted_bytes, alone);
        }
}

static double overhead_of(const struct sample *sample)
{
    return fmax(0, (sample->bits - sample->slope_bits) / sample->keys);
}

/* If only one kind of table was seen, split or not, the overhead of the other is estimated. The
 * two differ by the fixed cost of the block filters. */
static void calibrate_overheads(struct bb_filter_cost *cost, const struct sample *alone,
                                const struct sample *split)
{
    double block_filter_bits = bb_table_kind_find(cost->kind)->filter_bits / cost->keys_per_filter;
    if (alone->keys > 0)
        cost->overhead_bits = overhead_of(alone);
    if (split->keys > 0)
        cost->split_overhead_bits = overhead_of(split);
    if (alone->keys == 0)
        cost->overhead_bits = fmax(0, cost->split_overhead_bits - block_filter_bits);
    if (split->keys == 0)
        cost->split_overhead_bits = cost->overhead_bits + block_filter_bits;
    cost->split_overhead_bits = fmax(cost->split_overhead_bits, cost->overhead_bits);
    cost->fixed_bits = (alone->fixed_bits + split->fixed_bits) / (alone->keys + split->keys);
}

/* A budget above the cost of a table filter and below the lowest cost of both is used by a table
 * filter without block filters. */
static bool is_split_worthwhile(const struct bb_filter_cost *cost, double budget_bits)
{
    if (!(cost->table_filter_bits > 0))
        return false;
    double rate = exp2(-cost->table_filter_bits - BB_BLOCK_FILTER_BITS_MIN);
    double both = bits_split(cost, rate) + cost->split_overhead_bits;
    double more = both - bits_alone(cost, rate) - cost->overhead_bits;
    return more <= SPLIT_BITS_MAX && (budget_bits == 0 || budget_bits >= both);
}

struct bb_filter_cost bb_filter_cost_calibrate(const struct bb_levels *levels,
                                               const struct bb_filter_cost_tables *tables)
{
    double blocks = fmin(fmax(1, tables->blocks_per_filter), BLOCKS_PER_FILTER_MAX);
    struct bb_filter_cost cost = {
        .kind = tables->kind,
        .table_filter_bits = tables->table_filter_bits,
        .keys_per_filter = blocks * keys_per_block(levels, tables->keys_per_block),
        .uncounted_bytes = tables->uncounted_bytes,
    };
    struct sample alone = {0};
    struct sample split = {0};
    set_usual(&cost);
    add_tables(levels, &cost, tables->uncounted_bytes, &alone, &split);
    if (alone.keys + split.keys > 0)
        calibrate_overheads(&cost, &alone, &split);
    cost.may_split = is_split_worthwhile(&cost, tables->budget_bits);
    return cost;
}

/* The overhead with `more` bits, which is negative for larger tables. It does not fall below the
 * usual overhead, or below itself if that is lower: the part of small tables is an estimate. */
static double adjusted_overhead(double overhead, double more, double usual)
{
    double least = overhead < usual ? overhead : usual;
    return fmax(least, overhead + more);
}

struct bb_filter_cost bb_filter_cost_in_tables(const struct bb_filter_cost *cost, double table_keys)
{
    BB_DEBUG_ASSERT(table_keys > 0);
    struct bb_filter_cost usual = *cost;
    struct bb_filter_cost other = *cost;
    if (cost->fixed_bits == 0)
        return other;
    set_usual(&usual);
    bool is_uncounted = cost->uncounted_bytes > 0 && table_keys < SAMPLE_KEYS_MIN;
    other.fixed_bits = is_uncounted ? 0 : 8 * BB_FILTER_COST_TABLE_BYTES / table_keys;
    double more = other.fixed_bits - cost->fixed_bits;
    other.overhead_bits = adjusted_overhead(cost->overhead_bits, more, usual.overhead_bits);
    other.split_overhead_bits =
        fmax(other.overhead_bits,
             adjusted_overhead(cost->split_overhead_bits, more, usual.split_overhead_bits));
    return other;
}

bool bb_filter_cost_splits(const struct bb_filter_cost *cost, double rate)
{
    return cost->may_split && bb_filter_split(rate, cost->table_filter_bits).block_rate < 1;
}

double bb_filter_cost_bits(const struct bb_filter_cost *cost, double rate)
{
    if (!(rate < 1))
        return 0;
    return bb_filter_cost_splits(cost, rate) ? bits_split(cost, rate) + cost->split_overhead_bits
                                             : bits_alone(cost, rate) + cost->overhead_bits;
}

double bb_filter_cost_rate(const struct bb_filter_cost *cost, double bits)
{
    double low = BB_FILTER_RATE_MIN;
    double high = BB_FILTER_RATE_MAX;
    if (bb_filter_cost_bits(cost, high) > bits)
        return 1;
    if (bb_filter_cost_bits(cost, low) <= bits)
        return low;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high);
        if (bb_filter_cost_bits(cost, middle) <= bits)
            high = middle;
        else
            low = middle;
    }
    return high;
}
