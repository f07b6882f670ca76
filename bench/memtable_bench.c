/* The cost of the memtable: one thread, processor time, memory touched before (the memtable is
 * filled once and recycled).
 *
 *     memtable_bench [capacity in MiB, default 64] [rounds, default 3]
 *
 * Prints a line of JSON for each shape of keys: median nanoseconds of an insert, of a get of a
 * present key, of a get of an absent key (both with the hash of the key), and of a step of an
 * iterator with a copy of the entry; entries, and bytes of the budget for each entry in addition to
 * its key and value. Keys and values are prepared outside the measured intervals.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "bench/die.h"
#include "bench/median.h"
#include "bench/process_clock.h"
#include "kv/memtable/memtable.h"

#define VALUE_SIZE   100
#define KEY_SIZE_MAX 128
#define ROUNDS_MAX   99

enum shape { SHAPE_RANDOM, SHAPE_SEQUENTIAL, SHAPE_URL, SHAPE_COUNT };
static const char *const shape_names[] = {"random", "sequential", "url"};

/* Keys in one array, so that the harness itself rarely misses the cache. */
struct keys {
    size_t count;
    uint8_t *bytes;
    uint32_t *ends;
};

struct figures {
    double insert;
    double get_present;
    double get_absent;
    double iterate;
    uint64_t entries;
    uint64_t used_bytes;
    uint64_t raw_bytes;
};

/* Absent keys have the shape of the others and are between them. */
static int make_key(enum shape shape, uint64_t i, bool absent, char *text)
{
    unsigned long long mixed = bb_hash_mix((i << 1 | absent) + UINT64_C(0x9e3779b97f4a7c15));
    switch (shape) {
    case SHAPE_RANDOM:
        return snprintf(text, KEY_SIZE_MAX, "%016llx", mixed);
    case SHAPE_SEQUENTIAL:
        return snprintf(text, KEY_SIZE_MAX, "%016llu", (unsigned long long)(2 * i + absent));
    default:
        return snprintf(
            text, KEY_SIZE_MAX,
            "https://en.example.org/wiki/articles/a/%s/%05llu/section-%03llu?rev=%08llu",
            mixed & 1 ? "history-of-everything" : "geography", mixed >> 1 & 0x3fff,
            mixed >> 20 & 0xff, mixed >> 32 & 0x3ffffff);
    }
}

static struct bb_bytes key_at(const struct keys *keys, size_t i)
{
    uint32_t begin = i == 0 ? 0 : keys->ends[i - 1];
    return bb_bytes_of(keys->bytes + begin, keys->ends[i] - begin);
}

static struct keys alloc_keys(size_t count)
{
    return (struct keys){.count = count,
                         .bytes = bench_allocate(count * KEY_SIZE_MAX),
                         .ends = bench_allocate(count * sizeof(uint32_t))};
}

static struct keys make_keys(enum shape shape, size_t count, bool absent)
{
    struct keys keys = alloc_keys(count);
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        end += (uint32_t)make_key(shape, i, absent, (char *)keys.bytes + end);
        keys.ends[i] = end;
    }
    return keys;
}

/* The first count keys in another order. */
static struct keys shuffle_keys(const struct keys *keys, size_t count)
{
    struct keys shuffled = alloc_keys(count);
    uint32_t *order = bench_allocate(count * sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t other = bb_hash_range(bb_hash_mix(i), (uint32_t)i);
        uint32_t held = order[i - 1];
        order[i - 1] = order[other];
        order[other] = held;
    }
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        struct bb_bytes key = key_at(keys, order[i]);
        memcpy(shuffled.bytes + end, key.data, key.size);
        end += (uint32_t)key.size;
        shuffled.ends[i] = end;
    }
    free(order);
    return shuffled;
}

static void free_keys(struct keys *keys)
{
    free(keys->bytes);
    free(keys->ends);
}

static double measure_insert(struct bb_memtable *memtable, const struct keys *keys,
                             const struct bb_hash_secret *secret)
{
    static uint8_t value[VALUE_SIZE];
    uint64_t begin = process_clock_now();
    size_t i = 0;
    for (; i < keys->count && bb_memtable_fits(memtable, 1, key_at(keys, i).size + VALUE_SIZE);
         i++) {
        struct bb_entry entry = {.key = key_at(keys, i),
                                 .sequence = i + 1,
                                 .kind = BB_ENTRY_PUT,
                                 .value = bb_bytes_of(value, sizeof(value))};
        bench_must(bb_memtable_add(memtable, &entry, bb_hash_key(secret, entry.key)));
    }
    return process_clock_since(begin) / (double)i;
}

