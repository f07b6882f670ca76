/* Measures the memory and the openings of a large store. Each phase runs in a separate process.
 *
 *     memory_bench DIRECTORY [--keys N] [--value-size N] [--write-buffer MIB] [--cache MIB]
 *
 * Loads N keys (default 20,000,000) of 16 bytes in random order, reads, compacts, closes, opens the
 * store warm, fills a log and crashes, and opens it again. Prints for each phase its time, its
 * processor time, and its maximum anonymous memory (VmHWM minus file-backed memory), and the bound
 * that follows from the options. Exit status 1: a phase exceeded the bound, or gave a wrong answer.
 * Times are printed and not judged. The store is made in a new folder of the directory, and removed
 * after success.
 *
 * The bound, in bytes:
 *     write buffers   (1 + BB_FROZEN_MAX) x write_buffer_bytes: one in use, the others frozen
 *     cache           cache_bytes
 *     tables          1.5 per key: filters and roots. The bound of the filters follows from the
 *                     runs: the bits of one run, the entropy of the sizes of the runs (Monkey),
 *                     and two bits for plans that were made for other runs. (A full compaction
 *                     leaves little of the target to the runs after it.)
 *     fences          48 for each data block: its place and key range, in the index pages,
 *                     which are pinned by default (index_residency)
 *     builders        for the table of a flush and for two of a divided merge, as stated in
 *                     bb/table.h: 8 per key, with the number of keys rounded up to a power of two,
 *                     twice the table filter, and 256 KiB of index pages
 *     the rest        8 MiB: blocks and pages in use, stacks, memory kept by the allocator
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "bb/db.h"
#include "bench/counters.h"
#include "bench/die.h"
#include "bench/store_files.h"
#include "bench/workload.h"
#include "kv/view/view.h"

#define MIB           (UINT64_C(1) << 20)
#define KEY_SIZE      16
#define BYTES_PER_KEY 1.5
/* Of a single run at the default target of 0.01: 7.36 measured (docs/benchmarks.md). */
#define BITS_OF_ONE_RUN     7.5
#define BITS_OF_OTHER_PLANS 2.0
#define BYTES_PER_BLOCK     48
#define BLOCK_SIZE          4096.0
#define REST_BYTES          (8 * MIB)
#define LOOKUP_COUNT        200000
/* The log is filled up to this share of the write buffer, so that no second log begins. */
#define LOG_FULL        0.98
#define TABLE_SIZE_MAX  (8 * MIB)
#define PAGE_GROUP_SIZE (MIB / 4)

struct bench {
    const char *directory;
    struct workload workload;
    uint64_t key_count;
    uint64_t write_buffer_bytes;
    uint64_t cache_bytes;
    uint64_t bound;
};

/* ---- the bound ---- */

static uint64_t builder_bytes(double key_count)
{
    double places = exp2(ceil(log2(key_count < 1 ? 1 : key_count)));
    return (uint64_t)(8 * places + 2 * 5.0 / 8 * key_count) + PAGE_GROUP_SIZE;
}

static uint64_t print_part(const char *name, uint64_t bytes)
{
    printf("  %-28s %9.1f MiB\n", name, (double)bytes / (double)MIB);
    return bytes;
}

static uint64_t print_bound(const struct bench *bench)
{
    double entry_size = KEY_SIZE + (double)bench->workload.options.value_size;
    uint64_t sum = 0;
    printf("bound\n");
    sum += print_part("write buffers", (1 + BB_FROZEN_MAX) * bench->write_buffer_bytes);
    sum += print_part("cache", bench->cache_bytes);
    sum += print_part("filters and roots", (uint64_t)(BYTES_PER_KEY * (double)bench->key_count));
    sum += print_part(
        "fences", (uint64_t)(BYTES_PER_BLOCK * (double)bench->key_count * entry_size / BLOCK_SIZE));
    sum += print_part("builders", builder_bytes((double)bench->write_buffer_bytes / entry_size) +
                                      /* compressed to no less than half */
                                      2 * builder_bytes(2 * (double)TABLE_SIZE_MAX / entry_size));
    sum += print_part("the rest", REST_BYTES);
    print_part("sum", sum);
    return sum;
}

/* ---- phases, each in a separate process ---- */

static uint64_t status_field(const char *name)
{
    char line[256];
    uint64_t value = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL)
        bench_die("no /proc/self/status");
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoull(line + strlen(name), NULL, 10) * 1024;
    fclose(file);
    return value;
}

/* The peak of all resident memory, without the file-backed and shared memory at the end of the
 * phase. Both only grow in a phase, except for pages that the system reclaims. The workload is
 * shared memory. */
