/* Goal: envelopes are unchanged byte for byte, and the pages of docs/ describe them. Method:
 * goldens of every kind in tests/golden, each with a text that names every byte, derived here only
 * from the bytes, without the decoder; the members are probed. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "base/bytes.h"
#include "tests/support/golden.h"

/* Member i of a golden has the key "key-0000" ... under the secret of seed 1. */
static uint64_t golden_hash(uint64_t i)
{
    struct bb_hash_secret secret;
    char key[32];
    int size = snprintf(key, sizeof(key), "key-%04llu", (unsigned long long)i);
    bb_hash_secret_from_seed(1, &secret);
    return bb_hash_key(&secret, bb_bytes_of(key, (size_t)size));
}

static struct bb_buf build(enum bb_filter_kind kind, double target, uint64_t count)
{
    struct bb_filter_options options = {
        .kind = kind, .target_rate = target, .salt = salt_of(kind, UINT64_C(0x0123456789abcdef))};
    struct bb_filter_builder *builder = NULL;
    struct bb_buf envelope = {0};
    assert_ok(bb_filter_builder_create(&options, &builder));
    for (uint64_t i = 0; i < count; i++)
        assert_ok(bb_filter_builder_add(builder, golden_hash(i)));
    assert_ok(bb_filter_builder_finish(builder, &envelope));
    bb_filter_builder_destroy(builder);
    return envelope;
}

/* --- The text --- */

struct dump {
    const uint8_t *data;
    size_t offset;
    struct bb_buf text;
};

/* One field: offset, width, stored bytes, name and value. */
static void dump_field(struct dump *dump, size_t width, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void dump_field(struct dump *dump, size_t width, const char *name, const char *format, ...)
{
    char value[100];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    int padding = value[0] == '\0' ? 0 : 23;
    assert_ok(bb_buf_print(&dump->text, "%6zu %5zu  %-*s%s\n", dump->offset, width, padding, name,
                           value));
    dump->offset += width;
}

static uint64_t load(const struct dump *dump, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)dump->data[dump->offset + i] << (8 * i);
    return value;
}

static uint64_t dump_number(struct dump *dump, size_t width, const char *name)
{
    uint64_t value = load(dump, width);
    dump_field(dump, width, name, "%llu", (unsigned long long)value);
    return value;
}

static void dump_hex(struct dump *dump, size_t width, const char *name)
{
    dump_field(dump, width, name, "0x%0*llx", (int)width * 2,
               (unsigned long long)load(dump, width));
}

static void dump_bytes(struct dump *dump, size_t size, const char *name)
{
    size_t start = dump->offset;
    dump_field(dump, size, name, "%s", "");
    for (size_t i = 0; i < size; i++) {
        bool row_begins = i % 32 == 0, row_ends = i % 32 == 31 || i + 1 == size;
        assert_ok(bb_buf_print(&dump->text, "%s%02x%s", row_begins ? "               " : " ",
                               dump->data[start + i], row_ends ? "\n" : ""));
    }
}

static void dump_double(struct dump *dump, const char *name)
{
    uint64_t bits = load(dump, 8);
    double value = 0;
    memcpy(&value, &bits, sizeof(value));
    dump_field(dump, 8, name, "%.17g", value);
}

static void dump_header(struct dump *dump, uint64_t parameters[2])
{
    dump_field(dump, 8, "magic", "%.8s", (const char *)dump->data);
    dump_number(dump, 4, "version");
    dump_number(dump, 2, "kind");
    dump_number(dump, 2, "header size");
    dump_number(dump, 8, "envelope size");
    dump_hex(dump, 8, "salt");
    dump_number(dump, 8, "key count");
    dump_double(dump, "target rate");
    parameters[0] = dump_number(dump, 8, "parameter 0");
    parameters[1] = dump_number(dump, 8, "parameter 1");
}

/* Gives the size of the shard's payload. */
static size_t dump_descriptor(struct dump *dump, uint64_t fingerprint_bits)
{
    uint64_t descriptor = load(dump, 2);
    bool bit_exact = descriptor >> 15 != 0;
    uint64_t step = descriptor >> 14 & 1, seed = descriptor >> 8 & 63, size = descriptor & 255;
    dump_field(dump, 2, "descriptor", "0x%04llx: %s, %llu fingerprint bits, seed %llu, %llu %s",
               (unsigned long long)descriptor, bit_exact ? "bit-exact" : "byte-grouped",
               (unsigned long long)(fingerprint_bits + step), (unsigned long long)seed,
               (unsigned long long)size, bit_exact ? "slots" : "groups");
    return (size_t)(bit_exact ? (size * (fingerprint_bits + step) + 7) / 8
                              : size * (fingerprint_bits + step));
}

