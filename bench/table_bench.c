/* Absent keys asked of tables, for every way of splitting the filters' bits between summary and
 * blocks: what the default of summary_bits was taken from (docs/decisions/0006-summary-split.md).
 *
 *     table_bench [keys [directory [portable | avx2 | avx512]]]
 *
 * Random 16-byte keys, 35, 140 and 560 to a block (4, 16 and 64 KiB with entries of 117 bytes; here
 * with 8-byte values, so that the files are small), rate 0.01; once in one table, and once in a
 * level of tables of 576,000 keys (64 MiB of such entries), found by their fences. The absent keys
 * are inside the bounds. The hash of the key is part of every question.
 *
 *     memory    everything pinned: nanoseconds of thread CPU time per question, the median of 7
 *               rounds of 262,144 questions; x: relative to filters of blocks alone
 *     disk      index pages in a block cache a tenth of their size, the summary pinned, the files
 *               dropped from the system's cache: index pages read per question, and elapsed time
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/hash.h"
#include "bb/table.h"
#include "bloomblock/ribbon/hash_sort.h"
#include "sstable/filter_split.h"
#include "sstable/prefix_search.h"
#include "sstable/table.h"

#define KEYS_DEFAULT     5000000
#define KEY_SIZE         16
#define VALUE_SIZE       8
#define ENTRY_SIZE       (4 + KEY_SIZE + VALUE_SIZE) /* without shared bytes, roughly */
#define RATE             0.01
#define TABLE_KEYS       576000
#define TABLES_MAX       256
#define QUESTIONS        (1 << 18)
#define DISK_QUESTIONS   (1 << 14)
#define ROUNDS           7
#define PAGES_PER_CACHED 10

struct bench {
    const char *directory;
    enum bb_cpu cpu;   /* the instructions that filters are asked with */
    uint64_t *numbers; /* sorted: the first eight bytes of each key */
    size_t key_count;
    struct bb_hash_secret secret;
    uint8_t (*questions)[KEY_SIZE];
};

/* One or several tables, next to each other. */
struct level {
    struct bb_table *tables[TABLES_MAX];
    uint64_t fences[TABLES_MAX]; /* first eight bytes of each table's largest key */
    uint32_t count;
    uint64_t filter_bytes;
    uint64_t summary_bytes;
};

struct row {
    double memory_ns;
    double disk_us;
    double page_reads; /* per question */
    double bits_per_key;
    double summary_bits_per_key;
    double pinned_bits_per_key;
    double wasted;
};

static void must(enum bb_status status)
{
    if (status != BB_OK) {
        fprintf(stderr, "table_bench: %s\n", bb_error_last()->message);
        exit(1);
    }
}

static void *must_allocate(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL) {
        fprintf(stderr, "table_bench: no memory for %zu bytes\n", size);
        exit(1);
    }
    return memory;
}

static double nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- keys ---- */

static void make_key(uint64_t number, uint8_t key[KEY_SIZE])
{
    uint64_t parts[] = {number, bb_hash_mix(number)};
    for (size_t i = 0; i < KEY_SIZE; i++)
        key[i] = (uint8_t)(parts[i / 8] >> (56 - i % 8 * 8));
}

static void make_keys(struct bench *bench)
{
    bench->numbers = must_allocate(bench->key_count * sizeof(bench->numbers[0]));
    for (size_t i = 0; i < bench->key_count; i++)
        bench->numbers[i] = bb_hash_mix(i + 1);
    bench->key_count = bb_hash_sort(bench->numbers, bench->key_count);
    bench->questions = must_allocate(QUESTIONS * sizeof(bench->questions[0]));
    uint64_t low = bench->numbers[0];
    uint64_t high = bench->numbers[bench->key_count - 1];
    for (uint64_t i = 0, n = 0; n < QUESTIONS; i++) {
        uint64_t number = bb_hash_mix(~i);
        if (number > low && number < high)
            make_key(number, bench->questions[n++]);
    }
}

/* ---- tables ---- */

static const char *path_of(const struct bench *bench, uint32_t i, char path[512])
{
    snprintf(path, 512, "%s/table_bench_%u.bbt", bench->directory, i);
    return path;
}

static void build(const struct bench *bench, const struct bb_table_options *options,
                  struct level *level, size_t first, size_t count)
{
    static const uint8_t value[VALUE_SIZE];
    struct bb_table_builder *builder = NULL;
    struct bb_table_meta meta = {0};
    uint8_t key[KEY_SIZE];
    char path[512];
    (void)unlink(path_of(bench, level->count, path));
    must(bb_table_builder_create(path, options, &builder));
    for (size_t i = first; i < first + count; i++) {
        make_key(bench->numbers[i], key);
        struct bb_entry entry = {.key = bb_bytes_of(key, sizeof(key)),
                                 .sequence = 1,
                                 .kind = BB_ENTRY_PUT,
                                 .value = bb_bytes_of(value, sizeof(value))};
        must(bb_table_builder_add(builder, &entry));
    }
    must(bb_table_builder_finish(builder, &meta));
    bb_table_builder_destroy(builder);
    level->fences[level->count++] = bench->numbers[first + count - 1];
    level->filter_bytes += meta.filter_bytes;
    level->summary_bytes += meta.summary_bytes;
    bb_table_meta_deinit(&meta);
}

