/* Goal: the real cost of filters, which is the size of the file with filters minus its size
 * without, per key; and the target rate is kept at that cost. Method: tables whose blocks have
 * exactly n keys, random 16-byte keys; absent keys of the same shape. */
#include "tests/unit/sstable/table_fixture.h"

#include <math.h>

#include "base/coding.h"
#include "base/hash.h"
#include "sstable/filter/filter_split.h"

#define KEY_SIZE   16
#define VALUE_SIZE 8
#define QUESTIONS  200000

/* shared, unshared, value size and sequence take a byte each, the restart offset two. */
#define ENTRY_SIZE (4 + KEY_SIZE + VALUE_SIZE + 2)
#define TAIL_SIZE  4

struct keys {
    uint8_t (*bytes)[KEY_SIZE];
    size_t count;
};

static int compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, KEY_SIZE);
}

static void keys_init(struct keys *keys, struct bb_rng *rng, size_t count)
{
    keys->bytes = bb_must_realloc(NULL, count * KEY_SIZE);
    keys->count = count;
    bb_rng_bytes(rng, keys->bytes, count * KEY_SIZE);
    qsort(keys->bytes, count, KEY_SIZE, compare_keys);
}

/* The file's size; the table stays at path. */
static uint64_t build(const char *path, const struct bb_table_options *options,
                      const struct keys *keys, uint32_t keys_per_block)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_meta meta = {0};
    static const uint8_t value[VALUE_SIZE];
    assert_ok(bb_table_builder_create(path, options, &builder));
    for (size_t i = 0; i < keys->count; i++) {
        struct bb_entry entry = {
            .key = bb_bytes_of(keys->bytes[i], KEY_SIZE),
            .sequence = 1,
            .kind = BB_ENTRY_PUT,
            .value = bb_bytes_of(value, VALUE_SIZE),
        };
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_finish(builder, &meta));
    bb_table_builder_destroy(builder);
    assert_true(meta.block_count * keys_per_block == keys->count);
    uint64_t size = meta.file_size;
    bb_table_meta_deinit(&meta);
    return size;
}

static double wasted_per_absent(const struct bb_table_options *options, struct bb_rng *rng,
                                size_t count)
{
    struct bb_table *table = NULL;
    struct bb_read_stats stats = {0};
    struct bb_buf value = {0};
    assert_ok(bb_table_open("/with", options, &table));
    for (size_t i = 0; i < count; i++) {
        uint8_t key[KEY_SIZE];
        uint64_t sequence = 0;
        enum bb_visit visit = BB_VISIT_COUNT;
        bb_rng_bytes(rng, key, sizeof(key));
        struct bb_bytes bytes = {.data = key, .size = sizeof(key)};
        assert_ok(bb_table_get(table, NULL, bytes, bb_hash_key(options->secret, bytes),
                               BB_SEQUENCE_MAX, &stats, &value, &sequence, &visit));
    }
    bb_buf_deinit(&value);
    bb_table_close(table);
    return (double)stats.visits[BB_VISIT_FALSE_POSITIVE] / (double)count;
}

struct space {
    double target;
    double table_filter_bits;
    uint32_t granularity;
    uint32_t keys_per_block;
    size_t key_count;
    double bits_per_key_max;
};

static void check_space(struct space space)
{
    uint32_t keys_per_block = space.keys_per_block;
    uint64_t seed = bb_rng_seed("filter_space", 3 * (uint64_t)keys_per_block);
    struct bb_file_memory *memory = bb_file_memory_create(seed);
    struct bb_rng rng;
    struct keys keys;
    struct bb_hash_secret secret;
    bb_rng_init(&rng, seed);
    bb_hash_secret_from_seed(seed, &secret);
    keys_init(&keys, &rng, space.key_count - space.key_count % keys_per_block);
    struct bb_table_options options = {
        .file_system = bb_file_memory_system(memory),
        .block_size_bytes = keys_per_block * ENTRY_SIZE + TAIL_SIZE,
        .restart_interval = 1,
        .compression = BB_COMPRESSION_NONE,
        .filter_rate = space.target,
        .table_filter_bits = space.table_filter_bits,
        .filter_granularity = space.granularity,
        .secret = &secret,
    };
    uint64_t with = build("/with", &options, &keys, keys_per_block);
    options.filter_rate = 1;
    uint64_t without = build("/without", &options, &keys, keys_per_block);
    options.filter_rate = space.target;
    double rate = wasted_per_absent(&options, &rng, QUESTIONS);
    double bits = (double)(with - without) * 8 / (double)keys.count;
    print_message("%4u keys per block, target %g: %.3f bits per key (at most %.2f), rate %.5f\n",
                  keys_per_block, space.target, bits, space.bits_per_key_max, rate);
    assert_true(bits <= space.bits_per_key_max);
    /* Five standard errors. */
    assert_true(rate < space.target + 5 * sqrt(space.target / QUESTIONS));
    free(keys.bytes);
    bb_file_memory_destroy(memory);
}

static void filter_space__blocks_alone(void **state)
{
    (void)state;
    check_space((struct space){0.01, BB_TABLE_FILTER_NONE, 1, 30, 640 * 30, 7.75});
    check_space((struct space){0.01, BB_TABLE_FILTER_NONE, 1, 100, 640 * 100, 7.05});
    check_space((struct space){0.01, BB_TABLE_FILTER_NONE, 1, 300, 640 * 300, 6.90});
    check_space((struct space){0.01, BB_TABLE_FILTER_NONE, 1, 1000, 640 * 1000, 6.80});
}

static void filter_space__low_targets(void **state)
{
    (void)state;
    check_space((struct space){0.001, BB_TABLE_FILTER_NONE, 1, 1000, 320 * 1000, 10.1});
    check_space((struct space){0.0001, BB_TABLE_FILTER_NONE, 1, 1000, 320 * 1000, 13.5});
}

/* 4, 16 and 64 KiB of entries of 117 bytes. */
static void filter_space__default_split(void **state)
{
    (void)state;
    check_space((struct space){0.01, BB_TABLE_FILTER_BITS_DEFAULT, 1, 35, 200000, 7.7});
    check_space((struct space){0.01, BB_TABLE_FILTER_BITS_DEFAULT, 1, 140, 200000, 7.2});
    check_space((struct space){0.01, BB_TABLE_FILTER_BITS_DEFAULT, 1, 560, 200000, 7.1});
}

/* A ribbon for each index page instead of each block. */
static void filter_space__pages(void **state)
{
    (void)state;
    check_space(
        (struct space){0.01, BB_TABLE_FILTER_BITS_DEFAULT, BB_GRANULARITY_PAGE, 35, 200000, 7.0});
    check_space((struct space){0.01, BB_TABLE_FILTER_NONE, BB_GRANULARITY_PAGE, 35, 200000, 7.0});
}

static void filter_space__table_filter_alone(void **state)
{
    (void)state;
    check_space((struct space){0.01, BB_TABLE_FILTER_ALL, 1, 35, 1000000, 6.90});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_space__blocks_alone),
        cmocka_unit_test(filter_space__low_targets),
        cmocka_unit_test(filter_space__default_split),
        cmocka_unit_test(filter_space__pages),
        cmocka_unit_test(filter_space__table_filter_alone),
    };
    return cmocka_run_group_tests_name("filter_space", tests, NULL, NULL);
}
