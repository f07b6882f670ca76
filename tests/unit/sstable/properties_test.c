/* Goal: properties survive a round trip; sections with one missing, duplicate, unknown and
 * mandatory, ill-formed, out of range or written needlessly are refused; the secret is not printed.
 * Method: each field of the list one by one. */
#include "tests/support/assert_status.h"

#include <math.h>

#include "base/bytes.h"
#include "base/coding.h"
#include "sstable/meta/properties.h"
#include "tests/unit/sstable/property_print.h"

static const struct bb_place place = {.file = "/file", .offset = 5000};

static void assign(struct bb_buf *buf, const void *data, size_t size)
{
    assert_ok(bb_buf_assign(buf, bb_bytes_of(data, size)));
}

static struct bb_properties sample(void)
{
    static const uint8_t bytes[BB_HASH_SECRET_SIZE] = {0xaa, 0xbb};
    struct bb_properties p = {
        .entry_count = 10,
        .key_count = 9,
        .tombstone_count = 8,
        .block_count = 7,
        .page_count = 6,
        .key_bytes = 1000,
        .value_bytes = UINT64_MAX,
        .data_size = 5,
        .index_size = 4,
        .filter_size = 3,
        .table_filter_size = 2,
        .sequence_min = 100,
        .sequence_max = BB_SEQUENCE_MAX,
        .tombstone_sequence_min = 150,
        .block_size_bytes = 4096,
        .restart_interval = 16,
        .compression = BB_COMPRESSION_LZ4,
        .index_page_size_bytes = 4096,
        .filter_kind = BB_FILTER_RIBBON,
        .filter_rate = 0.01,
        .filter_bits_per_probe = 6,
        .filter_salt = UINT64_MAX,
        .filter_granularity = BB_GRANULARITY_PAGE,
        .table_filter_rate = 0.08,
        .table_filter_fingerprint_bits = 3,
        .filter_slack = 0.03,
        .filter_excess = -2.5,
        .table_filter_excess = -0x1p48,
        .predicted_block_rate = 0.1,
        .predicted_table_filter_rate = 0.0625,
        .hash_id = BB_HASH_ID_XXH3,
    };
    assign(&p.table_id, "0123456789abcdef", 16);
    assign(&p.comparator, "bytewise", 8);
    assign(&p.builder, "a builder", 9);
    assign(&p.smallest, "", 0);
    assign(&p.largest, "z\0z", 3);
    assign(&p.hash_secret, bytes, sizeof(bytes));
    return p;
}

static struct bb_buf encode(struct bb_properties *p)
{
    struct bb_buf section = {0};
    assert_ok(bb_properties_encode(p, &section));
    bb_properties_deinit(p);
    return section;
}

static void assert_refused(struct bb_buf *section, enum bb_status expected, const char *part)
{
    struct bb_properties found = {0};
    assert_status(bb_properties_decode(bb_buf_bytes(section), place, &found), expected);
    assert_message(part);
    assert_message("/file");
    bb_buf_deinit(section);
}

static void properties__round_trip(void **state)
{
    (void)state;
    struct bb_properties p = sample();
    struct bb_properties found = {0};
    struct bb_buf section = {0};
    size_t count = 0;
    const struct bb_property_field *fields = bb_property_fields(&count);
    assert_ok(bb_properties_encode(&p, &section));
    assert_ok(bb_properties_decode(bb_buf_bytes(&section), place, &found));
    for (size_t i = 0; i < count; i++) {
        const char *a = (const char *)&p + fields[i].offset;
        const char *b = (const char *)&found + fields[i].offset;
        if (fields[i].type >= BB_PROPERTY_TEXT)
            assert_true(
                bb_bytes_equal(bb_buf_bytes((const void *)a), bb_buf_bytes((const void *)b)));
        else
            assert_memory_equal(a, b, 8);
        assert_true(i == 0 || fields[i].id > fields[i - 1].id);
    }
    bb_properties_deinit(&p);
    bb_properties_deinit(&found);
    bb_buf_deinit(&section);
}

/* The section without one property, or with it replaced. */
static struct bb_buf section_with(uint16_t id, bool is_kept, struct bb_bytes value)
{
    struct bb_properties p = sample();
    struct bb_buf whole = encode(&p);
    struct bb_buf section = {0};
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&whole));
    bool is_written = !is_kept;
    while (bb_cursor_left(&cursor) > 0) {
        uint16_t next = 0;
        struct bb_bytes old = {0};
        assert_true(bb_decode_u16(&cursor, &next) && bb_decode_bytes(&cursor, &old));
        if (!is_written && next >= id) {
            assert_ok(bb_append_u16(&section, id));
            assert_ok(bb_append_bytes(&section, value));
            is_written = true;
        }
        if (next == id)
            continue;
        assert_ok(bb_append_u16(&section, next));
        assert_ok(bb_append_bytes(&section, old));
    }
    if (!is_written) {
        assert_ok(bb_append_u16(&section, id));
        assert_ok(bb_append_bytes(&section, value));
    }
    bb_buf_deinit(&whole);
    return section;
}

