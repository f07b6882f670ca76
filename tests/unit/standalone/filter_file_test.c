/* Goal: the contents of a filter's file survive a round trip; everything else is refused with the
 * offset, and the bytes agree with the page in docs/. Method: every truncation and every bit flip
 * of a small file; every field set to an invalid value, with the checksum repaired; header and
 * filter of two files exchanged; a golden. Copies end at an unreadable page. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "base/bytes.h"
#include "tests/support/golden.h"

/* Offsets of the fields (standalone/filter_file.c), deliberately written a second
 * time. */
#define VERSION     8
#define HASH        12
#define HEADER_SIZE 14
#define SIZE        16
#define SEAL        216
#define PLANNED     224
#define RESERVED    232
#define CHECKSUM    248
#define ENVELOPE    256

static struct bb_filter_file parts_of(const struct bb_buf *envelope, uint64_t secret_seed)
{
    struct bb_filter_file parts = {
        .hash = BB_FILTER_HASH_KEYED, .planned_key_count = 40, .envelope = bb_buf_bytes(envelope)};
    bb_hash_secret_from_seed(secret_seed, &parts.secret);
    return parts;
}

static struct bb_buf sample(uint64_t set, uint64_t count)
{
    struct bb_buf envelope = envelope_of(BB_FILTER_RIBBON, 0.01, set, count);
    struct bb_filter_file parts = parts_of(&envelope, set);
    struct bb_buf file = {0};
    assert_ok(bb_filter_file_encode(&parts, &file));
    bb_buf_deinit(&envelope);
    return file;
}

static enum bb_status decode(const struct bb_buf *file, size_t size)
{
    struct guarded copy = guarded_copy(file->data, size);
    struct bb_filter_file parts = {.hash = (enum bb_filter_hash)77};
    enum bb_status status = bb_filter_file_decode(bb_bytes_of(copy.data, size), &parts);
    if (status != BB_OK) {
        assert_int_equal(bb_error_last()->status, status);
        assert_int_equal(parts.hash, 77);
    }
    guarded_free(&copy);
    return status;
}

static void filter_file__comes_back_as_it_went_in(void **state)
{
    (void)state;
    for (uint64_t count = 0; count <= 2600; count += 1300) {
        struct bb_buf file = sample(5, count);
        struct bb_buf envelope = envelope_of(BB_FILTER_RIBBON, 0.01, 5, count);
        struct bb_filter_file parts, expected = parts_of(&envelope, 5);
        assert_ok(bb_filter_file_decode(bb_buf_bytes(&file), &parts));
        assert_int_equal(parts.hash, BB_FILTER_HASH_KEYED);
        assert_int_equal(parts.planned_key_count, 40);
        assert_memory_equal(&parts.secret, &expected.secret, sizeof(parts.secret));
        assert_true(bb_bytes_equal(parts.envelope, bb_buf_bytes(&envelope)));
        assert_int_equal(parts.envelope.data - file.data, ENVELOPE);
        bb_buf_deinit(&envelope);
        bb_buf_deinit(&file);
    }
}

static void filter_file__is_appended(void **state)
{
    (void)state;
    struct bb_buf envelope = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 10);
    struct bb_filter_file parts = parts_of(&envelope, 1);
    struct bb_buf file = {0};
    assert_ok(bb_buf_append(&file, "abc", 3));
    assert_ok(bb_filter_file_encode(&parts, &file));
    assert_memory_equal(file.data, "abc", 3);
    assert_int_equal(file.size, 3 + ENVELOPE + envelope.size);
    bb_buf_deinit(&envelope);
    bb_buf_deinit(&file);
}

