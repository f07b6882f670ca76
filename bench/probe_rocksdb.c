/* See probe_rocksdb.h. The classes that read filters (FilterBitsReader) are declared but not
 * defined in the headers that RocksDB installs, so that a program outside of it cannot call them.
 * What it can do is Get an absent key: that takes the reader, and a path to it that is the same for
 * every filter. The Get of a key outside all tables takes only a part of that path. */
#include "bench/probe_rocksdb.h"

#include <math.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/probe_timer.h"

#define ASKED 20000

static void must(const char *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "probe_bench: rocksdb: %s\n", error);
    exit(1);
}

struct store {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_block_based_table_options_t *table;
    rocksdb_readoptions_t *read;
    char directory[64];
};

static void open_store(struct store *store, int ribbon, double bits_per_key)
{
    char *error = NULL;
    snprintf(store->directory, sizeof(store->directory), "/tmp/probe_bench.XXXXXX");
    if (mkdtemp(store->directory) == NULL)
        must("no temporary folder");
    store->table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_filter_policy(
        store->table, ribbon ? rocksdb_filterpolicy_create_ribbon(bits_per_key)
                             : rocksdb_filterpolicy_create_bloom_full(bits_per_key));
    rocksdb_block_based_options_set_format_version(store->table, 5);
    store->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(store->options, 1);
    rocksdb_options_set_write_buffer_size(store->options, (size_t)256 << 20);
    rocksdb_options_set_block_based_table_factory(store->options, store->table);
    store->read = rocksdb_readoptions_create();
    store->db = rocksdb_open(store->options, store->directory, &error);
    must(error);
}

static void close_store(struct store *store)
{
    char *error = NULL;
    rocksdb_close(store->db);
    rocksdb_destroy_db(store->options, store->directory, &error);
    must(error);
    rocksdb_readoptions_destroy(store->read);
    rocksdb_options_destroy(store->options);
    rocksdb_block_based_options_destroy(store->table);
}

/* One table with the members in it. */
static void fill(struct store *store, const uint8_t *keys, uint64_t count)
{
    char *error = NULL;
    rocksdb_writeoptions_t *write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(write, 1);
    for (uint64_t i = 0; i < count; i++) {
        rocksdb_put(store->db, write, (const char *)keys + i * PROBE_KEY_SIZE, PROBE_KEY_SIZE, "v",
                    1, &error);
        must(error);
    }
    rocksdb_writeoptions_destroy(write);
    rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
    rocksdb_flush(store->db, flush, &error);
    must(error);
    rocksdb_flushoptions_destroy(flush);
    rocksdb_compact_range(store->db, NULL, 0, NULL, 0);
}

static int has(struct store *store, const uint8_t *key)
{
    char *error = NULL;
    rocksdb_pinnableslice_t *value =
        rocksdb_get_pinned(store->db, store->read, (const char *)key, PROBE_KEY_SIZE, &error);
    must(error);
    if (value != NULL)
        rocksdb_pinnableslice_destroy(value);
    return value != NULL;
}

/* Absent keys that the filter denies: a false positive would cost a block. */
static uint64_t choose_denied(struct store *store, const uint8_t *absent, uint64_t count,
                              uint8_t *ret_keys)
{
    uint64_t chosen = 0;
    for (uint64_t i = 0; i < count && chosen < ASKED; i++) {
        const uint8_t *key = absent + i * PROBE_KEY_SIZE;
        if (!rocksdb_key_may_exist(store->db, store->read, (const char *)key, PROBE_KEY_SIZE, NULL,
                                   NULL, NULL, 0, NULL))
            memcpy(ret_keys + chosen++ * PROBE_KEY_SIZE, key, PROBE_KEY_SIZE);
    }
    return chosen;
}

static double time_round(struct store *store, const uint8_t *keys, uint64_t count)
{
    double start = probe_timer_now(), least = INFINITY;
    int found = 0;
    for (uint64_t i = 0; i < count; i++)
        found |= has(store, keys + i * PROBE_KEY_SIZE);
    probe_timer_note(start, count, &least);
    if (found)
        must("an absent key was found");
    return least;
}

static double count_hits(struct store *store, const uint8_t *keys, uint64_t count)
{
    rocksdb_set_perf_level(rocksdb_enable_count);
    rocksdb_perfcontext_t *context = rocksdb_perfcontext_create();
    rocksdb_perfcontext_reset(context);
    time_round(store, keys, count);
    uint64_t hits = rocksdb_perfcontext_metric(context, rocksdb_bloom_sst_miss_count) +
                    rocksdb_perfcontext_metric(context, rocksdb_bloom_sst_hit_count);
    rocksdb_perfcontext_destroy(context);
    rocksdb_set_perf_level(rocksdb_disable);
    return (double)hits / (double)count;
}

/* A store and the keys it is asked. */
struct subject {
    struct store store;
    uint64_t asked;
    uint8_t denied[ASKED * PROBE_KEY_SIZE];
    uint8_t outside[ASKED * PROBE_KEY_SIZE];
};

static void subject_init(struct subject *subject, const struct probe_rocksdb *filter,
                         const uint8_t *keys, uint64_t count)
{
    open_store(&subject->store, filter->is_ribbon, filter->bits_per_key);
    fill(&subject->store, keys, count);
    subject->asked =
        choose_denied(&subject->store, keys + count * PROBE_KEY_SIZE, count, subject->denied);
    if (subject->asked == 0)
        must("no key is denied");
    memcpy(subject->outside, subject->denied, sizeof(subject->outside));
    for (uint64_t i = 0; i < subject->asked; i++)
        subject->outside[i * PROBE_KEY_SIZE] = 0xff;
}

static void subject_round(struct subject *subject, struct probe_rocksdb *filter)
{
    double outside = time_round(&subject->store, subject->outside, subject->asked);
    double absent = time_round(&subject->store, subject->denied, subject->asked);
    filter->outside = fmin(filter->outside, outside);
    filter->absent = fmin(filter->absent, absent);
}

void probe_rocksdb_measure(struct probe_rocksdb filters[2], const uint8_t *keys, uint64_t count,
                           int rounds)
{
    static struct subject subjects[2];
    for (int i = 0; i < 2; i++) {
        subject_init(&subjects[i], &filters[i], keys, count);
        filters[i].outside = filters[i].absent = INFINITY;
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 2; i++)
            subject_round(&subjects[i], &filters[i]);
    for (int i = 0; i < 2; i++) {
        filters[i].bloom_hits =
            count_hits(&subjects[i].store, subjects[i].denied, subjects[i].asked);
        close_store(&subjects[i].store);
    }
}