static void properties__each_is_needed(void **state)
{
    (void)state;
    size_t count = 0;
    const struct bb_property_field *fields = bb_property_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].is_optional)
            continue;
        struct bb_buf section = section_with(fields[i].id, false, (struct bb_bytes){0});
        assert_refused(&section, BB_CORRUPT, fields[i].name);
    }
}

static void properties__corrupt_form(void **state)
{
    (void)state;
    size_t count = 0;
    const struct bb_property_field *fields = bb_property_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].type == BB_PROPERTY_TEXT || fields[i].type == BB_PROPERTY_SECRET ||
            fields[i].id == 32 || fields[i].id == 33)
            continue;
        struct bb_buf empty = section_with(fields[i].id, true, (struct bb_bytes){0});
        assert_refused(&empty, BB_CORRUPT, fields[i].name);
        struct bb_buf longer =
            section_with(fields[i].id, true, bb_bytes_of("\1\0\0\0\0\0\0\0\0", 9));
        assert_refused(&longer, BB_CORRUPT, fields[i].name);
    }
    uint8_t secret[193] = {0};
    struct bb_buf short_secret = section_with(81, true, bb_bytes_of(secret, 191));
    assert_refused(&short_secret, BB_CORRUPT, "expected 192");
    struct bb_buf long_secret = section_with(81, true, bb_bytes_of(secret, 193));
    assert_refused(&long_secret, BB_CORRUPT, "expected 192");
}

/* An optional property is omitted when it is 0, so that each value has one form. */
static void properties__corrupt_zero_of_an_optional(void **state)
{
    (void)state;
    size_t count = 0;
    size_t optional = 0;
    const struct bb_property_field *fields = bb_property_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].is_optional)
            continue;
        size_t size = fields[i].type == BB_PROPERTY_REAL ? 8 : 1;
        struct bb_buf zero =
            section_with(fields[i].id, true, bb_bytes_of("\0\0\0\0\0\0\0\0", size));
        assert_refused(&zero, BB_CORRUPT, "is 0, expected it to be omitted");
        assert_message(fields[i].name);
        optional++;
    }
    assert_true(optional > 0);
}

static void properties__unknown_ids(void **state)
{
    (void)state;
    struct bb_properties found = {0};
    static const uint16_t ids[] = {0, 5, 76, 0x7fff};
    for (size_t i = 0; i < 4; i++) {
        struct bb_buf section = section_with(ids[i], true, bb_bytes_of_text("whatever"));
        assert_ok(bb_properties_decode(bb_buf_bytes(&section), place, &found));
        bb_properties_deinit(&found);
        bb_buf_deinit(&section);
    }
    struct bb_buf mandatory = section_with(0x8001, true, bb_bytes_of_text("whatever"));
    assert_refused(&mandatory, BB_UNSUPPORTED, "32769");
}

/* Messages about bytes without a file name a table. */
static void properties__without_a_file(void **state)
{
    (void)state;
    struct bb_properties newer = sample();
    struct bb_properties other = sample();
    struct bb_properties found;
    newer.format_version = BB_FORMAT_VERSION + 1;
    other.hash_id = 3;
    struct bb_buf sections[] = {section_with(0x8001, true, bb_bytes_of_text("whatever")),
                                encode(&newer), encode(&other)};
    for (size_t i = 0; i < 3; i++) {
        assert_status(
            bb_properties_decode(bb_buf_bytes(&sections[i]), (struct bb_place){0}, &found),
            BB_UNSUPPORTED);
        assert_message("table: ");
        bb_buf_deinit(&sections[i]);
    }
    bb_properties_deinit(&newer);
    bb_properties_deinit(&other);
}

static void properties__corrupt_order(void **state)
{
    (void)state;
    struct bb_properties p = sample();
    struct bb_buf section = encode(&p);
    assert_ok(bb_append_u16(&section, 81));
    assert_ok(bb_append_bytes(&section, (struct bb_bytes){0}));
    assert_refused(&section, BB_CORRUPT, "must ascend");
}

static void properties__corrupt_truncation(void **state)
{
    (void)state;
    struct bb_properties p = sample();
    struct bb_buf section = encode(&p);
    for (size_t size = section.size; size-- > 0;) {
        struct bb_properties found = {0};
        assert_status(bb_properties_decode(bb_bytes_of(section.data, size), place, &found),
                      BB_CORRUPT);
    }
    bb_buf_deinit(&section);
}