static void dump_shards(struct dump *dump, uint64_t shard_count, uint64_t fingerprint_bits)
{
    size_t sizes[8] = {0};
    assert_true(shard_count <= 8);
    for (uint64_t i = 0; i < shard_count; i++) {
        sizes[i] = dump_descriptor(dump, fingerprint_bits);
        dump_number(dump, 6, "offset");
    }
    for (uint64_t i = 0; i < shard_count; i++)
        dump_bytes(dump, sizes[i], "payload of a shard");
}

static void dump_stages(struct dump *dump)
{
    uint64_t stages = dump_number(dump, 8, "stages");
    size_t sizes[32] = {0};
    assert_true(stages <= 32);
    dump_double(dump, "tightening ratio");
    for (uint64_t i = 0; i < stages; i++) {
        dump_number(dump, 8, "keys of a stage");
        sizes[i] = (size_t)(dump_number(dump, 8, "bits of a stage") + 7) / 8;
        dump_number(dump, 8, "probes of a stage");
    }
    for (uint64_t i = 0; i < stages; i++)
        dump_bytes(dump, sizes[i], "bits");
}

static void dump_top_key(struct dump *dump)
{
    dump_hex(dump, 8, "hash of a top key");
    dump_number(dump, 8, "count");
    uint64_t size = dump_number(dump, 4, "key size");
    dump_field(dump, (size_t)size, "key", "%.*s", (int)size,
               (const char *)dump->data + dump->offset);
}

static void dump_sketch(struct dump *dump, const uint64_t parameters[2])
{
    dump_number(dump, 8, "total");
    dump_double(dump, "error");
    dump_number(dump, 4, "flags");
    dump_number(dump, 4, "space for top keys");
    uint64_t top_count = dump_number(dump, 4, "top keys");
    dump_number(dump, 4, "reserved");
    for (uint64_t row = 0; row < parameters[1]; row++)
        dump_bytes(dump, (size_t)parameters[0] * 4, "cells of a row");
    for (uint64_t i = 0; i < top_count; i++)
        dump_top_key(dump);
}

/* The first of 2,000 non-member keys that pass: another reader must pass the same ones. */
static void dump_false_positives(struct dump *dump, const struct bb_buf *envelope)
{
    struct bb_filter_view view;
    uint32_t left = 8;
    assert_ok(bb_filter_view_init(&view, bb_buf_bytes(envelope)));
    assert_ok(bb_buf_print(&dump->text, "non-member keys that pass, from key-10000 on:"));
    for (uint64_t i = 10000; i < 12000 && left > 0; i++)
        if (bb_filter_may_contain(&view, golden_hash(i))) {
            assert_ok(bb_buf_print(&dump->text, " %llu", (unsigned long long)i));
            left--;
        }
    assert_ok(bb_buf_print(&dump->text, "\n"));
}

static struct bb_buf describe(const struct bb_buf *envelope, uint64_t count)
{
    struct dump dump = {.data = envelope->data};
    uint64_t parameters[2] = {0, 0};
    dump_header(&dump, parameters);
    enum bb_filter_kind kind = (enum bb_filter_kind)envelope->data[12];
    if (kind == BB_FILTER_RIBBON)
        dump_shards(&dump, parameters[0], parameters[1]);
    else if (kind == BB_FILTER_BLOCKED_BLOOM)
        for (uint64_t i = 0; i < parameters[0]; i++)
            dump_bytes(&dump, 64, "line");
    else if (kind == BB_FILTER_SPLIT_BLOCK)
        for (uint64_t i = 0; i < parameters[0]; i++)
            dump_bytes(&dump, 32, "block");
    else if (kind == BB_FILTER_COUNT_MIN)
        dump_sketch(&dump, parameters);
    else if (kind == BB_FILTER_SCALABLE)
        dump_stages(&dump);
    else if (kind == BB_FILTER_COUNTING)
        dump_bytes(&dump, (size_t)(parameters[0] + 1) / 2, "counters");
    else if (kind == BB_FILTER_BLOOM || kind == BB_FILTER_PARTITIONED)
        dump_bytes(&dump, (size_t)(parameters[0] + 7) / 8, "bits");
    dump_hex(&dump, 8, "checksum");
    assert_int_equal(dump.offset, envelope->size);
    assert_ok(bb_buf_print(&dump.text, "members: %llu, key-0000 and so on, secret of seed 1\n",
                           (unsigned long long)count));
    dump_false_positives(&dump, envelope);
    return dump.text;
}

/* --- Goldens --- */

static void assert_members(const struct bb_buf *envelope, uint64_t count)
{
    struct bb_filter_view view;
    assert_ok(bb_filter_view_init(&view, bb_buf_bytes(envelope)));
    for (uint64_t i = 0; i < count; i++)
        assert_true(bb_filter_may_contain(&view, golden_hash(i)));
}

#define assert_envelope(name, kind, target, count)                                                 \
    assert_bytes(name, build((kind), (target), (count)), count)

