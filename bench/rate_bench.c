/* Filter memory of stores as loaded, compared with the minimum for the same runs.
 *
 *     rate_bench
 *
 * Loads 58 stores in a file system in memory, each once in deterministic mode and once with
 * background threads, waits until they are idle, and prints a row for each:
 *
 *     keys       of all tables
 *     runs       number
 *     bits       of information of the filters, per key: log2(1 / rate), with the predicted rates
 *     excess     bits above the minimum if every lookup searches every run. Memory is minimal if
 *                rates are in proportion to the sizes of the runs (Monkey, SIGMOD 2017).
 *     exact      the same for the lookups that search a run. The minimum divides the rate of a run
 *                by the share of these lookups.
 *     waste      expected wasted requests of a lookup of an absent key, divided by the target. A
 *                lookup searches a table if its key is between the table's bounds. Lookups are
 *                spread like the keys.
 *     compacted  the same after a full compaction
 *
 * At the end the medians and maxima of both excesses. Exit status 1: a median, an excess or a waste
 * is out of its bounds. Stores that collect more than the default of four runs in level 0 have a
 * separate bound (docs/decisions/0003-rates.md).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "bb/db.h"
#include "bb/file.h"
#include "bench/dice.h"
#include "bench/die.h"
#include "bench/median.h"

#define SEED       1
#define VALUE_SIZE 24
#define KIB        UINT64_C(1024)
#define MIB        (1024 * KIB)
/* Bounds of the excess, and of the waste. */
#define MEDIAN_MAX       0.3
#define EXCESS_MAX       1.0
#define MANY_RUNS_MAX    1.25
#define EXACT_MEDIAN_MAX 0.4
#define EXACT_MAX        1.75
#define WASTE_MAX        1.1
#define COMPACTED_MIN    0.9
#define COMPACTED_MAX    1.1

enum order { RANDOM, UPDATES, DELETES, SKEWED, WINDOW, IN_ORDER, REVERSE, ORDER_COUNT };

static const char *const order_names[ORDER_COUNT] = {"random", "updates",  "deletes", "skewed",
                                                     "window", "in order", "reverse"};

struct load {
    enum order order;
    uint64_t operations;
    uint64_t write_buffer_bytes;
    double target;        /* 0: the default */
    uint32_t level0_runs; /* 0: the default */
    uint32_t level_ratio; /* 0: the default */
    double absent_share;  /* 0: the default */
};

