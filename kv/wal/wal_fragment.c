/* Decodes one fragment of a log. Cheap checks are first: the search after damage (wal_search.h)
 * calls this for every offset. Any thread. */
#include "kv/wal/wal_fragment.h"

#include "base/bytes.h"

bool bb_wal_fragment_is_zero(struct bb_bytes rest)
{
    for (size_t i = 0; i < rest.size; i++) {
        if (rest.data[i] != 0)
            return false;
    }
    return true;
}

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

/* REQUIRES: bb_wal_fragment_header_defect(rest) is NULL. */
static uint64_t decode(uint64_t seed, struct bb_bytes rest, struct bb_wal_fragment *ret_fragment)
{
    *ret_fragment = (struct bb_wal_fragment){
        .type = (enum bb_wal_fragment_type)rest.data[10],
        .check = bb_load64(rest.data),
        .body = bb_bytes_of(rest.data + BB_WAL_FRAGMENT_HEADER, bb_load16(rest.data + 8)),
    };
    return bb_wal_format_place(seed, ret_fragment->check, ret_fragment->type, ret_fragment->body);
}

bool bb_wal_fragment_find(uint64_t seed, uint64_t file_size, struct bb_bytes rest,
                          struct bb_wal_fragment *ret_fragment, uint64_t *ret_place)
{
    struct bb_wal_fragment fragment;
    if (bb_wal_fragment_header_defect(rest) != NULL)
        return false;
    uint64_t place = decode(seed, rest, &fragment);
    if (place < BB_WAL_HEADER_SIZE || place >= file_size ||
        BB_WAL_FRAGMENT_HEADER + fragment.body.size > bb_wal_block_left(place))
        return false;
    *ret_fragment = fragment;
    *ret_place = place;
    return true;
}

const char *bb_wal_fragment_decode(uint64_t seed, uint64_t offset, struct bb_bytes rest,
                                   struct bb_wal_fragment *ret_fragment)
{
    struct bb_wal_fragment fragment;
    const char *defect = bb_wal_fragment_header_defect(rest);
    if (defect != NULL)
        return defect;
    if (decode(seed, rest, &fragment) != offset)
        return "a fragment with a wrong check";
    *ret_fragment = fragment;
    return NULL;
}
