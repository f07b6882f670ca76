/* Goal: footer and directory survive a round trip, and inconsistent ones are refused with the
 * reason: a newer version with both numbers, another kind of file with its last bytes. Method: each
 * field changed under a repaired checksum. */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "base/coding.h"
#include "sstable/meta/footer.h"
#include "sstable/meta/table_directory.h"

#define FOOTER_OFFSET    10000
#define DIRECTORY_OFFSET 9900

static const struct bb_place footer_place = {.file = "/file", .offset = FOOTER_OFFSET};
static const struct bb_place directory_place = {.file = "/file", .offset = DIRECTORY_OFFSET};
static const struct bb_table_id table = {.low = 5, .high = 6};

/* ---- footer ---- */

struct sample {
    uint8_t bytes[BB_FOOTER_SIZE];
};

static struct sample sound_footer(void)
{
    struct bb_footer footer = {.directory_offset = DIRECTORY_OFFSET, .directory_size = 100};
    struct sample sample;
    memcpy(footer.table_id, "0123456789abcdef", 16);
    bb_footer_encode(&footer, FOOTER_OFFSET, sample.bytes);
    return sample;
}

static void reseal(struct sample *sample)
{
    bb_store64(sample->bytes + 48, bb_checksum(bb_checksum_decode_table_id(sample->bytes),
                                               BB_STORED_FOOTER, FOOTER_OFFSET, sample->bytes, 48));
}

static void assert_footer_refused(const struct sample *sample, enum bb_status expected,
                                  const char *part)
{
    struct bb_footer footer;
    assert_status(bb_footer_decode(sample->bytes, footer_place, &footer), expected);
    assert_message(part);
    assert_message("/file");
}

static void footer__round_trip(void **state)
{
    (void)state;
    struct sample sample = sound_footer();
    struct bb_footer footer = {0};
    assert_ok(bb_footer_decode(sample.bytes, footer_place, &footer));
    assert_memory_equal(footer.table_id, "0123456789abcdef", 16);
    assert_true(footer.directory_offset == DIRECTORY_OFFSET);
    assert_int_equal(footer.directory_size, 100);
    assert_int_equal(footer.format_version, BB_FORMAT_VERSION);
}

static void footer__every_bit(void **state)
{
    (void)state;
    struct sample sample = sound_footer();
    for (int bit = 0; bit < 8 * BB_FOOTER_SIZE; bit++) {
        sample.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_footer_refused(&sample, BB_CORRUPT, bit < 56 * 8 ? "checksum" : "not a bloomblock");
        sample.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void footer__newer_version(void **state)
{
    (void)state;
    struct sample sample = sound_footer();
    bb_store32(sample.bytes + 28, 7);
    reseal(&sample);
    assert_footer_refused(&sample, BB_UNSUPPORTED, "version 7, this version reads up to 0");
}

static void footer__unknown_flags(void **state)
{
    (void)state;
    struct sample sample = sound_footer();
    bb_store32(sample.bytes + 32, 0x80000000);
    reseal(&sample);
    assert_footer_refused(&sample, BB_UNSUPPORTED, "0x80000000");
}

static void footer__corrupt_reserved(void **state)
{
    (void)state;
    for (int i = 36; i < 48; i++) {
        struct sample sample = sound_footer();
        sample.bytes[i] = 1;
        reseal(&sample);
        assert_footer_refused(&sample, BB_CORRUPT, "reserved");
    }
}

static void footer__corrupt_directory_offset(void **state)
{
    (void)state;
    static const uint64_t offsets[] = {0, DIRECTORY_OFFSET - 1, DIRECTORY_OFFSET + 1, UINT64_MAX,
                                       UINT64_MAX - 99};
    for (size_t i = 0; i < 5; i++) {
        struct sample sample = sound_footer();
        bb_store64(sample.bytes + 16, offsets[i]);
        reseal(&sample);
        assert_footer_refused(&sample, BB_CORRUPT, "directory of 100 bytes");
    }
}

static void footer__corrupt_directory_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 99, 101, FOOTER_OFFSET + 1, UINT32_MAX};
    for (size_t i = 0; i < 5; i++) {
        struct sample sample = sound_footer();
        bb_store32(sample.bytes + 24, sizes[i]);
        reseal(&sample);
        assert_footer_refused(&sample, BB_CORRUPT, "directory of");
    }
}