static const struct load loads[] = {
    {.order = RANDOM, .operations = 30000, .write_buffer_bytes = 256 * KIB},
    {.order = RANDOM, .operations = 60000, .write_buffer_bytes = 256 * KIB},
    {.order = RANDOM, .operations = 125000, .write_buffer_bytes = 256 * KIB},
    {.order = RANDOM, .operations = 250000, .write_buffer_bytes = 256 * KIB},
    {.order = RANDOM, .operations = 500000, .write_buffer_bytes = 256 * KIB},
    {.order = RANDOM, .operations = 1000000, .write_buffer_bytes = 256 * KIB},
    {.order = RANDOM, .operations = 30000, .write_buffer_bytes = 1 * MIB},
    {.order = RANDOM, .operations = 60000, .write_buffer_bytes = 1 * MIB},
    {.order = RANDOM, .operations = 125000, .write_buffer_bytes = 1 * MIB},
    {.order = RANDOM, .operations = 250000, .write_buffer_bytes = 1 * MIB},
    {.order = RANDOM, .operations = 500000, .write_buffer_bytes = 1 * MIB},
    {.order = RANDOM, .operations = 1000000, .write_buffer_bytes = 1 * MIB},
    {.order = RANDOM, .operations = 30000, .write_buffer_bytes = 4 * MIB},
    {.order = RANDOM, .operations = 200000, .write_buffer_bytes = 64 * MIB, .absent_share = 0.999},
    {.order = RANDOM, .operations = 125000, .write_buffer_bytes = 4 * MIB},
    {.order = RANDOM, .operations = 250000, .write_buffer_bytes = 4 * MIB},
    {.order = RANDOM, .operations = 500000, .write_buffer_bytes = 4 * MIB},
    {.order = RANDOM, .operations = 1000000, .write_buffer_bytes = 4 * MIB},
    {.order = RANDOM, .operations = 200000, .write_buffer_bytes = 64 * MIB},
    {.order = RANDOM, .operations = 1000000, .write_buffer_bytes = 64 * MIB},
    {.order = RANDOM, .operations = 2000000, .write_buffer_bytes = 64 * MIB},
    {.order = RANDOM, .operations = 500000, .write_buffer_bytes = 1 * MIB, .target = 0.1},
    {.order = RANDOM, .operations = 80000, .write_buffer_bytes = 1 * MIB, .level0_runs = 12},
    {.order = RANDOM, .operations = 500000, .write_buffer_bytes = 1 * MIB, .target = 0.001},
    {.order = RANDOM, .operations = 60000, .write_buffer_bytes = 1 * MIB, .level0_runs = 8},
    {.order = RANDOM, .operations = 500000, .write_buffer_bytes = 1 * MIB, .level0_runs = 2},
    {.order = RANDOM, .operations = 500000, .write_buffer_bytes = 1 * MIB, .level0_runs = 8},
    {.order = RANDOM, .operations = 500000, .write_buffer_bytes = 1 * MIB, .level_ratio = 4},
    {.order = RANDOM, .operations = 1000000, .write_buffer_bytes = 256 * KIB, .level_ratio = 4},
    {.order = UPDATES, .operations = 125000, .write_buffer_bytes = 256 * KIB},
    {.order = UPDATES, .operations = 500000, .write_buffer_bytes = 256 * KIB},
    {.order = UPDATES, .operations = 1000000, .write_buffer_bytes = 256 * KIB},
    {.order = UPDATES, .operations = 125000, .write_buffer_bytes = 1 * MIB},
    {.order = UPDATES, .operations = 500000, .write_buffer_bytes = 1 * MIB},
    {.order = UPDATES, .operations = 1000000, .write_buffer_bytes = 1 * MIB},
    {.order = DELETES, .operations = 125000, .write_buffer_bytes = 256 * KIB},
    {.order = DELETES, .operations = 500000, .write_buffer_bytes = 256 * KIB},
    {.order = DELETES, .operations = 500000, .write_buffer_bytes = 1 * MIB},
    {.order = DELETES, .operations = 1000000, .write_buffer_bytes = 1 * MIB},
    {.order = SKEWED, .operations = 125000, .write_buffer_bytes = 256 * KIB},
    {.order = SKEWED, .operations = 500000, .write_buffer_bytes = 256 * KIB},
    {.order = SKEWED, .operations = 500000, .write_buffer_bytes = 1 * MIB},
    {.order = SKEWED, .operations = 1000000, .write_buffer_bytes = 1 * MIB},
    {.order = WINDOW, .operations = 125000, .write_buffer_bytes = 256 * KIB},
    {.order = WINDOW, .operations = 500000, .write_buffer_bytes = 256 * KIB},
    {.order = WINDOW, .operations = 500000, .write_buffer_bytes = 1 * MIB},
    {.order = WINDOW, .operations = 1000000, .write_buffer_bytes = 1 * MIB},
    {.order = IN_ORDER, .operations = 60000, .write_buffer_bytes = 256 * KIB},
    {.order = IN_ORDER, .operations = 250000, .write_buffer_bytes = 256 * KIB},
    {.order = IN_ORDER, .operations = 1000000, .write_buffer_bytes = 256 * KIB},
    {.order = IN_ORDER, .operations = 60000, .write_buffer_bytes = 1 * MIB},
    {.order = IN_ORDER, .operations = 250000, .write_buffer_bytes = 1 * MIB},
    {.order = IN_ORDER, .operations = 1000000, .write_buffer_bytes = 1 * MIB},
    {.order = IN_ORDER, .operations = 250000, .write_buffer_bytes = 4 * MIB},
    {.order = IN_ORDER, .operations = 1000000, .write_buffer_bytes = 4 * MIB},
    {.order = IN_ORDER, .operations = 1000000, .write_buffer_bytes = 64 * MIB},
    {.order = REVERSE, .operations = 250000, .write_buffer_bytes = 256 * KIB},
    {.order = REVERSE, .operations = 1000000, .write_buffer_bytes = 1 * MIB},
};

/* ---- loads ---- */

