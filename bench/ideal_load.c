/* See ideal_load.h. */
#include "bench/ideal_load.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "bench/die.h"
#include "bench/probe.h"
#include "bench/thread_clock.h"

#define CALL_SIZE    (256 << 10)
#define BATCH_BLOCKS 64 /* whose entries are made together, so that the clock is rarely read */

static size_t entry_size(const struct workload *workload)
{
    return workload->options.key_size + workload->options.value_size;
}

static void make_entry(const struct workload *workload, uint64_t number, uint8_t *entry)
{
    workload_key(workload, number, entry);
    workload_value(workload, number, entry + workload->options.key_size);
}

uint8_t *ideal_load_records(const struct workload *workload)
{
    size_t size = entry_size(workload);
    uint8_t *records = workload_allocate(workload->options.key_count, size);
    for (uint64_t i = 0; i < workload->options.key_count; i++)
        make_entry(workload, workload_number(workload, i), records + i * size);
    return records;
}

void ideal_load_release(const struct workload *workload, uint8_t *records)
{
    workload_release(records, workload->options.key_count, entry_size(workload));
}

struct writing {
    int fd;
    size_t entry_size;
    uint64_t entries_per_block;
    uint8_t *batch; /* entries of BATCH_BLOCKS blocks */
    uint8_t *raw;
    uint8_t *stored;
    size_t stored_capacity;
    size_t stored_used;
    uint64_t offset; /* of `stored` in the file */
};

static void writing_init(struct writing *writing, const char *path, size_t entry, size_t block_size)
{
    uint64_t entries_per_block = (block_size + entry - 1) / entry;
    size_t raw_size = entries_per_block * entry;
    *writing = (struct writing){.entry_size = entry, .entries_per_block = entries_per_block};
    writing->batch = bench_allocate(BATCH_BLOCKS * raw_size);
    writing->raw = bench_allocate(raw_size);
    writing->stored_capacity = CALL_SIZE + (size_t)LZ4_compressBound((int)raw_size);
    writing->stored = bench_allocate(writing->stored_capacity);
    writing->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (writing->fd < 0)
        bench_die("cannot create %s: %s", path, strerror(errno));
    (void)unlink(path);
}

static void writing_deinit(struct writing *writing)
{
    (void)close(writing->fd);
    free(writing->batch);
    free(writing->raw);
    free(writing->stored);
}

static void write_stored(struct writing *writing)
{
    size_t size = writing->stored_used;
    if (pwrite(writing->fd, writing->stored, size, (off_t)writing->offset) != (ssize_t)size)
        bench_die("cannot write the ideal load: %s", strerror(errno));
    writing->offset += size;
    writing->stored_used = 0;
}

static void write_block(struct writing *writing, const uint8_t *entries)
{
    uint8_t *stored = writing->stored + writing->stored_used;
    size_t size = writing->entry_size;
    for (uint64_t i = 0; i < writing->entries_per_block; i++)
        memcpy(writing->raw + i * size, entries + i * size, size);
    int stored_size = LZ4_compress_default((const char *)writing->raw, (char *)stored,
                                           (int)(writing->entries_per_block * size),
                                           (int)(writing->stored_capacity - writing->stored_used));
    if (stored_size <= 0)
        bench_die("LZ4 cannot compress a block of the ideal load");
    probe_keep(bb_hash_bytes(stored, (size_t)stored_size));
    writing->stored_used += (size_t)stored_size;
    if (writing->stored_used >= CALL_SIZE)
        write_stored(writing);
}

/* Makes the entries, and returns the time of writing them. */
static double write_batch(struct writing *writing, const struct workload *workload,
                          const uint64_t *numbers, uint64_t block_count)
{
    uint64_t entry_count = block_count * writing->entries_per_block;
    for (uint64_t i = 0; i < entry_count; i++)
        make_entry(workload, numbers[i], writing->batch + i * writing->entry_size);
    double begin = thread_clock_now();
    for (uint64_t i = 0; i < block_count; i++)
        write_block(writing, writing->batch + i * writing->entries_per_block * writing->entry_size);
    return thread_clock_now() - begin;
}

double ideal_load_write(const struct workload *workload, const char *path, size_t block_size)
{
    struct writing writing;
    uint64_t key_count = workload->options.key_count;
    uint64_t *numbers = workload_sorted(workload, key_count);
    writing_init(&writing, path, entry_size(workload), block_size);
    uint64_t block_count = key_count / writing.entries_per_block;
    double time = 0;
    for (uint64_t block = 0; block < block_count; block += BATCH_BLOCKS) {
        uint64_t rest = block_count - block;
        time += write_batch(&writing, workload, numbers + block * writing.entries_per_block,
                            rest < BATCH_BLOCKS ? rest : BATCH_BLOCKS);
    }
    double begin = thread_clock_now();
    write_stored(&writing);
    time += thread_clock_now() - begin;
    writing_deinit(&writing);
    workload_release(numbers, key_count, sizeof(*numbers));
    return time / (double)(block_count * writing.entries_per_block);
}
