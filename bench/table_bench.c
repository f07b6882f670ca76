/* Lookups of absent keys in tables, for every way of splitting the filters' bits between table
 * filter and block filters: the source of the default for table_filter_bits
 * (docs/decisions/0006-table-filter-split.md).
 *
 *     table_bench [keys [directory [portable | avx2 | avx512]]]
 *
 * Random 16-byte keys, 35, 140 and 560 to a block (4, 16 and 64 KiB with entries of 117 bytes; here
 * with 8-byte values, so that the files are small), rate 0.01; once in one table, and once in a
 * level of tables of 576,000 keys (64 MiB of such entries), found by their fences. The absent keys
 * are inside the bounds. The hash of the key is part of every lookup.
 *
 * All splits of a shape are built first, and then take turns (turns.h).
 *
 *     memory    everything pinned: nanoseconds of thread CPU time per lookup, the median of 28
 *               slices of 65,536 lookups and the minimum, each slice after 16,384 that bring the
 *               split's tables back into the processor's caches; x: relative to only block
 *               filters, the median of the ratios in the same turn
 *     disk      index pages in a block cache a tenth of their size, the table filter pinned, the
 *               files dropped from the system's cache: index pages read per lookup, and elapsed
 *               time, the mean of 16 slices of 1024 lookups; x as above
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "bb/table.h"
#include "bench/die.h"
#include "bench/thread_clock.h"
#include "bench/turns.h"
#include "bloomblock/hash_sort.h"
#include "compaction/levels/run.h"
#include "kv/read/denials.h"
#include "sstable/filter/filter_split.h"
#include "sstable/table/table.h"
#include "sstable/table/table_lookup.h"
#include "sstable/table/table_open.h"

#define KEYS_DEFAULT     5000000
#define KEY_SIZE         16
#define VALUE_SIZE       8
#define ENTRY_SIZE       (4 + KEY_SIZE + VALUE_SIZE) /* without shared bytes, roughly */
#define RATE             0.01
#define TABLE_KEYS       576000
#define TABLES_MAX       256
#define QUESTIONS        (1 << 18)
#define SLICE            (1 << 16)
#define WARMING          (1 << 14) /* before a slice */
#define TURNS            28
#define DISK_SLICE       (1 << 10)
#define DISK_TURNS       16
#define PAGES_PER_CACHED 10

struct bench {
    const char *directory;
    enum bb_cpu cpu;   /* the instructions used for probes */
    uint64_t *numbers; /* sorted: the first eight bytes of each key */
    size_t key_count;
    struct bb_hash_secret secret;
    uint8_t (*questions)[KEY_SIZE];
};

/* One or several tables, next to each other. */
struct level {
    size_t number; /* of its files */
    struct bb_table_meta metas[TABLES_MAX];
    uint32_t count;
    /* While it is open. */
    struct bb_table_file_env env;
    struct bb_table_file *files[TABLES_MAX];
    struct bb_table *tables[TABLES_MAX];
    struct bb_run run;
    uint64_t filter_bytes;
    uint64_t table_filter_bytes;
};

/* A way of splitting the bits, and its measurements. */
struct split {
    double table_filter_bits;
    struct bb_table_options options;
    struct level level;
    struct bb_buf value;
    double wasted;     /* questions that read a block in vain */
    double page_reads; /* per question */
    uint64_t pinned_bytes;
};

static const double table_filter_bits_of[] = {BB_TABLE_FILTER_NONE, 2, 3, 4, 5,
                                              BB_TABLE_FILTER_ALL};
#define SPLITS BB_ARRAY_LENGTH(table_filter_bits_of)

struct shape {
    const struct bench *bench;
    uint32_t keys_per_block;
    size_t keys_per_table;
    const char *name;
    struct split splits[SPLITS]; /* the first is the reference for the others */
    struct turns memory;
    struct turns disk;
};

static double elapsed_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
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
    bench->numbers = bench_allocate(bench->key_count * sizeof(bench->numbers[0]));
    for (size_t i = 0; i < bench->key_count; i++)
        bench->numbers[i] = bb_hash_mix(i + 1);
    bench->key_count = bb_hash_sort(bench->numbers, bench->key_count);
    bench->questions = bench_allocate(QUESTIONS * sizeof(bench->questions[0]));
    uint64_t low = bench->numbers[0];
    uint64_t high = bench->numbers[bench->key_count - 1];
    for (uint64_t i = 0, n = 0; n < QUESTIONS; i++) {
        uint64_t number = bb_hash_mix(~i);
        if (number > low && number < high)
            make_key(number, bench->questions[n++]);
    }
}

/* ---- tables ---- */