static void filter_file__hashes_are_those_of_the_secret(void **state)
{
    (void)state;
    struct bb_buf file = sample(9, 3);
    struct bb_bytes key = bb_bytes_of("a key", 5);
    struct bb_hash_secret secret;
    struct bb_filter_file parts;
    bb_hash_secret_from_seed(9, &secret);
    assert_ok(bb_filter_file_decode(bb_buf_bytes(&file), &parts));
    assert_int_equal(bb_filter_file_hash(&parts, key), bb_hash_key(&secret, key));
    bb_buf_deinit(&file);
}

static void filter_file__hashes_without_a_secret_have_none(void **state)
{
    (void)state;
    struct bb_buf envelope = envelope_of(BB_FILTER_SPLIT_BLOCK, 0.01, 0, 10), file = {0};
    struct bb_filter_file parts = parts_of(&envelope, 1);
    struct bb_bytes key = bb_bytes_of("a key", 5);
    parts.hash = BB_FILTER_HASH_XXH64;
    assert_ok(bb_filter_file_encode(&parts, &file));
    assert_ok(bb_filter_file_decode(bb_buf_bytes(&file), &parts));
    assert_int_equal(parts.hash, BB_FILTER_HASH_XXH64);
    assert_int_equal(bb_filter_file_hash(&parts, key), bb_hash_xxh64(key));
    for (size_t i = 0; i < BB_HASH_SECRET_SIZE; i++)
        assert_int_equal(parts.secret.bytes[i], 0);
    file.data[24 + 100] = 1;
    bb_store64(file.data + CHECKSUM, bb_hash_bytes(file.data, CHECKSUM));
    assert_status(decode(&file, file.size), BB_CORRUPT);
    assert_message("at offset 24: a secret for hash 2");
    bb_buf_deinit(&envelope);
    bb_buf_deinit(&file);
}

static void filter_file__what_is_no_file_is_not_encoded(void **state)
{
    (void)state;
    struct bb_buf envelope = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 10);
    struct bb_filter_file parts = parts_of(&envelope, 1);
    struct bb_buf file = {0};
    parts.envelope.size = 71;
    assert_status(bb_filter_file_encode(&parts, &file), BB_INVALID);
    assert_message("71 bytes");
    parts.envelope.size = envelope.size;
    parts.hash = (enum bb_filter_hash)0;
    assert_status(bb_filter_file_encode(&parts, &file), BB_INVALID);
    assert_message("hash 0");
    parts.hash = BB_FILTER_HASH_KEYED;
    parts.planned_key_count = BB_FILTER_KEY_COUNT_MAX + 1;
    assert_status(bb_filter_file_encode(&parts, &file), BB_INVALID);
    assert_message("4294967297 keys");
    assert_int_equal(file.size, 0);
    bb_buf_deinit(&envelope);
}

static void filter_file__truncations_are_refused(void **state)
{
    (void)state;
    struct bb_buf file = sample(1, 30);
    for (size_t size = 0; size < file.size; size++)
        assert_status(decode(&file, size), BB_CORRUPT);
    assert_ok(bb_buf_append(&file, "", 1));
    assert_status(decode(&file, file.size), BB_CORRUPT);
    bb_buf_deinit(&file);
}

static void filter_file__bit_flips_are_refused(void **state)
{
    (void)state;
    struct bb_buf file = sample(1, 30);
    for (size_t bit = 0; bit < file.size * 8; bit++) {
        size_t byte = bit / 8;
        struct bb_filter_file parts;
        struct bb_filter_view view;
        file.data[byte] ^= (uint8_t)(1 << (bit % 8));
        enum bb_status status = bb_filter_file_decode(bb_buf_bytes(&file), &parts);
        if (status == BB_OK) { /* the middle of the envelope is the envelope's to check */
            assert_true(byte >= ENVELOPE && byte < file.size - 8);
            status = bb_filter_view_init(&view, parts.envelope);
            assert_true(bb_filter_may_contain(&view, bit));
        }
        bool is_version = byte - VERSION < 4 || byte - ENVELOPE - VERSION < 4;
        assert_status(status, is_version ? BB_UNSUPPORTED : BB_CORRUPT);
        file.data[byte] ^= (uint8_t)(1 << (bit % 8));
    }
    bb_buf_deinit(&file);
}

