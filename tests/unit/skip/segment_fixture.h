/* Questions to a built segment. Included by one program each. */
#ifndef BB_TESTS_UNIT_SKIP_SEGMENT_FIXTURE_H
#define BB_TESTS_UNIT_SKIP_SEGMENT_FIXTURE_H

#include <stdlib.h>

#include "base/hash.h"
#include "skip/segment/segment_builder.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"

/* Adds the granules that may hold a member with this hash; false: the chunk is damaged. */
static inline bool ask(const struct bb_segment_builder *builder, uint64_t hash,
                       struct bb_granule_bits *bits)
{
    uint64_t offset = 0;
    uint32_t size = 0;
    bb_segment_chunk(&builder->segment, hash, &offset, &size);
    assert_true(offset + size <= builder->data.size);
    return bb_segment_ask(&builder->segment, (struct bb_bytes){builder->data.data + offset, size},
                          hash, bits);
}

#endif