static void footer__foreign_file(void **state)
{
    (void)state;
    struct sample sample;
    memset(sample.bytes, 'x', sizeof(sample.bytes));
    assert_footer_refused(&sample, BB_CORRUPT, "it ends with \"xxxxxxxx\"");
}

/* ---- directory ---- */

static struct bb_table_directory sound_directory(void)
{
    struct bb_table_directory directory = {.count = 2};
    directory.sections[0] = (struct bb_section){.id = BB_SECTION_ROOT,
                                                .flags = BB_SECTION_FLAG_INCOMPATIBLE,
                                                .offset = 9000,
                                                .size = 500,
                                                .checksum = 77};
    directory.sections[1] = (struct bb_section){.id = BB_SECTION_PROPERTIES,
                                                .flags = BB_SECTION_FLAG_INCOMPATIBLE,
                                                .offset = 9500,
                                                .size = 400,
                                                .checksum = 78};
    return directory;
}

static enum bb_status decode(const struct bb_table_directory *directory,
                             struct bb_table_directory *ret_found)
{
    struct bb_buf bytes = {0};
    assert_ok(bb_table_directory_encode(directory, table, DIRECTORY_OFFSET, &bytes));
    enum bb_status status =
        bb_table_directory_decode(bb_buf_bytes(&bytes), table, directory_place, ret_found);
    bb_buf_deinit(&bytes);
    return status;
}

static void assert_directory_refused(const struct bb_table_directory *directory,
                                     enum bb_status expected, const char *part)
{
    struct bb_table_directory found;
    assert_status(decode(directory, &found), expected);
    assert_message(part);
    assert_message("/file");
}

static void directory__round_trip(void **state)
{
    (void)state;
    struct bb_table_directory directory = sound_directory();
    struct bb_table_directory found = {0};
    assert_ok(decode(&directory, &found));
    assert_int_equal(found.count, 2);
    const struct bb_section *properties = bb_table_directory_find(&found, BB_SECTION_PROPERTIES);
    assert_true(properties->offset == 9500 && properties->size == 400 &&
                properties->checksum == 78);
    assert_null(bb_table_directory_find(&found, BB_SECTION_TABLE_FILTER));
}

/* A section that readers may skip, and the same section marked as mandatory. */
static void directory__unknown_sections(void **state)
{
    (void)state;
    static const uint16_t ids[] = {BB_SECTION_ZONES, 99};
    for (size_t i = 0; i < 2; i++) {
        struct bb_table_directory directory = sound_directory();
        struct bb_table_directory found;
        directory.sections[1].size = 300;
        directory.sections[2] = (struct bb_section){.id = ids[i], .offset = 9800, .size = 100};
        directory.count = 3;
        assert_ok(decode(&directory, &found));
        assert_int_equal(found.count, 3);
        directory.sections[2].flags = BB_SECTION_FLAG_INCOMPATIBLE;
        assert_directory_refused(&directory, BB_UNSUPPORTED,
                                 bb_table_directory_section_name(ids[i]));
    }
    assert_message("99");
}

static void directory__corrupt_id(void **state)
{
    (void)state;
    struct bb_table_directory twice = sound_directory();
    twice.sections[1].id = BB_SECTION_ROOT;
    assert_directory_refused(&twice, BB_CORRUPT, "twice");
    struct bb_table_directory no_root = sound_directory();
    no_root.sections[0].id = 99;
    no_root.sections[0].flags = 0;
    assert_directory_refused(&no_root, BB_CORRUPT, "root) is missing");
    struct bb_table_directory no_properties = sound_directory();
    no_properties.sections[1].id = 99;
    no_properties.sections[1].flags = 0;
    assert_directory_refused(&no_properties, BB_CORRUPT, "properties) is missing");
}

