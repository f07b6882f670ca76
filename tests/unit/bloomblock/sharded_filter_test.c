/* Goal: a set cut into payloads of any number of shards knows all its members, keeps its rate, and
 * is checked before it is believed. Method: sets of many sizes, cut in several ways; every byte of
 * a directory changed. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "base/bytes.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/hash_sort.h"
#include "bloomblock/table/sharded_filter.h"
#include "tests/support/must_alloc.h"

#define CHUNKS_MAX 256

struct sample {
    struct bb_block_filter_format format;
    struct bb_shard_builder *builder;
    uint64_t *hashes; /* of the format's domain */
    size_t count;
    uint32_t shard_count;
    uint32_t chunk_shards;
    struct bb_buf memory[CHUNKS_MAX]; /* lead, chunk, pad */
    struct bb_buf chunks[CHUNKS_MAX]; /* in memory */
    size_t chunk_count;
};

static uint32_t chunk_size(const struct sample *sample, size_t chunk)
{
    uint32_t left = sample->shard_count - (uint32_t)chunk * sample->chunk_shards;
    return left < sample->chunk_shards ? left : sample->chunk_shards;
}

static void encode(struct sample *sample)
{
    struct bb_shard_set set = bb_sharded_filter_set(sample->hashes, sample->count);
    sample->shard_count = set.shard_count;
    while (set.next_shard < set.shard_count) {
        assert_true(sample->chunk_count < CHUNKS_MAX);
        size_t chunk = sample->chunk_count++;
        struct bb_buf *buf = &sample->memory[chunk];
        uint8_t *lead = NULL, *pad = NULL;
        assert_ok(bb_buf_extend(buf, BB_FILTER_LEAD_BYTES, &lead));
        memset(lead, 0x5a, BB_FILTER_LEAD_BYTES);
        assert_ok(bb_sharded_filter_encode(sample->builder, &set, chunk_size(sample, chunk), buf));
        size_t size = buf->size - BB_FILTER_LEAD_BYTES;
        assert_ok(bb_buf_extend(buf, BB_FILTER_PAD_BYTES, &pad));
        memset(pad, 0xa5, BB_FILTER_PAD_BYTES);
        sample->chunks[chunk] =
            (struct bb_buf){.data = buf->data + BB_FILTER_LEAD_BYTES, .size = size};
    }
    assert_int_equal(set.next_hash, set.count);
}

static void sample_init(struct sample *sample, size_t count, double rate, uint32_t chunk_shards)
{
    *sample = (struct sample){.chunk_shards = chunk_shards};
    assert_ok(bb_block_filter_format_init(&sample->format, BB_FILTER_RIBBON, rate, count));
    assert_ok(bb_sharded_filter_builder_create(&sample->format, &sample->builder));
    sample->hashes = bb_must_alloc_zeroed((count + 1) * sizeof(sample->hashes[0]));
    for (size_t i = 0; i < count; i++)
        sample->hashes[i] = bb_block_filter_key(&sample->format, member_hash(count, i)).hash;
    sample->count = bb_hash_sort(sample->hashes, count);
    encode(sample);
}

static void sample_deinit(struct sample *sample)
{
    for (size_t i = 0; i < sample->chunk_count; i++)
        bb_buf_deinit(&sample->memory[i]);
    free(sample->hashes);
    bb_sharded_filter_builder_destroy(sample->builder);
}

static bool ask(const struct sample *sample, uint64_t key_hash)
{
    struct bb_block_filter_key key = bb_block_filter_key(&sample->format, key_hash);
    uint32_t shard = bb_block_filter_shard(key, sample->shard_count);
    size_t chunk = shard / sample->chunk_shards;
    const uint8_t *payload = sample->chunks[chunk].data;
    struct bb_shard_entry entry =
        bb_sharded_filter_find(payload, chunk_size(sample, chunk), shard % sample->chunk_shards);
    return bb_block_filter_may_contain(&sample->format, entry.descriptor, payload + entry.offset,
                                       key);
}

static void check_members(size_t count, double rate, uint32_t chunk_shards)
{
    struct sample sample;
    sample_init(&sample, count, rate, chunk_shards);
    for (size_t i = 0; i < sample.chunk_count; i++) {
        struct bb_shard_defect wrong = {0};
        assert_true(bb_sharded_filter_check(&sample.format, bb_buf_bytes(&sample.chunks[i]),
                                            chunk_size(&sample, i), &wrong));
    }
    for (size_t i = 0; i < count; i++)
        assert_true(ask(&sample, member_hash(count, i)));
    sample_deinit(&sample);
}

static void sharded_filter__every_member(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 7, 8, 63, 64, 65, 500, 2000, 2001, 2500, 9000, 70000};
    static const double rates[] = {0.5, 0.08, 0.01, 1e-5};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(counts); i++)
        for (size_t j = 0; j < BB_ARRAY_LENGTH(rates); j++)
            check_members(counts[i], rates[j], 1u << (i + j) % 6);
}

