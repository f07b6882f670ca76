/* See ideal_store.h. */
#include "bench/ideal_store.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "bench/die.h"
#include "bench/large_memory.h"

#define LINE_SIZE         64
#define FILTER_BITS       10
#define READ_ON_SIZE_MAX  (1 << 20)
#define STORED_BUFFER(it) ((size_t)LZ4_compressBound((int)(it)->raw_size) + READ_ON_SIZE_MAX)

/* The part of the filter that a run has. */
struct run_lines {
    const uint8_t *lines;
    uint64_t count;
};

struct ideal_store {
    int fd;
    const uint8_t *map;
    uint64_t block_count;
    uint64_t entries_per_block;
    size_t raw_size;   /* of a block */
    uint64_t *offsets; /* of each block, and the end */
    uint64_t line_count;
    uint8_t *lines;
    struct run_lines *runs;
    size_t run_count;
    uint8_t *raw;
    uint8_t *stored;
    uint64_t stored_offset; /* of the first byte in `stored` */
};

static void write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        if (written <= 0)
            bench_die("cannot write the ideal store: %s", strerror(errno));
        data += written;
        size -= (size_t)written;
    }
}

static void fill_block(const struct ideal_store *store, const struct workload *workload,
                       const uint64_t *numbers)
{
    const struct workload_options *options = &workload->options;
    uint8_t *end = store->raw;
    for (uint64_t i = 0; i < store->entries_per_block; i++) {
        workload_key(workload, numbers[i], end);
        workload_value(workload, numbers[i], end + options->key_size);
        end += options->key_size + options->value_size;
    }
}

static void write_blocks(struct ideal_store *store, const struct workload *workload)
{
    uint64_t *numbers = workload_sorted(workload, workload->options.key_count);
    for (uint64_t block = 0; block < store->block_count; block++) {
        fill_block(store, workload, numbers + block * store->entries_per_block);
        int size = LZ4_compress_default((const char *)store->raw, (char *)store->stored,
                                        (int)store->raw_size, (int)STORED_BUFFER(store));
        if (size <= 0)
            bench_die("LZ4 cannot compress a block of the ideal store");
        write_all(store->fd, store->stored, (size_t)size);
        store->offsets[block + 1] = store->offsets[block] + (uint64_t)size;
    }
    workload_release(numbers, workload->options.key_count, sizeof(*numbers));
}

static void make_filter(struct ideal_store *store, uint64_t key_count)
{
    store->line_count = key_count * FILTER_BITS / (LINE_SIZE * 8) + 1;
    store->lines = large_memory_allocate(store->line_count * LINE_SIZE);
    memset(store->lines, 0x5a, store->line_count * LINE_SIZE);
}

struct ideal_store *ideal_store_create(const char *path, const struct workload *workload,
                                       size_t block_size)
{
    const struct workload_options *options = &workload->options;
    size_t entry_size = options->key_size + options->value_size;
    struct ideal_store *store = bench_allocate(sizeof(*store));
    store->entries_per_block = (block_size + entry_size - 1) / entry_size;
    store->raw_size = store->entries_per_block * entry_size;
    store->block_count = options->key_count / store->entries_per_block;
    if (store->block_count == 0)
        bench_die("the ideal store needs at least a block of %zu bytes", store->raw_size);
    store->offsets = bench_allocate((store->block_count + 1) * sizeof(*store->offsets));
    store->raw = bench_allocate(store->raw_size);
    store->stored = bench_allocate(STORED_BUFFER(store));
    store->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (store->fd < 0)
        bench_die("cannot create %s: %s", path, strerror(errno));
    (void)unlink(path);
    write_blocks(store, workload);
    store->map =
        mmap(NULL, store->offsets[store->block_count], PROT_READ, MAP_SHARED, store->fd, 0);
    if (store->map == MAP_FAILED)
        bench_die("cannot map %s: %s", path, strerror(errno));
    make_filter(store, options->key_count);
    return store;
}

