/* Reading an inverted segment. See segment.h. */
#include "skip/segment/segment.h"

#include <math.h>

#include "base/assert.h"
#include "base/coding.h"
#include "bloomblock/ribbon/ribbon_values.h"

double bb_segment_ribbon_rate(const struct bb_segment *segment)
{
    BB_DEBUG_ASSERT(bb_segment_has_ribbons(segment));
    double longer = (double)segment->long_ribbons / bb_segment_chunk_count(segment);
    return (1 - longer / 2) * ldexp(1, -(int)segment->ribbon_fingerprint_bits);
}

double bb_segment_rate(const struct bb_segment *segment)
{
    double addresses = ldexp((double)segment->address_count, (int)segment->bucket_bits);
    double rate = (double)segment->rare_pair_count / addresses / segment->granule_count;
    return bb_segment_has_ribbons(segment) ? rate + bb_segment_ribbon_rate(segment) : rate;
}

static enum bb_status append_ribbons(const struct bb_segment *segment, struct bb_buf *buf)
{
    enum bb_status status = bb_append_u8(buf, (uint8_t)segment->chunk_bits);
    if (status == BB_OK)
        status = bb_append_u8(buf, (uint8_t)segment->ribbon_fingerprint_bits);
    if (status == BB_OK)
        status = bb_append_u8(buf, (uint8_t)segment->stripe_bits);
    return status == BB_OK ? bb_append_varint(buf, segment->long_ribbons) : status;
}

enum bb_status bb_segment_append(const struct bb_segment *segment, struct bb_buf *buf)
{
    enum bb_status status = bb_append_u8(buf, (uint8_t)segment->bucket_bits);
    if (status == BB_OK)
        status = bb_append_u8(buf, (uint8_t)segment->count_shift);
    if (status == BB_OK)
        status = bb_append_u8(buf, (uint8_t)segment->number_shift);
    if (status == BB_OK)
        status = bb_append_varint(buf, segment->address_count);
    if (status == BB_OK)
        status = bb_append_varint(buf, segment->pair_count);
    if (status == BB_OK)
        status = bb_append_varint(buf, segment->frequent_count);
    if (status == BB_OK)
        status = bb_append_varint(buf, segment->rare_pair_count);
    return status == BB_OK && bb_segment_has_ribbons(segment) ? append_ribbons(segment, buf)
                                                              : status;
}

static bool fields_are_valid(const struct bb_segment *segment)
{
    return segment->bucket_bits <= BB_SEGMENT_BUCKET_BITS_MAX &&
           segment->count_shift <= BB_MEMBER_HASH_BITS &&
           (segment->number_shift <= BB_SEGMENT_NUMBER_SHIFT_MAX ||
            segment->number_shift == BB_NUMBER_SET_INTERPOLATED) &&
           segment->address_count >= 1 &&
           segment->address_count <= UINT64_C(1) << (BB_MEMBER_HASH_BITS - segment->bucket_bits);
}

static bool decode_fields(struct bb_cursor *cursor, struct bb_segment *segment)
{
    uint8_t bucket_bits = 0;
    uint8_t count_shift = 0;
    uint8_t number_shift = 0;
    if (!bb_decode_u8(cursor, &bucket_bits) || !bb_decode_u8(cursor, &count_shift) ||
        !bb_decode_u8(cursor, &number_shift))
        return false;
    segment->bucket_bits = bucket_bits;
    segment->count_shift = count_shift;
    segment->number_shift = number_shift;
    return bb_decode_varint64(cursor, &segment->address_count) &&
           bb_decode_varint64(cursor, &segment->pair_count) &&
           bb_decode_varint64(cursor, &segment->frequent_count) &&
           bb_decode_varint64(cursor, &segment->rare_pair_count) && fields_are_valid(segment);
}

static uint32_t chunk_bits_max(const struct bb_segment *segment)
{
    return segment->bucket_bits < BB_SEGMENT_CHUNK_BUCKET_BITS ? segment->bucket_bits
                                                               : BB_SEGMENT_CHUNK_BUCKET_BITS;
}

