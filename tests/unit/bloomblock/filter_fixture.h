/* Filters of one group of a table, for tests. */
#ifndef BB_TESTS_UNIT_BLOOMBLOCK_FILTER_FIXTURE_H
#define BB_TESTS_UNIT_BLOOMBLOCK_FILTER_FIXTURE_H

#include "tests/support/filter_keys.h"
#include "tests/support/guarded.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/coding.h"
#include "bloomblock/table/block_filter.h"

struct group {
    const struct bb_block_filter_format *format;
    uint32_t shard_count;
    struct bb_buf descriptors;
    struct bb_buf memory;  /* lead, payload, pad */
    struct bb_buf payload; /* in memory, without lead and pad */
    size_t payload_size;
};

/* Ends the builder's group. Lead and pad are filled with ones, which must not change a result. */
static inline void group_finish(struct group *group, const struct bb_block_filter_format *format,
                                struct bb_block_filter_builder *builder)
{
    uint8_t *lead = NULL, *pad = NULL;
    *group = (struct group){.format = format};
    size_t limit = bb_block_filter_builder_size_estimate(builder);
    assert_ok(bb_buf_extend(&group->memory, BB_FILTER_LEAD_BYTES, &lead));
    memset(lead, 0xff, BB_FILTER_LEAD_BYTES);
    assert_ok(bb_block_filter_builder_finish(builder, &group->descriptors, &group->memory,
                                             &group->shard_count));
    group->payload_size = group->memory.size - BB_FILTER_LEAD_BYTES;
    assert_true(group->payload_size <= limit);
    assert_int_equal(group->descriptors.size, group->shard_count * 2);
    assert_ok(bb_buf_extend(&group->memory, BB_FILTER_PAD_BYTES, &pad));
    memset(pad, 0xff, BB_FILTER_PAD_BYTES);
    group->payload = (struct bb_buf){.data = group->memory.data + BB_FILTER_LEAD_BYTES,
                                     .size = group->payload_size};
}

/* The group of the first count members of a set. */
static inline void group_init(struct group *group, const struct bb_block_filter_format *format,
                              struct bb_block_filter_builder *builder, uint64_t set, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_ok(bb_block_filter_builder_add(builder, member_hash(set, i)));
    group_finish(group, format, builder);
}

static inline void group_deinit(struct group *group)
{
    bb_buf_deinit(&group->descriptors);
    bb_buf_deinit(&group->memory);
}

static inline uint16_t group_descriptor(const struct group *group, uint32_t shard)
{
    return bb_load16(group->descriptors.data + (size_t)shard * 2);
}

/* Offset of a shard's payload; of the last but one, the size of all. */
static inline size_t group_offset(const struct group *group, uint32_t shard)
{
    size_t offset = 0;
    for (uint32_t i = 0; i < shard; i++) {
        size_t size = 0;
        assert_true(bb_block_filter_size(group->format, group_descriptor(group, i), &size));
        offset += size;
    }
    return offset;
}

static inline bool group_may_contain(const struct group *group, uint64_t key_hash)
{
    struct bb_block_filter_key key = bb_block_filter_key(group->format, key_hash);
    uint32_t shard = bb_block_filter_shard(key, group->shard_count);
    return bb_block_filter_may_contain(group->format, group_descriptor(group, shard),
                                       group->payload.data + group_offset(group, shard), key);
}

static inline void assert_group_has(const struct group *group, uint64_t set, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!group_may_contain(group, member_hash(set, i))) {
            print_error("kind %d, %u bits per probe, %zu keys of set %llu: member %zu is denied\n",
                        (int)group->format->kind, group->format->bits_per_probe, count,
                        (unsigned long long)set, i);
            fail();
        }
}

static inline struct bb_block_filter_format format_of(enum bb_filter_kind kind, double target_rate,
                                                      uint64_t salt)
{
    struct bb_block_filter_format format;
    assert_ok(bb_block_filter_format_init(&format, kind, target_rate, salt));
    return format;
}

static inline struct bb_block_filter_builder *
builder_of(const struct bb_block_filter_format *format)
{
    struct bb_block_filter_builder *builder = NULL;
    assert_ok(bb_block_filter_builder_create(format, &builder));
    return builder;
}

#endif