/* --- Fields, with the checksum put right --- */

static void assert_field_refused(size_t offset, size_t width, uint64_t value,
                                 enum bb_status expected, const char *message)
{
    struct bb_buf file = sample(1, 30);
    for (size_t i = 0; i < width; i++)
        file.data[offset + i] = (uint8_t)(value >> (8 * i));
    bb_store64(file.data + CHECKSUM, bb_hash_bytes(file.data, CHECKSUM));
    assert_status(decode(&file, file.size), expected);
    assert_message(message);
    bb_buf_deinit(&file);
}

static void filter_file__corrupt_magic(void **state)
{
    (void)state;
    assert_field_refused(0, 1, 'b', BB_CORRUPT, "at offset 0: does not begin with BBFLFILE");
}

static void filter_file__corrupt_version(void **state)
{
    (void)state;
    assert_field_refused(VERSION, 4, 1, BB_UNSUPPORTED, "at offset 8: has version 1");
    assert_field_refused(VERSION, 4, UINT32_MAX, BB_UNSUPPORTED, "version 4294967295");
}

static void filter_file__corrupt_hash(void **state)
{
    (void)state;
    assert_field_refused(HASH, 2, 0, BB_CORRUPT, "at offset 12: hash 0");
    assert_field_refused(HASH, 2, 99, BB_UNSUPPORTED, "hash 99");
}

static void filter_file__corrupt_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 255, 256, 327, UINT64_MAX, UINT64_C(1) << 63};
    assert_field_refused(HEADER_SIZE, 2, 255, BB_CORRUPT, "at offset 14: header has 255 bytes");
    assert_field_refused(HEADER_SIZE, 2, 0, BB_CORRUPT, "at offset 14");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        assert_field_refused(SIZE, 8, sizes[i], BB_CORRUPT, "at offset 16");
}

static void filter_file__corrupt_reserved(void **state)
{
    (void)state;
    for (size_t i = RESERVED; i < CHECKSUM; i++)
        assert_field_refused(i, 1, 1, BB_CORRUPT, "at offset 232: reserved");
}

static void filter_file__corrupt_planned_keys(void **state)
{
    (void)state;
    assert_field_refused(PLANNED, 8, BB_FILTER_KEY_COUNT_MAX + 1, BB_CORRUPT, "at offset 224");
    assert_field_refused(PLANNED, 8, UINT64_MAX, BB_CORRUPT, "planned for 18446744073709551615");
}

static void filter_file__corrupt_seal(void **state)
{
    (void)state;
    assert_field_refused(SEAL, 8, 1, BB_CORRUPT,
                         "at offset 216: the header was made for another filter");
}

static void filter_file__header_of_another_filter_is_refused(void **state)
{
    (void)state;
    struct bb_buf one = sample(1, 30), two = sample(2, 30);
    assert_true(one.size == two.size || two.size > ENVELOPE);
    memcpy(two.data, one.data, ENVELOPE);
    bb_store64(two.data + SIZE, two.size);
    bb_store64(two.data + CHECKSUM, bb_hash_bytes(two.data, CHECKSUM));
    assert_status(decode(&two, two.size), BB_CORRUPT);
    assert_message("at offset 216");
    bb_buf_deinit(&one);
    bb_buf_deinit(&two);
}

/* --- Golden --- */

