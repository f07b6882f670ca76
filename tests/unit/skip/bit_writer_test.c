/* Bits are read back as they were written, and a reader stops at the end. */
#include "skip/bits/bit_writer.h"

#include "skip/bits/bit_reader.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"

#define CODES 5000

struct code {
    enum { FIXED, GAMMA, RICE, BOUNDED, CODE_KINDS } kind;
    uint64_t value;
    uint64_t parameter;
};

static struct code draw_code(struct bb_rng *rng)
{
    struct code code = {.kind = (unsigned)bb_rng_below(rng, CODE_KINDS)};
    switch (code.kind) {
    case FIXED:
        code.parameter = bb_rng_below(rng, BB_BIT_WIDTH_MAX + 1);
        code.value = bb_rng_next(rng) & ((UINT64_C(1) << code.parameter) - 1);
        break;
    case GAMMA:
        code.value = 1 + bb_rng_skewed(rng, (UINT64_C(1) << 40) - 1);
        break;
    case RICE:
        code.parameter = bb_rng_below(rng, 41);
        code.value = bb_rng_skewed(rng, UINT64_C(300) << code.parameter);
        break;
    default:
        code.parameter = 1 + bb_rng_skewed(rng, UINT32_MAX);
        code.value = bb_rng_below(rng, code.parameter);
    }
    return code;
}

static void write_code(struct bb_bit_writer *writer, struct code code)
{
    if (code.kind == FIXED)
        bb_bit_writer_put(writer, code.value, (uint32_t)code.parameter);
    else if (code.kind == GAMMA)
        bb_bit_writer_put_gamma(writer, code.value);
    else if (code.kind == RICE)
        bb_bit_writer_put_rice(writer, code.value, (uint32_t)code.parameter);
    else
        bb_bit_writer_put_bounded(writer, code.value, code.parameter);
}

static uint64_t read_code(struct bb_bit_reader *reader, struct code code)
{
    if (code.kind == FIXED)
        return bb_bit_reader_take(reader, (uint32_t)code.parameter);
    if (code.kind == GAMMA)
        return bb_bit_reader_take_gamma(reader);
    if (code.kind == RICE)
        return bb_bit_reader_take_rice(reader, (uint32_t)code.parameter);
    return bb_bit_reader_take_bounded(reader, code.parameter);
}

static void codes__are_read_as_they_were_written(void **state)
{
    (void)state;
    struct bb_rng rng;
    static struct code codes[CODES];
    bb_rng_init(&rng, bb_rng_seed("bit_writer_test", 1));
    struct bb_buf buf = {0};
    struct bb_bit_writer writer;
    bb_bit_writer_init(&writer, &buf);
    for (size_t i = 0; i < CODES; i++) {
        codes[i] = draw_code(&rng);
        write_code(&writer, codes[i]);
    }
    assert_ok(bb_bit_writer_align(&writer));
    size_t size = buf.size;
    assert_ok(bb_buf_reserve(&buf, BB_BIT_READER_PAD));
    memset(buf.data + size, 0xff, BB_BIT_READER_PAD);
    struct bb_bit_reader reader = bb_bit_reader_of((struct bb_bytes){buf.data, size});
    for (size_t i = 0; i < CODES; i++)
        assert_int_equal(read_code(&reader, codes[i]), codes[i].value);
    assert_false(reader.is_past_end);
    assert_true(reader.end - reader.position < 8);
    bb_buf_deinit(&buf);
}

static void reader__ends_at_the_end(void **state)
{
    (void)state;
    const uint8_t bytes[3 + BB_BIT_READER_PAD] = {0, 0, 0, 0xff, 0xff, 0xff};
    struct bb_bit_reader reader = bb_bit_reader_of((struct bb_bytes){bytes, 3});
    assert_int_equal(bb_bit_reader_take_gamma(&reader), 0);
    assert_true(reader.is_past_end);
    reader = bb_bit_reader_of((struct bb_bytes){bytes, 3});
    assert_int_equal(bb_bit_reader_take(&reader, 24), 0);
    assert_false(reader.is_past_end);
    assert_int_equal(bb_bit_reader_take(&reader, 0), 0);
    assert_false(reader.is_past_end);
    assert_int_equal(bb_bit_reader_take_bounded(&reader, 3), 0);
    assert_true(reader.is_past_end);
    reader = bb_bit_reader_of((struct bb_bytes){bytes, 0});
    (void)bb_bit_reader_take_rice(&reader, 3);
    assert_true(reader.is_past_end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes__are_read_as_they_were_written),
        cmocka_unit_test(reader__ends_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
