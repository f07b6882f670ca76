/* Filters that stand alone, for their tests: made in one call, damaged in another. */
#ifndef BB_TESTS_UNIT_BLOOMBLOCK_ENVELOPE_FIXTURE_H
#define BB_TESTS_UNIT_BLOOMBLOCK_ENVELOPE_FIXTURE_H

#include "tests/unit/bloomblock/filter_fixture.h"

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

static inline struct bb_buf envelope_of(enum bb_filter_kind kind, double target_rate, uint64_t set,
                                        uint64_t count)
{
    struct bb_filter_options options = {.kind = kind, .target_rate = target_rate, .salt = set};
    struct bb_buf envelope = {0};
    envelope_append(&envelope, &options, set, count);
    return envelope;
}

/* The checksum of what the bytes are now. */
static inline void envelope_repair(struct bb_buf *envelope)
{
    size_t checked = envelope->size - 8;
    bb_store64(envelope->data + checked, bb_hash_bytes(envelope->data, checked));
}

#endif
