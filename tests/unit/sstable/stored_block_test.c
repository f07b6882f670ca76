/* Goal: a block survives its stored form, LZ4 is used exactly where it saves an eighth, and a wrong
 * trailer is refused before memory is allocated for it. Method: cases, each field changed under a
 * repaired checksum. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/buf.h"
#include "base/coding.h"
#include "sstable/block/block_builder.h"
#include "sstable/block/stored_block.h"

#define OFFSET 4711

static const struct bb_table_id table = {.low = 1, .high = 2};
static const struct bb_place place = {.file = "/file", .offset = OFFSET};

static void make_payload(struct bb_block_builder *builder, size_t value_size, bool compresses,
                         struct bb_bytes *ret_payload)
{
    struct bb_rng rng;
    uint8_t *value = memset(bb_must_alloc_zeroed(value_size), 'v', value_size);
    bb_rng_init(&rng, value_size);
    if (!compresses)
        bb_rng_bytes(&rng, value, value_size);
    struct bb_entry entry = {.key = bb_bytes_of_text("key"),
                             .sequence = 5,
                             .kind = BB_ENTRY_PUT,
                             .value = bb_bytes_of(value, value_size)};
    bb_block_builder_init(builder, 16);
    assert_ok(bb_block_builder_add(builder, &entry));
    assert_ok(bb_block_builder_finish(builder, ret_payload));
    free(value);
}

static void encode(struct bb_bytes payload, enum bb_compression compression,
                   struct bb_buf *ret_stored)
{
    struct bb_buf raw = {0};
    struct bb_buf packed = {0};
    struct bb_bytes stored = {0};
    assert_ok(bb_buf_assign(&raw, payload));
    assert_ok(bb_stored_block_encode(&raw, compression, table, OFFSET, &packed, &stored));
    assert_true(stored.data == raw.data || stored.data == packed.data);
    assert_ok(bb_buf_assign(ret_stored, stored));
    bb_buf_deinit(&raw);
    bb_buf_deinit(&packed);
}

static enum bb_status decode(const struct bb_buf *stored, struct bb_block **ret_block)
{
    struct bb_block *block = NULL;
    assert_ok(bb_block_create(NULL, (uint32_t)stored->size, &block));
    memcpy(block->payload, stored->data, stored->size);
    enum bb_status status = bb_stored_block_check(block->payload, stored->size, table, place);
    if (status != BB_OK) {
        bb_block_unref(block);
        return status;
    }
    status = bb_stored_block_decode(&block, (uint32_t)stored->size, NULL, place);
    assert_int_equal(status == BB_OK, block != NULL);
    *ret_block = block;
    return status;
}

/* The same through a caller's scratch: allocates only for blocks that are kept, or do not fit
 * it. */
static void check_scratch(const struct bb_buf *stored, bool is_kept, struct bb_bytes payload)
{
    struct bb_block_scratch scratch;
    struct bb_block *block = NULL;
    if (stored->size > sizeof(scratch.stored))
        return;
    memset(&scratch, 0xdd, sizeof(scratch));
    memcpy(scratch.stored, stored->data, stored->size);
    assert_ok(bb_stored_block_decode_scratch(&scratch, scratch.stored, (uint32_t)stored->size,
                                             is_kept, NULL, NULL, place, &block));
    bool is_inside = (uint8_t *)block == scratch.block;
    assert_int_equal(is_inside, !is_kept && payload.size <= sizeof(scratch.block) - 512);
    assert_int_equal(block->raw_size, payload.size);
    assert_memory_equal(block->payload, payload.data, payload.size);
    assert_int_equal(block->restart_count, 1);
    bb_block_unref(block);
}