void ideal_store_destroy(struct ideal_store *store)
{
    (void)munmap((void *)(uintptr_t)store->map, store->offsets[store->block_count]);
    (void)close(store->fd);
    free(store->offsets);
    free(store->lines);
    free(store->runs);
    free(store->raw);
    free(store->stored);
    free(store);
}

uint64_t ideal_store_block_count(const struct ideal_store *store)
{
    return store->block_count;
}

uint64_t ideal_store_entries_per_block(const struct ideal_store *store)
{
    return store->entries_per_block;
}

double ideal_store_stored_size(const struct ideal_store *store)
{
    return (double)store->offsets[store->block_count] / (double)store->block_count;
}

static uint64_t probe_lines(struct run_lines run, uint64_t hash)
{
    uint64_t line = bb_hash_range64(hash, run.count);
    uint64_t word = 0;
    memcpy(&word, run.lines + line * LINE_SIZE + hash % (LINE_SIZE / 8) * 8, sizeof(word));
    return word;
}

void ideal_store_set_runs(struct ideal_store *store, const uint64_t *key_counts, size_t run_count)
{
    uint64_t key_total = 0;
    uint64_t keys_before = 0;
    for (size_t i = 0; i < run_count; i++)
        key_total += key_counts[i];
    free(store->runs);
    store->runs = bench_allocate(run_count * sizeof(*store->runs));
    store->run_count = run_count;
    for (size_t i = 0; i < run_count; i++) {
        uint64_t first = store->line_count * keys_before / key_total;
        uint64_t count = store->line_count * key_counts[i] / key_total;
        store->runs[i] = (struct run_lines){.lines = store->lines + first * LINE_SIZE,
                                            .count = count == 0 ? 1 : count};
        keys_before += key_counts[i];
    }
}

uint64_t ideal_store_probe(const struct ideal_store *store, uint64_t hash)
{
    return probe_lines((struct run_lines){store->lines, store->line_count}, hash);
}

uint64_t ideal_store_probe_runs(const struct ideal_store *store, uint64_t hash)
{
    uint64_t word = 0;
    for (size_t i = 0; i < store->run_count; i++)
        word ^= probe_lines(store->runs[i], hash);
    return word;
}

static void read_bytes(struct ideal_store *store, uint64_t offset, size_t size)
{
    if (pread(store->fd, store->stored, size, (off_t)offset) != (ssize_t)size)
        bench_die("cannot read the ideal store: %s", strerror(errno));
    store->stored_offset = offset;
}

struct bb_bytes ideal_store_read(struct ideal_store *store, uint64_t block)
{
    read_bytes(store, store->offsets[block], store->offsets[block + 1] - store->offsets[block]);
    return ideal_store_stored(store, block);
}

struct bb_bytes ideal_store_copy(struct ideal_store *store, uint64_t block)
{
    uint64_t offset = store->offsets[block];
    memcpy(store->stored, store->map + offset, store->offsets[block + 1] - offset);
    store->stored_offset = offset;
    return ideal_store_stored(store, block);
}

uint64_t ideal_store_read_on(struct ideal_store *store, uint64_t block, size_t size)
{
    uint64_t end = block + 1;
    while (end < store->block_count && store->offsets[end + 1] - store->offsets[block] <= size)
        end++;
    read_bytes(store, store->offsets[block], store->offsets[end] - store->offsets[block]);
    return end - block;
}

struct bb_bytes ideal_store_stored(const struct ideal_store *store, uint64_t block)
{
    return (struct bb_bytes){.data = store->stored + (store->offsets[block] - store->stored_offset),
                             .size = store->offsets[block + 1] - store->offsets[block]};
}

struct bb_bytes ideal_store_decode(struct ideal_store *store, struct bb_bytes stored)
{
    int size = LZ4_decompress_safe((const char *)stored.data, (char *)store->raw, (int)stored.size,
                                   (int)store->raw_size);
    if (size != (int)store->raw_size)
        bench_die("a block of the ideal store is damaged");
    return (struct bb_bytes){.data = store->raw, .size = store->raw_size};
}