static const char *path_of(const struct bench *bench, const struct level *level, uint32_t i,
                           char path[512])
{
    snprintf(path, 512, "%s/table_bench_%zu_%u.bbt", bench->directory, level->number, i);
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
    (void)unlink(path_of(bench, level, level->count, path));
    bench_must(bb_table_builder_create(path, options, &builder));
    for (size_t i = first; i < first + count; i++) {
        make_key(bench->numbers[i], key);
        struct bb_entry entry = {.key = bb_bytes_of(key, sizeof(key)),
                                 .sequence = 1,
                                 .kind = BB_ENTRY_PUT,
                                 .value = bb_bytes_of(value, sizeof(value))};
        bench_must(bb_table_builder_add(builder, &entry));
    }
    bench_must(bb_table_builder_finish(builder, &meta));
    bb_table_builder_destroy(builder);
    level->filter_bytes += meta.filter_bytes;
    level->table_filter_bytes += meta.table_filter_bytes;
    level->metas[level->count++] = meta;
}

static void build_level(const struct bench *bench, const struct bb_table_options *options,
                        size_t keys_per_table, struct level *level)
{
    for (size_t first = 0; first < bench->key_count; first += keys_per_table) {
        size_t left = bench->key_count - first;
        build(bench, options, level, first, left < keys_per_table ? left : keys_per_table);
    }
}

static struct bb_table *open_table(const struct bench *bench, struct bb_table_file *file,
                                   const char *path)
{
    struct bb_table *table = NULL;
    bench_must(bb_table_open_in(path, &file->env->options, &file->env->pages, false, &table));
    if (table->has_filters)
        bb_block_filter_format_use(&table->filter_format, bench->cpu);
    if (table->has_table_filter)
        bb_block_filter_format_use(&table->table_filter_format, bench->cpu);
    atomic_store(&file->table, table); /* closed with the file */
    return table;
}

static void open_level(const struct bench *bench, const struct bb_table_options *options,
                       struct level *level)
{
    char path[512];
    level->env = (struct bb_table_file_env){.options = *options};
    bb_table_file_env_init(&level->env);
    for (uint32_t i = 0; i < level->count; i++) {
        bench_must(bb_table_file_create(&level->env, i + 1, &level->metas[i], &level->files[i]));
        level->tables[i] = open_table(bench, level->files[i], path_of(bench, level, i, path));
    }
    level->run = (struct bb_run){.files = level->files, .count = level->count};
    bench_must(bb_run_index(&level->run, NULL, 1));
}

static void close_level(struct level *level)
{
    bb_run_deinit(&level->run);
    for (uint32_t i = 0; i < level->count; i++)
        bb_table_file_unref(level->files[i]);
    bb_table_file_env_deinit(&level->env);
}

static void remove_level(const struct bench *bench, struct level *level)
{
    char path[512];
    for (uint32_t i = 0; i < level->count; i++) {
        (void)unlink(path_of(bench, level, i, path));
        bb_table_meta_deinit(&level->metas[i]);
    }
}