static void check_round_trip(size_t value_size, bool compresses, enum bb_compression compression,
                             enum bb_compression expected)
{
    struct bb_block_builder builder;
    struct bb_bytes payload = {0};
    struct bb_buf stored = {0};
    struct bb_block *block = NULL;
    struct bb_stored_block_info info = {0};
    make_payload(&builder, value_size, compresses, &payload);
    encode(payload, compression, &stored);
    assert_ok(bb_stored_block_info(stored.data, stored.size, place, &info));
    assert_int_equal(info.compression, expected);
    assert_int_equal(info.raw_size, payload.size);
    if (expected == BB_COMPRESSION_NONE)
        assert_int_equal(stored.size, payload.size + BB_BLOCK_TRAILER_SIZE);
    else
        assert_true(stored.size - BB_BLOCK_TRAILER_SIZE <= payload.size - payload.size / 8);
    assert_ok(decode(&stored, &block));
    assert_int_equal(block->raw_size, payload.size);
    assert_memory_equal(block->payload, payload.data, payload.size);
    bb_block_unref(block);
    check_scratch(&stored, false, payload);
    check_scratch(&stored, true, payload);
    bb_buf_deinit(&stored);
    bb_block_builder_deinit(&builder);
}

static void stored_block__round_trip(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 100, 4000, 70000, 3000000};
    for (size_t i = 0; i < 6; i++) {
        bool is_long = sizes[i] >= 100;
        check_round_trip(sizes[i], true, BB_COMPRESSION_NONE, BB_COMPRESSION_NONE);
        check_round_trip(sizes[i], false, BB_COMPRESSION_LZ4, BB_COMPRESSION_NONE);
        check_round_trip(sizes[i], true, BB_COMPRESSION_LZ4,
                         is_long ? BB_COMPRESSION_LZ4 : BB_COMPRESSION_NONE);
    }
}

/* A stored block of the given compression to be damaged. */
static void sample(enum bb_compression compression, struct bb_buf *ret_stored)
{
    struct bb_block_builder builder;
    struct bb_bytes payload = {0};
    make_payload(&builder, 2000, compression == BB_COMPRESSION_LZ4, &payload);
    encode(payload, compression, ret_stored);
    bb_block_builder_deinit(&builder);
}

static void reseal(struct bb_buf *stored)
{
    size_t checked = stored->size - BB_CHECKSUM_SIZE;
    bb_store64(stored->data + checked,
               bb_checksum(table, BB_STORED_BLOCK, OFFSET, stored->data, checked));
}

static void assert_refused(struct bb_buf *stored, const char *part)
{
    struct bb_block *block = NULL;
    reseal(stored);
    assert_status(decode(stored, &block), BB_CORRUPT);
    assert_message(part);
    assert_message("/file");
}

