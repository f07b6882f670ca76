/* min_max: the smallest and the largest value of each granule, and of each segment.
 *
 *     unit    := bounds for each granule
 *     bounds  := u8 flags (1: has values that compare, 2: has NaN) | low | high, only with flag 1
 *     low     := 8 bytes of a number, or u8 size (0 ... 16) and the first bytes of the smallest
 *     high    := the same; bytes that were cut are rounded up, size 255 and no bytes: no bound
 *
 * The head has the bounds of the segment, then the place of the unit. NULL, missing and malformed
 * attributes have no value here; the granule table counts them.
 *
 * Threads: a builder for one.
 */
#ifndef BB_SKIP_KIND_MIN_MAX_H
#define BB_SKIP_KIND_MIN_MAX_H

#include "skip/kind/interval_set.h"
#include "skip/layout/segment_sink.h"

/* ON DISK. */
#define BB_MIN_MAX_BYTES     16
#define BB_MIN_MAX_HAS       1
#define BB_MIN_MAX_HAS_NAN   2
#define BB_MIN_MAX_HIGH_OPEN 255

/* The bounds of added values. Bytes are cut to 16. */
struct bb_value_span {
    bool has_values;
    bool has_nan;
    bool high_is_cut; /* of bytes: a value with these first 16 bytes was longer */
    struct bb_attribute low;
    struct bb_attribute high;
    uint8_t low_bytes[BB_MIN_MAX_BYTES];
    uint8_t high_bytes[BB_MIN_MAX_BYTES];
};

struct bb_min_max_builder {
    struct bb_value_span granule;
    struct bb_value_span segment;
    uint32_t granule_count; /* of the segment */
    struct bb_buf unit;     /* owned */
};

static inline void bb_min_max_builder_deinit(struct bb_min_max_builder *builder)
{
    bb_buf_deinit(&builder->unit);
}

/* attribute: present. */
void bb_min_max_builder_add(struct bb_min_max_builder *builder,
                            const struct bb_attribute *attribute);
BB_MUST_CHECK enum bb_status bb_min_max_builder_end_granule(struct bb_min_max_builder *builder);
BB_MUST_CHECK enum bb_status bb_min_max_builder_end_segment(struct bb_min_max_builder *builder,
                                                            struct bb_segment_sink *sink);

/* Decoded bounds. Bytes are borrowed from the unit or head. */
struct bb_read_bounds {
    bool has_values;
    bool has_nan;
    struct bb_value_bounds values;
};
/* False: the bytes are not valid bounds. */
BB_MUST_CHECK bool bb_min_max_bounds_decode(struct bb_cursor *cursor, enum bb_attribute_type type,
                                            struct bb_read_bounds *ret_bounds);
/* The possible truths of a leaf for present values within the bounds. leaf: INTERVALS or TEXT of
 * the type. */
void bb_min_max_bounds_judge(const struct bb_read_bounds *bounds, const struct bb_leaf *leaf,
                             bool *ret_may_be_true, bool *ret_may_be_false);
/* The possible truths of a leaf in each granule of a unit of bounds. False: the unit is
 * malformed. */
BB_MUST_CHECK bool bb_min_max_judge(struct bb_bytes unit, enum bb_attribute_type type,
                                    uint32_t granule_count, const struct bb_leaf *leaf,
                                    struct bb_granule_bits *may_be_true,
                                    struct bb_granule_bits *may_be_false);
/* Whether bounds can decide such a leaf. */
bool bb_min_max_knows(const struct bb_leaf *leaf);

#endif