static void check_range(void (*change)(struct bb_properties *), enum bb_status expected,
                        const char *part)
{
    struct bb_properties p = sample();
    change(&p);
    struct bb_buf section = encode(&p);
    assert_refused(&section, expected, part);
}

#define CHANGE(name, statement)                                                                    \
    static void name(struct bb_properties *p)                                                      \
    {                                                                                              \
        statement;                                                                                 \
    }
CHANGE(no_entries, p->entry_count = 0)
CHANGE(more_keys_than_entries, p->key_count = 11)
CHANGE(no_keys, p->key_count = 0)
CHANGE(more_tombstones_than_entries, p->tombstone_count = 11)
CHANGE(sequence_over_limit, p->sequence_max = BB_SEQUENCE_MAX + 1)
CHANGE(sequences_crossed, p->sequence_max = 99)
CHANGE(oldest_tombstone_too_old, p->tombstone_sequence_min = 99)
CHANGE(oldest_tombstone_of_none, p->tombstone_count = 0)
CHANGE(no_granularity, p->filter_granularity = 0)
CHANGE(huge_granularity, p->filter_granularity = UINT64_C(1) << 32)
CHANGE(huge_bits_per_probe, p->filter_bits_per_probe = UINT64_C(1) << 32)
CHANGE(no_kind, p->filter_kind = 0)
CHANGE(rate_of_nothing, p->filter_rate = 0)
CHANGE(negative_rate, p->filter_rate = -0.01)
CHANGE(rate_over_half, p->filter_rate = 0.6)
CHANGE(not_a_rate, p->filter_rate = (double)NAN)
CHANGE(rate_without_filters, p->filter_kind = BB_FILTER_NONE)
CHANGE(table_filter_rate_of_nothing, p->table_filter_rate = 0)
CHANGE(table_filter_not_a_rate, p->table_filter_rate = (double)NAN)
CHANGE(table_filter_rate_over_half, p->table_filter_rate = 0.7)
CHANGE(nothing_left_for_blocks, p->table_filter_rate = 0.01)
CHANGE(more_than_the_whole, p->table_filter_rate = 0.001)
CHANGE(positive_excess, p->filter_excess = 0.1)
CHANGE(not_an_excess, p->table_filter_excess = (double)NAN)
CHANGE(endless_excess, p->table_filter_excess = -(double)INFINITY)
CHANGE(negative_prediction, p->predicted_block_rate = -0.1)
CHANGE(negative_nothing, p->predicted_block_rate = -0.0)
CHANGE(not_a_prediction, p->predicted_block_rate = (double)NAN)
CHANGE(prediction_over_one, p->predicted_block_rate = 1.0000001)
CHANGE(blocks_not_predicted, p->predicted_block_rate = 0)
CHANGE(table_filter_not_predicted, p->predicted_table_filter_rate = 0)
CHANGE(negative_table_filter_prediction, p->predicted_table_filter_rate = -1)
CHANGE(not_a_table_filter_prediction, p->predicted_table_filter_rate = (double)NAN)
CHANGE(endless_table_filter_prediction, p->predicted_table_filter_rate = (double)INFINITY)
CHANGE(newer_format, p->format_version = 1)
CHANGE(mixed_hash, p->hash_id = 1)
CHANGE(other_hash, p->hash_id = 3)

