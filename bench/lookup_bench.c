/* Lookups in a compacted store, in ways that bloomblock-compare does not measure: with one and two
 * threads, single and in batches, warm and cold.
 *
 *     lookup_bench DIRECTORY [keys, default 1000000]
 *
 * The store is made in a new folder of the directory, and removed. Keys of 16 bytes, values of 100,
 * defaults except a cache of 64 MiB. Prints a line of JSON for each measurement:
 *
 *     readers   1 or 2 threads that look up absent keys independently; nanoseconds per lookup
 *               and thread, by the threads' processor time and by the clock; medians of alternating
 *               rounds. stores 2: each thread has a separate store, so the threads share no memory
 *               of this program. scaling: the throughput of all threads divided by the throughput
 *               of one; the median of the ratios within a round. If two threads with two stores
 *               scale by less than 2, the machine is the cause (two processors of one core, other
 *               virtual machines). If two threads with one store scale even less, this program is
 *               the cause of the difference.
 *     many      keys per call: bb_db_get for 1, otherwise bb_db_get_many. Before each measurement
 *               the files are dropped from the page cache (cold) or read into it (warm), and
 *               bloomblock's cache is emptied; nanoseconds per key by the clock and by processor
 *               time, and reads of the files per key
 *
 * Scaling by the clock, absent keys, two quiet processors:
 *
 *     keys           50,000     1,000,000    3,000,000
 *     one store        1.91  1.45 ... 1.73        1.95
 *     two stores       2.01  1.98 ... 2.22        2.13
 *
 * With 1,000,000 keys the data just fits the second-level caches, and presumably each processor
 * fetches lines from the cache of the other one.
 *
 * Time per present key, 1,000,000 keys on a busy machine, medians of four runs:
 *
 *     batch                1      10     100    1000
 *     cold, clock       38.5    27.1    18.7    16.3 us
 *     cold, processor   14.6    11.3    11.1    11.0 us
 *     warm, processor    8.1     7.7     7.2     6.7 us
 *
 * The blocks of a batch are fetched together (docs/decisions/0012-blocks-at-once.md).
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/sync.h"
#include "bb/db.h"
#include "bench/die.h"
#include "bench/median.h"
#include "bench/store_files.h"
#include "bench/workload.h"

#define LOOKUPS      200000
#define ROUNDS       15
#define MANY_MAX     1000
#define COLD_LOOKUPS 20000
#define BATCH        128

struct bench {
    char directory[PATH_MAX];
    const struct workload *workload;
    struct bb_db *db;
};

struct time {
    double processor; /* nanoseconds, of the thread */
    double clock;
};

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static struct time time_now(void)
{
    return (struct time){now(CLOCK_THREAD_CPUTIME_ID), now(CLOCK_MONOTONIC)};
}

static void add_since(struct time *sum, struct time begin)
{
    struct time end = time_now();
    sum->processor += end.processor - begin.processor;
    sum->clock += end.clock - begin.clock;
}

static void open_store(struct bench *bench)
{
    struct bb_db_options options = {.create_if_missing = true, .cache_bytes = 64 << 20};
    bench_must(bb_db_open(bench->directory, &options, &bench->db));
}

static void load(struct bench *bench)
{
    uint8_t key[16];
    uint8_t value[100];
    for (uint64_t i = 0; i < bench->workload->options.key_count; i++) {
        uint64_t number = workload_number(bench->workload, i);
        workload_key(bench->workload, number, key);
        workload_value(bench->workload, number, value);
        bench_must(bb_db_put(bench->db, NULL, (struct bb_bytes){.data = key, .size = sizeof(key)},
                             (struct bb_bytes){.data = value, .size = sizeof(value)}));
    }
    bench_must(bb_db_compact(bench->db));
    bench_must(bb_db_wait_idle(bench->db));
}

/* ---- readers ---- */

