/* The load and the reads of a store, and lower limits for any store with the same blocks on this
 * machine. They show how much of a missed bar is due to the machine.
 *
 *     limits_bench DIRECTORY [keys, default 2000000 [value size, default 100]]
 *
 * Keys of 16 bytes in random order; 10 bits of filter per key, a cache and a write buffer of 64
 * MiB, blocks of 4 KiB, LZ4, as in bloomblock-compare. Ideal stores, which know the place of every
 * block, measure the limits (ideal_store.h, ideal_cache.h, ideal_load.h). Times are nanoseconds.
 *
 * Load: once, without the time for making keys and values. Steps are thread CPU time.
 *
 *     memtable    a copy of each record into 64 KiB of memory, and its insertion into this
 *                 store's memtable, of the write buffer's size
 *     write       each entry once, in order: blocks are compressed, hashed, and written without
 *                 sync; per entry
 *
 *     last put    elapsed time until the last put returns; limit: memtable
 *     until quiet elapsed time until all work is done. Limit: one thread puts, so it takes at least
 *                 `memtable`. Each entry in a table was written at least once. P processors that
 *                 share all work evenly each have a P-th of it. So the limit is the larger one of
 *                 memtable and (memtable + write) / P. Here `write` is multiplied by the share of
 *                 entries that are in tables at the end: the last write buffer is not full
 *     processor   processor time of all threads; limit: memtable + write, with the same share
 *
 * Reads: all steps and all reads take turns; times are medians of thread CPU time, page cache warm.
 * First as loaded, then compacted. A slice begins with half as many operations that are not timed,
 * so that the processor's caches do not have the data of another slice.
 *
 *     key         the program makes the key
 *     probe       and hashes it, and reads one cache line of the filters' memory
 *     probe, runs the same with one line of each run's part of this memory; no line waits for
 *                 another
 *     pread       or reads a compressed block from the page cache, with a call
 *     copy        or copies it from a map
 *     checksum    and verifies the copy by XXH3
 *     LZ4         and decompresses it
 *     in order    the last three of a block when blocks are read in order, 32 KiB in a call
 *
 *     absent      limit: probe. In the second row: probe, runs
 *     present     limit: probe, and the last three steps for every block that the store reads; the
 *                 cache holds the others
 *     seek + 10   limit: key, and the last three steps for every block that the store reads; of
 *                 values of a block or more, only the first is not in order
 *     scan        limit: a block in order, divided by its entries; of values of a block or more,
 *                 only the blocks that the store reads
 *
 * Cached: the store is opened with a cache that is larger than its data, and one pass has filled
 * it. The ideal cache takes its turns before, and is not in memory at the same time.
 *
 *     bucket      key and probe, and a line of an array as large as the cache's buckets
 *     entry       and the line of a block in memory that has the offset of the entry, then the
 *                 entry; and the copy of its value
 *
 *     present     limit: entry
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "bb/db_stats.h"
#include "bench/die.h"
#include "bench/ideal_load.h"
#include "bench/limits_load.h"
#include "bench/limits_sides.h"
#include "bench/limits_table.h"
#include "bench/probe.h"
#include "bench/store_files.h"
#include "bench/thread_clock.h"
#include "kv/memtable/memtable.h"

#define KEYS_DEFAULT  2000000
#define VALUE_DEFAULT 100
#define CACHE_SIZE    (64 << 20) /* and of the write buffer */
#define WINDOW_SIZE   (64 << 10)

struct bench {
    char directory[PATH_MAX];
    size_t run_count;
    struct limits_sides sides;
};

/* ---- the memtable ---- */

/* Records that are added to a memtable. */
struct filling {
    const struct workload *workload;
    const uint8_t *records;
    size_t record_size;
    struct bb_memtable *memtable;
    size_t window_used;
    uint8_t window[WINDOW_SIZE];
};

static void copy_to_window(struct filling *filling, const uint8_t *record)
{
    size_t size = filling->record_size;
    size = size < WINDOW_SIZE ? size : WINDOW_SIZE;
    if (filling->window_used + size > WINDOW_SIZE)
        filling->window_used = 0;
    memcpy(filling->window + filling->window_used, record, size);
    filling->window_used += size;
    probe_keep((uint64_t)(uintptr_t)filling->window);
}