static void properties__corrupt_ranges(void **state)
{
    (void)state;
    check_range(no_entries, BB_CORRUPT, "entry_count");
    check_range(more_keys_than_entries, BB_CORRUPT, "key_count");
    check_range(no_keys, BB_CORRUPT, "key_count");
    check_range(more_tombstones_than_entries, BB_CORRUPT, "tombstone_count");
    check_range(sequence_over_limit, BB_CORRUPT, "sequence_max");
    check_range(sequences_crossed, BB_CORRUPT, "sequence_min");
    check_range(oldest_tombstone_too_old, BB_CORRUPT, "tombstone_sequence_min is 99, expected 100");
    check_range(oldest_tombstone_of_none, BB_CORRUPT, "tombstone_sequence_min is 150, expected 0");
    check_range(no_granularity, BB_CORRUPT, "filter_granularity");
    check_range(huge_granularity, BB_CORRUPT, "filter_granularity");
    check_range(huge_bits_per_probe, BB_CORRUPT, "filter_bits_per_probe");
    check_range(no_kind, BB_CORRUPT, "filter_kind");
    check_range(rate_of_nothing, BB_CORRUPT, "rate");
    check_range(negative_rate, BB_CORRUPT, "rate");
    check_range(rate_over_half, BB_CORRUPT, "rate");
    check_range(not_a_rate, BB_CORRUPT, "rate");
    check_range(rate_without_filters, BB_CORRUPT, "rate");
    check_range(table_filter_rate_of_nothing, BB_CORRUPT, "rate");
    check_range(table_filter_not_a_rate, BB_CORRUPT, "rate");
    check_range(table_filter_rate_over_half, BB_CORRUPT, "rate");
    check_range(nothing_left_for_blocks, BB_CORRUPT, "rate 1");
    check_range(more_than_the_whole, BB_CORRUPT, "rate 10");
    check_range(positive_excess, BB_CORRUPT, "filter_excess is 0.1, expected");
    check_range(not_an_excess, BB_CORRUPT, "table_filter_excess");
    check_range(endless_excess, BB_CORRUPT, "table_filter_excess");
    check_range(negative_prediction, BB_CORRUPT, "predicted rates -0.1 of the block filters");
    check_range(negative_nothing, BB_CORRUPT, "predicted rates -0");
    check_range(not_a_prediction, BB_CORRUPT, "predicted rates");
    check_range(prediction_over_one, BB_CORRUPT, "expected both above 0 and at most 1, or none");
    check_range(blocks_not_predicted, BB_CORRUPT, "predicted rates 0 of the block filters");
    check_range(table_filter_not_predicted, BB_CORRUPT, "and 0 of the table filter");
    check_range(negative_table_filter_prediction, BB_CORRUPT, "and -1 of the table filter");
    check_range(not_a_table_filter_prediction, BB_CORRUPT, "predicted rates");
    check_range(endless_table_filter_prediction, BB_CORRUPT, "and inf of the table filter");
    check_range(newer_format, BB_UNSUPPORTED, "version 1, this version reads up to 0");
    check_range(mixed_hash, BB_UNSUPPORTED, "hash 1, this version reads only 2");
    check_range(other_hash, BB_UNSUPPORTED, "hash 3, this version reads only 2");
}

/* A table of an older version has neither; a filter may pass everything. */
static void properties__without_predictions(void **state)
{
    (void)state;
    static const double rates[] = {0, 1};
    for (size_t i = 0; i < 2; i++) {
        struct bb_properties p = sample();
        struct bb_properties found = {0};
        p.predicted_block_rate = p.predicted_table_filter_rate = rates[i];
        struct bb_buf section = encode(&p);
        assert_ok(bb_properties_decode(bb_buf_bytes(&section), place, &found));
        assert_true(found.predicted_block_rate == rates[i]);
        assert_true(found.predicted_table_filter_rate == rates[i]);
        bb_properties_deinit(&found);
        bb_buf_deinit(&section);
    }
}

static void properties__corrupt_key_size(void **state)
{
    (void)state;
    uint8_t *key = test_calloc(1, BB_KEY_SIZE_MAX + 1);
    for (uint16_t id = 32; id <= 33; id++) {
        struct bb_buf section = section_with(id, true, bb_bytes_of(key, BB_KEY_SIZE_MAX + 1));
        assert_refused(&section, BB_CORRUPT, id == 32 ? "smallest" : "largest");
    }
    test_free(key);
}

static void properties__are_printed_but_the_secret(void **state)
{
    (void)state;
    struct bb_properties p = sample();
    struct bb_buf text = {0};
    size_t count = 0;
    const struct bb_property_field *fields = bb_property_fields(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ok(bb_buf_print(&text, "%s: ", fields[i].name));
        assert_ok(property_print(&p, &fields[i], &text));
        assert_ok(bb_buf_print(&text, "\n"));
    }
    assert_ok(bb_append_u8(&text, 0));
    const char *all = (const char *)text.data;
    assert_non_null(strstr(all, "table_id: 30313233343536373839616263646566\n"));
    assert_non_null(strstr(all, "largest: z\\x00z\n"));
    assert_non_null(strstr(all, "filter_rate: 0.01\n"));
    assert_non_null(strstr(all, "hash_secret: (192 bytes, not shown)\n"));
    assert_non_null(strstr(all, "value_bytes: 18446744073709551615\n"));
    assert_null(strstr(all, "aabb"));
    bb_buf_deinit(&text);
    bb_properties_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties__round_trip),
        cmocka_unit_test(properties__each_is_needed),
        cmocka_unit_test(properties__corrupt_form),
        cmocka_unit_test(properties__corrupt_zero_of_an_optional),
        cmocka_unit_test(properties__unknown_ids),
        cmocka_unit_test(properties__without_a_file),
        cmocka_unit_test(properties__corrupt_order),
        cmocka_unit_test(properties__corrupt_truncation),
        cmocka_unit_test(properties__corrupt_ranges),
        cmocka_unit_test(properties__without_predictions),
        cmocka_unit_test(properties__corrupt_key_size),
        cmocka_unit_test(properties__are_printed_but_the_secret),
    };
    return cmocka_run_group_tests_name("properties", tests, NULL, NULL);
}
