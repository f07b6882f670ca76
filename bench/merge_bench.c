/* The cost of merging: one thread, processor time, streams over arrays in memory (a step of one is
 * an addition and two copies), so that the time is the merge's.
 *
 *     merge_bench [total entries, default 2000000] [rounds, default 3]
 *
 * Prints a line of JSON for each shape of keys and number of streams: median nanoseconds per entry
 * of a whole walk. A separate walk checks the order of the result.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "bench/die.h"
#include "bench/median.h"
#include "bench/process_clock.h"
#include "compaction/merge/merge.h"
#include "sstable/entry.h"

#define STREAMS_MAX  16
#define KEY_SIZE_MAX 80
#define ROUNDS_MAX   99

enum shape { SHAPE_RANDOM, SHAPE_URL, SHAPE_UPDATES, SHAPE_COUNT };
static const char *const shape_names[] = {"random", "url", "updates"};

struct stream {
    struct bb_iter base;
    const struct bb_entry *entries;
    size_t count;
    size_t position;
};

static void show(struct stream *stream)
{
    stream->base.is_valid = stream->position < stream->count;
    if (stream->base.is_valid)
        stream->base.entry = stream->entries[stream->position];
}

static void stream_seek_first(struct bb_iter *iter)
{
    struct stream *stream = (struct stream *)iter;
    stream->position = 0;
    show(stream);
}

static void stream_next(struct bb_iter *iter)
{
    struct stream *stream = (struct stream *)iter;
    stream->position++;
    show(stream);
}

static void stream_destroy(struct bb_iter *iter)
{
    free(iter);
}

static struct bb_iter *stream_create(const struct bb_entry *entries, size_t count)
{
    static const struct bb_iter_ops ops = {
        .destroy = stream_destroy, .seek_first = stream_seek_first, .next = stream_next};
    struct stream *stream = bench_allocate(sizeof(*stream));
    stream->base.ops = &ops;
    stream->entries = entries;
    stream->count = count;
    return &stream->base;
}

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static size_t draw_key(enum shape shape, uint64_t *state, size_t count, char *key)
{
    uint64_t x = next_random(state);
    if (shape == SHAPE_URL)
        return (size_t)snprintf(key, KEY_SIZE_MAX,
                                "https://www.example.org/archive/2024/%04u/page-%08x",
                                (unsigned)(x % 3000), (unsigned)(x >> 32));
    if (shape == SHAPE_UPDATES)
        x = (x % (count / 8 + 1)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)snprintf(key, KEY_SIZE_MAX, "%016" PRIx64, x);
}

static int compare(const void *a, const void *b)
{
    const struct bb_entry *x = a;
    const struct bb_entry *y = b;
    return bb_entry_compare(NULL, x->key, x->sequence, y->key, y->sequence);
}

/* Keys are in the order in which the streams return them, as in a block, so that the harness itself
 * rarely misses the cache. */
struct merge_work {
    struct bb_entry *entries;
    size_t count;
    size_t stream_count;
    char *bytes;
};

static size_t first_of(const struct merge_work *work, size_t stream)
{
    return work->count * stream / work->stream_count;
}

static void draw(struct merge_work *work, enum shape shape)
{
    char *drawn = bench_allocate(work->count * KEY_SIZE_MAX);
    uint64_t state = (uint64_t)shape;
    work->bytes = bench_allocate(work->count * KEY_SIZE_MAX);
    work->entries = bench_allocate(work->count * sizeof(struct bb_entry));
    for (size_t i = 0; i < work->count; i++) {
        char *key = drawn + i * KEY_SIZE_MAX;
        work->entries[i].key = bb_bytes_of(key, draw_key(shape, &state, work->count, key));
        work->entries[i].sequence = i;
        work->entries[i].kind = BB_ENTRY_PUT;
    }
    for (size_t i = 0; i < work->stream_count; i++)
        qsort(work->entries + first_of(work, i), first_of(work, i + 1) - first_of(work, i),
              sizeof(struct bb_entry), compare);
    char *end = work->bytes;
    for (size_t i = 0; i < work->count; i++) {
        struct bb_bytes *key = &work->entries[i].key;
        memcpy(end, key->data, key->size);
        key->data = (const uint8_t *)end;
        end += key->size;
    }
    free(drawn);
}

static struct bb_iter *merge_of(const struct merge_work *work)
{
    struct bb_iter *streams[STREAMS_MAX];
    struct bb_iter *merge = NULL;
    for (size_t i = 0; i < work->stream_count; i++)
        streams[i] = stream_create(work->entries + first_of(work, i),
                                   first_of(work, i + 1) - first_of(work, i));
    bench_must(bb_merge_create(streams, work->stream_count, NULL, &merge));
    return merge;
}

static void check(struct bb_iter *merge, size_t count)
{
    struct bb_entry last = {0};
    size_t seen = 0;
    for (bb_iter_seek_first(merge); merge->is_valid; bb_iter_next(merge), seen++) {
        if (seen > 0 && compare(&last, &merge->entry) >= 0)
            break;
        last = merge->entry;
    }
    if (seen == count)
        return;
    bench_die("entry %zu is out of order", seen);
}

static double walk(struct bb_iter *merge, size_t count)
{
    uint64_t begin = process_clock_now();
    uint64_t sum = 0;
    for (bb_iter_seek_first(merge); merge->is_valid; bb_iter_next(merge))
        sum += merge->entry.sequence;
    double nanoseconds = process_clock_since(begin);
    if (sum != (uint64_t)count * (count - 1) / 2)
        exit(1);
    return nanoseconds / (double)count;
}

static void measure(enum shape shape, size_t count, size_t stream_count, int rounds)
{
    double figures[ROUNDS_MAX];
    struct merge_work work = {.count = count, .stream_count = stream_count};
    draw(&work, shape);
    struct bb_iter *merge = merge_of(&work);
    check(merge, count);
    for (int i = 0; i < rounds; i++)
        figures[i] = walk(merge, count);
    printf("{\"keys\": \"%s\", \"streams\": %zu, \"ns_per_entry\": %.1f}\n", shape_names[shape],
           stream_count, median_of(figures, (size_t)rounds));
    bb_iter_destroy(merge);
    free(work.entries);
    free(work.bytes);
}

int main(int argc, char **argv)
{
    static const size_t stream_counts[] = {2, 4, 8, 16};
    size_t count = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 2000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    if (count < STREAMS_MAX || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: merge_bench [entries] [rounds, up to %d]\n", ROUNDS_MAX);
        return 2;
    }
    for (int shape = 0; shape < SHAPE_COUNT; shape++) {
        for (size_t i = 0; i < sizeof(stream_counts) / sizeof(stream_counts[0]); i++)
            measure((enum shape)shape, count, stream_counts[i], rounds);
    }
    return 0;
}
