/* Goal: an edit survives encoding; one edit has one encoding; other bytes are refused. Method:
 * round trips of random edits; for one edit with every kind of field, every truncation and every
 * change of every byte either fails or is the encoding of its decoded edit; hand-made fields of
 * later versions and beyond the limits. */
#include "tests/unit/kv/edit_fields.h"

#include <math.h>
#include <stdlib.h>

#include "kv/manifest/filename.h"
#include "tests/unit/kv/edit_print.h"

/* Decodes, encodes again and compares: the bytes must be canonical. Only a field that became a
 * skippable one may be missing. False when decoding failed with a permitted status. */
static bool is_canonical(struct bb_bytes bytes, bool may_be_shorter)
{
    struct bb_edit edit;
    struct bb_buf again = {0};
    memset(&edit, 0x5a, sizeof(edit));
    struct bb_edit before = edit;
    enum bb_status status = bb_edit_decode(bytes, here, &edit);
    if (status != BB_OK) {
        assert_true(status == BB_CORRUPT || status == BB_UNSUPPORTED);
        assert_memory_equal(&edit, &before, sizeof(edit)); /* untouched on failure */
        return false;
    }
    assert_ok(bb_edit_encode(&edit, &again));
    if (!may_be_shorter || again.size >= bytes.size)
        assert_true(bb_bytes_equal(bb_buf_bytes(&again), bytes));
    bb_buf_deinit(&again);
    bb_edit_deinit(&edit);
    return true;
}

static struct bb_edit full_edit(void)
{
    struct bb_edit edit = {0};
    struct bb_rng rng;
    bb_rng_init(&rng, 17);
    edit.has_identity = true;
    edit.identity = sample_identity(1);
    edit.next_file_number = 1000;
    edit.last_sequence = 123456;
    edit.log_number = 77;
    edit.log_is_absent = true;
    assert_ok(bb_edit_remove_table(&edit, 3));
    assert_ok(bb_edit_remove_table(&edit, 300));
    sample_add_table(&rng, &edit, 0, 500, 1000);
    sample_add_table(&rng, &edit, 6, 501, 1000);
    return edit;
}

static void edit__round_trip(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("edit__round_trip", 1));
    for (size_t n = 0; n < 3000; n++) {
        struct bb_edit edit = sample_edit(&rng);
        struct bb_edit found;
        struct bb_buf bytes = {0};
        assert_ok(bb_edit_encode(&edit, &bytes));
        assert_ok(bb_edit_decode(bb_buf_bytes(&bytes), here, &found));
        assert_edits_equal(&edit, &found);
        assert_true(is_canonical(bb_buf_bytes(&bytes), false));
        bb_buf_deinit(&bytes);
        bb_edit_deinit(&edit);
        bb_edit_deinit(&found);
    }
}

static void edit__encode_appends(void **state)
{
    (void)state;
    struct bb_edit edit = full_edit();
    struct bb_buf bytes = {0};
    assert_ok(bb_append_u8(&bytes, 0xee));
    assert_ok(bb_edit_encode(&edit, &bytes));
    assert_int_equal(bytes.data[0], 0xee);
    assert_true(is_canonical(bb_bytes_of(bytes.data + 1, bytes.size - 1), false));
    bb_buf_deinit(&bytes);
    bb_edit_deinit(&edit);
}

static void edit__corrupt_truncated(void **state)
{
    (void)state;
    struct bb_edit edit = full_edit();
    struct bb_buf bytes = {0};
    size_t accepted = 0;
    assert_ok(bb_edit_encode(&edit, &bytes));
    for (size_t size = 0; size <= bytes.size; size++) {
        /* A copy of exactly its size, to detect reads beyond it. */
        struct bb_buf cut = {0};
        assert_ok(bb_buf_assign(&cut, bb_bytes_of(bytes.data, size)));
        accepted += is_canonical(bb_buf_bytes(&cut), false);
        bb_buf_deinit(&cut);
    }
    /* Cuts between the fields are shorter edits; the framing of the manifest knows them to be cut.
     */
    assert_int_equal(accepted, 1 + 9);
    bb_buf_deinit(&bytes);
    bb_edit_deinit(&edit);
}

static void edit__corrupt_byte(void **state)
{
    (void)state;
    struct bb_edit edit = full_edit();
    struct bb_buf bytes = {0};
    size_t refused = 0;
    assert_ok(bb_edit_encode(&edit, &bytes));
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t good = bytes.data[i];
        for (unsigned change = 1; change < 256; change++) {
            bytes.data[i] = (uint8_t)(good ^ change);
            refused += !is_canonical(bb_buf_bytes(&bytes), true);
        }
        bytes.data[i] = good;
    }
    assert_true(refused > 1000);
    bb_buf_deinit(&bytes);
    bb_edit_deinit(&edit);
}

