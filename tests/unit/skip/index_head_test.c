/* Goal: the head of an index with a wrong field is refused. Method: for each form of a segment a
 * table of the rejected forms of its fields, and every cut. */
#include "skip/file/index_head.h"

#include "base/bytes.h"
#include "tests/support/assert_status.h"
#include "tests/support/hostile.h"

#define FILE_SIZE 1000

/* An index over 10 granules. */
struct sample {
    enum bb_skip_kind kind;
    enum bb_attribute_type type;
    uint64_t segment_count;
};

static enum bb_status decode(struct bb_bytes bytes, const void *context)
{
    const struct sample *sample = context;
    struct bb_stored_attribute attribute = {.type = sample->type};
    struct bb_index_directory directory = {
        .granule_count = 10, .attributes = &attribute, .attribute_count = 1};
    struct bb_directory_entry index = {.spec = {.kind = sample->kind},
                                       .segment_count = sample->segment_count};
    struct bb_index_head head;
    struct bb_buf buf = {0};
    assert_ok(bb_buf_assign(&buf, bytes));
    enum bb_status status = bb_index_head_decode(&buf, &directory, &index, FILE_SIZE,
                                                 (struct bb_place){.file = "x.bbi"}, &head);
    assert_null(buf.data);
    if (status == BB_OK)
        bb_index_head_deinit(&head);
    return status;
}

static void check(const struct sample *sample, const struct hostile_field *fields,
                  const struct hostile_case *cases)
{
    hostile_check(fields, cases, decode, sample, "x.bbi: at offset 0: the head of an index is ");
}

/* Two segments without data. */
static void hostile_segment__is_refused(void **state)
{
    (void)state;
    static const struct sample sample = {BB_SKIP_MIN_MAX, BB_ATTRIBUTE_U64, 2};
    static const struct hostile_field fields[] = {
        {"granules", "06 00", false},
        {"form", "00", false},
        {"granules of the next", "04 00", false},
        {"form of the next", "00", false},
        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"no granules", "granules", "00 00"},
        {"more granules than a segment may have", "granules", "01 04"},
        {"fewer granules than the file", "granules", "05 00"},
        {"more granules than the file", "granules", "07 00"},
        {"a form that does not exist", "form", "06"},
        {"the form of another kind", "form", "03"},
        {"bytes after the last segment", "form of the next", "00 00"},
        {NULL, NULL, NULL},
    };
    check(&sample, fields, cases);
}

static void hostile_bounds__are_refused(void **state)
{
    (void)state;
    static const struct sample numbers = {BB_SKIP_MIN_MAX, BB_ATTRIBUTE_F64, 1};
    static const struct hostile_field fields[] = {
        {"granules", "0a 00", false}, {"form", "02", false},   {"flags", "03", false},
        {"low", "00*8", false},       {"high", "00*8", false}, {"offset", "f4 03", false},
        {"size", "64", false},        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"a flag that does not exist", "flags", "04"},
        {"a NaN for a low bound", "low", "00*6 f87f"},
        {"a NaN for a high bound", "high", "00*6 f87f"},
        {"a unit smaller than its checksum", "size", "07"},
        {"a unit that begins after the file", "offset", "e9 07"},
        {"a unit that ends after the file", "size", "f5 03"},
        {"a unit of more than 2^26 bytes", "size", "81 80 80 20"},
        {NULL, NULL, NULL},
    };
    check(&numbers, fields, cases);
}

static void hostile_bounds_of_bytes__are_refused(void **state)
{
    (void)state;
    static const struct sample bytes = {BB_SKIP_MIN_MAX, BB_ATTRIBUTE_BYTES, 1};
    static const struct hostile_field fields[] = {
        {"granules", "0a 00", false}, {"form", "02", false},       {"flags", "01", false},
        {"low", "02 'ab'", false},    {"high", "03 'abc'", false}, {"offset", "00", false},
        {"size", "64", false},        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"a low bound that is open", "low", "ff"},
        {"a low bound of 17 bytes", "low", "11 20*17"},
        {"a high bound of 17 bytes", "high", "11 20*17"},
        {NULL, NULL, NULL},
    };
    static const struct hostile_case open = {"an open high bound is sound", "high", "ff"};
    static const struct hostile_case none = {"no values are sound", "flags", "02"};
    check(&bytes, fields, cases);
    struct bb_bytes sound = hostile_bytes(fields, &open);
    assert_ok(decode(sound, &bytes));
    hostile_free(sound);
    /* The bounds are now the offset and the size of the data. */
    sound = hostile_bytes(fields, &none);
    assert_status(decode(sound, &bytes), BB_CORRUPT);
    hostile_free(sound);
}