static double measure_get(const struct bb_memtable *memtable, const struct keys *keys,
                          const struct bb_hash_secret *secret, bool is_present)
{
    size_t count = keys->count;
    size_t found = 0;
    uint64_t begin = process_clock_now();
    for (size_t i = 0; i < count; i++) {
        struct bb_bytes key = key_at(keys, i);
        struct bb_bytes value;
        enum bb_entry_kind kind;
        uint64_t sequence = 0;
        found += bb_memtable_get(memtable, key, bb_hash_key(secret, key), BB_SEQUENCE_MAX, &value,
                                 &kind, &sequence) == BB_OK;
    }
    double nanoseconds = process_clock_since(begin) / (double)count;
    if (found != (is_present ? count : 0)) {
        bench_die("%zu of %zu keys found", found, count);
    }
    return nanoseconds;
}

/* Copies each entry, as a flush does. */
static double measure_iterate(const struct bb_memtable *memtable)
{
    static uint8_t copy[KEY_SIZE_MAX + VALUE_SIZE];
    struct bb_iter *iter = NULL;
    uint64_t entries = 0;
    uint64_t bytes = 0;
    bench_must(bb_memtable_iter_create(memtable, &iter));
    uint64_t begin = process_clock_now();
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter)) {
        memcpy(copy, iter->entry.key.data, iter->entry.key.size);
        memcpy(copy + iter->entry.key.size, iter->entry.value.data, iter->entry.value.size);
        __asm__ volatile("" : : "r"(copy) : "memory");
        bytes += iter->entry.key.size + iter->entry.value.size;
        entries++;
    }
    double nanoseconds = process_clock_since(begin) / (double)entries;
    bb_iter_destroy(iter);
    if (entries != bb_memtable_key_count(memtable) || bytes != bb_memtable_raw_bytes(memtable)) {
        bench_die("the walk lost entries");
    }
    return nanoseconds;
}

static struct figures measure(enum shape shape, uint64_t capacity, size_t rounds)
{
    static const struct bb_hash_secret secret;
    double insert[ROUNDS_MAX], present[ROUNDS_MAX], absent[ROUNDS_MAX], iterate[ROUNDS_MAX];
    size_t count = (size_t)(capacity / 120);
    struct keys there = make_keys(shape, count, false);
    struct keys missing = make_keys(shape, count, true);
    struct bb_memtable *memtable = NULL;
    bench_must(bb_memtable_create(NULL, capacity, &memtable));
    measure_insert(memtable, &there, &secret); /* the first touch */
    size_t entries = (size_t)bb_memtable_key_count(memtable);
    struct keys asked = shuffle_keys(&there, entries);
    struct keys in_vain = shuffle_keys(&missing, entries);
    for (size_t round = 0; round < rounds; round++) {
        bb_memtable_reset(memtable);
        insert[round] = measure_insert(memtable, &there, &secret);
        present[round] = measure_get(memtable, &asked, &secret, true);
        absent[round] = measure_get(memtable, &in_vain, &secret, false);
        iterate[round] = measure_iterate(memtable);
    }
    struct figures figures = {.insert = median_of(insert, rounds),
                              .get_present = median_of(present, rounds),
                              .get_absent = median_of(absent, rounds),
                              .iterate = median_of(iterate, rounds),
                              .entries = entries,
                              .used_bytes = bb_memtable_used_bytes(memtable),
                              .raw_bytes = bb_memtable_raw_bytes(memtable)};
    bb_memtable_destroy(memtable);
    free_keys(&there);
    free_keys(&missing);
    free_keys(&asked);
    free_keys(&in_vain);
    return figures;
}

int main(int argc, char **argv)
{
    uint64_t capacity = (argc > 1 ? strtoull(argv[1], NULL, 10) : 64) << 20;
    size_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 3;
    if (capacity == 0 || rounds == 0 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: memtable_bench [capacity in MiB] [rounds, at most %d]\n",
                ROUNDS_MAX);
        return 2;
    }
    for (enum shape shape = 0; shape < SHAPE_COUNT; shape++) {
        struct figures figures = measure(shape, capacity, rounds);
        printf(
            "{\"bench\":\"memtable\",\"keys\":\"%s\",\"capacity_bytes\":%" PRIu64
            ",\"entries\":%" PRIu64
            ",\"insert_ns\":%.0f,\"get_present_ns\":%.0f,\"get_absent_ns\":%.1f,\"iterate_ns\":%.1f"
            ",\"overhead_bytes_per_entry\":%.1f}\n",
            shape_names[shape], capacity, figures.entries, figures.insert, figures.get_present,
            figures.get_absent, figures.iterate,
            (double)(figures.used_bytes - figures.raw_bytes) / (double)figures.entries);
        fflush(stdout);
    }
    return 0;
}