static bool decode_ribbons(struct bb_cursor *cursor, struct bb_segment *segment)
{
    uint8_t chunk_bits = 0;
    uint8_t fingerprint_bits = 0;
    uint8_t stripe_bits = 0;
    if (!bb_decode_u8(cursor, &chunk_bits) || !bb_decode_u8(cursor, &fingerprint_bits) ||
        !bb_decode_u8(cursor, &stripe_bits) || !bb_decode_varint64(cursor, &segment->long_ribbons))
        return false;
    if (chunk_bits > chunk_bits_max(segment) || fingerprint_bits < 1 ||
        fingerprint_bits > BB_SEGMENT_FINGERPRINT_BITS_MAX ||
        stripe_bits > BB_SEGMENT_STRIPE_BITS_MAX)
        return false;
    segment->chunk_bits = chunk_bits;
    segment->ribbon_fingerprint_bits = fingerprint_bits;
    segment->stripe_bits = stripe_bits;
    return segment->long_ribbons <= bb_segment_chunk_count(segment);
}

static uint32_t end_of(const struct bb_segment *segment, uint32_t chunk)
{
    return bb_load32(segment->ends + (size_t)chunk * sizeof(uint32_t));
}

static bool ends_are_valid(const struct bb_segment *segment)
{
    uint32_t begin = 0;
    for (uint32_t chunk = 0; chunk < bb_segment_chunk_count(segment); chunk++) {
        uint32_t end = end_of(segment, chunk);
        if (end < begin || end - begin <= BB_SEGMENT_CHUNK_CHECKSUM_SIZE ||
            end - begin > BB_SEGMENT_CHUNK_SIZE_MAX)
            return false;
        begin = end;
    }
    return true;
}

bool bb_segment_decode(struct bb_cursor *cursor, uint32_t granule_count, bool has_ribbons,
                       struct bb_segment *ret_segment)
{
    struct bb_segment segment = {.granule_count = granule_count, .factor = 1};
    struct bb_bytes ends = {0};
    if (!decode_fields(cursor, &segment))
        return false;
    segment.chunk_bits = chunk_bits_max(&segment);
    if ((has_ribbons && !decode_ribbons(cursor, &segment)) ||
        !bb_decode_raw(cursor, (size_t)bb_segment_chunk_count(&segment) * sizeof(uint32_t), &ends))
        return false;
    segment.ends = ends.data;
    if (!ends_are_valid(&segment))
        return false;
    *ret_segment = segment;
    return true;
}

uint64_t bb_segment_size(const struct bb_segment *segment)
{
    return end_of(segment, bb_segment_chunk_count(segment) - 1);
}