/* owned: an envelope, which is released. */
#define assert_bytes(name, owned, count)                                                           \
    do {                                                                                           \
        struct bb_buf envelope = (owned);                                                          \
        struct bb_buf text = describe(&envelope, (count));                                         \
        assert_golden("filter_" name ".bin", bb_buf_bytes(&envelope));                             \
        assert_golden("filter_" name ".txt", bb_buf_bytes(&text));                                 \
        assert_members(&envelope, (count));                                                        \
        bb_buf_deinit(&envelope);                                                                  \
        bb_buf_deinit(&text);                                                                      \
    } while (0)

static void filter_golden__ribbon(void **state)
{
    (void)state;
    assert_envelope("ribbon", BB_FILTER_RIBBON, 0.01, 30);
}

static void filter_golden__ribbon_byte_grouped(void **state)
{
    (void)state;
    assert_envelope("ribbon_grouped", BB_FILTER_RIBBON, 0.001, 300);
}

static void filter_golden__ribbon_of_shards(void **state)
{
    (void)state;
    assert_envelope("ribbon_shards", BB_FILTER_RIBBON, 0.3, 2600);
}

static void filter_golden__ribbon_of_no_keys(void **state)
{
    (void)state;
    assert_envelope("empty", BB_FILTER_RIBBON, 0.01, 0);
}

static void filter_golden__blocked_bloom(void **state)
{
    (void)state;
    assert_envelope("blocked_bloom", BB_FILTER_BLOCKED_BLOOM, 0.01, 100);
}

static void filter_golden__bloom(void **state)
{
    (void)state;
    assert_envelope("bloom", BB_FILTER_BLOOM, 0.01, 30);
}

static void filter_golden__split_block(void **state)
{
    (void)state;
    assert_envelope("split_block", BB_FILTER_SPLIT_BLOCK, 0.01, 40);
}

static void filter_golden__counting(void **state)
{
    (void)state;
    assert_envelope("counting", BB_FILTER_COUNTING, 0.01, 30);
}

/* Of three stages. */
static struct bb_buf build_scalable(void)
{
    struct bb_scalable_filter_options options = {.first_key_count = 16,
                                                 .salt = UINT64_C(0x0123456789abcdef)};
    struct bb_scalable_filter *filter = NULL;
    struct bb_buf envelope = {0};
    assert_ok(bb_scalable_filter_create(&options, &filter));
    for (uint64_t i = 0; i < 70; i++) {
        bool added = false;
        assert_ok(bb_scalable_filter_add(filter, golden_hash(i), &added));
    }
    assert_ok(bb_scalable_filter_encode(filter, &envelope));
    bb_scalable_filter_destroy(filter);
    return envelope;
}

static void filter_golden__scalable(void **state)
{
    (void)state;
    assert_bytes("scalable", build_scalable(), 70);
}

/* Key i came i mod 5 + 1 times. */
static struct bb_buf build_sketch(void)
{
    struct bb_count_sketch_options options = {.error = 0.1,
                                              .error_probability = 0.1,
                                              .top_count = 3,
                                              .is_conservative = true,
                                              .salt = UINT64_C(0x0123456789abcdef)};
    struct bb_count_sketch *sketch = NULL;
    struct bb_buf envelope = {0};
    assert_ok(bb_count_sketch_create(&options, &sketch));
    for (uint64_t i = 0; i < 20; i++) {
        char key[32];
        int size = snprintf(key, sizeof(key), "key-%04llu", (unsigned long long)i);
        assert_ok(
            bb_count_sketch_add(sketch, golden_hash(i), bb_bytes_of(key, (size_t)size), i % 5 + 1));
    }
    assert_ok(bb_count_sketch_encode(sketch, &envelope));
    bb_count_sketch_destroy(sketch);
    return envelope;
}

static void filter_golden__count_min(void **state)
{
    (void)state;
    assert_bytes("count_min", build_sketch(), 20);
}

static void filter_golden__partitioned(void **state)
{
    (void)state;
    assert_envelope("partitioned", BB_FILTER_PARTITIONED, 0.01, 30);
}

static void filter_golden__none(void **state)
{
    (void)state;
    assert_envelope("none", BB_FILTER_NONE, 0, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_golden__ribbon),
        cmocka_unit_test(filter_golden__ribbon_byte_grouped),
        cmocka_unit_test(filter_golden__ribbon_of_shards),
        cmocka_unit_test(filter_golden__ribbon_of_no_keys),
        cmocka_unit_test(filter_golden__blocked_bloom),
        cmocka_unit_test(filter_golden__bloom),
        cmocka_unit_test(filter_golden__split_block),
        cmocka_unit_test(filter_golden__counting),
        cmocka_unit_test(filter_golden__scalable),
        cmocka_unit_test(filter_golden__count_min),
        cmocka_unit_test(filter_golden__partitioned),
        cmocka_unit_test(filter_golden__none),
    };
    keys_init("filter_golden");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