/* ---- hand-made fields ---- */

static void edit__unknown_fields(void **state)
{
    (void)state;
    struct bb_buf bytes = {0};
    assert_ok(bb_append_u8(&bytes, 0));
    add_field(&bytes, 1, "abc", 3);
    add_number(&bytes, 4, 12);
    add_field(&bytes, 5, "", 0);
    add_field(&bytes, 5, "x", 1);
    add_field(&bytes, 1001, "abc", 3);
    struct bb_edit edit;
    assert_ok(bb_edit_decode(bb_buf_bytes(&bytes), here, &edit));
    assert_int_equal(edit.next_file_number, 12);
    bb_edit_deinit(&edit);
    bb_buf_reset(&bytes);

    assert_ok(bb_append_u8(&bytes, 0));
    add_number(&bytes, 4, 12);
    add_field(&bytes, 1000, "abc", 3);
    expect(&bytes, BB_UNSUPPORTED, "MANIFEST-000009: at offset 1004: a field with tag 1000");
    bytes.data[0] = 1;
    expect(&bytes, BB_UNSUPPORTED, "an edit of version 1, this version reads up to 0");
    bb_buf_deinit(&bytes);
}

static void edit__newer_format(void **state)
{
    (void)state;
    struct bb_edit edit = full_edit();
    struct bb_buf bytes = {0};
    edit.identity.format_version = BB_STORE_FORMAT_VERSION + 1;
    assert_ok(bb_edit_encode(&edit, &bytes));
    expect(&bytes, BB_UNSUPPORTED, "format version 1, this version reads up to 0");
    bb_buf_deinit(&bytes);
    bb_edit_deinit(&edit);
}

static void edit__corrupt_order(void **state)
{
    (void)state;
    struct bb_buf bytes = {0};
    assert_ok(bb_append_u8(&bytes, 0));
    add_number(&bytes, 6, 1);
    add_number(&bytes, 4, 1);
    expect(&bytes, BB_CORRUPT,
           "at offset 1004: edit of the manifest: a field out of order or twice");
    add_number(&bytes, 4, 1);
    add_number(&bytes, 4, 1);
    expect(&bytes, BB_CORRUPT, "a field out of order or twice");
    add_number(&bytes, 0, 1);
    expect(&bytes, BB_CORRUPT, "a field out of order or twice");
    add_field(&bytes, 10, "", 0);
    expect(&bytes, BB_CORRUPT, "absent, but without its number");
    add_number(&bytes, 8, 4);
    add_field(&bytes, 10, "1", 1);
    expect(&bytes, BB_CORRUPT, "absent, but without its number");
    bb_buf_reset(&bytes);
    struct bb_edit edit;
    assert_status(bb_edit_decode(bb_buf_bytes(&bytes), here, &edit), BB_CORRUPT);
    assert_message("MANIFEST-000009: at offset 1000: an empty edit");
    assert_status(
        bb_edit_decode(bb_bytes_of(bytes.data, (size_t)BB_EDIT_SIZE_MAX + 1), here, &edit),
        BB_CORRUPT);
    assert_message("the limit is");
    bb_buf_deinit(&bytes);
}

static void edit__corrupt_numbers(void **state)
{
    (void)state;
    static const struct {
        uint64_t tag;
        uint64_t max;
    } fields[] = {{4, BB_FILE_NUMBER_MAX + 1},
                  {6, BB_SEQUENCE_MAX},
                  {8, BB_FILE_NUMBER_MAX},
                  {12, BB_FILE_NUMBER_MAX}};
    struct bb_buf bytes = {0};
    assert_ok(bb_append_u8(&bytes, 0));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        add_number(&bytes, fields[i].tag, fields[i].max);
        expect(&bytes, BB_OK, NULL);
        add_number(&bytes, fields[i].tag, fields[i].max + 1);
        expect(&bytes, BB_CORRUPT, "a number out of range");
        add_number(&bytes, fields[i].tag, 0);
        expect(&bytes, BB_CORRUPT, "a number out of range");
        add_field(&bytes, fields[i].tag, "\x81\x00", 2); /* 1, but longer than it needs */
        expect(&bytes, BB_CORRUPT, "not one varint");
        add_field(&bytes, fields[i].tag, "\x01\x01", 2);
        expect(&bytes, BB_CORRUPT, "not one varint");
        add_field(&bytes, fields[i].tag, "", 0);
        expect(&bytes, BB_CORRUPT, "not one varint");
    }
    bb_buf_deinit(&bytes);
}