/* The number of the key of operation i. */
static uint64_t draw_number(const struct load *load, struct dice *dice, uint64_t i)
{
    switch (load->order) {
    case UPDATES:
    case DELETES:
        return dice_mix(dice_below(dice, load->operations / 2));
    case SKEWED:
        return dice_mix((uint64_t)((double)load->operations * pow(dice_unit(dice), 4)));
    case WINDOW:
        return i + dice_below(dice, load->operations / 10);
    case IN_ORDER:
        return i;
    case REVERSE:
        return load->operations - i;
    default:
        return dice_mix(i);
    }
}

static void number_key(uint64_t number, uint8_t key[8])
{
    for (size_t i = 0; i < 8; i++)
        key[i] = (uint8_t)(number >> (56 - 8 * i));
}

static void fill(const struct load *load, struct bb_db *db)
{
    struct dice dice = {.seed = SEED};
    for (uint64_t i = 0; i < load->operations; i++) {
        uint8_t key[8];
        uint8_t value[VALUE_SIZE] = {0};
        number_key(draw_number(load, &dice, i), key);
        memcpy(value, &i, sizeof(i));
        bool deletes = load->order == DELETES && dice_below(&dice, 10) == 0;
        bench_must(deletes ? bb_db_delete(db, NULL, bb_bytes_of(key, sizeof(key)))
                           : bb_db_put(db, NULL, bb_bytes_of(key, sizeof(key)),
                                       bb_bytes_of(value, sizeof(value))));
    }
    bench_must(bb_db_wait_idle(db));
}

/* ---- results ---- */

struct result {
    double keys;
    double runs;
    double bits;
    double minimum;
    double exact_minimum;
    double waste;
    double compacted; /* the waste then */
};

static double information(double keys, double rate)
{
    return keys * -log2(rate);
}

/* The numbers of all keys of a store, ascending. */
struct numbers {
    uint64_t *items;
    size_t count;
};

static uint64_t key_number(struct bb_bytes key)
{
    uint64_t number = 0;
    BB_ASSERT(key.size == 8);
    for (size_t i = 0; i < 8; i++)
        number = number << 8 | key.data[i];
    return number;
}

