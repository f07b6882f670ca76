/* Edits from hand-made fields, for tests of decoding. */
#ifndef BB_TESTS_UNIT_KV_EDIT_FIELDS_H
#define BB_TESTS_UNIT_KV_EDIT_FIELDS_H

#include "base/coding.h"
#include "tests/unit/kv/sample_edit.h"

static const struct bb_place here = {.file = "MANIFEST-000009", .offset = 1000};

static inline void add_field(struct bb_buf *bytes, uint64_t tag, const void *value, size_t size)
{
    assert_ok(bb_append_varint(bytes, tag));
    assert_ok(bb_append_bytes(bytes, bb_bytes_of(value, size)));
}

static inline void add_number(struct bb_buf *bytes, uint64_t tag, uint64_t number)
{
    uint8_t value[BB_VARINT64_SIZE_MAX];
    add_field(bytes, tag, value, (size_t)(bb_store_varint(value, number) - value));
}

/* Decodes the edit and releases it; then the bytes begin another one. */
static inline void expect(struct bb_buf *bytes, enum bb_status status, const char *message)
{
    struct bb_edit edit;
    assert_status(bb_edit_decode(bb_buf_bytes(bytes), here, &edit), status);
    if (status == BB_OK)
        bb_edit_deinit(&edit);
    else
        assert_message(message);
    bb_buf_reset(bytes);
    assert_ok(bb_append_u8(bytes, 0));
}

/* The value of an added table, without fields after it. */
static inline struct bb_buf plain_table(int level)
{
    struct bb_edit edit = {0};
    struct bb_rng rng;
    struct bb_buf plain = {0};
    struct bb_buf value = {0};
    struct bb_bytes table;
    bb_rng_init(&rng, 4);
    sample_add_table(&rng, &edit, level, 8, 100);  /* of run 0 */
    edit.added[0].meta.tombstone_sequence_min = 0; /* stored in a separate field */
    edit.added[0].meta.predicted_block_rate = 0;
    edit.added[0].meta.predicted_table_filter_rate = 0;
    assert_ok(bb_edit_encode(&edit, &plain));
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(plain.data + 2, plain.size - 2));
    assert_true(bb_decode_bytes(&cursor, &table));
    assert_ok(bb_buf_assign(&value, table));
    bb_buf_deinit(&plain);
    bb_edit_deinit(&edit);
    return value;
}

/* An edit with this table. Releases the value. */
static inline void assign_table(struct bb_buf *value, struct bb_buf *bytes)
{
    bb_buf_reset(bytes);
    assert_ok(bb_append_u8(bytes, 0));
    add_field(bytes, 14, value->data, value->size);
    bb_buf_deinit(value);
}

#endif