/* Readers share no cache line: one writes its time while the other one reads its fields. */
struct reader {
    _Alignas(128) struct bench *bench;
    struct bb_thread thread;
    uint64_t first;
    struct time time;
};

static void ask_batch(struct reader *reader, uint64_t first, struct bb_buf *value)
{
    const struct workload *workload = reader->bench->workload;
    uint8_t keys[BATCH][16];
    for (size_t i = 0; i < BATCH; i++)
        workload_key(workload, workload->absent[(first + i) % LOOKUPS], keys[i]);
    struct time begin = time_now();
    for (size_t i = 0; i < BATCH; i++) {
        struct bb_bytes key = {.data = keys[i], .size = 16};
        if (bb_db_get(reader->bench->db, NULL, key, value) != BB_NOT_FOUND)
            bench_die("an absent key is found");
    }
    add_since(&reader->time, begin);
}

static void read_absent(void *argument)
{
    struct reader *reader = argument;
    struct bb_buf value = {0};
    for (uint64_t i = 0; i < LOOKUPS; i += BATCH)
        ask_batch(reader, reader->first + i, &value);
    bb_buf_deinit(&value);
}

/* Reader i uses benches[i]. */
static struct time run_readers(struct bench *const *benches, size_t count)
{
    struct reader readers[2];
    struct time mean = {0};
    for (size_t i = 0; i < count; i++) {
        readers[i] = (struct reader){.bench = benches[i], .first = i * LOOKUPS / 2};
        bench_must(bb_thread_create(&readers[i].thread, read_absent, &readers[i]));
    }
    for (size_t i = 0; i < count; i++) {
        bb_thread_join(&readers[i].thread);
        mean.processor += readers[i].time.processor / (double)(count * LOOKUPS);
        mean.clock += readers[i].time.clock / (double)(count * LOOKUPS);
    }
    return mean;
}

/* A number of threads and stores, and its figures by round. */
struct way {
    struct bench *benches[2];
    size_t readers;
    size_t stores;
    double processor[ROUNDS];
    double clock[ROUNDS];
    double processor_scaling[ROUNDS];
    double clock_scaling[ROUNDS];
};

static void take_turn(struct way *ways, size_t count, size_t round)
{
    for (size_t i = 0; i < count; i++) {
        struct way *way = &ways[i];
        struct time time = run_readers(way->benches, way->readers);
        way->processor[round] = time.processor;
        way->clock[round] = time.clock;
        way->processor_scaling[round] =
            (double)way->readers * ways[0].processor[round] / time.processor;
        way->clock_scaling[round] = (double)way->readers * ways[0].clock[round] / time.clock;
    }
}

static void print_way(struct way *way)
{
    printf("{\"bench\":\"lookup\",\"readers\":%zu,\"stores\":%zu,\"ns_processor\":%.1f,"
           "\"ns_clock\":%.1f,\"scaling_processor\":%.2f,\"scaling_clock\":%.2f}\n",
           way->readers, way->stores, median_of(way->processor, ROUNDS),
           median_of(way->clock, ROUNDS), median_of(way->processor_scaling, ROUNDS),
           median_of(way->clock_scaling, ROUNDS));
}

static void measure_readers(struct bench *bench, struct bench *other)
{
    static struct way ways[3];
    ways[0] = (struct way){.benches = {bench}, .readers = 1, .stores = 1};
    ways[1] = (struct way){.benches = {bench, bench}, .readers = 2, .stores = 1};
    ways[2] = (struct way){.benches = {bench, other}, .readers = 2, .stores = 2};
    (void)run_readers(ways[2].benches, 2);
    for (size_t round = 0; round < ROUNDS; round++)
        take_turn(ways, 3, round);
    for (size_t i = 0; i < 3; i++)
        print_way(&ways[i]);
    fflush(stdout);
}

/* ---- batches ---- */

