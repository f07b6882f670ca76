/* Decodes one fragment of a log. Cheap tests come first: the search behind damage (wal_search.h)
 * calls this for every offset. Any thread. */
#include "kv/wal/wal_fragment.h"

#include "base/bytes.h"

static size_t body_size_min(uint8_t type)
{
    return type == BB_WAL_MIDDLE || type == BB_WAL_LAST ? 1 : BB_WAL_DURABLE_SIZE;
}

const char *bb_wal_fragment_header_defect(struct bb_bytes rest)
{
    if (rest.size < BB_WAL_FRAGMENT_HEADER)
        return "a fragment's header is cut off";
    uint8_t type = rest.data[10];
    size_t body_size = bb_load16(rest.data + 8);
    if (type == BB_WAL_NONE)
        return bb_load64(rest.data) == 0 && body_size == 0 ? "zeros instead of a fragment"
                                                           : "a fragment without a type";
    if (type > BB_WAL_MARK)
        return "a fragment of unknown type";
    if (body_size > rest.size - BB_WAL_FRAGMENT_HEADER)
        return "a fragment is cut off or longer than its block";
    if (body_size < body_size_min(type) ||
        (type == BB_WAL_MARK && body_size != BB_WAL_DURABLE_SIZE))
        return "a fragment of wrong length";
    return NULL;
}

const char *bb_wal_fragment_decode(uint64_t seed, uint64_t offset, struct bb_bytes rest,
                                   struct bb_wal_fragment *ret_fragment)
{
    const char *defect = bb_wal_fragment_header_defect(rest);
    if (defect != NULL)
        return defect;
    struct bb_wal_fragment fragment = {
        .type = (enum bb_wal_fragment_type)rest.data[10],
        .body = bb_bytes_of(rest.data + BB_WAL_FRAGMENT_HEADER, bb_load16(rest.data + 8)),
    };
    if (bb_load64(rest.data) != bb_wal_check(seed, offset, fragment.type, fragment.body))
        return "a fragment with a wrong check";
    *ret_fragment = fragment;
    return NULL;
}
