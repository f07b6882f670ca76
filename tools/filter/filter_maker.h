/* Makes a filter of hashes, in the way that the request needs:
 *
 *     default              a builder: sized for the keys when all are known
 *     size for N keys      grown: no more memory than the filter itself
 *     an amount of memory  collected: the rate follows from the number of keys
 *     counting             grown, after collecting if the number of keys is not given
 *     scalable             grown
 *
 * Threads: one.
 */
#ifndef BB_TOOLS_FILTER_FILTER_MAKER_H
#define BB_TOOLS_FILTER_FILTER_MAKER_H

#include "tools/filter/filter_growth.h"

struct filter_maker {
    /* Set before it begins. */
    struct bb_filter_options options;
    uint64_t size_bytes; /* 0: the rate decides */
    double ratio;        /* of a scalable filter; 0 its default */
    /* 0: any number. When finished: of the filter, 0 for kinds that take no more keys. */
    uint64_t planned_key_count;
    /* The result; owned. */
    struct bb_buf envelope;
    struct bb_filter_info info;

    struct bb_filter_builder *builder;
    struct filter_growth growth;
    bool is_growing;
    struct bb_buf hashes; /* uint64_t each, of a collection */
};

/* BB_INVALID, BB_UNSUPPORTED for an impossible request. Owned in any case: filter_maker_deinit. */
BB_MUST_CHECK enum bb_status filter_maker_begin(struct filter_maker *maker);
BB_MUST_CHECK enum bb_status filter_maker_add(struct filter_maker *maker, uint64_t hash);
BB_MUST_CHECK enum bb_status filter_maker_finish(struct filter_maker *maker);
void filter_maker_deinit(struct filter_maker *maker);

#endif