static void edit__corrupt_comparator(void **state)
{
    (void)state;
    uint8_t value[4 + 16 + 192 + 257] = {0};
    struct bb_buf bytes = {0};
    assert_ok(bb_append_u8(&bytes, 0));
    memset(value + 212, 'c', 257);
    add_field(&bytes, 2, value, 212 + 255);
    expect(&bytes, BB_OK, NULL);
    add_field(&bytes, 2, value, 212 + 256);
    expect(&bytes, BB_CORRUPT, "the comparator's name is empty, too long or holds a NUL");
    add_field(&bytes, 2, value, 212);
    expect(&bytes, BB_CORRUPT, "the comparator's name is empty");
    value[214] = 0;
    add_field(&bytes, 2, value, 216);
    expect(&bytes, BB_CORRUPT, "holds a NUL");
    add_field(&bytes, 2, value, 211);
    expect(&bytes, BB_CORRUPT, "the identity is cut off");
    add_field(&bytes, 2, value, 3);
    expect(&bytes, BB_CORRUPT, "the identity is cut off");
    add_field(&bytes, 2, value, 19);
    expect(&bytes, BB_CORRUPT, "the identity is cut off");
    bb_buf_deinit(&bytes);
}

/* The ends of two logs, as a close notes them. */
static void add_close(struct bb_buf *bytes, uint64_t first, uint64_t second, uint64_t offset)
{
    struct bb_buf value = {0};
    assert_ok(bb_append_varint(&value, first));
    assert_ok(bb_append_varint(&value, offset));
    assert_ok(bb_append_u64(&value, 1));
    assert_ok(bb_append_varint(&value, second));
    assert_ok(bb_append_varint(&value, offset));
    assert_ok(bb_append_u64(&value, 2));
    add_field(bytes, 17, value.data, value.size);
    bb_buf_deinit(&value);
}

static void edit__corrupt_close(void **state)
{
    (void)state;
    static const uint64_t rows[][3] = {{5, BB_FILE_NUMBER_MAX + 1, BB_WAL_HEADER_SIZE},
                                       {0, 6, BB_WAL_HEADER_SIZE},
                                       {5, 5, BB_WAL_HEADER_SIZE},
                                       {5, 6, BB_WAL_HEADER_SIZE - 1}};
    struct bb_buf bytes = {0};
    assert_ok(bb_append_u8(&bytes, 0));
    add_close(&bytes, 5, BB_FILE_NUMBER_MAX, BB_WAL_HEADER_SIZE);
    expect(&bytes, BB_OK, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        add_close(&bytes, rows[i][0], rows[i][1], rows[i][2]);
        expect(&bytes, BB_CORRUPT, "the end of a log that cannot be");
    }
    static const uint8_t end[] = {5, 64, 1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t size = 1; size < sizeof(end); size++) {
        add_field(&bytes, 17, end, size);
        expect(&bytes, BB_CORRUPT, "the end of a log is cut off or no varint");
    }
    add_field(&bytes, 17, "\x80", 1);
    expect(&bytes, BB_CORRUPT, "the end of a log is cut off or no varint");
    add_close(&bytes, 5, 6, BB_WAL_HEADER_SIZE);
    add_close(&bytes, 5, 6, BB_WAL_HEADER_SIZE);
    expect(&bytes, BB_CORRUPT, "a field out of order or twice");
    bb_buf_deinit(&bytes);
}

static void edit__catalog_of_its_limit(void **state)
{
    (void)state;
    uint8_t *catalog = calloc(1, BB_CATALOG_SIZE_MAX + 1);
    struct bb_buf bytes = {0};
    assert_non_null(catalog);
    assert_ok(bb_append_u8(&bytes, 0));
    add_field(&bytes, 16, catalog, BB_CATALOG_SIZE_MAX);
    expect(&bytes, BB_OK, NULL);
    add_field(&bytes, 16, catalog, BB_CATALOG_SIZE_MAX + 1);
    expect(&bytes, BB_CORRUPT, "a catalog beyond its limit");
    struct bb_edit edit = {0};
    assert_ok(bb_edit_set_catalog(&edit, bb_bytes_of(catalog, BB_CATALOG_SIZE_MAX)));
    assert_status(bb_edit_set_catalog(&edit, bb_bytes_of(catalog, BB_CATALOG_SIZE_MAX + 1)),
                  BB_TOO_LARGE);
    assert_int_equal(edit.catalog.size, BB_CATALOG_SIZE_MAX);
    bb_edit_deinit(&edit);
    bb_buf_deinit(&bytes);
    free(catalog);
}

