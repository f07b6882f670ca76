/* Reads of a store, and lower limits for any store with the same blocks on this machine. They show
 * how much of a missed bar is due to the machine.
 *
 *     limits_bench DIRECTORY [keys, default 2000000 [value size, default 100]]
 *
 * Keys of 16 bytes in random order; 10 bits of filter per key, a cache and a write buffer of 64
 * MiB, blocks of 4 KiB, LZ4, as in bloomblock-compare. An ideal store, which knows the place of
 * every block, measures the limits (ideal_store.h). All steps and all reads take turns; times
 * are medians of thread CPU time, in nanoseconds, page cache warm. First as loaded, then compacted.
 *
 *     key         the program makes the key
 *     probe       and hashes it, and reads one cache line of the filters' memory
 *     pread       and reads a compressed block from the page cache instead
 *     checksum    and verifies it by XXH3
 *     LZ4         and decompresses it
 *     in order    the three of a block when blocks are read in order, 32 KiB in a call
 *
 *     absent      limit: probe
 *     present     limit: probe, and the three steps for every block that the store reads; the
 *                 cache holds the others
 *     seek + 10   limit: key, and the three steps for every block that the store reads; of values
 *                 of a block or more, only the first is not in order
 *     scan        limit: a block in order, divided by its entries; of values of a block or more,
 *                 only the blocks that the store reads
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "bb/db.h"
#include "bb/db_iter.h"
#include "bb/db_stats.h"
#include "bench/die.h"
#include "bench/ideal_store.h"
#include "bench/probe.h"
#include "bench/store_files.h"
#include "bench/thread_clock.h"
#include "bench/turns.h"

#define KEYS_DEFAULT  2000000
#define VALUE_DEFAULT 100
#define BLOCK_SIZE    4096
#define CACHE_SIZE    (64 << 20)
#define SEEK_LENGTH   10
#define READ_ON_SIZE  (32 << 10)
#define TURNS         30

enum side {
    SIDE_KEY,
    SIDE_PROBE,
    SIDE_PREAD,
    SIDE_CHECKSUM,
    SIDE_LZ4,
    SIDE_IN_ORDER,
    SIDE_ABSENT,
    SIDE_PRESENT,
    SIDE_SEEK,
    SIDE_SCAN,
    SIDE_COUNT
};

struct bench {
    char directory[PATH_MAX];
    struct workload workload;
    struct ideal_store *ideal;
    struct bb_db *db;
    struct bb_db_iter *scan; /* continues in the next slice */
    struct bb_buf value;
    uint64_t position[SIDE_COUNT];   /* in the workload's numbers, or of blocks */
    uint64_t operations[SIDE_COUNT]; /* of all slices */
    uint64_t reads[SIDE_COUNT];
};

/* ---- steps of the ideal store ---- */

static struct bb_bytes next_key(struct bench *bench, enum side side, const uint64_t *numbers,
                                uint8_t key[16])
{
    uint64_t i = bench->position[side]++ % bench->workload.options.lookup_count;
    workload_key(&bench->workload, numbers[i], key);
    return (struct bb_bytes){.data = key, .size = 16};
}

/* A stored key is as likely in each block. */
static uint64_t next_block(struct bench *bench, enum side side, uint8_t key[16])
{
    (void)next_key(bench, side, bench->workload.present, key);
    uint64_t random = bb_hash_bytes(key, 16);
    return random % ideal_store_block_count(bench->ideal);
}

static void do_key(struct bench *bench)
{
    uint8_t key[16];
    (void)next_key(bench, SIDE_KEY, bench->workload.absent, key);
    probe_keep(key[0]);
}

static void do_probe(struct bench *bench)
{
    uint8_t key[16];
    probe_keep(
        ideal_store_probe(bench->ideal, next_key(bench, SIDE_PROBE, bench->workload.absent, key)));
}

static void do_pread(struct bench *bench)
{
    uint8_t key[16];
    probe_keep(ideal_store_read(bench->ideal, next_block(bench, SIDE_PREAD, key)).size);
}

static struct bb_bytes read_verified(struct bench *bench, enum side side)
{
    uint8_t key[16];
    struct bb_bytes stored = ideal_store_read(bench->ideal, next_block(bench, side, key));
    probe_keep(bb_hash_bytes(stored.data, stored.size));
    return stored;
}

static void do_checksum(struct bench *bench)
{
    (void)read_verified(bench, SIDE_CHECKSUM);
}

static void do_lz4(struct bench *bench)
{
    struct bb_bytes stored = read_verified(bench, SIDE_LZ4);
    probe_keep(ideal_store_decode(bench->ideal, stored).data[0]);
}

