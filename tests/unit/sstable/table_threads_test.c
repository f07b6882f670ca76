/* Goal: any number of threads read one open table, and race for its pages, blocks and table filter,
 * with the right answers, also while reads of the table filter fail. Method: threads over the same
 * few keys in different orders, cold each round; meant to be run under ThreadSanitizer. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/hash.h"
#include "base/status.h"
#include "base/sync.h"
#include "sstable/table/table.h"

#define THREADS 4
#define KEYS    3000

/* Files in which two of three reads of the table filter fail. */
static struct {
    const struct bb_file_ops *sound;
    struct bb_file_ops ops;
    uint64_t table_filter; /* offset; later sections are only read at opening */
    _Atomic uint64_t reads;
} flaky;

static enum bb_status read_at(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    if (offset >= flaky.table_filter && atomic_fetch_add(&flaky.reads, 1) % 3 < 2)
        return bb_fail(BB_IO, "a read of the test fails");
    return flaky.sound->read_at(file, offset, buffer, size, ret_size);
}

static void make_flaky(struct bb_table *table)
{
    flaky.sound = table->file->ops;
    flaky.ops = *flaky.sound;
    flaky.ops.read_at = read_at;
    flaky.table_filter = table->table_filter_reading.place.offset;
    table->file->ops = &flaky.ops;
}

struct reader {
    struct bb_table *table;
    const struct bb_hash_secret *secret;
    uint64_t seed;
    uint64_t wrong;
    struct bb_read_stats stats;
};

static void read_keys(void *argument)
{
    struct reader *reader = argument;
    struct bb_buf value = {0};
    struct bb_rng rng;
    bb_rng_init(&rng, reader->seed);
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        uint64_t sequence = 0;
        enum bb_visit visit = BB_VISIT_COUNT;
        int number = (int)bb_rng_below(&rng, 2 * KEYS - 1);
        snprintf(key, sizeof(key), "%06d", number);
        struct bb_bytes bytes = bb_bytes_of_text(key);
        enum bb_status status =
            bb_table_get(reader->table, NULL, bytes, bb_hash_key(reader->secret, bytes),
                         BB_SEQUENCE_MAX, &reader->stats, &value, &sequence, &visit);
        reader->wrong += status != BB_OK || (visit == BB_VISIT_PRESENT) != (number % 2 == 0);
    }
    bb_buf_deinit(&value);
}

static void scan(void *argument)
{
    struct reader *reader = argument;
    struct bb_iter *iter = NULL;
    int count = 0;
    if (bb_table_iter_create(reader->table, NULL, &reader->stats, &iter) != BB_OK) {
        reader->wrong++;
        return;
    }
    for (bb_iter_seek_last(iter); iter->is_valid; bb_iter_prev(iter))
        count++;
    reader->wrong += iter->status != BB_OK || count != KEYS;
    bb_iter_destroy(iter);
}

static void check_round(const struct bb_table_options *options, uint64_t seed, bool is_flaky)
{
    struct bb_table *table = NULL;
    struct bb_thread threads[THREADS];
    struct reader readers[THREADS] = {{0}};
    assert_ok(bb_table_open(FIXTURE_PATH, options, &table));
    if (is_flaky)
        make_flaky(table);
    for (uint64_t i = 0; i < THREADS; i++) {
        readers[i] =
            (struct reader){.table = table, .secret = options->secret, .seed = seed * THREADS + i};
        assert_ok(bb_thread_create(&threads[i], i == 0 ? scan : read_keys, &readers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        bb_thread_join(&threads[i]);
        assert_true(readers[i].wrong == 0);
    }
    if (is_flaky)
        table->file->ops = flaky.sound;
    bb_table_close(table);
}

static void table__threads(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(81);
    struct bb_hash_secret secret;
    struct entry_list list = {0};
    bb_hash_secret_from_seed(81, &secret);
    struct bb_table_options options = {.file_system = bb_file_memory_system(memory),
                                       .secret = &secret,
                                       .block_size_bytes = 256,
                                       .index_page_size_bytes = 512,
                                       .table_filter_bits = 4};
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", 2 * i);
        entry_list_add_text(&list, key, 1, "value");
    }
    build_table(FIXTURE_PATH, &options, &list, NULL);
    for (uint64_t round = 0; round < 12; round++) {
        /* No cache; a small one, always evicting; pages in it as well. */
        if (round % 3 > 0)
            assert_ok(bb_block_cache_create(1 << 16, &options.cache));
        options.index_residency = round % 3 == 2 ? BB_INDEX_CACHED : BB_INDEX_PINNED;
        check_round(&options, round, round >= 6);
        if (options.cache != NULL)
            bb_block_cache_destroy(options.cache);
        options.cache = NULL;
    }
    assert_true(flaky.reads >= 6);
    entry_list_deinit(&list);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__threads),
    };
    return cmocka_run_group_tests_name("table_threads", tests, NULL, NULL);
}