static void directory__corrupt_offset(void **state)
{
    (void)state;
    static const uint64_t offsets[] = {0, 9499, 9501, 9900, 9901, UINT64_MAX, UINT64_MAX - 300};
    for (size_t i = 0; i < 7; i++) {
        struct bb_table_directory directory = sound_directory();
        directory.sections[1].offset = offsets[i];
        assert_directory_refused(&directory, BB_CORRUPT, "");
        directory = sound_directory();
        directory.sections[0].offset = offsets[i];
        assert_directory_refused(&directory, BB_CORRUPT, "");
    }
}

static void directory__corrupt_size(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 399, 401, 10000, UINT64_MAX, UINT64_MAX - 9499};
    for (size_t i = 0; i < 6; i++) {
        struct bb_table_directory directory = sound_directory();
        directory.sections[1].size = sizes[i];
        assert_directory_refused(&directory, BB_CORRUPT, "");
        directory = sound_directory();
        directory.sections[0].size = sizes[i];
        assert_directory_refused(&directory, BB_CORRUPT, "");
    }
}

static void directory__corrupt_length(void **state)
{
    (void)state;
    struct bb_table_directory directory = sound_directory();
    struct bb_table_directory found;
    struct bb_buf bytes = {0};
    assert_ok(bb_table_directory_encode(&directory, table, DIRECTORY_OFFSET, &bytes));
    for (size_t size = 0; size < bytes.size; size++)
        assert_status(bb_table_directory_decode(bb_bytes_of(bytes.data, size), table,
                                                directory_place, &found),
                      BB_CORRUPT);
    bb_buf_reset(&bytes);
    uint8_t *more = NULL;
    assert_ok(bb_buf_extend(&bytes, (BB_SECTION_COUNT_MAX + 1) * BB_SECTION_ENTRY_SIZE + 8, &more));
    assert_status(bb_table_directory_decode(bb_buf_bytes(&bytes), table, directory_place, &found),
                  BB_CORRUPT);
    bb_buf_deinit(&bytes);
}

static void directory__corrupt_checksum(void **state)
{
    (void)state;
    struct bb_table_directory directory = sound_directory();
    struct bb_table_directory found;
    struct bb_buf bytes = {0};
    assert_ok(bb_table_directory_encode(&directory, table, DIRECTORY_OFFSET, &bytes));
    for (size_t bit = 0; bit < bytes.size * 8; bit++) {
        bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_status(
            bb_table_directory_decode(bb_buf_bytes(&bytes), table, directory_place, &found),
            BB_CORRUPT);
        assert_message("checksum");
        bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    bb_buf_deinit(&bytes);
}

/* The message names a table where there is no file. */
static void directory__newer_section_of_a_table_without_a_name(void **state)
{
    (void)state;
    struct bb_table_directory directory = sound_directory();
    struct bb_table_directory found;
    struct bb_buf bytes = {0};
    directory.sections[1].id = 900;
    assert_ok(bb_table_directory_encode(&directory, table, DIRECTORY_OFFSET, &bytes));
    struct bb_place nameless = {.offset = DIRECTORY_OFFSET};
    assert_status(bb_table_directory_decode(bb_buf_bytes(&bytes), table, nameless, &found),
                  BB_UNSUPPORTED);
    assert_message("table: section 900");
    bb_buf_deinit(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(footer__round_trip),
        cmocka_unit_test(footer__every_bit),
        cmocka_unit_test(footer__newer_version),
        cmocka_unit_test(footer__unknown_flags),
        cmocka_unit_test(footer__corrupt_reserved),
        cmocka_unit_test(footer__corrupt_directory_offset),
        cmocka_unit_test(footer__corrupt_directory_size),
        cmocka_unit_test(footer__foreign_file),
        cmocka_unit_test(directory__round_trip),
        cmocka_unit_test(directory__unknown_sections),
        cmocka_unit_test(directory__corrupt_id),
        cmocka_unit_test(directory__corrupt_offset),
        cmocka_unit_test(directory__corrupt_size),
        cmocka_unit_test(directory__corrupt_length),
        cmocka_unit_test(directory__corrupt_checksum),
        cmocka_unit_test(directory__newer_section_of_a_table_without_a_name),
    };
    return cmocka_run_group_tests_name("footer", tests, NULL, NULL);
}
