/* set: every distinct value of a segment, and the granules that hold it. The index is exact, for a
 * leaf and for its negation.
 *
 *     unit    := varint values | value* | postings
 *     value   := 8 bytes of a number, or varint size and bytes; ascending, NaN last
 *     posting := as bits, for each value: gamma(granules), posting (posting.h)
 *
 * WHY no fingerprints: if a value only seemed to be in a granule, NOT IN would lose records. A
 * segment with too many values, or too many bytes of values, is not indexed.
 *
 * Threads: a builder for one.
 */
#ifndef BB_SKIP_KIND_VALUE_SET_H
#define BB_SKIP_KIND_VALUE_SET_H

#include "skip/kind/interval_set.h"
#include "skip/layout/segment_sink.h"

#define BB_VALUE_SET_BYTES_MAX (4u * 1024 * 1024)

struct bb_set_value {
    struct bb_attribute value; /* bytes: data is NULL, they are in the builder's bytes at offset */
    size_t offset;
    struct bb_granule_bits granules;
};

struct bb_value_set_builder {
    uint32_t values_max;
    uint32_t granule_count;      /* of the segment */
    bool is_full;                /* the segment has too many values */
    struct bb_set_value *values; /* owned */
    size_t value_count;
    size_t value_capacity;
    uint32_t *slots; /* owned: number of a value + 1, 0: empty */
    size_t slot_count;
    struct bb_buf bytes; /* owned: of all values */
    struct bb_buf unit;  /* owned */
    size_t last;         /* the value added last: records repeat */
    enum bb_status status;
};

void bb_value_set_builder_init(struct bb_value_set_builder *builder, uint32_t values_max);
void bb_value_set_builder_deinit(struct bb_value_set_builder *builder);
/* attribute: present. */
void bb_value_set_builder_add(struct bb_value_set_builder *builder,
                              const struct bb_attribute *attribute);
BB_MUST_CHECK enum bb_status bb_value_set_builder_end_granule(struct bb_value_set_builder *builder);
BB_MUST_CHECK enum bb_status bb_value_set_builder_end_segment(struct bb_value_set_builder *builder,
                                                              struct bb_segment_sink *sink);

/* The value's entry, or NULL. Its granules may be changed. */
struct bb_set_value *bb_value_set_builder_find(struct bb_value_set_builder *builder,
                                               const struct bb_attribute *value);
/* Begins a segment. */
void bb_value_set_builder_reset(struct bb_value_set_builder *builder);

/* Calls a function with each value and its granules. unit: as below. False: the unit is damaged. */
BB_MUST_CHECK bool bb_value_set_visit(struct bb_bytes unit, enum bb_attribute_type type,
                                      uint32_t granule_count,
                                      void (*visit)(void *context, const struct bb_attribute *value,
                                                    const struct bb_granule_bits *granules),
                                      void *context);

/* Finds the granules with a value for which the leaf may be true, and those with a value for which
 * it may be false. The bits of granules without a value may have any values. Postings that cannot
 * change the result are not read. leaf: INTERVALS or TEXT of the type. unit: without its checksum,
 * with BB_BIT_READER_PAD readable bytes after it. False: the unit is damaged. */
BB_MUST_CHECK bool bb_value_set_judge(struct bb_bytes unit, enum bb_attribute_type type,
                                      uint32_t granule_count, const struct bb_leaf *leaf,
                                      struct bb_granule_bits *may_be_true,
                                      struct bb_granule_bits *may_be_false);

#endif
