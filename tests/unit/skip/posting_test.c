/* Postings of every density and shape survive a round trip, and any bits are a posting. */
#include "skip/bits/posting.h"

#include "tests/support/assert_status.h"
#include "tests/support/rng.h"

static uint32_t draw_granules(struct bb_rng *rng, uint32_t granule_count, uint16_t *granules)
{
    uint64_t one_in = 1 + bb_rng_skewed(rng, granule_count);
    bool in_runs = bb_rng_one_in(rng, 2);
    bool is_in = bb_rng_one_in(rng, 2);
    uint32_t count = 0;
    for (uint32_t granule = 0; granule < granule_count; granule++) {
        if (in_runs)
            is_in = bb_rng_one_in(rng, one_in) ? !is_in : is_in;
        else
            is_in = bb_rng_one_in(rng, one_in);
        if (is_in)
            granules[count++] = (uint16_t)granule;
    }
    return count;
}

static void check_posting(const uint16_t *granules, uint32_t count, uint32_t granule_count)
{
    struct bb_buf buf = {0};
    struct bb_bit_writer writer;
    bb_bit_writer_init(&writer, &buf);
    bb_posting_write(&writer, granules, count, granule_count);
    bb_bit_writer_put(&writer, 5, 3);
    assert_ok(bb_bit_writer_align(&writer));
    assert_ok(bb_buf_reserve(&buf, BB_BIT_READER_PAD));
    struct bb_bit_reader reader = bb_bit_reader_of((struct bb_bytes){buf.data, buf.size});
    struct bb_granule_bits bits = {{0}};
    bb_posting_read(&reader, count, granule_count, &bits);
    assert_int_equal(bb_bit_reader_take(&reader, 3), 5);
    struct bb_granule_bits expected = {{0}};
    for (uint32_t i = 0; i < count; i++)
        bb_granule_bits_set(&expected, granules[i]);
    assert_memory_equal(&bits, &expected, sizeof(bits));
    reader = bb_bit_reader_of((struct bb_bytes){buf.data, buf.size});
    bb_posting_skip(&reader, count, granule_count);
    assert_int_equal(bb_bit_reader_take(&reader, 3), 5);
    bb_buf_deinit(&buf);
}

static void postings__are_read_as_they_were_written(void **state)
{
    (void)state;
    struct bb_rng rng;
    uint16_t granules[BB_SEGMENT_GRANULES_MAX];
    bb_rng_init(&rng, bb_rng_seed("posting_test", 2));
    for (uint32_t turn = 0; turn < 3000; turn++) {
        uint32_t granule_count = 1 + (uint32_t)bb_rng_skewed(&rng, BB_SEGMENT_GRANULES_MAX - 1);
        uint32_t count = draw_granules(&rng, granule_count, granules);
        check_posting(granules, count, granule_count);
    }
}

static void any_bits__are_a_posting(void **state)
{
    (void)state;
    struct bb_rng rng;
    uint8_t bytes[2048 + BB_BIT_READER_PAD];
    bb_rng_init(&rng, bb_rng_seed("posting_test", 3));
    for (uint32_t turn = 0; turn < 3000; turn++) {
        bb_rng_bytes(&rng, bytes, sizeof(bytes));
        uint32_t granule_count = 1 + (uint32_t)bb_rng_below(&rng, BB_SEGMENT_GRANULES_MAX);
        uint32_t count = (uint32_t)bb_rng_below(&rng, granule_count + 1);
        struct bb_bit_reader reader = bb_bit_reader_of(
            (struct bb_bytes){bytes, bb_rng_below(&rng, sizeof(bytes) - BB_BIT_READER_PAD)});
        struct bb_granule_bits bits = {{0}};
        bb_posting_read(&reader, count, granule_count, &bits);
        uint32_t found = 0;
        for (uint32_t granule = 0; granule < BB_SEGMENT_GRANULES_MAX; granule++) {
            assert_true(granule < granule_count || !bb_granule_bits_has(&bits, granule));
            found += bb_granule_bits_has(&bits, granule);
        }
        assert_int_equal(found, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(postings__are_read_as_they_were_written),
        cmocka_unit_test(any_bits__are_a_posting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