static uint64_t anonymous_peak(void)
{
    uint64_t peak = status_field("VmHWM:");
    uint64_t others = status_field("RssFile:") + status_field("RssShmem:");
    return peak > others ? peak - others : 0;
}

static struct bb_db *open_store(const struct bench *bench)
{
    struct bb_db *db = NULL;
    struct bb_db_options options = {
        .create_if_missing = true,
        .write_buffer_bytes = bench->write_buffer_bytes,
        .cache_bytes = bench->cache_bytes,
    };
    bench_must(bb_db_open(bench->directory, &options, &db));
    return db;
}

static void put(const struct bench *bench, struct bb_db *db, uint64_t i)
{
    uint8_t key[KEY_SIZE];
    uint8_t value[WORKLOAD_SIZE_MAX];
    uint64_t number = workload_number(&bench->workload, i);
    workload_key(&bench->workload, number, key);
    workload_value(&bench->workload, number, value);
    bench_must(bb_db_put(db, NULL, bb_bytes_of(key, KEY_SIZE),
                         bb_bytes_of(value, bench->workload.options.value_size)));
}

static void load(const struct bench *bench)
{
    struct bb_db *db = open_store(bench);
    for (uint64_t i = 0; i < bench->key_count; i++)
        put(bench, db, i);
    bench_must(bb_db_wait_idle(db));
    bench_must(bb_db_close(db));
}

static void check_get(const struct bench *bench, struct bb_db *db, uint64_t number, bool is_there,
                      struct bb_buf *value)
{
    uint8_t key[KEY_SIZE];
    uint8_t expected[WORKLOAD_SIZE_MAX];
    workload_key(&bench->workload, number, key);
    enum bb_status status = bb_db_get(db, NULL, bb_bytes_of(key, KEY_SIZE), value);
    if (status != BB_OK && status != BB_NOT_FOUND)
        bench_must(status);
    workload_value(&bench->workload, number, expected);
    bool is_right = status == BB_OK && value->size == bench->workload.options.value_size &&
                    memcmp(value->data, expected, value->size) == 0;
    if (is_there ? !is_right : status != BB_NOT_FOUND)
        bench_die("key %.*s: a wrong answer", KEY_SIZE, (const char *)key);
}

static void print_per_key(const struct bench *bench, const char *name, double bytes)
{
    printf("  %-28s %9.2f bytes per key\n", name, bytes / (double)bench->key_count);
}

/* The bytes that the filters of a store with these runs may take. The runs of a level count as
 * equally large, which is the largest entropy of their sizes. */
static double filter_bound(const struct bb_db_stats *stats)
{
    double bits = BITS_OF_ONE_RUN + BITS_OF_OTHER_PLANS;
    double keys = 0;
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++)
        keys += (double)stats->levels[i].key_count;
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++) {
        const struct bb_level_stats *level = &stats->levels[i];
        double share = (double)level->key_count / keys;
        bits += share > 0 ? share * log2((double)level->run_count / share) : 0;
    }
    return keys * bits / 8;
}

static void check_filters(const struct bench *bench, const struct bb_db_stats *stats)
{
    double bound = filter_bound(stats);
    print_per_key(bench, "of that filters", (double)stats->filter_bytes);
    print_per_key(bench, "bound for these runs", bound);
    if ((double)stats->filter_bytes > bound)
        bench_die("filters take more than their bound");
}

static void read_keys(const struct bench *bench)
{
    struct bb_db *db = open_store(bench);
    struct bb_buf value = {0};
    for (uint64_t i = 0; i < bench->workload.options.lookup_count; i++) {
        check_get(bench, db, bench->workload.present[i], true, &value);
        check_get(bench, db, bench->workload.absent[i], false, &value);
    }
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    print_per_key(bench, "tables keep in memory", (double)stats.table_memory_bytes);
    check_filters(bench, &stats);
    bb_buf_deinit(&value);
    bench_must(bb_db_close(db));
}

static void compact(const struct bench *bench)
{
    struct bb_db *db = open_store(bench);
    bench_must(bb_db_compact(db));
    bench_must(bb_db_close(db));
}

static void print_opening(const char *name, uint64_t begin, const struct counters *before)
{
    uint64_t clock = clock_nanoseconds() - begin;
    struct counters used;
    counters_since(before, &used);
    printf("  %-28s %9.1f ms, %.1f ms of processor time\n", name, (double)clock / 1e6,
           (double)used.cpu_nanoseconds / 1e6);
}

static void reopen(const struct bench *bench, const char *name)
{
    struct counters before;
    counters_init();
    counters_read(&before);
    uint64_t begin = clock_nanoseconds();
    struct bb_db *db = open_store(bench);
    print_opening(name, begin, &before);
    bench_must(bb_db_close(db));
}

