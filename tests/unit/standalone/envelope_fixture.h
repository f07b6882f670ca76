/* Standalone filters for tests: made in one call, damaged in another. */
#ifndef BB_TESTS_UNIT_STANDALONE_ENVELOPE_FIXTURE_H
#define BB_TESTS_UNIT_STANDALONE_ENVELOPE_FIXTURE_H

#include "tests/support/filter_keys.h"
#include "tests/support/guarded.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "bb/filter.h"

/* Appends the envelope of the first count members of a set. */
static inline void envelope_append(struct bb_buf *envelope, const struct bb_filter_options *options,
                                   uint64_t set, uint64_t count)
{
    struct bb_filter_builder *builder = NULL;
    assert_ok(bb_filter_builder_create(options, &builder));
    for (uint64_t i = 0; i < count; i++)
        assert_ok(bb_filter_builder_add(builder, member_hash(set, i)));
    assert_ok(bb_filter_builder_finish(builder, envelope));
    bb_filter_builder_destroy(builder);
}

/* A set's salt, where the kind may have one. */
static inline uint64_t salt_of(enum bb_filter_kind kind, uint64_t set)
{
    return kind == BB_FILTER_SPLIT_BLOCK ? 0 : set;
}

static inline struct bb_buf envelope_of(enum bb_filter_kind kind, double target_rate, uint64_t set,
                                        uint64_t count)
{
    struct bb_filter_options options = {
        .kind = kind, .target_rate = target_rate, .salt = salt_of(kind, set)};
    struct bb_buf envelope = {0};
    envelope_append(&envelope, &options, set, count);
    return envelope;
}

/* Stores the checksum of the present bytes. */
static inline void envelope_repair(struct bb_buf *envelope)
{
    size_t checked = envelope->size - 8;
    bb_store64(envelope->data + checked, bb_hash_bytes(envelope->data, checked));
}

/* --- Damage --- */

/* Offsets of the fields (standalone/envelope/envelope.h), deliberately written a second time. */
#define VERSION     8
#define KIND        12
#define HEADER_SIZE 14
#define SIZE        16
#define KEY_COUNT   32
#define TARGET_RATE 40
#define PARAMETER_0 48
#define PARAMETER_1 56
#define PAYLOAD     64

/* Refused, with the view letting everything through, members or not. */
static inline void assert_envelope_refused(const uint8_t *data, size_t size,
                                           enum bb_status expected)
{
    struct guarded copy = guarded_copy(data, size);
    struct bb_bytes bytes = {copy.data, size};
    struct bb_filter_view view;
    struct bb_filter_info info = {.size_bytes = 77};
    enum bb_status status = bb_filter_view_init(&view, bytes);
    assert_status(status, expected);
    assert_int_equal(bb_error_last()->status, expected);
    assert_status(bb_filter_info(bytes, &info), expected);
    assert_int_equal(info.size_bytes, 77);
    for (uint64_t i = 0; i < 8; i++) {
        assert_true(bb_filter_may_contain(&view, member_hash(1, i)));
        assert_true(bb_filter_may_contain(&view, absent_hash(i)));
    }
    guarded_free(&copy);
}

/* One field set to a value, and the expected error. */
struct change {
    size_t offset;
    size_t width;
    uint64_t value;
    enum bb_status expected;
    const char *message;
};

/* Refused because of only that field: the checksum is repaired. The envelope is unchanged. */
static inline void assert_change_refused(const struct bb_buf *envelope, const struct change *change)
{
    struct bb_buf damaged = {0};
    assert_ok(bb_buf_append(&damaged, envelope->data, envelope->size));
    for (size_t i = 0; i < change->width; i++)
        damaged.data[change->offset + i] = (uint8_t)(change->value >> (8 * i));
    envelope_repair(&damaged);
    assert_envelope_refused(damaged.data, damaged.size, change->expected);
    assert_message(change->message);
    bb_buf_deinit(&damaged);
}

#endif