static void drop_from_system_cache(const struct bench *bench, const struct level *level)
{
    char path[512];
    for (uint32_t i = 0; i < level->count; i++) {
        int fd = open(path_of(bench, level, i, path), O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        (void)close(fd);
    }
}

/* ---- questions ---- */

/* Searches the table of a run that may have the key. As in a store (kv/read/lookup.c). */
static __attribute__((noinline)) void ask_run(struct split *split, enum bb_denial denial,
                                              size_t index, struct bb_bytes key, uint64_t hash,
                                              struct bb_read_stats *stats)
{
    const struct bb_run *run = &split->level.run;
    bool is_let_through = denial == BB_DENIAL_LET_THROUGH;
    bool is_unknown = index == BB_DENIAL_TABLE_UNKNOWN;
    if (is_unknown && bb_run_find(run, NULL, key) == NULL)
        return;
    if (is_unknown)
        index = bb_run_find_index(run, NULL, key);
    struct bb_table_question question = {
        .key = key, .key_hash = hash, .sequence = BB_SEQUENCE_MAX, .value = &split->value};
    struct bb_table_lookup lookup;
    bb_table_lookup_init(&lookup, split->level.tables[index], &question, stats,
                         is_let_through ? BB_LOOKUP_LET_THROUGH : BB_LOOKUP_NEW);
    bench_must(bb_table_lookup_run(&lookup));
}

static void ask_level(const struct bench *bench, struct split *split, size_t first, size_t count,
                      struct bb_read_stats *stats)
{
    for (size_t i = first; i < first + count; i++) {
        struct bb_bytes key = {.data = bench->questions[i % QUESTIONS], .size = KEY_SIZE};
        uint64_t hash = bb_hash_key(&bench->secret, key);
        size_t index = BB_DENIAL_TABLE_UNKNOWN;
        enum bb_denial denial = bb_denial_find(&split->level.run, key, hash, &index);
        if (denial == BB_DENIAL_DENIED)
            bb_read_stats_add_denial(stats);
        else if (denial != BB_DENIAL_OUTSIDE)
            ask_run(split, denial, index, key, hash, stats);
    }
}

static void ask_table(const struct bench *bench, struct split *split, size_t first, size_t count,
                      struct bb_read_stats *stats)
{
    for (size_t i = first; i < first + count; i++) {
        struct bb_bytes key = {.data = bench->questions[i % QUESTIONS], .size = KEY_SIZE};
        uint64_t hash = bb_hash_key(&bench->secret, key);
        uint64_t sequence = 0;
        enum bb_visit visit = BB_VISIT_COUNT;
        bench_must(bb_table_get(split->level.tables[0], NULL, key, hash, BB_SEQUENCE_MAX, stats,
                                &split->value, &sequence, &visit));
    }
}

static void ask(const struct bench *bench, struct split *split, size_t first, size_t count,
                struct bb_read_stats *stats)
{
    if (split->level.count > 1)
        ask_level(bench, split, first, count, stats);
    else
        ask_table(bench, split, first, count, stats);
}

static void open_split(const struct bench *bench, struct split *split, uint64_t cache_bytes)
{
    bench_must(bb_block_cache_create(cache_bytes, &split->options.cache));
    open_level(bench, &split->options, &split->level);
}

static void close_split(struct split *split)
{
    close_level(&split->level);
    bb_block_cache_destroy(split->options.cache);
    bb_buf_deinit(&split->value);
}

/* ---- in memory ---- */

static void prepare_memory(const struct bench *bench, struct split *split)
{
    struct bb_read_stats stats = {0};
    open_split(bench, split, UINT64_C(1) << 30);
    ask(bench, split, 0, QUESTIONS, &stats);
    split->wasted = (double)stats.visits[BB_VISIT_FALSE_POSITIVE] / QUESTIONS;
    for (uint32_t i = 0; i < split->level.count; i++)
        split->pinned_bytes += bb_table_memory(split->level.tables[i]);
}

static double memory_slice(void *context, size_t side, size_t turn)
{
    struct shape *shape = context;
    struct split *split = &shape->splits[side];
    struct bb_read_stats stats = {0};
    size_t first = turn * SLICE;
    ask(shape->bench, split, first + SLICE, WARMING, &stats);
    double start = thread_clock_now();
    ask(shape->bench, split, first, SLICE, &stats);
    return (thread_clock_now() - start) / SLICE;
}

static void measure_memory(struct shape *shape)
{
    turns_init(&shape->memory, SPLITS, TURNS);
    for (size_t i = 0; i < SPLITS; i++)
        prepare_memory(shape->bench, &shape->splits[i]);
    turns_take(&shape->memory, memory_slice, shape);
    for (size_t i = 0; i < SPLITS; i++)
        close_split(&shape->splits[i]);
}

/* ---- from the disk ---- */

/* So that the table filter is read, and the cache full. */
static void prepare_disk(const struct bench *bench, struct split *split, uint64_t cache_bytes)
{
    struct bb_read_stats stats = {0};
    split->options.index_residency = BB_INDEX_CACHED;
    open_split(bench, split, cache_bytes);
    ask(bench, split, 0, DISK_TURNS * DISK_SLICE, &stats);
    drop_from_system_cache(bench, &split->level);
}

static double disk_slice(void *context, size_t side, size_t turn)
{
    struct shape *shape = context;
    struct split *split = &shape->splits[side];
    struct bb_read_stats stats = {0};
    double start = elapsed_clock();
    ask(shape->bench, split, turn * DISK_SLICE, DISK_SLICE, &stats);
    double elapsed = elapsed_clock() - start;
    split->page_reads += (double)stats.page_reads / (DISK_TURNS * DISK_SLICE);
    return elapsed / DISK_SLICE;
}

static void measure_disk(struct shape *shape)
{
    uint64_t page_bytes = shape->bench->key_count / shape->keys_per_block * 64;
    turns_init(&shape->disk, SPLITS, DISK_TURNS);
    for (size_t i = 0; i < SPLITS; i++)
        prepare_disk(shape->bench, &shape->splits[i], page_bytes / PAGES_PER_CACHED);
    turns_take(&shape->disk, disk_slice, shape);
    for (size_t i = 0; i < SPLITS; i++)
        close_split(&shape->splits[i]);
}

/* ---- shapes ---- */

static void build_splits(struct shape *shape)
{
    for (size_t i = 0; i < SPLITS; i++) {
        struct split *split = &shape->splits[i];
        *split = (struct split){.table_filter_bits = table_filter_bits_of[i], .level.number = i};
        split->options = (struct bb_table_options){
            .block_size_bytes = shape->keys_per_block * ENTRY_SIZE,
            .compression = BB_COMPRESSION_NONE,
            .filter_rate = RATE,
            .table_filter_bits = split->table_filter_bits,
            .secret = &shape->bench->secret,
        };
        build_level(shape->bench, &split->options, shape->keys_per_table, &split->level);
    }
}

static const char *name_of(double table_filter_bits, char name[16])
{
    if (table_filter_bits == BB_TABLE_FILTER_NONE)
        return "none";
    if (table_filter_bits == BB_TABLE_FILTER_ALL)
        return "all";
    snprintf(name, 16, "%.0f", table_filter_bits);
    return name;
}

static void print_split(const struct shape *shape, size_t i)
{
    const struct split *split = &shape->splits[i];
    struct bb_filter_split rates = bb_filter_split(RATE, split->table_filter_bits);
    double bits = 8 / (double)shape->bench->key_count; /* per key, of a byte */
    char name[16];
    printf(
        "%6u %-6s %-5s %8.3g %8.3g %9.2f %9.2f %9.2f %8.5f %8.1f %8.1f %6.3f %9.4f %8.2f %6.3f\n",
        shape->keys_per_block, shape->name, name_of(split->table_filter_bits, name),
        rates.table_filter_rate, rates.block_rate, (double)split->level.filter_bytes * bits,
        (double)split->level.table_filter_bytes * bits, (double)split->pinned_bytes * bits,
        split->wasted, turns_median(&shape->memory, i), turns_least(&shape->memory, i),
        turns_ratio(&shape->memory, i, 0), split->page_reads, turns_mean(&shape->disk, i) / 1000,
        turns_ratio(&shape->disk, i, 0));
}

static void measure_shape(const struct bench *bench, uint32_t keys_per_block, size_t keys_per_table,
                          const char *name)
{
    static struct shape shape;
    shape = (struct shape){.bench = bench,
                           .keys_per_block = keys_per_block,
                           .keys_per_table = keys_per_table,
                           .name = name};
    build_splits(&shape);
    measure_memory(&shape);
    measure_disk(&shape);
    for (size_t i = 0; i < SPLITS; i++) {
        print_split(&shape, i);
        remove_level(bench, &shape.splits[i].level);
    }
    fflush(stdout);
    turns_deinit(&shape.memory);
    turns_deinit(&shape.disk);
}

static void print_headings(const struct bench *bench)
{
    printf("%zu keys, rate %g, %s\n", bench->key_count, RATE, bb_cpu_name(bench->cpu));
    printf("%6s %-6s %-5s %8s %8s %9s %9s %9s %8s %8s %8s %6s %9s %8s\n", "keys/", "", "split",
           "table filter", "block", "filters", "table filter", "pinned", "wasted", "memory",
           "least", "", "disk:", "us");
    printf("%6s %-6s %-5s %8s %8s %9s %9s %9s %8s %8s %8s %6s %9s %8s %6s\n", "block", "", "",
           "rate", "rate", "bits/key", "bits/key", "bits/key", "", "ns", "ns", "x", "page rds", "",
           "x");
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
    bench_die("this processor does not have %s", name);
}

int main(int argc, char **argv)
{
    static const uint32_t blocks[] = {35, 140, 560};
    struct bench bench = {.directory = argc > 2 ? argv[2] : "/tmp",
                          .key_count = argc > 1 ? strtoull(argv[1], NULL, 10) : KEYS_DEFAULT};
    if (bench.key_count < 1000 || bench.key_count > (size_t)TABLES_MAX * TABLE_KEYS) {
        fprintf(
            stderr,
            "usage: table_bench [keys [directory [portable | avx2 | avx512]]]: 1000 ... %d keys\n",
            TABLES_MAX * TABLE_KEYS);
        return 1;
    }
    bench.cpu = find_cpu(argc > 3 ? argv[3] : NULL);
    bb_hash_secret_from_seed(1, &bench.secret);
    make_keys(&bench);
    print_headings(&bench);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(blocks); i++) {
        measure_shape(&bench, blocks[i], bench.key_count, "table");
        measure_shape(&bench, blocks[i], TABLE_KEYS, "level");
    }
    free(bench.numbers);
    free(bench.questions);
    return 0;
}
