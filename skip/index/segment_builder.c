/* See segment_builder.h. */
#include "skip/index/segment_builder.h"

#include <math.h>

#include "base/assert.h"
#include "base/coding.h"
#include "base/status.h"

/* A bucket is read to its half in the mean, a chunk is read whole: 2 KiB. */
#define BUCKET_BITS_TARGET 1024.0

struct pairs {
    const uint64_t *first;
    const uint64_t *end;
};

/* The pairs of the first member. */
static struct pairs member_of(struct pairs pairs)
{
    uint64_t hash = bb_member_pair_hash(*pairs.first);
    const uint64_t *end = pairs.first + 1;
    while (end < pairs.end && bb_member_pair_hash(*end) == hash)
        end++;
    return (struct pairs){.first = pairs.first, .end = end};
}

static size_t count_of(struct pairs pairs)
{
    return (size_t)(pairs.end - pairs.first);
}

static bool is_frequent(const struct bb_segment_builder *builder, struct pairs member)
{
    return count_of(member) > builder->frequent_limit;
}

static double row_pair_bits(double granules, double count)
{
    double spread = granules / count;
    return spread > 1 ? count * (log2(spread) + 1.5) : 0;
}

/* What the pairs will take, about, and how many of them rows will have. */
static double survey(struct bb_segment_builder *builder, struct pairs pairs,
                     uint64_t *ret_rare_count)
{
    double granules = builder->segment.granule_count;
    double bits = 0;
    while (pairs.first < pairs.end) {
        struct pairs member = member_of(pairs);
        pairs.first = member.end;
        if (is_frequent(builder, member)) {
            builder->segment.frequent_count++;
            bits += BB_MEMBER_HASH_BITS;
        } else {
            *ret_rare_count += count_of(member);
        }
        double posting = row_pair_bits(granules, (double)count_of(member));
        bits += 2 + (posting < granules ? posting : granules);
    }
    return bits;
}

/* The least bits that so many values take, 0 ... most. */
static uint32_t bits_for(double values, uint32_t most)
{
    double bits = values <= 1 ? 0 : ceil(log2(values));
    return bits < most ? (uint32_t)bits : most;
}

/* A row: rare members of one bucket with one address. */
struct row {
    uint64_t bucket;
    uint64_t address;
    struct pairs members; /* from the first to the last; frequent ones may be in between */
    uint32_t member_count;
};

/* Cuts the first row off; false: there is none. */
static bool cut_row(const struct bb_segment_builder *builder, struct pairs *pairs, struct row *row)
{
    uint32_t shift = BB_MEMBER_HASH_BITS - builder->segment.bucket_bits;
    *row = (struct row){0};
    while (pairs->first < pairs->end) {
        struct pairs member = member_of(*pairs);
        uint64_t hash = bb_member_pair_hash(*member.first);
        uint64_t bucket = hash >> shift;
        uint64_t address = bb_segment_address(&builder->segment, hash);
        if (!is_frequent(builder, member)) {
            if (row->member_count > 0 && (address != row->address || bucket != row->bucket))
                break;
            if (row->member_count == 0)
                row->members.first = member.first;
            row->bucket = bucket;
            row->address = address;
            row->members.end = member.end;
            row->member_count++;
        }
        pairs->first = member.end;
    }
    return row->member_count > 0;
}

static uint64_t count_rows(const struct bb_segment_builder *builder, struct pairs pairs)
{
    uint64_t count = 0;
    struct row row;
    while (cut_row(builder, &pairs, &row))
        count++;
    return count;
}

static void choose_sizes(struct bb_segment_builder *builder, struct pairs pairs, double rate)
{
    struct bb_segment *segment = &builder->segment;
    uint64_t rare_count = 0;
    double bits = survey(builder, pairs, &rare_count);
    segment->bucket_bits = bits_for(bits / BUCKET_BITS_TARGET, BB_SEGMENT_BUCKET_BITS_MAX);
    double most = ldexp(1, (int)(BB_MEMBER_HASH_BITS - segment->bucket_bits));
    double addresses = ceil(
        ldexp((double)rare_count / (rate * segment->granule_count), -(int)segment->bucket_bits));
    addresses = addresses < 1 ? 1 : addresses;
    segment->address_count = (uint64_t)(addresses < most ? addresses : most);
    segment->row_count = count_rows(builder, pairs);
    /* The best shift for gaps of this mean. */
    double gap = ldexp((double)segment->address_count, (int)segment->bucket_bits) /
                 (double)(segment->row_count + 1);
    segment->gap_shift = gap * 0.7 < 2 ? 0 : (uint32_t)log2(gap * 0.7);
}

/* A member's granules into builder->granules. */
static uint32_t list_member(struct bb_segment_builder *builder, struct pairs member)
{
    uint32_t count = 0;
    for (const uint64_t *pair = member.first; pair < member.end; pair++)
        builder->granules[count++] = bb_member_pair_granule(*pair);
    return count;
}

/* A row's granules, each one once. */
static uint32_t list_row(struct bb_segment_builder *builder, struct row row)
{
    if (row.member_count == 1)
        return list_member(builder, member_of(row.members));
    struct bb_granule_bits bits = {{0}};
    while (row.members.first < row.members.end) {
        struct pairs member = member_of(row.members);
        row.members.first = member.end;
        for (const uint64_t *pair = member.first;
             !is_frequent(builder, member) && pair < member.end; pair++)
            bb_granule_bits_set(&bits, bb_member_pair_granule(*pair));
    }
    return bb_granule_bits_list(&bits, builder->granules);
}

