/* The value of BB.FILTER.*: an immutable filter of one or more ribbons. A union of filters has the
 * ribbons of all; an item may be a member if it may be in one of them. */
#ifndef BB_REDIS_FILTER_RIBBON_H
#define BB_REDIS_FILTER_RIBBON_H

#include "bb/filter.h"

#define BB_REDIS_RIBBON_PARTS_MAX 64

struct bb_redis_ribbon_part {
    /* Memory of the server. */
    uint8_t *envelope;
    size_t size;
    struct bb_filter_view view;
    uint64_t key_count;
    double target_rate;
    double predicted_rate;
};

struct bb_redis_ribbon {
    uint32_t part_count;
    struct bb_redis_ribbon_part *parts[BB_REDIS_RIBBON_PARTS_MAX];
};

/* Without parts, which rules out everything. NULL: there is no memory. */
struct bb_redis_ribbon *bb_redis_ribbon_create(void);
void bb_redis_ribbon_destroy(struct bb_redis_ribbon *ribbon);

/* Adds a ribbon. take: an envelope in memory of the server, which is owned then, even after a
 * failure. copy: a copy. BB_CORRUPT, BB_UNSUPPORTED: it is not the envelope of a ribbon.
 * BB_TOO_LARGE: too many parts. BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_redis_ribbon_take(struct bb_redis_ribbon *ribbon, uint8_t *envelope,
                                                  size_t size);
BB_MUST_CHECK enum bb_status bb_redis_ribbon_copy_part(struct bb_redis_ribbon *ribbon,
                                                       struct bb_bytes envelope);
/* Adds copies of all parts of another one. */
BB_MUST_CHECK enum bb_status bb_redis_ribbon_unite(struct bb_redis_ribbon *ribbon,
                                                   const struct bb_redis_ribbon *other);

bool bb_redis_ribbon_may_contain(const struct bb_redis_ribbon *ribbon, uint64_t hash);

struct bb_redis_ribbon_totals {
    size_t memory;
    size_t size;
    /* Of all parts: a member of two parts counts twice. */
    uint64_t key_count;
    /* Of all parts together. */
    double target_rate;
    double predicted_rate;
};
struct bb_redis_ribbon_totals bb_redis_ribbon_totals(const struct bb_redis_ribbon *ribbon);

#endif