/* Reopening the store empties its cache. */
static void reopen(struct bench *bench, bool is_cold)
{
    bench_must(bb_db_close(bench->db));
    if (is_cold)
        store_files_drop(bench->directory);
    else
        store_files_warm(bench->directory);
    open_store(bench);
}

static uint64_t reads_so_far(struct bb_db *db)
{
    struct bb_db_stats stats;
    uint64_t reads = 0;
    bb_db_stats(db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        reads += stats.level_reads[level].block_reads;
    return reads;
}

static void check(const struct workload *workload, const uint64_t *numbers, size_t count,
                  const struct bb_buf *values, const enum bb_status *statuses)
{
    uint8_t expected[100];
    for (size_t i = 0; i < count; i++) {
        workload_value(workload, numbers[i], expected);
        bench_must(statuses[i]);
        if (values[i].size != sizeof(expected) ||
            __builtin_memcmp(values[i].data, expected, sizeof(expected)) != 0)
            bench_die("a wrong value is found");
    }
}

static void ask_many(struct bench *bench, uint64_t first, size_t count, struct time *time)
{
    static uint8_t digits[MANY_MAX][16];
    static struct bb_bytes keys[MANY_MAX];
    static struct bb_buf values[MANY_MAX];
    static enum bb_status statuses[MANY_MAX];
    const uint64_t *numbers = bench->workload->present + first;
    for (size_t i = 0; i < count; i++) {
        workload_key(bench->workload, numbers[i], digits[i]);
        keys[i] = (struct bb_bytes){.data = digits[i], .size = 16};
    }
    struct time begin = time_now();
    if (count == 1)
        statuses[0] = bb_db_get(bench->db, NULL, keys[0], &values[0]);
    else
        bench_must(bb_db_get_many(bench->db, NULL, keys, count, values, statuses));
    add_since(time, begin);
    check(bench->workload, numbers, count, values, statuses);
}

static void measure_many(struct bench *bench, size_t many, bool is_cold)
{
    struct time time = {0};
    reopen(bench, is_cold);
    for (uint64_t done = 0; done < COLD_LOOKUPS; done += many)
        ask_many(bench, done, many, &time);
    printf("{\"bench\":\"lookup\",\"many\":%zu,\"page_cache\":\"%s\",\"ns_clock\":%.0f,"
           "\"ns_processor\":%.0f,\"block_reads\":%.3f}\n",
           many, is_cold ? "cold" : "warm", time.clock / COLD_LOOKUPS,
           time.processor / COLD_LOOKUPS, (double)reads_so_far(bench->db) / COLD_LOOKUPS);
    fflush(stdout);
}

static void begin(struct bench *bench, const struct workload *workload, const char *parent,
                  int number)
{
    *bench = (struct bench){.workload = workload};
    snprintf(bench->directory, sizeof(bench->directory), "%s/lookup_bench.%ld.%d", parent,
             (long)getpid(), number);
    store_files_make_directory(bench->directory);
    open_store(bench);
    load(bench);
}

static void end(struct bench *bench)
{
    bench_must(bb_db_close(bench->db));
    store_files_remove(bench->directory);
}

int main(int argc, char **argv)
{
    static const size_t many[] = {1, 10, 100, 1000};
    static struct bench benches[2];
    if (argc < 2)
        bench_die("usage: lookup_bench DIRECTORY [keys]");
    struct workload workload;
    struct workload_options options = {.key_count =
                                           argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000,
                                       .lookup_count = LOOKUPS,
                                       .key_size = 16,
                                       .value_size = 100,
                                       .seed = 1};
    workload_init(&workload, &options);
    for (int i = 0; i < 2; i++)
        begin(&benches[i], &workload, argv[1], i);
    measure_readers(&benches[0], &benches[1]);
    end(&benches[1]);
    for (int is_cold = 0; is_cold < 2; is_cold++) {
        for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
            measure_many(&benches[0], many[i], is_cold);
    }
    end(&benches[0]);
    workload_deinit(&workload);
    return 0;
}