static void write_frequent_list(struct bb_segment_builder *builder, struct bb_bit_writer *writer,
                                struct pairs bucket)
{
    uint64_t count = 0;
    for (struct pairs rest = bucket; rest.first < rest.end;) {
        struct pairs member = member_of(rest);
        count += is_frequent(builder, member);
        rest.first = member.end;
    }
    bb_bit_writer_put_gamma(writer, count + 1);
    uint32_t width = BB_MEMBER_HASH_BITS - builder->segment.bucket_bits;
    for (struct pairs rest = bucket; rest.first < rest.end && count > 0;) {
        struct pairs member = member_of(rest);
        rest.first = member.end;
        if (!is_frequent(builder, member))
            continue;
        uint64_t hash = bb_member_pair_hash(*member.first);
        bb_bit_writer_put(writer, hash & ((UINT64_C(1) << width) - 1), width);
        bb_bit_writer_put_bounded(writer, count_of(member) - 1, builder->segment.granule_count);
    }
}

static void write_rows(struct bb_segment_builder *builder, struct bb_bit_writer *writer,
                       struct pairs bucket)
{
    struct bb_segment *segment = &builder->segment;
    struct row row;
    bb_bit_writer_put_rice(writer, count_rows(builder, bucket), bb_segment_count_shift(segment));
    uint64_t next = 0;
    for (struct pairs rest = bucket; cut_row(builder, &rest, &row);) {
        uint32_t count = list_row(builder, row);
        bb_bit_writer_put_rice(writer, row.address - next, segment->gap_shift);
        bb_bit_writer_put_gamma(writer, count);
        bb_posting_write(writer, builder->granules, count, segment->granule_count);
        next = row.address + 1;
        segment->row_pair_count += count;
    }
}

static void write_frequent_postings(struct bb_segment_builder *builder,
                                    struct bb_bit_writer *writer, struct pairs bucket)
{
    while (bucket.first < bucket.end) {
        struct pairs member = member_of(bucket);
        bucket.first = member.end;
        if (is_frequent(builder, member))
            bb_posting_write(writer, builder->granules, list_member(builder, member),
                             builder->segment.granule_count);
    }
}

/* The pairs at the front that belong to a bucket. */
static struct pairs bucket_of(const struct bb_segment_builder *builder, struct pairs pairs,
                              uint64_t bucket)
{
    uint32_t shift = BB_MEMBER_HASH_BITS - builder->segment.bucket_bits;
    const uint64_t *end = pairs.first;
    while (end < pairs.end && bb_member_pair_hash(*end) >> shift == bucket)
        end++;
    return (struct pairs){.first = pairs.first, .end = end};
}

static enum bb_status write_bucket(struct bb_segment_builder *builder, struct pairs bucket)
{
    struct bb_bit_writer writer;
    bb_bit_writer_init(&writer, &builder->data);
    write_frequent_list(builder, &writer, bucket);
    write_rows(builder, &writer, bucket);
    write_frequent_postings(builder, &writer, bucket);
    return bb_bit_writer_align(&writer);
}

/* Writes the chunk that begins with a bucket, and cuts its pairs off. */
static enum bb_status write_chunk(struct bb_segment_builder *builder, struct pairs *pairs,
                                  uint64_t first_bucket, uint32_t bucket_count)
{
    struct bb_buf *data = &builder->data;
    size_t chunk_start = data->size;
    uint8_t *room = NULL;
    enum bb_status status = bb_buf_extend(data, bucket_count * sizeof(uint16_t), &room);
    size_t start = data->size;
    for (uint32_t i = 0; i < bucket_count && status == BB_OK; i++) {
        struct pairs bucket = bucket_of(builder, *pairs, first_bucket + i);
        pairs->first = bucket.end;
        status = write_bucket(builder, bucket);
        if (status == BB_OK && data->size - start > UINT16_MAX)
            return bb_fail(BB_TOO_LARGE, "a chunk of an index has more than %u bytes", UINT16_MAX);
        if (status == BB_OK)
            bb_store16(data->data + chunk_start + i * sizeof(uint16_t),
                       (uint16_t)(data->size - start));
    }
    if (status == BB_OK)
        status = bb_buf_extend(data, BB_SEGMENT_CHUNK_CHECKSUM_SIZE, &room);
    return status == BB_OK ? bb_append_u32(&builder->ends, (uint32_t)data->size) : status;
}

enum bb_status bb_segment_builder_build(struct bb_segment_builder *builder, const uint64_t *pairs,
                                        size_t count, uint32_t granule_count, double rate)
{
    BB_ASSERT(granule_count >= 1 && granule_count <= BB_SEGMENT_GRANULES_MAX);
    struct pairs rest = {.first = pairs, .end = pairs + count};
    builder->segment = (struct bb_segment){.granule_count = granule_count, .pair_count = count};
    builder->frequent_limit = granule_count / BB_SEGMENT_FREQUENT_SHARE;
    if (builder->frequent_limit < BB_SEGMENT_FREQUENT_MIN)
        builder->frequent_limit = BB_SEGMENT_FREQUENT_MIN;
    bb_buf_reset(&builder->data);
    bb_buf_reset(&builder->ends);
    choose_sizes(builder, rest, rate);
    uint64_t bucket_count = UINT64_C(1) << builder->segment.bucket_bits;
    uint64_t step = UINT64_C(1) << BB_SEGMENT_CHUNK_BUCKET_BITS;
    step = bucket_count < step ? bucket_count : step;
    enum bb_status status = BB_OK;
    for (uint64_t bucket = 0; bucket < bucket_count && status == BB_OK; bucket += step)
        status = write_chunk(builder, &rest, bucket, (uint32_t)step);
    builder->segment.ends = builder->ends.data;
    return status;
}
