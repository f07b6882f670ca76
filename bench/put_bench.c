/* Puts by one and by several threads: time of each, and how long single puts take.
 *
 *     put_bench DIRECTORY [puts, default 2000000 [synced]]
 *
 * For 1, 2, 4, 8 and 16 threads, a new store in a new folder of the directory, with the defaults.
 * The threads put keys of 16 bytes in random order, with values of 100. With `synced`, one in that
 * many puts waits until it is durable. Prints a row for each number of threads:
 *
 *     clock       microseconds from the first put to the last, divided by the number of puts
 *     processor   microseconds of processor time of all threads until then, divided likewise
 *     p50 ... max percentiles of the time of one put, in microseconds
 *     commits     puts for each append to the log
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/sync.h"
#include "bb/db.h"
#include "bench/counters.h"
#include "bench/dice.h"
#include "bench/die.h"
#include "bench/process_clock.h"
#include "bench/store_files.h"

#define KEY_SIZE    16
#define VALUE_SIZE  100
#define THREADS_MAX 16

struct writer {
    struct bb_db *db;
    uint64_t first; /* number of its first key */
    uint64_t count;
    uint64_t synced_one_in; /* 0: no put waits until it is durable */
    uint32_t *nanoseconds;  /* of each of its puts */
    struct bb_thread thread;
};

static void write_all(void *context)
{
    struct writer *writer = context;
    uint8_t value[VALUE_SIZE] = {0};
    uint64_t before = clock_nanoseconds();
    for (uint64_t i = 0; i < writer->count; i++) {
        uint64_t number = dice_mix(writer->first + i);
        uint64_t key[KEY_SIZE / sizeof(uint64_t)] = {number, dice_mix(number)};
        struct bb_write_options options = {.sync = writer->synced_one_in > 0 &&
                                                   number % writer->synced_one_in == 0};
        memcpy(value, &number, sizeof(number));
        bench_must(bb_db_put(writer->db, &options, bb_bytes_of(key, sizeof(key)),
                             bb_bytes_of(value, sizeof(value))));
        uint64_t after = clock_nanoseconds();
        uint64_t taken = after - before;
        writer->nanoseconds[i] = taken < UINT32_MAX ? (uint32_t)taken : UINT32_MAX;
        before = after;
    }
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double percentile(const uint32_t *sorted, uint64_t count, double share)
{
    uint64_t i = (uint64_t)(share * (double)count);
    return (double)sorted[i < count ? i : count - 1] / 1e3;
}

static void run_writers(struct writer *writers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench_must(bb_thread_create(&writers[i].thread, write_all, &writers[i]));
    for (size_t i = 0; i < count; i++)
        bb_thread_join(&writers[i].thread);
}

/* Loads the store, and prints the row. times: one per put. */
static void load(struct bb_db *db, size_t thread_count, uint64_t puts, uint64_t synced_one_in,
                 uint32_t *times)
{
    struct writer writers[THREADS_MAX];
    struct bb_db_stats stats;
    uint64_t share = puts / thread_count;
    for (size_t i = 0; i < thread_count; i++)
        writers[i] = (struct writer){.db = db,
                                     .first = i * share,
                                     .count = share,
                                     .synced_one_in = synced_one_in,
                                     .nanoseconds = times + i * share};
    uint64_t processor = process_clock_now();
    uint64_t clock = clock_nanoseconds();
    run_writers(writers, thread_count);
    double count = (double)(share * thread_count);
    double elapsed = (double)(clock_nanoseconds() - clock);
    double used = process_clock_since(processor);
    bb_db_stats(db, &stats);
    qsort(times, share * thread_count, sizeof(*times), compare_numbers);
    printf("%7zu %9.2f %10.2f %8.2f %8.2f %8.2f %9.0f %9.2f\n", thread_count, elapsed / count / 1e3,
           used / count / 1e3, percentile(times, share * thread_count, 0.5),
           percentile(times, share * thread_count, 0.99),
           percentile(times, share * thread_count, 0.999),
           percentile(times, share * thread_count, 1), count / (double)stats.commits);
}

static void measure(const char *directory, size_t thread_count, uint64_t puts,
                    uint64_t synced_one_in, uint32_t *times)
{
    struct bb_db *db = NULL;
    struct bb_db_options options = {.create_if_missing = true};
    bench_must(bb_db_open(directory, &options, &db));
    load(db, thread_count, puts, synced_one_in, times);
    bench_must(bb_db_close(db));
    store_files_remove(directory);
}

int main(int argc, char **argv)
{
    static const size_t thread_counts[] = {1, 2, 4, 8, THREADS_MAX};
    char directory[PATH_MAX];
    uint64_t puts = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000000;
    uint64_t synced_one_in = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (argc < 2 || argc > 4 || puts < THREADS_MAX) {
        fprintf(stderr, "usage: put_bench DIRECTORY [puts [one in how many is synced]]\n");
        return 2;
    }
    snprintf(directory, sizeof(directory), "%s/put_bench.%ld", argv[1], (long)getpid());
    uint32_t *times = bench_allocate(puts * sizeof(*times));
    printf("threads     clock  processor      p50      p99    p99.9       max   commits\n");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(thread_counts); i++)
        measure(directory, thread_counts[i], puts, synced_one_in, times);
    free(times);
    return 0;
}