static void add_record(struct filling *filling, uint64_t i)
{
    static const struct bb_hash_secret secret;
    const struct workload_options *options = &filling->workload->options;
    const uint8_t *record = filling->records + i * filling->record_size;
    struct bb_entry entry = {.key = bb_bytes_of(record, options->key_size),
                             .sequence = i + 1,
                             .kind = BB_ENTRY_PUT,
                             .value = bb_bytes_of(record + options->key_size, options->value_size)};
    uint64_t hash = bb_hash_key(&secret, entry.key);
    struct bb_memtable_path path;
    bb_memtable_find_way(filling->memtable, entry.key, hash, &path);
    copy_to_window(filling, record);
    bench_must(bb_memtable_add_at(filling->memtable, &path, &entry, hash));
}

/* Adds records from `first` on until one does not fit; returns its index. */
static uint64_t fill_memtable(struct filling *filling, uint64_t first)
{
    uint64_t i = first;
    while (i < filling->workload->options.key_count &&
           bb_memtable_fits(filling->memtable, 1, filling->record_size))
        add_record(filling, i++);
    if (i == first)
        bench_die("a record does not fit into the memtable");
    return i;
}

/* Nanoseconds of thread CPU time per record. The memory was touched before. To empty a full
 * memtable is not timed. */
static double measure_memtable(const struct workload *workload, const uint8_t *records)
{
    const struct workload_options *options = &workload->options;
    struct filling *filling = bench_allocate(sizeof(*filling));
    double time = 0;
    filling->workload = workload;
    filling->records = records;
    filling->record_size = options->key_size + options->value_size;
    bench_must(bb_memtable_create(NULL, CACHE_SIZE, &filling->memtable));
    (void)fill_memtable(filling, 0);
    for (uint64_t done = 0; done < options->key_count;) {
        bb_memtable_reset(filling->memtable);
        double begin = thread_clock_now();
        done = fill_memtable(filling, done);
        time += thread_clock_now() - begin;
    }
    bb_memtable_destroy(filling->memtable);
    free(filling);
    return time / (double)options->key_count;
}

/* ---- the report ---- */

static void print_read(const char *name, const struct turns *turns,
                       const struct limits_sides *sides, enum limits_side side, double limit)
{
    limits_table_row(name, turns_median(turns, side), limit, limits_sides_reads(sides, side));
}

/* Of a seek, which reads this many blocks. */
static double limit_of_seek(const struct limits_sides *sides, double block, double in_order)
{
    double reads = limits_sides_reads(sides, SIDE_SEEK);
    bool is_in_order = sides->workload.options.value_size >= LIMITS_BLOCK_SIZE && reads > 1;
    return is_in_order ? block + (reads - 1) * in_order : reads * block;
}

static double limit_of_scan(const struct limits_sides *sides, double in_order)
{
    uint64_t entries = ideal_store_entries_per_block(sides->ideal);
    return entries > 1 ? in_order / (double)entries
                       : in_order * limits_sides_reads(sides, SIDE_SCAN);
}

static void print_steps(const char *name, const struct turns *turns)
{
    double key = turns_median(turns, SIDE_KEY);
    double copy = turns_median(turns, SIDE_COPY);
    double checksum = turns_median(turns, SIDE_CHECKSUM);
    limits_table_steps(name);
    limits_table_step("key", key);
    limits_table_step("probe", turns_median(turns, SIDE_PROBE) - key);
    limits_table_step("probe, runs", turns_median(turns, SIDE_PROBE_RUNS) - key);
    limits_table_step("pread", turns_median(turns, SIDE_PREAD) - key);
    limits_table_step("copy", copy - key);
    limits_table_step("checksum", checksum - copy);
    limits_table_step("LZ4", turns_median(turns, SIDE_LZ4) - checksum);
    limits_table_step("in order", turns_median(turns, SIDE_IN_ORDER));
}