static uint64_t low_bits(uint64_t value, uint32_t bits)
{
    return value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t hash40_of(uint64_t hash)
{
    return hash >> (64 - BB_MEMBER_HASH_BITS);
}

static uint32_t bucket_of(const struct bb_segment *segment, uint64_t hash)
{
    return (uint32_t)(hash40_of(hash) >> (BB_MEMBER_HASH_BITS - segment->bucket_bits));
}

void bb_segment_chunk(const struct bb_segment *segment, uint64_t hash, uint64_t *ret_offset,
                      uint32_t *ret_size)
{
    uint32_t chunk = bucket_of(segment, hash) >> segment->chunk_bits;
    uint32_t begin = chunk == 0 ? 0 : end_of(segment, chunk - 1);
    *ret_offset = begin;
    *ret_size = end_of(segment, chunk) - begin;
}

/* The parts of a chunk that a query for one member reads. */
struct parts {
    struct bb_bytes bucket;
    struct bb_segment_ribbon ribbon;
};

static uint32_t bucket_end(const struct bb_segment *segment, struct bb_bytes chunk, uint32_t place)
{
    size_t first = bb_segment_has_ribbons(segment) ? sizeof(uint16_t) : 0;
    return bb_load16(chunk.data + first + place * sizeof(uint16_t));
}

/* rest: the bytes after the buckets, which must be exactly the ribbon. */
static bool find_ribbon(const struct bb_segment *segment, struct bb_bytes chunk,
                        struct bb_bytes rest, struct bb_segment_ribbon *ret_ribbon)
{
    size_t size = 0;
    if (!bb_segment_has_ribbons(segment))
        return true;
    *ret_ribbon = (struct bb_segment_ribbon){.deal = bb_segment_deal(segment),
                                             .fingerprint_bits = segment->ribbon_fingerprint_bits,
                                             .descriptor = bb_load16(chunk.data),
                                             .payload = rest.data};
    return bb_ribbon_values_payload_size(ret_ribbon->descriptor, segment->ribbon_fingerprint_bits,
                                         &size) &&
           size == rest.size;
}

static bool find_parts(const struct bb_segment *segment, struct bb_bytes chunk, uint32_t bucket,
                       struct parts *ret_parts)
{
    uint32_t place = (uint32_t)low_bits(bucket, segment->chunk_bits);
    size_t head_size = bb_segment_chunk_head(segment);
    if (chunk.size < head_size + BB_SEGMENT_CHUNK_CHECKSUM_SIZE)
        return false;
    size_t size = chunk.size - head_size - BB_SEGMENT_CHUNK_CHECKSUM_SIZE;
    uint32_t begin = place == 0 ? 0 : bucket_end(segment, chunk, place - 1);
    uint32_t end = bucket_end(segment, chunk, place);
    uint32_t last = bucket_end(segment, chunk, bb_segment_chunk_buckets(segment) - 1);
    if (begin > end || end > size || last > size)
        return false;
    const uint8_t *buckets = chunk.data + head_size;
    ret_parts->bucket = (struct bb_bytes){.data = buckets + begin, .size = end - begin};
    return find_ribbon(segment, chunk,
                       (struct bb_bytes){.data = buckets + last, .size = size - last},
                       &ret_parts->ribbon);
}

/* The frequent members of a bucket, and which of them is the searched member. */
struct frequent {
    uint64_t count;
    uint64_t found;             /* the number of the searched member; count: it is not frequent */
    struct bb_bit_reader first; /* at the start of their list, for a second reading */
};

static uint32_t take_granule_count(const struct bb_segment *segment, struct bb_bit_reader *reader)
{
    return 1 + (uint32_t)bb_bit_reader_take_bounded(reader, segment->granule_count);
}

static struct frequent find_frequent(const struct bb_segment *segment, uint64_t hash40,
                                     struct bb_bit_reader *reader)
{
    uint32_t width = BB_MEMBER_HASH_BITS - segment->bucket_bits;
    uint64_t count = bb_bit_reader_take_gamma(reader);
    struct frequent frequent = {.count = count == 0 ? 0 : count - 1, .first = *reader};
    frequent.found = frequent.count;
    uint64_t rest = low_bits(hash40, width);
    for (uint64_t i = 0; i < frequent.count && !reader->is_past_end; i++) {
        if (bb_bit_reader_take(reader, width) == rest)
            frequent.found = i;
        (void)take_granule_count(segment, reader);
    }
    return frequent;
}

static bool read_frequent(const struct bb_segment *segment, struct frequent frequent,
                          struct bb_bit_reader *reader, struct bb_granule_bits *bits)
{
    uint32_t width = BB_MEMBER_HASH_BITS - segment->bucket_bits;
    for (uint64_t i = 0; i < frequent.found && !reader->is_past_end; i++) {
        (void)bb_bit_reader_take(&frequent.first, width);
        bb_posting_skip(reader, take_granule_count(segment, &frequent.first),
                        segment->granule_count);
    }
    (void)bb_bit_reader_take(&frequent.first, width);
    bb_posting_read(reader, take_granule_count(segment, &frequent.first), segment->granule_count,
                    bits);
    return !reader->is_past_end;
}

bool bb_segment_ask(const struct bb_segment *segment, struct bb_bytes chunk, uint64_t hash,
                    struct bb_granule_bits *bits)
{
    struct parts parts = {0};
    if (!find_parts(segment, chunk, bucket_of(segment, hash), &parts))
        return false;
    struct bb_bit_reader reader = bb_bit_reader_of(parts.bucket);
    struct frequent frequent = find_frequent(segment, hash40_of(hash), &reader);
    uint64_t pair_count = bb_bit_reader_take_rice(&reader, segment->count_shift);
    uint64_t end = segment->address_count * segment->granule_count;
    if (reader.is_past_end || pair_count > end)
        return false;
    if (frequent.found < frequent.count) {
        bb_number_set_skip(&reader, pair_count, end, segment->number_shift);
        return read_frequent(segment, frequent, &reader, bits);
    }
    uint64_t address = bb_segment_address(segment, hash40_of(hash));
    bb_number_set_find(&reader, pair_count, end, segment->number_shift,
                       address * segment->granule_count, segment->granule_count, bits);
    if (parts.ribbon.descriptor != BB_DESCRIPTOR_NONE)
        bb_segment_ribbon_ask(&parts.ribbon, hash40_of(hash), bits);
    return !reader.is_past_end;
}