/* One operation is a block; a call reads many of them. */
static void read_in_order(struct bench *bench, uint64_t count)
{
    uint64_t *position = &bench->position[SIDE_IN_ORDER];
    for (uint64_t done = 0; done < count;) {
        *position %= ideal_store_block_count(bench->ideal);
        uint64_t got = ideal_store_read_on(bench->ideal, *position, READ_ON_SIZE);
        for (uint64_t i = 0; i < got; i++) {
            struct bb_bytes stored = ideal_store_stored(bench->ideal, *position + i);
            probe_keep(bb_hash_bytes(stored.data, stored.size));
            probe_keep(ideal_store_decode(bench->ideal, stored).data[0]);
        }
        *position += got;
        done += got;
        bench->operations[SIDE_IN_ORDER] += got;
    }
}

/* ---- reads of the store ---- */

static void do_absent(struct bench *bench)
{
    uint8_t key[16];
    struct bb_bytes absent = next_key(bench, SIDE_ABSENT, bench->workload.absent, key);
    if (bb_db_get(bench->db, NULL, absent, &bench->value) != BB_NOT_FOUND)
        bench_die("an absent key is found");
}

static void do_present(struct bench *bench)
{
    uint8_t key[16];
    struct bb_bytes present = next_key(bench, SIDE_PRESENT, bench->workload.present, key);
    bench_must(bb_db_get(bench->db, NULL, present, &bench->value));
}

