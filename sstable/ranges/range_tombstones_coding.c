/* The stored form of range tombstones: a section of a table.
 *
 *     section  := varint fragments | fragment*
 *     fragment := low | bytes high | varint sequences - 1 | varint newest | varint difference *
 *     low      := varint 0                  it begins where the fragment before ends
 *               | varint (size + 1) | key
 *
 * Fragments ascend without overlap; each low is below its high. The sequences of a fragment
 * descend: the newest is stored whole, then the difference from each to the next, at least 1.
 */
#include "sstable/ranges/range_tombstones.h"

#include <inttypes.h>

#include "sstable/format.h"

/* A fragment has at least: low, high of one byte or an empty one, count, sequence. */
#define FRAGMENT_SIZE_MIN 4

static enum bb_status encode_low(const struct bb_range_tombstones *list, size_t index,
                                 struct bb_buf *buf)
{
    const struct bb_range_tombstone_fragment *fragment = &list->fragments[index];
    if (index > 0 && bb_bytes_equal(fragment[-1].high, fragment->low))
        return bb_append_varint(buf, 0);
    enum bb_status status = bb_append_varint(buf, fragment->low.size + 1);
    return status == BB_OK ? bb_buf_append(buf, fragment->low.data, fragment->low.size) : status;
}

static enum bb_status encode_sequences(const struct bb_range_tombstone_fragment *fragment,
                                       struct bb_buf *buf)
{
    enum bb_status status = bb_append_varint(buf, fragment->count - 1);
    uint64_t before = 0;
    for (size_t i = 0; i < fragment->count && status == BB_OK; i++) {
        uint64_t sequence = fragment->sequences[i];
        status = bb_append_varint(buf, i == 0 ? sequence : before - sequence);
        before = sequence;
    }
    return status;
}

enum bb_status bb_range_tombstones_encode(const struct bb_range_tombstones *list,
                                          struct bb_buf *buf)
{
    size_t size_before = buf->size;
    enum bb_status status = bb_append_varint(buf, list->count);
    for (size_t i = 0; i < list->count && status == BB_OK; i++) {
        status = encode_low(list, i, buf);
        if (status == BB_OK)
            status = bb_append_bytes(buf, list->fragments[i].high);
        if (status == BB_OK)
            status = encode_sequences(&list->fragments[i], buf);
    }
    if (status == BB_OK && buf->size - size_before > BB_RANGE_SECTION_SIZE_MAX)
        status = bb_fail(BB_TOO_LARGE, "range tombstones of %zu bytes in a table, the limit is %u",
                         buf->size - size_before, BB_RANGE_SECTION_SIZE_MAX);
    return status;
}

/* State of decoding a section. */
struct decoder {
    struct bb_place place;
    const uint8_t *start;
    struct bb_cursor cursor;
    struct bb_range_tombstone_builder list;
    struct bb_bytes high; /* of the previous fragment */
};

static enum bb_status corrupt(const struct decoder *decoder, size_t fragment, const char *what)
{
    return bb_corrupt(decoder->place, (uint64_t)(decoder->cursor.position - decoder->start),
                      "range tombstones, fragment %zu: %s", fragment, what);
}

static bool decode_low(struct decoder *decoder, size_t index, struct bb_bytes *ret_low)
{
    uint64_t size = 0;
    if (!bb_decode_varint64(&decoder->cursor, &size) || size > (uint64_t)BB_KEY_SIZE_MAX + 1)
        return false;
    *ret_low = decoder->high;
    if (size == 0)
        return index > 0;
    return bb_decode_raw(&decoder->cursor, (size_t)size - 1, ret_low);
}

static enum bb_status decode_sequences(struct decoder *decoder, size_t index)
{
    uint64_t more = 0;
    uint64_t sequence = 0;
    if (!bb_decode_varint64(&decoder->cursor, &more) ||
        !bb_decode_varint64(&decoder->cursor, &sequence) ||
        more > bb_cursor_left(&decoder->cursor) || sequence > BB_SEQUENCE_MAX)
        return corrupt(decoder, index, "its sequences cannot be read");
    enum bb_status status = bb_range_tombstone_builder_add_sequence(&decoder->list, sequence);
    for (uint64_t i = 0; i < more && status == BB_OK; i++) {
        uint64_t difference = 0;
        if (!bb_decode_varint64(&decoder->cursor, &difference) || difference == 0 ||
            difference > sequence)
            return corrupt(decoder, index, "its sequences do not descend");
        sequence -= difference;
        status = bb_range_tombstone_builder_add_sequence(&decoder->list, sequence);
    }
    return status;
}

static enum bb_status decode_fragment(struct decoder *decoder, size_t index)
{
    struct bb_bytes low = {0};
    struct bb_bytes high = {0};
    if (!decode_low(decoder, index, &low))
        return corrupt(decoder, index, "its low end cannot be read");
    if (!bb_decode_bytes(&decoder->cursor, &high) || high.size > BB_KEY_SIZE_MAX)
        return corrupt(decoder, index, "its high end cannot be read");
    if (bb_key_compare(decoder->list.comparator, low, high) >= 0)
        return corrupt(decoder, index, "its high end is not above its low end");
    if (index > 0 && bb_key_compare(decoder->list.comparator, decoder->high, low) > 0)
        return corrupt(decoder, index, "it begins before the previous one ends");
    decoder->high = high;
    enum bb_status status = decode_sequences(decoder, index);
    return status == BB_OK ? bb_range_tombstone_builder_add_fragment(&decoder->list, low, high)
                           : status;
}

static enum bb_status decode_fragments(struct decoder *decoder)
{
    uint64_t count = 0;
    if (!bb_decode_varint64(&decoder->cursor, &count) || count == 0 ||
        count > bb_cursor_left(&decoder->cursor) / FRAGMENT_SIZE_MIN)
        return corrupt(decoder, 0, "their number cannot be true");
    enum bb_status status = BB_OK;
    for (uint64_t i = 0; i < count && status == BB_OK; i++)
        status = decode_fragment(decoder, (size_t)i);
    if (status == BB_OK && bb_cursor_left(&decoder->cursor) > 0)
        status = corrupt(decoder, (size_t)count, "bytes after the last one");
    return status;
}

enum bb_status bb_range_tombstones_decode(struct bb_bytes section,
                                          const struct bb_comparator *comparator,
                                          struct bb_place place,
                                          struct bb_range_tombstones **ret_list)
{
    struct decoder decoder = {
        .place = place,
        .start = section.data,
        .cursor = bb_cursor_of(section),
        .list = {.comparator = comparator, .sequence_count_max = SIZE_MAX},
    };
    enum bb_status status = decode_fragments(&decoder);
    if (status == BB_OK)
        status = bb_range_tombstone_builder_finish(&decoder.list, ret_list);
    bb_range_tombstone_builder_deinit(&decoder.list);
    return status;
}
