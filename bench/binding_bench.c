/* Puts and gets by C, the base of bench/python_bench.py: binding_bench FOLDER COUNT. Keys of 16
 * digits, values of 100 bytes; prints nanoseconds per put, get and entry of a scan. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bb/db.h"
#include "bench/die.h"

#define KEY_SIZE   16
#define VALUE_SIZE 100

static uint64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* All keys in one array, so that making them is not measured. */
static char *make_keys(uint64_t count)
{
    char *keys = bench_allocate(count * KEY_SIZE);
    char key[24];
    for (uint64_t i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "%016" PRIu64, i);
        memcpy(keys + i * KEY_SIZE, key, KEY_SIZE);
    }
    return keys;
}

static struct bb_bytes key_at(const char *keys, uint64_t i)
{
    return (struct bb_bytes){(const uint8_t *)keys + i * KEY_SIZE, KEY_SIZE};
}

static uint64_t measure_puts(struct bb_db *db, const char *keys, uint64_t count)
{
    uint8_t value[VALUE_SIZE];
    memset(value, 'v', sizeof(value));
    uint64_t begin = now();
    for (uint64_t i = 0; i < count; i++)
        bench_must(bb_db_put(db, NULL, key_at(keys, i), (struct bb_bytes){value, sizeof(value)}));
    return now() - begin;
}

static uint64_t measure_gets(struct bb_db *db, const char *keys, uint64_t count)
{
    uint64_t begin = now();
    for (uint64_t i = 0; i < count; i++) {
        struct bb_pinned value = {0};
        bench_must(bb_db_get_pinned(db, NULL, key_at(keys, i), &value));
        bb_pinned_release(&value);
    }
    return now() - begin;
}

static uint64_t measure_scan(struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    uint64_t begin = now();
    bench_must(bb_db_iter_create(db, NULL, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        if (bb_db_iter_key(iter).size + bb_db_iter_value(iter).size != KEY_SIZE + VALUE_SIZE)
            bench_die("an entry is not of this program");
    bench_must(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    return now() - begin;
}

int main(int argc, char **argv)
{
    const struct bb_db_options options = {.create_if_missing = true, .error_if_exists = true};
    struct bb_db *db = NULL;
    if (argc != 3)
        bench_die("usage: binding_bench FOLDER COUNT");
    uint64_t count = strtoull(argv[2], NULL, 10);
    char *keys = make_keys(count);
    bench_must(bb_db_open(argv[1], &options, &db));
    uint64_t puts = measure_puts(db, keys, count);
    bench_must(bb_db_wait_idle(db));
    (void)measure_gets(db, keys, count); /* reads the blocks */
    uint64_t gets = measure_gets(db, keys, count);
    uint64_t scan = measure_scan(db);
    bench_must(bb_db_close(db));
    free(keys);
    printf("%.0f %.0f %.0f\n", (double)puts / (double)count, (double)gets / (double)count,
           (double)scan / (double)count);
    return 0;
}