/* Messages have a name for an edit without a file. */
static void edit__in_memory_is_named(void **state)
{
    (void)state;
    static const uint8_t newer[] = {1};
    static const uint8_t unknown[] = {0, 100, 0};
    struct bb_edit edit = full_edit();
    struct bb_edit found;
    struct bb_buf bytes = {0};
    struct bb_place nowhere = {0};
    assert_status(bb_edit_decode(bb_bytes_of(newer, sizeof(newer)), nowhere, &found),
                  BB_UNSUPPORTED);
    assert_message("(memory): at offset 0: an edit of version 1");
    assert_status(bb_edit_decode(bb_bytes_of(unknown, sizeof(unknown)), nowhere, &found),
                  BB_UNSUPPORTED);
    assert_message("(memory): at offset 1: a field with tag 100");
    edit.identity.format_version = BB_STORE_FORMAT_VERSION + 1;
    assert_ok(bb_edit_encode(&edit, &bytes));
    assert_status(bb_edit_decode(bb_buf_bytes(&bytes), nowhere, &found), BB_UNSUPPORTED);
    assert_message("(memory): a store of format version");
    bb_buf_deinit(&bytes);
    bb_edit_deinit(&edit);
}

/* ---- tables that cannot be ---- */

static void edit__print(void **state)
{
    (void)state;
    struct bb_edit edit = {0};
    struct bb_buf text = {0};
    struct bb_table_meta meta = {.table_id = {0xab, 1},
                                 .file_size = 5000,
                                 .entry_count = 40,
                                 .key_count = 30,
                                 .tombstone_count = 2,
                                 .block_count = 3,
                                 .raw_bytes = 9000,
                                 .filter_bytes = 80,
                                 .table_filter_bytes = 50,
                                 .sequence_min = 7,
                                 .sequence_max = 99,
                                 .filter_rate = 0.01,
                                 .table_filter_rate = 0.08,
                                 .predicted_block_rate = 0.12,
                                 .predicted_table_filter_rate = 0.0625};
    assert_ok(bb_buf_append(&meta.smallest, "a\n", 2));
    assert_ok(bb_buf_append(&meta.largest, "zz", 2));
    edit.has_identity = true;
    edit.identity = (struct bb_store_identity){.store_id = {0x12}, .comparator = "bytewise"};
    memset(edit.identity.secret.bytes, 0x77, sizeof(edit.identity.secret.bytes));
    edit.next_file_number = 12;
    edit.last_sequence = 99;
    edit.log_number = 11;
    edit.log_is_absent = true;
    assert_ok(bb_edit_remove_table(&edit, 4));
    assert_ok(bb_edit_add_table(&edit, 2, 0, 10, &meta));
    assert_ok(edit_print(&edit, &text));
    assert_ok(bb_append_u8(&text, 0));
    assert_string_equal(
        (const char *)text.data,
        "store of format version 0, id 12000000000000000000000000000000, comparator bytewise\n"
        "next file number 12\n"
        "last sequence 99\n"
        "logs from 11, none begun\n"
        "remove table 4\n"
        "add table 10 to level 2: 5000 bytes, 40 entries (2 tombstones), 30 keys, 3 blocks, 9000 "
        "raw bytes, 80 filter bytes (50 table filter) at rate 0.01 (0.08), sequences 7 to 99, keys "
        "a\\x0a to zz, predicted rates 0.12 and 0.0625, id ab010000000000000000000000000000\n");
    assert_null(strstr((const char *)text.data, "7777"));
    bb_buf_deinit(&text);
    bb_table_meta_deinit(&meta);
    bb_edit_deinit(&edit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edit__round_trip),
        cmocka_unit_test(edit__encode_appends),
        cmocka_unit_test(edit__corrupt_truncated),
        cmocka_unit_test(edit__corrupt_byte),
        cmocka_unit_test(edit__unknown_fields),
        cmocka_unit_test(edit__newer_format),
        cmocka_unit_test(edit__corrupt_order),
        cmocka_unit_test(edit__corrupt_numbers),
        cmocka_unit_test(edit__corrupt_comparator),
        cmocka_unit_test(edit__corrupt_close),
        cmocka_unit_test(edit__catalog_of_its_limit),
        cmocka_unit_test(edit__in_memory_is_named),
        cmocka_unit_test(edit__print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