static void build_level(const struct bench *bench, const struct bb_table_options *options,
                        size_t keys_per_table, struct level *level)
{
    *level = (struct level){0};
    for (size_t first = 0; first < bench->key_count; first += keys_per_table) {
        size_t left = bench->key_count - first;
        build(bench, options, level, first, left < keys_per_table ? left : keys_per_table);
    }
}

static void open_level(const struct bench *bench, const struct bb_table_options *options,
                       struct level *level)
{
    char path[512];
    for (uint32_t i = 0; i < level->count; i++) {
        struct bb_table *table = NULL;
        must(bb_table_open(path_of(bench, i, path), options, &table));
        if (table->has_filters)
            bb_block_filter_format_use(&table->filter_format, bench->cpu);
        if (table->has_summary)
            bb_block_filter_format_use(&table->summary_format, bench->cpu);
        level->tables[i] = table;
    }
}

static void close_level(struct level *level)
{
    for (uint32_t i = 0; i < level->count; i++)
        bb_table_close(level->tables[i]);
}

static void remove_level(const struct bench *bench, const struct level *level)
{
    char path[512];
    for (uint32_t i = 0; i < level->count; i++)
        (void)unlink(path_of(bench, i, path));
}

static void drop_from_system_cache(const struct bench *bench, const struct level *level)
{
    char path[512];
    for (uint32_t i = 0; i < level->count; i++) {
        int fd = open(path_of(bench, i, path), O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        (void)close(fd);
    }
}

/* ---- questions ---- */

static void ask(const struct bench *bench, struct level *level, size_t count,
                struct bb_read_stats *stats, struct bb_buf *value)
{
    for (size_t i = 0; i < count; i++) {
        struct bb_bytes key = {.data = bench->questions[i], .size = KEY_SIZE};
        uint64_t hash = bb_hash_key(&bench->secret, key);
        uint64_t sequence = 0;
        enum bb_visit visit = BB_VISIT_COUNT;
        uint32_t table = 0;
        if (level->count > 1)
            table = bb_prefix_search(level->fences, level->count - 1, bb_bytes_prefix64(key));
        must(bb_table_get(level->tables[table], NULL, key, hash, BB_SEQUENCE_MAX, stats, value,
                          &sequence, &visit));
    }
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_memory(const struct bench *bench, struct bb_table_options options,
                           struct level *level, struct row *row)
{
    struct bb_read_stats stats = {0};
    struct bb_buf value = {0};
    double rounds[ROUNDS];
    must(bb_block_cache_create(UINT64_C(1) << 30, &options.cache));
    open_level(bench, &options, level);
    ask(bench, level, QUESTIONS, &stats, &value);
    row->wasted = (double)stats.visits[BB_VISIT_FALSE_POSITIVE] / QUESTIONS;
    for (int i = 0; i < ROUNDS; i++) {
        double start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
        ask(bench, level, QUESTIONS, &stats, &value);
        rounds[i] = (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start) / QUESTIONS;
    }
    qsort(rounds, ROUNDS, sizeof(rounds[0]), compare_numbers);
    row->memory_ns = rounds[ROUNDS / 2];
    uint64_t memory = 0;
    for (uint32_t i = 0; i < level->count; i++)
        memory += bb_table_memory(level->tables[i]);
    row->pinned_bits_per_key = (double)memory * 8 / (double)bench->key_count;
    close_level(level);
    bb_block_cache_destroy(options.cache);
    bb_buf_deinit(&value);
}

static void measure_disk(const struct bench *bench, struct bb_table_options options,
                         struct level *level, uint64_t cache_bytes, struct row *row)
{
    struct bb_read_stats stats = {0};
    struct bb_buf value = {0};
    must(bb_block_cache_create(cache_bytes, &options.cache));
    options.index_residency = BB_INDEX_CACHED;
    open_level(bench, &options, level);
    ask(bench, level, DISK_QUESTIONS, &stats, &value); /* the summary is read, the cache is full */
    drop_from_system_cache(bench, level);
    stats = (struct bb_read_stats){0};
    double start = nanoseconds(CLOCK_MONOTONIC);
    ask(bench, level, DISK_QUESTIONS, &stats, &value);
    row->disk_us = (nanoseconds(CLOCK_MONOTONIC) - start) / DISK_QUESTIONS / 1000;
    row->page_reads = (double)stats.page_reads / DISK_QUESTIONS;
    close_level(level);
    bb_block_cache_destroy(options.cache);
    bb_buf_deinit(&value);
}

/* ---- rows ---- */

static void measure(const struct bench *bench, uint32_t keys_per_block, size_t keys_per_table,
                    double summary_bits, struct row *ret_row)
{
    struct bb_table_options options = {
        .block_size_bytes = keys_per_block * ENTRY_SIZE,
        .restart_interval = 16,
        .compression = BB_COMPRESSION_NONE,
        .filter_rate = RATE,
        .summary_bits = summary_bits,
        .secret = &bench->secret,
    };
    struct level level;
    build_level(bench, &options, keys_per_table, &level);
    double keys = (double)bench->key_count;
    ret_row->bits_per_key = (double)level.filter_bytes * 8 / keys;
    ret_row->summary_bits_per_key = (double)level.summary_bytes * 8 / keys;
    measure_memory(bench, options, &level, ret_row);
    uint64_t page_bytes = bench->key_count / keys_per_block * 64;
    measure_disk(bench, options, &level, page_bytes / PAGES_PER_CACHED, ret_row);
    remove_level(bench, &level);
}

static const char *name_of(double summary_bits, char name[16])
{
    if (summary_bits == BB_SUMMARY_NONE)
        return "none";
    if (summary_bits == BB_SUMMARY_ALL)
        return "all";
    snprintf(name, 16, "%.0f", summary_bits);
    return name;
}

static void measure_splits(const struct bench *bench, uint32_t keys_per_block,
                           size_t keys_per_table, const char *level_name)
{
    static const double splits[] = {BB_SUMMARY_NONE, 2, 3, 4, 5, BB_SUMMARY_ALL};
    double without = 0;
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
        struct row row = {0};
        char name[16];
        measure(bench, keys_per_block, keys_per_table, splits[i], &row);
        if (i == 0)
            without = row.memory_ns;
        struct bb_filter_split split = bb_filter_split(RATE, splits[i]);
        printf("%6u %-6s %-5s %8.3g %8.3g %9.2f %9.2f %9.2f %8.5f %8.1f %6.2f %9.4f %8.2f\n",
               keys_per_block, level_name, name_of(splits[i], name), split.summary_rate,
               split.block_rate, row.bits_per_key, row.summary_bits_per_key,
               row.pinned_bits_per_key, row.wasted, row.memory_ns, row.memory_ns / without,
               row.page_reads, row.disk_us);
        fflush(stdout);
    }
}

/* The best of the processor, unless another is named. */
static enum bb_cpu find_cpu(const char *name)
{
    enum bb_cpu cpu = bb_cpu_best();
    for (int i = 0; name != NULL && i < BB_CPU_COUNT; i++)
        if (strcmp(name, bb_cpu_name((enum bb_cpu)i)) == 0 && bb_cpu_has((enum bb_cpu)i))
            return (enum bb_cpu)i;
    if (name == NULL)
        return cpu;
    fprintf(stderr, "table_bench: this processor does not have %s\n", name);
    exit(1);
}

int main(int argc, char **argv)
{
    static const uint32_t blocks[] = {35, 140, 560};
    struct bench bench = {.directory = argc > 2 ? argv[2] : "/tmp",
                          .key_count = argc > 1 ? strtoull(argv[1], NULL, 10) : KEYS_DEFAULT};
    if (bench.key_count < 1000 || bench.key_count > (size_t)TABLES_MAX * TABLE_KEYS) {
        fprintf(stderr, "usage: table_bench [keys [directory]]: 1000 ... %d keys\n",
                TABLES_MAX * TABLE_KEYS);
        return 1;
    }
    bench.cpu = find_cpu(argc > 3 ? argv[3] : NULL);
    bb_hash_secret_from_seed(1, &bench.secret);
    make_keys(&bench);
    printf("%zu keys, rate %g, %s\n", bench.key_count, RATE, bb_cpu_name(bench.cpu));
    printf("%6s %-6s %-5s %8s %8s %9s %9s %9s %8s %8s %6s %9s %8s\n", "keys/", "", "split",
           "summary", "block", "filters", "summary", "pinned", "wasted", "memory", "",
           "disk:", "us");
    printf("%6s %-6s %-5s %8s %8s %9s %9s %9s %8s %8s %6s %9s %8s\n", "block", "", "", "rate",
           "rate", "bits/key", "bits/key", "bits/key", "", "ns", "x", "page rds", "");
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        measure_splits(&bench, blocks[i], bench.key_count, "table");
        measure_splits(&bench, blocks[i], TABLE_KEYS, "level");
    }
    free(bench.numbers);
    free(bench.questions);
    return 0;
}