static void print_reads(const char *name, const struct turns *turns,
                        const struct limits_sides *sides, size_t run_count)
{
    double key = turns_median(turns, SIDE_KEY);
    double probe = turns_median(turns, SIDE_PROBE);
    double block = turns_median(turns, SIDE_LZ4) - key;
    double in_order = turns_median(turns, SIDE_IN_ORDER);
    char absent[32];
    snprintf(absent, sizeof(absent), "absent, %zu run%s", run_count, run_count == 1 ? "" : "s");
    limits_table_rows(name, "reads");
    print_read("absent", turns, sides, SIDE_ABSENT, probe);
    print_read(absent, turns, sides, SIDE_ABSENT, turns_median(turns, SIDE_PROBE_RUNS));
    print_read("present", turns, sides, SIDE_PRESENT,
               probe + limits_sides_reads(sides, SIDE_PRESENT) * block);
    print_read("seek + 10", turns, sides, SIDE_SEEK, key + limit_of_seek(sides, block, in_order));
    print_read("scan", turns, sides, SIDE_SCAN, limit_of_scan(sides, in_order));
}

static void print_cached(const char *name, const struct turns *ideal, const struct turns *turns,
                         const struct limits_sides *sides)
{
    double key = turns_median(ideal, SIDE_KEY);
    double probe = turns_median(ideal, SIDE_PROBE);
    double bucket = turns_median(ideal, SIDE_BUCKET);
    double entry = turns_median(ideal, SIDE_ENTRY);
    limits_table_steps(name);
    limits_table_step("key", key);
    limits_table_step("probe", probe - key);
    limits_table_step("bucket", bucket - probe);
    limits_table_step("entry", entry - bucket);
    limits_table_rows(name, "reads");
    print_read("present", turns, sides, SIDE_CACHED, entry);
}

/* ---- phases ---- */

/* The runs of the store, each as large as the others of its level. */
static void divide_filter(struct bench *bench)
{
    struct bb_db_stats stats;
    bb_db_stats(bench->sides.db, &stats);
    uint64_t *key_counts = bench_allocate((stats.run_count + 1) * sizeof(*key_counts));
    bench->run_count = 0;
    for (size_t level = 0; level < BB_LEVEL_COUNT; level++) {
        const struct bb_level_stats *runs = &stats.levels[level];
        for (uint64_t i = 0; i < runs->run_count; i++)
            key_counts[bench->run_count++] = runs->key_count / runs->run_count + 1;
    }
    ideal_store_set_runs(bench->sides.ideal, key_counts, bench->run_count);
    free(key_counts);
}

static void measure(struct bench *bench, const char *name)
{
    struct turns turns;
    store_files_warm(bench->directory);
    divide_filter(bench);
    bench_must(bb_db_iter_create(bench->sides.db, NULL, &bench->sides.scan));
    limits_sides_take(&bench->sides, PHASE_READS, &turns);
    print_steps(name, &turns);
    print_reads(name, &turns, &bench->sides, bench->run_count);
    turns_deinit(&turns);
    bb_db_iter_destroy(bench->sides.scan);
}

/* ---- the store ---- */

static void open_store(struct bench *bench, uint64_t cache_bytes)
{
    const struct bb_db_options options = {.create_if_missing = true,
                                          .cache_bytes = cache_bytes,
                                          .write_buffer_bytes = CACHE_SIZE,
                                          .block_size_bytes = LIMITS_BLOCK_SIZE,
                                          .filter_amount = {BB_FILTER_BITS_PER_KEY, 10}};
    bench_must(bb_db_open(bench->directory, &options, &bench->sides.db));
}

static void open_again(struct bench *bench, uint64_t cache_bytes)
{
    bench_must(bb_db_close(bench->sides.db));
    open_store(bench, cache_bytes);
    bench_must(bb_db_wait_idle(bench->sides.db));
}

/* Twice the data: blocks in the cache have more bytes than their entries, and the parts of the
 * cache are not filled evenly. */
static uint64_t large_cache_size(const struct bench *bench)
{
    const struct workload_options *options = &bench->sides.workload.options;
    return CACHE_SIZE + 2 * options->key_count * (options->key_size + options->value_size);
}