/* Cut in one piece or in many: the same ribbons. */
static void sharded_filter__chunks_are_parts_of_the_whole(void **state)
{
    (void)state;
    struct sample whole;
    struct sample parts;
    sample_init(&whole, 50000, 0.08, 64);
    sample_init(&parts, 50000, 0.08, 8);
    assert_int_equal(whole.chunk_count, 1);
    for (uint32_t i = 0; i < whole.shard_count; i++) {
        size_t chunk = i / 8;
        struct bb_shard_entry a = bb_shard_directory_entry(whole.chunks[0].data, i);
        struct bb_shard_entry b = bb_shard_directory_entry(parts.chunks[chunk].data, i % 8);
        size_t size = 0;
        assert_int_equal(a.descriptor, b.descriptor);
        assert_true(bb_block_filter_size(&whole.format, a.descriptor, &size));
        a = bb_sharded_filter_find(whole.chunks[0].data, whole.shard_count, i);
        b = bb_sharded_filter_find(parts.chunks[chunk].data, chunk_size(&parts, chunk), i % 8);
        assert_memory_equal(whole.chunks[0].data + a.offset, parts.chunks[chunk].data + b.offset,
                            size);
    }
    sample_deinit(&whole);
    sample_deinit(&parts);
}

static void sharded_filter__rate_and_space(void **state)
{
    (void)state;
    static const size_t asked = 400000;
    struct sample sample;
    size_t passed = 0;
    size_t bytes = 0;
    sample_init(&sample, 100000, 0.01, 64);
    for (size_t i = 0; i < asked; i++)
        passed += ask(&sample, absent_hash(i));
    for (size_t i = 0; i < sample.chunk_count; i++)
        bytes += sample.chunks[i].size;
    assert_rate(passed, asked, 0.01, "a sharded ribbon");
    assert_true((double)bytes * 8 / (double)sample.count < 6.88);
    sample_deinit(&sample);
}

/* A directory with any bit changed is refused, or describes the same places. */
static void sharded_filter__changed_directories(void **state)
{
    (void)state;
    struct sample sample;
    struct bb_shard_defect wrong = {0};
    sample_init(&sample, 12000, 0.08, 16);
    struct bb_bytes payload = bb_buf_bytes(&sample.chunks[0]);
    size_t directory = (size_t)bb_shard_directory_size(sample.shard_count);
    for (size_t bit = 0; bit < directory * 8; bit++) {
        uint8_t *byte = &sample.chunks[0].data[bit / 8];
        *byte ^= (uint8_t)(1u << bit % 8);
        bool passes = bb_sharded_filter_check(&sample.format, payload, sample.shard_count, &wrong);
        /* Only another seed leaves every size unchanged. */
        bool is_seed = bit / 8 % BB_SHARD_ENTRY_SIZE == 1 && bit % 8 < 6;
        assert_int_equal(passes, is_seed);
        assert_true(passes || wrong.shard <= sample.shard_count);
        *byte ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t size = 0; size < payload.size; size++)
        assert_false(bb_sharded_filter_check(&sample.format, bb_bytes_of(payload.data, size),
                                             sample.shard_count, &wrong));
    assert_false(bb_sharded_filter_check(&sample.format, payload, UINT32_MAX, &wrong));
    sample_deinit(&sample);
}

/* Bits that no slot has are zero: a table filter of few keys is as strict as an envelope. */
static void sharded_filter__bits_after_the_last_slot(void **state)
{
    (void)state;
    size_t tried = 0;
    for (size_t count = 1; count < 40; count++) {
        struct sample sample;
        struct bb_shard_defect wrong = {0};
        sample_init(&sample, count, 0.01, 1);
        struct bb_bytes payload = bb_buf_bytes(&sample.chunks[0]);
        struct bb_shard_entry entry = bb_shard_directory_entry(payload.data, 0);
        struct bb_descriptor parts = bb_descriptor_decode(entry.descriptor);
        uint32_t last = parts.size * (sample.format.bits_per_probe + parts.step) % 8;
        for (uint32_t bit = last; parts.bit_exact && last != 0 && bit < 8; bit++) {
            uint8_t *byte = sample.chunks[0].data + payload.size - 1;
            *byte ^= (uint8_t)(1u << bit);
            assert_false(bb_sharded_filter_check(&sample.format, payload, 1, &wrong));
            assert_true(wrong.has_rest && wrong.shard == 0 && wrong.offset == 0);
            *byte ^= (uint8_t)(1u << bit);
            tried++;
        }
        assert_true(bb_sharded_filter_check(&sample.format, payload, 1, &wrong));
        sample_deinit(&sample);
    }
    assert_true(tried > 40);
}

static int set_up(void **state)
{
    (void)state;
    keys_init("sharded_filter");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharded_filter__every_member),
        cmocka_unit_test(sharded_filter__chunks_are_parts_of_the_whole),
        cmocka_unit_test(sharded_filter__rate_and_space),
        cmocka_unit_test(sharded_filter__changed_directories),
        cmocka_unit_test(sharded_filter__bits_after_the_last_slot),
    };
    return cmocka_run_group_tests_name("sharded_filter", tests, set_up, NULL);
}