static void stored_block__corrupt_checksum(void **state)
{
    (void)state;
    struct bb_buf stored = {0};
    struct bb_block *block = NULL;
    sample(BB_COMPRESSION_NONE, &stored);
    for (size_t bit = 0; bit < stored.size * 8; bit++) {
        stored.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_status(decode(&stored, &block), BB_CORRUPT);
        stored.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_message("checksum");
    bb_buf_deinit(&stored);
}

static void stored_block__corrupt_compression(void **state)
{
    (void)state;
    struct bb_buf stored = {0};
    sample(BB_COMPRESSION_NONE, &stored);
    for (unsigned id = 0; id < 256; id++) {
        if (id == BB_COMPRESSION_NONE || id == BB_COMPRESSION_LZ4)
            continue;
        stored.data[stored.size - BB_BLOCK_TRAILER_SIZE] = (uint8_t)id;
        assert_refused(&stored, "unknown compression");
    }
    bb_buf_deinit(&stored);
}

static void stored_block__corrupt_raw_size(void **state)
{
    (void)state;
    static const enum bb_compression compressions[] = {BB_COMPRESSION_NONE, BB_COMPRESSION_LZ4};
    for (size_t i = 0; i < 2; i++) {
        struct bb_buf stored = {0};
        sample(compressions[i], &stored);
        uint8_t *field = stored.data + stored.size - BB_BLOCK_TRAILER_SIZE + 1;
        uint32_t raw_size = bb_load32(field);
        const uint32_t sizes[] = {
            0,         raw_size - 1, raw_size + 1, BB_BLOCK_RAW_SIZE_MAX, BB_BLOCK_RAW_SIZE_MAX + 1,
            UINT32_MAX};
        for (size_t j = 0; j < 6; j++) {
            bb_store32(field, sizes[j]);
            assert_refused(&stored, "");
        }
        bb_store32(field, raw_size);
        struct bb_block *block = NULL;
        reseal(&stored);
        assert_ok(decode(&stored, &block));
        bb_block_unref(block);
        bb_buf_deinit(&stored);
    }
}

/* A few bytes do not make a gigabyte. */
static void stored_block__corrupt_ratio(void **state)
{
    (void)state;
    struct bb_buf stored = {0};
    sample(BB_COMPRESSION_LZ4, &stored);
    size_t payload_size = stored.size - BB_BLOCK_TRAILER_SIZE;
    bb_store32(stored.data + payload_size + 1, (uint32_t)(255 * payload_size + 65));
    assert_refused(&stored, "claim to hold");
    bb_store32(stored.data + payload_size + 1, (uint32_t)(255 * payload_size + 64));
    assert_refused(&stored, "expected");
    bb_buf_deinit(&stored);
}

/* Sound trailer, unsound LZ4: any changed byte of the stream gives an error or other bytes, but
 * never worse. */
static void stored_block__corrupt_stream(void **state)
{
    (void)state;
    struct bb_buf stored = {0};
    sample(BB_COMPRESSION_LZ4, &stored);
    for (size_t i = 0; i < stored.size - BB_BLOCK_TRAILER_SIZE; i++) {
        for (unsigned change = 1; change < 256; change++) {
            struct bb_block *block = NULL;
            stored.data[i] ^= (uint8_t)change;
            reseal(&stored);
            enum bb_status status = decode(&stored, &block);
            assert_true(status == BB_OK || status == BB_CORRUPT);
            bb_block_unref(block);
            stored.data[i] ^= (uint8_t)change;
        }
    }
    bb_buf_deinit(&stored);
}

static void stored_block__too_short(void **state)
{
    (void)state;
    struct bb_stored_block_info info = {0};
    uint8_t bytes[BB_BLOCK_TRAILER_SIZE] = {0};
    for (size_t size = 0; size < sizeof(bytes); size++)
        assert_status(bb_stored_block_info(bytes, size, place, &info), BB_CORRUPT);
    assert_message("shorter than its trailer");
}

/* LZ4 does not make a few bytes smaller. */
static void stored_block__of_a_few_bytes_is_raw(void **state)
{
    (void)state;
    static const uint8_t zeros[8] = {0};
    for (size_t size = 0; size < sizeof(zeros); size++) {
        struct bb_buf stored = {0};
        encode(bb_bytes_of(zeros, size), BB_COMPRESSION_LZ4, &stored);
        assert_int_equal(stored.size, size + BB_BLOCK_TRAILER_SIZE);
        assert_int_equal(stored.data[size], BB_COMPRESSION_NONE);
        bb_buf_deinit(&stored);
    }
}

static void stored_block__copy_of_an_unknown_compression_is_refused(void **state)
{
    (void)state;
    static const uint8_t stored[BB_BLOCK_TRAILER_SIZE + 16] = {[16] = 77};
    struct bb_block *block = NULL;
    enum bb_status status = bb_stored_block_copy(stored, sizeof(stored), NULL, NULL, place, &block);
    assert_true(status == BB_CORRUPT || status == BB_UNSUPPORTED);
    assert_null(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_block__round_trip),
        cmocka_unit_test(stored_block__corrupt_checksum),
        cmocka_unit_test(stored_block__corrupt_compression),
        cmocka_unit_test(stored_block__corrupt_raw_size),
        cmocka_unit_test(stored_block__corrupt_ratio),
        cmocka_unit_test(stored_block__corrupt_stream),
        cmocka_unit_test(stored_block__too_short),
        cmocka_unit_test(stored_block__of_a_few_bytes_is_raw),
        cmocka_unit_test(stored_block__copy_of_an_unknown_compression_is_refused),
    };
    return cmocka_run_group_tests_name("stored_block", tests, NULL, NULL);
}