static void hostile_values__are_refused(void **state)
{
    (void)state;
    static const struct sample sample = {BB_SKIP_SET, BB_ATTRIBUTE_U64, 1};
    static const struct hostile_field fields[] = {
        {"granules", "0a 00", false}, {"form", "03", false}, {"offset", "84 07", false},
        {"size", "64", false},        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"a unit smaller than its checksum", "size", "07"},
        {"a unit that ends after the file", "size", "65"},
        {"bytes after the last segment", "size", "64 00"},
        {NULL, NULL, NULL},
    };
    check(&sample, fields, cases);
}

/* One chunk for all buckets, and two granules that are not indexed. */
static void hostile_inverted_segment__is_refused(void **state)
{
    (void)state;
    static const struct sample sample = {BB_SKIP_VALUES, BB_ATTRIBUTE_U64, 1};
    static const struct hostile_field fields[] = {
        {"granules", "0a 00", false},
        {"form", "01", false},
        {"offset", "84 07", false},
        {"has granules without index", "01", false},
        {"granules without index", "03 00", false},
        {"q", "04", false},
        {"c", "05", false},
        {"k", "06", false},
        {"addresses", "80 01", false},
        {"pairs", "80 01", false},
        {"frequent members", "80 01", false},
        {"pairs of addresses", "80 01", false},
        {"end", "64 00 00 00", false},
        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"data that begins after the file", "offset", "e9 07"},
        {"data that ends after the file", "offset", "85 07"},
        {"a flag that does not exist", "has granules without index", "02"},
        {"more than 2^24 buckets", "q", "19"},
        {"a shift of more bits than a hash has", "c", "29"},
        {"a shift of more bits than a number has", "k", "33"},
        {"no addresses", "addresses", "00"},
        {"more addresses than hashes", "addresses", "81 80 80 80 80 02"},
        {"a chunk of a checksum alone", "end", "08 00 00 00"},
        {"a chunk of more than 128 KiB", "end", "01 00 02 00"},
        {NULL, NULL, NULL},
    };
    static const struct hostile_case backwards = {"a chunk that ends before the one before", "q",
                                                  "05"};
    check(&sample, fields, cases);
    struct hostile_field two[sizeof(fields) / sizeof(fields[0])];
    memcpy(two, fields, sizeof(fields));
    two[12].digits = "32 00 00 00 20 00 00 00";
    struct bb_bytes bytes = hostile_bytes(two, &backwards);
    assert_status(decode(bytes, &sample), BB_CORRUPT);
    hostile_free(bytes);
}

/* The factor of the permutation is odd and has at most 40 bits. */
static void hostile_factor__is_refused(void **state)
{
    (void)state;
    static const struct sample sample = {BB_SKIP_VALUES, BB_ATTRIBUTE_U64, 1};
    static const struct hostile_field fields[] = {
        {"granules", "0a 00", false},
        {"form", "07", false},
        {"offset", "84 07", false},
        {"has granules without index", "00", false},
        {"factor", "03", false},
        {"q, c, k", "04 05 06", false},
        {"addresses", "80 01", false},
        {"pairs", "80 01", false},
        {"frequent members", "80 01", false},
        {"pairs of addresses", "80 01", false},
        {"end", "64 00 00 00", false},
        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"an even factor", "factor", "02"},
        {"a factor of 41 bits", "factor", "81 80 80 80 80 20"},
        {"a factor of more than 64 bits", "factor", "ff*10 01"},
        {NULL, NULL, NULL},
    };
    check(&sample, fields, cases);
}