static struct numbers list_numbers(struct bb_db *db, size_t count_max)
{
    struct numbers numbers = {.items = malloc((count_max + 1) * sizeof(uint64_t))};
    struct bb_db_iter *iter = NULL;
    BB_ASSERT(numbers.items != NULL);
    bench_must(bb_db_iter_create_keys(db, NULL, NULL, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        numbers.items[numbers.count++] = key_number(bb_db_iter_key(iter));
    bench_must(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    return numbers;
}

/* The number of keys below a number. */
static size_t count_below(const struct numbers *numbers, uint64_t number)
{
    size_t low = 0;
    size_t high = numbers->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers->items[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The share of lookups that search a table: of the keys between its bounds. */
static double search_share(const struct numbers *numbers, struct bb_file_system *files,
                           const char *path)
{
    struct bb_table *table = NULL;
    const struct bb_table_options options = {.file_system = files};
    bench_must(bb_table_open(path, &options, &table));
    const struct bb_table_meta *meta = bb_table_meta(table);
    size_t first = count_below(numbers, key_number(bb_buf_bytes(&meta->smallest)));
    size_t end = count_below(numbers, key_number(bb_buf_bytes(&meta->largest)) + 1);
    bb_table_close(table);
    return (double)(end - first) / (double)numbers->count;
}

struct survey {
    struct bb_db_table_list list;
    struct numbers numbers;
    struct bb_file_system *files;
    double target;
    struct result result;
};

/* Adds the tables first ... end - 1, which are a run. */
static void add_run(struct survey *survey, size_t first, size_t end)
{
    struct result *result = &survey->result;
    double keys = 0;
    double searches = 0;
    for (size_t i = first; i < end; i++) {
        const struct bb_db_table *table = &survey->list.tables[i];
        double share = search_share(&survey->numbers, survey->files, table->path);
        keys += (double)table->entry_count;
        searches += share;
        result->bits += information((double)table->entry_count, table->predicted_rate);
        result->waste += share * table->predicted_rate;
    }
    double least = survey->target * keys / result->keys;
    result->runs++;
    result->minimum += information(keys, fmin(1, least));
    result->exact_minimum += information(keys, fmin(1, least / fmax(searches, 1e-9)));
}

/* Each table of level 0 is a run; each deeper level is one. */
static size_t end_of_run(const struct bb_db_table_list *list, size_t first)
{
    size_t end = first + 1;
    while (list->tables[first].level > 0 && end < list->count &&
           list->tables[end].level == list->tables[first].level)
        end++;
    return end;
}

static struct result measure(struct bb_db *db, struct bb_file_system *files)
{
    struct bb_db_stats stats;
    struct survey survey = {.files = files};
    struct result *result = &survey.result;
    bb_db_stats(db, &stats);
    bench_must(bb_db_tables(db, &survey.list));
    survey.target = stats.target_wasted_reads;
    for (size_t i = 0; i < survey.list.count; i++)
        result->keys += (double)survey.list.tables[i].entry_count;
    survey.numbers = list_numbers(db, (size_t)result->keys);
    for (size_t first = 0, end = 0; first < survey.list.count; first = end) {
        end = end_of_run(&survey.list, first);
        add_run(&survey, first, end);
    }
    result->bits /= result->keys;
    result->minimum /= result->keys;
    result->exact_minimum /= result->keys;
    result->waste /= survey.target;
    free(survey.numbers.items);
    bb_db_table_list_deinit(&survey.list);
    return *result;
}

static struct result run_load(const struct load *load, bool is_deterministic)
{
    struct bb_file_system *files = NULL;
    struct bb_db *db = NULL;
    bench_must(bb_file_system_memory_create(&files));
    struct bb_db_options options = {.create_if_missing = true,
                                    .file_system = files,
                                    .deterministic = is_deterministic,
                                    .write_buffer_bytes = load->write_buffer_bytes,
                                    .absent_share = load->absent_share,
                                    .level0_run_count_compact = load->level0_runs,
                                    .level_size_ratio = load->level_ratio};
    if (load->target > 0)
        options.filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, load->target};
    bench_must(bb_db_open("/store", &options, &db));
    fill(load, db);
    bench_must(bb_db_flush(db));
    bench_must(bb_db_wait_idle(db));
    struct result result = measure(db, files);
    bench_must(bb_db_compact(db));
    result.compacted = measure(db, files).waste;
    bench_must(bb_db_close(db));
    bb_file_system_memory_destroy(files);
    return result;
}

static void print_row(const struct load *load, const char *mode, const struct result *result)
{
    printf("%-9s %8" PRIu64 " %6" PRIu64 " %-13s %9.0f %4.0f %6.2f %6.2f %6.2f %6.2f %9.2f\n",
           order_names[load->order], load->operations, load->write_buffer_bytes / KIB, mode,
           result->keys, result->runs, result->bits, result->bits - result->minimum,
           result->bits - result->exact_minimum, result->waste, result->compacted);
}

static bool is_within_bounds(const struct load *load, const struct result *result)
{
    double excess_max = load->level0_runs > 4 ? MANY_RUNS_MAX : EXCESS_MAX;
    return result->bits - result->minimum <= excess_max &&
           result->bits - result->exact_minimum <= EXACT_MAX && result->waste <= WASTE_MAX &&
           result->compacted >= COMPACTED_MIN && result->compacted <= COMPACTED_MAX;
}

/* Sorts the values. */
static double print_values(const char *mode, const char *name, double *values, size_t count)
{
    double median = median_of(values, count);
    printf("%s: %s bits per key above the minimum: median %.2f, maximum %.2f\n", mode, name, median,
           values[count - 1]);
    return median;
}

static bool run_mode(const char *mode, bool is_deterministic)
{
    double excesses[BB_ARRAY_LENGTH(loads)];
    double exact[BB_ARRAY_LENGTH(loads)];
    size_t count = BB_ARRAY_LENGTH(loads);
    size_t beyond = 0;
    for (size_t i = 0; i < count; i++) {
        struct result result = run_load(&loads[i], is_deterministic);
        print_row(&loads[i], mode, &result);
        excesses[i] = result.bits - result.minimum;
        exact[i] = result.bits - result.exact_minimum;
        beyond += !is_within_bounds(&loads[i], &result);
    }
    double median = print_values(mode, "excess", excesses, count);
    double exact_median = print_values(mode, "exact", exact, count);
    printf("%s: %zu of %zu loads out of bounds\n", mode, beyond, count);
    return median <= MEDIAN_MAX && exact_median <= EXACT_MEDIAN_MAX && beyond == 0;
}

int main(void)
{
    printf("order         puts    KiB mode               keys runs   bits excess  exact  waste"
           " compacted\n");
    bool is_good = run_mode("deterministic", true);
    is_good &= run_mode("threads", false);
    return is_good ? 0 : 1;
}