static void print_field(struct bb_buf *text, size_t offset, size_t width, const char *name,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

static void print_field(struct bb_buf *text, size_t offset, size_t width, const char *name,
                        const char *format, ...)
{
    char value[100];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    assert_ok(bb_buf_print(text, "%6zu %5zu  %-15s%s\n", offset, width, name, value));
}

/* The header field by field, worked out without the decoder. */
static struct bb_buf describe(const struct bb_buf *file)
{
    const uint8_t *data = file->data;
    struct bb_buf text = {0};
    print_field(&text, 0, 8, "magic", "%.8s", (const char *)data);
    print_field(&text, VERSION, 4, "version", "%u", bb_load32(data + VERSION));
    print_field(&text, HASH, 2, "hash", "%u", bb_load16(data + HASH));
    print_field(&text, HEADER_SIZE, 2, "header size", "%u", bb_load16(data + HEADER_SIZE));
    print_field(&text, SIZE, 8, "file size", "%llu", (unsigned long long)bb_load64(data + SIZE));
    print_field(&text, 24, BB_HASH_SECRET_SIZE, "secret", "of seed 1");
    print_field(&text, SEAL, 8, "seal", "0x%016llx", (unsigned long long)bb_load64(data + SEAL));
    print_field(&text, PLANNED, 8, "planned keys", "%llu",
                (unsigned long long)bb_load64(data + PLANNED));
    print_field(&text, RESERVED, 16, "reserved", "zeros");
    print_field(&text, CHECKSUM, 8, "checksum", "0x%016llx",
                (unsigned long long)bb_load64(data + CHECKSUM));
    print_field(&text, ENVELOPE, file->size - ENVELOPE, "envelope", "that of filter_ribbon.bin");
    return text;
}

/* Key i of the golden is "key-0000" ... under the secret of seed 1, which the file holds. */
static void filter_file__golden(void **state)
{
    (void)state;
    struct bb_filter_options options = {
        .kind = BB_FILTER_RIBBON, .target_rate = 0.01, .salt = UINT64_C(0x0123456789abcdef)};
    struct bb_filter_builder *builder = NULL;
    struct bb_buf envelope = {0}, file = {0};
    struct bb_filter_file parts = parts_of(&envelope, 1);
    assert_ok(bb_filter_builder_create(&options, &builder));
    for (int i = 0; i < 30; i++) {
        char key[32];
        int size = snprintf(key, sizeof(key), "key-%04d", i);
        assert_ok(bb_filter_builder_add(
            builder, bb_filter_file_hash(&parts, bb_bytes_of(key, (size_t)size))));
    }
    assert_ok(bb_filter_builder_finish(builder, &envelope));
    parts.envelope = bb_buf_bytes(&envelope);
    assert_ok(bb_filter_file_encode(&parts, &file));
    struct bb_buf text = describe(&file);
    assert_golden("filterfile_ribbon.bin", bb_buf_bytes(&file));
    assert_golden("filterfile_ribbon.txt", bb_buf_bytes(&text));
    assert_golden("filter_ribbon.bin", bb_buf_bytes(&envelope));
    bb_filter_builder_destroy(builder);
    bb_buf_deinit(&text);
    bb_buf_deinit(&envelope);
    bb_buf_deinit(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_file__comes_back_as_it_went_in),
        cmocka_unit_test(filter_file__is_appended),
        cmocka_unit_test(filter_file__hashes_are_those_of_the_secret),
        cmocka_unit_test(filter_file__hashes_without_a_secret_have_none),
        cmocka_unit_test(filter_file__what_is_no_file_is_not_encoded),
        cmocka_unit_test(filter_file__truncations_are_refused),
        cmocka_unit_test(filter_file__bit_flips_are_refused),
        cmocka_unit_test(filter_file__corrupt_magic),
        cmocka_unit_test(filter_file__corrupt_version),
        cmocka_unit_test(filter_file__corrupt_hash),
        cmocka_unit_test(filter_file__corrupt_sizes),
        cmocka_unit_test(filter_file__corrupt_reserved),
        cmocka_unit_test(filter_file__corrupt_planned_keys),
        cmocka_unit_test(filter_file__corrupt_seal),
        cmocka_unit_test(filter_file__header_of_another_filter_is_refused),
        cmocka_unit_test(filter_file__golden),
    };
    keys_init("filter_file");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