static void hostile_column__is_refused(void **state)
{
    (void)state;
    static const struct sample sample = {BB_SKIP_COLUMN, BB_ATTRIBUTE_U64, 1};
    static const struct hostile_field fields[] = {
        {"granules", "0a 00", false},
        {"form", "04", false},
        {"chunks", "02", false},
        {"granules of a chunk", "04", false},
        {"offset", "80 01", false},
        {"size", "80 01", false},
        {"granules of the next", "06", false},
        {"offset of the next", "80 02", false},
        {"size of the next", "80 01", false},
        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"more chunks than granules", "chunks", "0b"},
        {"a chunk more than there is", "chunks", "03"},
        {"a chunk of no granules", "granules of a chunk", "00"},
        {"chunks of more granules than the segment", "granules of a chunk", "05"},
        {"a chunk of more granules than the segment", "granules of a chunk", "0b"},
        {"chunks of fewer granules than the segment", "granules of the next", "05"},
        {"a number of granules of more than 32 bits", "granules of a chunk", "80 80 80 80 10"},
        {"a unit of more than 2^26 bytes", "size", "81 80 80 20"},
        {"a unit smaller than its checksum", "size", "07"},
        {"a unit that ends after the file", "size", "e9 06"},
        {"a unit that begins after the file", "offset", "e9 07"},
        {NULL, NULL, NULL},
    };
    check(&sample, fields, cases);
}

static void hostile_dictionary__is_refused(void **state)
{
    (void)state;
    static const struct sample sample = {BB_SKIP_TEXT, BB_ATTRIBUTE_BYTES, 1};
    static const struct hostile_field fields[] = {
        {"granules", "0a 00", false},
        {"form", "05", false},
        {"offset", "90 03", false},
        {"has granules without index", "00", false},
        {"tokens", "80 01", false},
        {"pairs", "80 01", false},
        {"blocks", "02", false},
        {"size", "ac 02", false},
        {"fence", "00", false},
        {"size of the next", "ac 02", false},
        {"fence of the next", "03 'abc'", false},
        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"data that begins after the file", "offset", "e9 07"},
        {"data that ends after the file", "offset", "91 03"},
        {"a flag that does not exist", "has granules without index", "02"},
        {"more blocks than there are bytes", "blocks", "7f"},
        {"a number of blocks of more than 32 bits", "blocks", "80 80 80 80 10"},
        {"a block smaller than its checksum", "size", "07"},
        {"a block of more than 64 KiB", "size", "89 80 04"},
        {"a fence of the first block", "fence", "01 'a'"},
        {"a fence that does not ascend", "fence of the next", "00"},
        {NULL, NULL, NULL},
    };
    check(&sample, fields, cases);
}

/* The first of two segments has the bytes of both. */
static void segment_without_fields__is_refused(void **state)
{
    (void)state;
    static const struct sample sample = {BB_SKIP_SET, BB_ATTRIBUTE_U64, 2};
    static const struct hostile_field fields[] = {
        {"first", "06 00 03 80 01 64", false}, {"next", "04 00 00", false}, {NULL, NULL, false}};
    static const struct hostile_case cases[] = {
        {"a form that does not exist", "next", "04 00 07"},
        {"a segment of one byte", "next", "04"},
        {"a segment without a form", "next", "04 00"},
        {NULL, NULL, NULL},
    };
    check(&sample, fields, cases);
}

/* The decoder allocates no memory for segments that the head cannot have. */
static void more_segments_than_bytes__are_refused(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x0a, 0x00, 0x00, 0x00, 0x00};
    struct sample sample = {BB_SKIP_MIN_MAX, BB_ATTRIBUTE_U64, 2};
    assert_status(decode(bb_bytes_of(bytes, sizeof(bytes)), &sample), BB_CORRUPT);
    assert_message("too short for its segments");
    sample.segment_count = UINT64_MAX;
    assert_status(decode(bb_bytes_of(bytes, sizeof(bytes)), &sample), BB_CORRUPT);
    sample.segment_count = 1;
    assert_ok(decode(bb_bytes_of(bytes, 3), &sample));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_segment__is_refused),
        cmocka_unit_test(segment_without_fields__is_refused),
        cmocka_unit_test(hostile_bounds__are_refused),
        cmocka_unit_test(hostile_bounds_of_bytes__are_refused),
        cmocka_unit_test(hostile_values__are_refused),
        cmocka_unit_test(hostile_inverted_segment__is_refused),
        cmocka_unit_test(hostile_factor__is_refused),
        cmocka_unit_test(hostile_column__is_refused),
        cmocka_unit_test(hostile_dictionary__is_refused),
        cmocka_unit_test(more_segments_than_bytes__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