static void reopen_closed(const struct bench *bench)
{
    reopen(bench, "opening");
}

/* Overwrites keys until the write buffer is nearly full. The store is not closed: the end of the
 * process is the crash. */
static void fill_log(const struct bench *bench)
{
    struct bb_db *db = open_store(bench);
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    uint64_t full = (uint64_t)(LOG_FULL * (double)bench->write_buffer_bytes);
    uint64_t count = 0;
    for (; count < bench->key_count && stats.memtable_bytes < full && stats.flushes == 0; count++) {
        put(bench, db, count);
        if (count % 1024 == 0)
            bb_db_stats(db, &stats);
    }
    printf("  %-28s %9.1f MiB, %" PRIu64 " puts\n", "log left",
           (double)stats.wal_bytes / (double)MIB, count);
}

static void reopen_killed(const struct bench *bench)
{
    reopen(bench, "opening with a full log");
}

/* Called in the child: runs the phase and ends the process, with exit code 1 if the phase exceeded
 * the bound. */
static _Noreturn void run_phase(const struct bench *bench, void (*phase)(const struct bench *bench))
{
    struct counters before;
    struct counters used;
    counters_init();
    counters_read(&before);
    uint64_t begin = clock_nanoseconds();
    phase(bench);
    uint64_t clock = clock_nanoseconds() - begin;
    counters_since(&before, &used);
    uint64_t peak = anonymous_peak();
    printf("  %-28s %9.1f s, %.1f s of processor time\n", "whole phase", (double)clock / 1e9,
           (double)used.cpu_nanoseconds / 1e9);
    printf("  %-28s %9.1f MiB, bound %.1f%s\n", "anonymous memory, most",
           (double)peak / (double)MIB, (double)bench->bound / (double)MIB,
           peak > bench->bound ? "  ABOVE THE BOUND" : "");
    fflush(stdout);
    _exit(peak > bench->bound);
}

static bool do_phase(const struct bench *bench, const char *name,
                     void (*phase)(const struct bench *bench))
{
    int status = 0;
    printf("%s\n", name);
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        bench_die("no process");
    if (child == 0)
        run_phase(bench, phase);
    if (waitpid(child, &status, 0) != child)
        bench_die("a phase was lost");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool do_all(const struct bench *bench)
{
    bool is_good = do_phase(bench, "load", load);
    is_good = is_good && do_phase(bench, "lookups, as loaded", read_keys);
    is_good = is_good && do_phase(bench, "compaction", compact);
    is_good = is_good && do_phase(bench, "lookups, compacted", read_keys);
    is_good = is_good && do_phase(bench, "opening after a close, warm", reopen_closed);
    is_good = is_good && do_phase(bench, "writes, then a kill", fill_log);
    is_good = is_good && do_phase(bench, "opening after the kill", reopen_killed);
    return is_good && do_phase(bench, "lookups, after all", read_keys);
}

/* ---- arguments ---- */

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
    if (argc < 2 || argc % 2 != 0) {
        fprintf(stderr, "usage: memory_bench DIRECTORY [--keys N] [--value-size N]"
                        " [--write-buffer MIB] [--cache MIB]\n");
        return 2;
    }
    char directory[PATH_MAX];
    snprintf(directory, sizeof(directory), "%s/memory_bench.%ld", argv[1], (long)getpid());
    struct bench bench = {
        .directory = directory,
        .key_count = argument(argc, argv, "--keys", 20000000),
        .write_buffer_bytes = argument(argc, argv, "--write-buffer", 64) * MIB,
        .cache_bytes = argument(argc, argv, "--cache", 64) * MIB,
    };
    struct workload_options options = {
        .key_count = bench.key_count,
        .lookup_count = bench.key_count < LOOKUP_COUNT ? bench.key_count : LOOKUP_COUNT,
        .key_size = KEY_SIZE,
        .value_size = argument(argc, argv, "--value-size", 100),
        .seed = 1,
    };
    if (bench.key_count == 0 || options.value_size > WORKLOAD_SIZE_MAX ||
        options.value_size < WORKLOAD_VALUE_SIZE_MIN)
        bench_die("no keys, or a size of values that is not %d to %d", WORKLOAD_VALUE_SIZE_MIN,
                  WORKLOAD_SIZE_MAX);
    store_files_make_directory(bench.directory);
    workload_init(&bench.workload, &options);
    printf("%" PRIu64 " keys of %d bytes, values of %zu bytes, random order\n", bench.key_count,
           KEY_SIZE, options.value_size);
    bench.bound = print_bound(&bench);
    bool is_good = do_all(&bench);
    workload_deinit(&bench.workload);
    if (is_good)
        store_files_remove(bench.directory);
    return is_good ? 0 : 1;
}