/* ---- the cache ---- */

static void measure_ideal_cache(struct bench *bench, struct turns *turns)
{
    const struct workload_options *options = &bench->sides.workload.options;
    bench->sides.ideal_cache =
        ideal_cache_create(bench->sides.ideal, options->key_size, options->value_size);
    limits_sides_take(&bench->sides, PHASE_IDEAL_CACHE, turns);
    ideal_cache_destroy(bench->sides.ideal_cache);
    bench->sides.ideal_cache = NULL;
}

/* WHY not all in turns: each of the caches would fill the processor's caches, and tables of pages,
 * with data that the other one does not use. */
static void measure_cached(struct bench *bench, const char *name)
{
    struct turns ideal;
    struct turns turns;
    measure_ideal_cache(bench, &ideal);
    open_again(bench, large_cache_size(bench));
    limits_sides_fill_cache(&bench->sides);
    limits_sides_take(&bench->sides, PHASE_CACHED, &turns);
    print_cached(name, &ideal, &turns, &bench->sides);
    turns_deinit(&ideal);
    turns_deinit(&turns);
    open_again(bench, CACHE_SIZE);
}

/* ---- all ---- */

static void load(struct bench *bench)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s.load", bench->directory);
    uint8_t *records = ideal_load_records(&bench->sides.workload);
    struct limits_load load = {.workload = &bench->sides.workload,
                               .path = path,
                               .records = records,
                               .block_size = LIMITS_BLOCK_SIZE,
                               .memtable_time = measure_memtable(&bench->sides.workload, records)};
    limits_load_run(&load, bench->sides.db);
    ideal_load_release(&bench->sides.workload, records);
}

static void begin(struct bench *bench, const char *parent)
{
    char path[PATH_MAX + 16];
    snprintf(bench->directory, sizeof(bench->directory), "%s/limits_bench.%ld", parent,
             (long)getpid());
    snprintf(path, sizeof(path), "%s.ideal", bench->directory);
    bench->sides.ideal = ideal_store_create(path, &bench->sides.workload, LIMITS_BLOCK_SIZE);
    bench->sides.value_copy = bench_allocate(bench->sides.workload.options.value_size);
    store_files_make_directory(bench->directory);
    open_store(bench, CACHE_SIZE);
}

static void run(struct bench *bench)
{
    load(bench);
    measure(bench, "as loaded");
    measure_cached(bench, "as loaded, cached");
    bench_must(bb_db_compact(bench->sides.db));
    bench_must(bb_db_wait_idle(bench->sides.db));
    measure(bench, "compacted");
    measure_cached(bench, "compacted, cached");
}

static void end(struct bench *bench)
{
    bench_must(bb_db_close(bench->sides.db));
    store_files_remove(bench->directory);
    ideal_store_destroy(bench->sides.ideal);
    bb_buf_deinit(&bench->sides.value);
    free(bench->sides.value_copy);
    workload_deinit(&bench->sides.workload);
}

static uint64_t number_argument(int argc, char **argv, int index, uint64_t otherwise)
{
    return argc > index ? strtoull(argv[index], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    if (argc < 2)
        bench_die("usage: limits_bench DIRECTORY [keys [value size]]");
    struct workload_options options = {.key_count = number_argument(argc, argv, 2, KEYS_DEFAULT),
                                       .key_size = 16,
                                       .value_size = number_argument(argc, argv, 3, VALUE_DEFAULT),
                                       .seed = 1};
    options.lookup_count = options.key_count < 1000000 ? options.key_count : 1000000;
    workload_init(&bench.sides.workload, &options);
    begin(&bench, argv[1]);
    printf("%" PRIu64 " keys of 16 bytes, values of %zu; a block of the ideal store has %" PRIu64
           " entries and %.0f bytes\n",
           options.key_count, options.value_size, ideal_store_entries_per_block(bench.sides.ideal),
           ideal_store_stored_size(bench.sides.ideal));
    run(&bench);
    end(&bench);
    return 0;
}