static void do_seek(struct bench *bench)
{
    uint8_t key[16];
    struct bb_db_iter *iter = NULL;
    bench_must(bb_db_iter_create(bench->db, NULL, &iter));
    bb_db_iter_seek(iter, next_key(bench, SIDE_SEEK, bench->workload.present, key));
    for (int i = 0; i < SEEK_LENGTH && bb_db_iter_valid(iter); i++) {
        probe_keep(bb_db_iter_value(iter).data[0]);
        bb_db_iter_next(iter);
    }
    bench_must(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
}

static void do_scan(struct bench *bench)
{
    if (!bb_db_iter_valid(bench->scan)) {
        bench_must(bb_db_iter_status(bench->scan));
        bb_db_iter_seek_first(bench->scan);
    }
    probe_keep(bb_db_iter_value(bench->scan).data[0]);
    bb_db_iter_next(bench->scan);
}

/* ---- turns ---- */

static const struct {
    void (*run)(struct bench *bench); /* NULL: read_in_order */
    uint64_t slice;                   /* operations, with values of 100 bytes */
} sides[SIDE_COUNT] = {
    [SIDE_KEY] = {do_key, 200000},       [SIDE_PROBE] = {do_probe, 200000},
    [SIDE_PREAD] = {do_pread, 20000},    [SIDE_CHECKSUM] = {do_checksum, 20000},
    [SIDE_LZ4] = {do_lz4, 10000},        [SIDE_IN_ORDER] = {NULL, 10000},
    [SIDE_ABSENT] = {do_absent, 100000}, [SIDE_PRESENT] = {do_present, 10000},
    [SIDE_SEEK] = {do_seek, 4000},       [SIDE_SCAN] = {do_scan, 200000},
};

/* Slices of blocks are shorter if an entry takes more than a block. */
static uint64_t slice_length(const struct bench *bench, enum side side)
{
    size_t entry = bench->workload.options.value_size + 16;
    bool reads_values = side != SIDE_KEY && side != SIDE_PROBE && side != SIDE_ABSENT;
    uint64_t shorter = side == SIDE_SCAN ? entry / 100 : entry / BLOCK_SIZE;
    return reads_values && shorter > 1 ? sides[side].slice / shorter + 1 : sides[side].slice;
}

static uint64_t reads_so_far(struct bb_db *db)
{
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    return stats.system_reads;
}

static double take_slice(void *context, size_t index, size_t turn)
{
    struct bench *bench = context;
    enum side side = (enum side)index;
    uint64_t length = slice_length(bench, side);
    uint64_t reads = reads_so_far(bench->db);
    uint64_t operations = bench->operations[side];
    (void)turn;
    double begin = thread_clock_now();
    if (sides[side].run == NULL)
        read_in_order(bench, length);
    for (uint64_t i = 0; i < length && sides[side].run != NULL; i++) {
        sides[side].run(bench);
        bench->operations[side]++;
    }
    double time = thread_clock_now() - begin;
    bench->reads[side] += reads_so_far(bench->db) - reads;
    return time / (double)(bench->operations[side] - operations);
}

/* ---- the report ---- */

static void print_step(const char *name, double time)
{
    printf("  %-12s %8.0f\n", name, time);
}

static double reads_of(const struct bench *bench, enum side side)
{
    return (double)bench->reads[side] / (double)bench->operations[side];
}

static void print_read(const char *name, const struct turns *turns, const struct bench *bench,
                       enum side side, double limit)
{
    double time = turns_median(turns, side);
    printf("  %-12s %8.0f %8.0f %8.2f %8.3f\n", name, time, limit, time / limit,
           reads_of(bench, side));
}

/* Of a seek, which reads this many blocks. */
static double limit_of_seek(const struct bench *bench, double block, double in_order)
{
    double reads = reads_of(bench, SIDE_SEEK);
    bool is_in_order = bench->workload.options.value_size >= BLOCK_SIZE && reads > 1;
    return is_in_order ? block + (reads - 1) * in_order : reads * block;
}

static double limit_of_scan(const struct bench *bench, double in_order)
{
    uint64_t entries = ideal_store_entries_per_block(bench->ideal);
    return entries > 1 ? in_order / (double)entries : in_order * reads_of(bench, SIDE_SCAN);
}

static void print_phase(const char *name, const struct turns *turns, const struct bench *bench)
{
    double key = turns_median(turns, SIDE_KEY);
    double probe = turns_median(turns, SIDE_PROBE);
    double block = turns_median(turns, SIDE_LZ4) - key;
    double in_order = turns_median(turns, SIDE_IN_ORDER);
    printf("%s: steps, ns\n", name);
    print_step("key", key);
    print_step("probe", probe - key);
    print_step("pread", turns_median(turns, SIDE_PREAD) - key);
    print_step("checksum", turns_median(turns, SIDE_CHECKSUM) - turns_median(turns, SIDE_PREAD));
    print_step("LZ4", turns_median(turns, SIDE_LZ4) - turns_median(turns, SIDE_CHECKSUM));
    print_step("in order", in_order);
    printf("%s: reads, ns     store    limit    ratio    preads\n", name);
    print_read("absent", turns, bench, SIDE_ABSENT, probe);
    print_read("present", turns, bench, SIDE_PRESENT,
               probe + reads_of(bench, SIDE_PRESENT) * block);
    print_read("seek + 10", turns, bench, SIDE_SEEK, key + limit_of_seek(bench, block, in_order));
    print_read("scan", turns, bench, SIDE_SCAN, limit_of_scan(bench, in_order));
    fflush(stdout);
}

static void measure(struct bench *bench, const char *name)
{
    struct turns turns;
    store_files_warm(bench->directory);
    for (int side = 0; side < SIDE_COUNT; side++)
        bench->operations[side] = bench->reads[side] = 0;
    bench_must(bb_db_iter_create(bench->db, NULL, &bench->scan));
    turns_init(&turns, SIDE_COUNT, TURNS);
    for (int side = 0; side < SIDE_COUNT; side++) /* fills the caches */
        (void)take_slice(bench, (size_t)side, 0);
    turns_take(&turns, take_slice, bench);
    print_phase(name, &turns, bench);
    turns_deinit(&turns);
    bb_db_iter_destroy(bench->scan);
}

/* ---- the store ---- */

static void load(struct bench *bench)
{
    const struct workload_options *options = &bench->workload.options;
    uint8_t *value = bench_allocate(options->value_size);
    uint8_t key[16];
    for (uint64_t i = 0; i < options->key_count; i++) {
        uint64_t number = workload_number(&bench->workload, i);
        workload_key(&bench->workload, number, key);
        workload_value(&bench->workload, number, value);
        bench_must(bb_db_put(bench->db, NULL, (struct bb_bytes){.data = key, .size = sizeof(key)},
                             (struct bb_bytes){.data = value, .size = options->value_size}));
    }
    bench_must(bb_db_flush(bench->db));
    bench_must(bb_db_wait_idle(bench->db));
    free(value);
}

static void begin(struct bench *bench, const char *parent)
{
    const struct bb_db_options options = {.create_if_missing = true,
                                          .cache_bytes = CACHE_SIZE,
                                          .write_buffer_bytes = CACHE_SIZE,
                                          .block_size_bytes = BLOCK_SIZE,
                                          .filter_amount = {BB_FILTER_BITS_PER_KEY, 10}};
    char path[PATH_MAX + 16];
    snprintf(bench->directory, sizeof(bench->directory), "%s/limits_bench.%ld", parent,
             (long)getpid());
    snprintf(path, sizeof(path), "%s.ideal", bench->directory);
    bench->ideal = ideal_store_create(path, &bench->workload, BLOCK_SIZE);
    store_files_make_directory(bench->directory);
    bench_must(bb_db_open(bench->directory, &options, &bench->db));
    load(bench);
}

static void end(struct bench *bench)
{
    bench_must(bb_db_close(bench->db));
    store_files_remove(bench->directory);
    ideal_store_destroy(bench->ideal);
    bb_buf_deinit(&bench->value);
    workload_deinit(&bench->workload);
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
    workload_init(&bench.workload, &options);
    begin(&bench, argv[1]);
    printf("%" PRIu64 " keys of 16 bytes, values of %zu; a block of the ideal store has %" PRIu64
           " entries and %.0f bytes\n",
           options.key_count, options.value_size, ideal_store_entries_per_block(bench.ideal),
           ideal_store_stored_size(bench.ideal));
    measure(&bench, "as loaded");
    bench_must(bb_db_compact(bench.db));
    bench_must(bb_db_wait_idle(bench.db));
    measure(&bench, "compacted");
    end(&bench);
    return 0;
}
