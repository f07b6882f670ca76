/* The cost of opening after a kill: the time until bb_db_open returns when a log of some MiB must
 * be replayed.
 *
 *     replay_bench DIRECTORY [--log MIB, default 64] [--value-size N, default 100]
 *                            [--rounds N, default 5]
 *
 * A child process writes a log of keys of 16 bytes in random order and crashes. The parent opens
 * the store. It prints a line of JSON for each round and one for the medians: elapsed milliseconds,
 * including the writing of the table, and milliseconds of processor time. The store is made in a
 * new folder of the directory, and removed.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "bb/db.h"
#include "bench/counters.h"
#include "bench/die.h"
#include "bench/median.h"
#include "bench/store_files.h"
#include "bench/workload.h"

#define MIB        (UINT64_C(1) << 20)
#define KEY_SIZE   16
#define ROUNDS_MAX 99

struct bench {
    const char *directory;
    struct workload workload;
    uint64_t log_bytes;
};

/* The write buffer is large enough for a single log, because entries take more space in memory than
 * in a log. */
static struct bb_db *open_store(const struct bench *bench)
{
    struct bb_db *db = NULL;
    struct bb_db_options options = {.create_if_missing = true,
                                    .write_buffer_bytes = 2 * bench->log_bytes};
    bench_must(bb_db_open(bench->directory, &options, &db));
    return db;
}

/* The child's work; crashes when the log is full. */
static _Noreturn void write_log(const struct bench *bench)
{
    uint8_t key[KEY_SIZE];
    static uint8_t value[WORKLOAD_SIZE_MAX];
    size_t value_size = bench->workload.options.value_size;
    struct bb_db *db = open_store(bench);
    for (uint64_t i = 0; i < bench->workload.options.key_count; i++) {
        uint64_t number = workload_number(&bench->workload, i);
        workload_key(&bench->workload, number, key);
        workload_value(&bench->workload, number, value);
        bench_must(bb_db_put(db, NULL, bb_bytes_of(key, KEY_SIZE), bb_bytes_of(value, value_size)));
    }
    _exit(0);
}

static void leave_log(const struct bench *bench)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        write_log(bench);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        bench_die("no log was written");
}

struct round {
    double clock;
    double processor;
};

/* Milliseconds. */
static struct round measure(const struct bench *bench)
{
    struct counters before;
    struct counters used;
    leave_log(bench);
    counters_init();
    counters_read(&before);
    uint64_t begin = clock_nanoseconds();
    struct bb_db *db = open_store(bench);
    uint64_t clock = clock_nanoseconds() - begin;
    counters_since(&before, &used);
    bench_must(bb_db_close(db));
    store_files_remove(bench->directory);
    return (struct round){(double)clock / 1e6, (double)used.cpu_nanoseconds / 1e6};
}

static void print(const char *what, double clock, double processor, uint64_t puts)
{
    printf("{\"bench\":\"replay\",\"round\":\"%s\",\"puts\":%" PRIu64
           ",\"clock_ms\":%.0f,\"processor_ms\":%.0f}\n",
           what, puts, clock, processor);
    fflush(stdout);
}

static void measure_all(const struct bench *bench, size_t rounds)
{
    double clocks[ROUNDS_MAX];
    double processors[ROUNDS_MAX];
    char name[24];
    for (size_t i = 0; i < rounds; i++) {
        struct round round = measure(bench);
        clocks[i] = round.clock;
        processors[i] = round.processor;
        snprintf(name, sizeof(name), "%zu", i + 1);
        print(name, round.clock, round.processor, bench->workload.options.key_count);
    }
    print("median", median_of(clocks, rounds), median_of(processors, rounds),
          bench->workload.options.key_count);
}

static uint64_t argument(int argc, char **argv, const char *name, uint64_t otherwise)
{
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], name) == 0)
            return strtoull(argv[i + 1], NULL, 10);
    }
    return otherwise;
}

int main(int argc, char **argv)
{
    char directory[PATH_MAX];
    uint64_t rounds = argument(argc, argv, "--rounds", 5);
    if (argc < 2 || argc % 2 != 0 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr,
                "usage: replay_bench DIRECTORY [--log MIB] [--value-size N]"
                " [--rounds 1...%d]\n",
                ROUNDS_MAX);
        return 2;
    }
    snprintf(directory, sizeof(directory), "%s/replay_bench.%ld", argv[1], (long)getpid());
    struct bench bench = {.directory = directory,
                          .log_bytes = argument(argc, argv, "--log", 64) * MIB};
    struct workload_options options = {
        .key_size = KEY_SIZE, .value_size = argument(argc, argv, "--value-size", 100), .seed = 1};
    if (options.value_size < WORKLOAD_VALUE_SIZE_MIN || options.value_size > WORKLOAD_SIZE_MAX)
        bench_die("values have %d to %d bytes", WORKLOAD_VALUE_SIZE_MIN, WORKLOAD_SIZE_MAX);
    /* The log's overhead per entry: docs/format-wal.md. */
    options.key_count = bench.log_bytes / (KEY_SIZE + options.value_size + 11 + 8 + 12 + 3);
    workload_init(&bench.workload, &options);
    measure_all(&bench, (size_t)rounds);
    workload_deinit(&bench.workload);
    return 0;
}
