/* See segment_builder.h. */
#include "skip/index/segment_builder.h"

#include <math.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/coding.h"
#include "base/status.h"

/* A bucket is read to its half in the mean, a chunk is read whole: 2 KiB. */
#define BUCKET_BITS_TARGET 1024.0

#define BUCKET_MEMBERS_MIN 1024
#define SAMPLE_BUCKETS     64

struct pairs {
    const uint64_t *first;
    const uint64_t *end;
};

/* A member and its pairs. */
struct bb_segment_member {
    uint64_t hash; /* 40 bits */
    const uint64_t *pairs;
    uint32_t count;
};

/* Where the pairs of the first member end. */
static const uint64_t *member_end(struct pairs pairs)
{
    uint64_t hash = bb_member_pair_hash(*pairs.first);
    const uint64_t *end = pairs.first + 1;
    while (end < pairs.end && bb_member_pair_hash(*end) == hash)
        end++;
    return end;
}

static bool is_frequent(const struct bb_segment_builder *builder, uint64_t count)
{
    return count > builder->frequent_limit;
}

/* --- Sizing --- */

/* About what a posting takes, for each number of granules. */
static void estimate_postings(uint32_t granule_count, float *bits)
{
    double granules = granule_count;
    for (uint32_t count = 1; count <= granule_count; count++) {
        double posting = count * (log2(granules / count) + 1.5);
        bits[count] = (float)(2 + (posting < granules ? posting : granules));
    }
}

struct survey {
    double bits;
    uint64_t rare_pairs;
};

static struct survey survey_pairs(struct bb_segment_builder *builder, struct pairs pairs)
{
    struct survey survey = {0};
    float bits[BB_SEGMENT_GRANULES_MAX + 1];
    estimate_postings(builder->segment.granule_count, bits);
    while (pairs.first < pairs.end) {
        const uint64_t *end = member_end(pairs);
        uint64_t count = (uint64_t)(end - pairs.first);
        pairs.first = end;
        survey.bits += (double)bits[count];
        if (is_frequent(builder, count)) {
            builder->segment.frequent_count++;
            survey.bits += BB_MEMBER_HASH_BITS;
        } else {
            survey.rare_pairs += count;
        }
    }
    return survey;
}

/* The least bits that so many values take, 0 ... most. */
static uint32_t bits_for(double values, uint32_t most)
{
    double bits = values <= 1 ? 0 : ceil(log2(values));
    return bits < most ? (uint32_t)bits : most;
}

/* The best shift of a Rice code for numbers of this mean. */
static uint32_t shift_for(double mean)
{
    return mean * 0.7 < 2 ? 0 : (uint32_t)log2(mean * 0.7);
}

static void choose_sizes(struct bb_segment_builder *builder, struct pairs pairs, double rate)
{
    struct bb_segment *segment = &builder->segment;
    struct survey survey = survey_pairs(builder, pairs);
    segment->bucket_bits = bits_for(survey.bits / BUCKET_BITS_TARGET, BB_SEGMENT_BUCKET_BITS_MAX);
    double buckets = ldexp(1, (int)segment->bucket_bits);
    double most = ldexp(1, (int)(BB_MEMBER_HASH_BITS - segment->bucket_bits));
    double addresses = ceil((double)survey.rare_pairs / (rate * segment->granule_count) / buckets);
    addresses = addresses < 1 ? 1 : addresses;
    segment->address_count = (uint64_t)(addresses < most ? addresses : most);
    segment->count_shift = shift_for((double)survey.rare_pairs / buckets);
    double numbers = (double)segment->address_count * buckets * segment->granule_count;
    segment->number_shift = shift_for(numbers / ((double)survey.rare_pairs + 1));
}

/* --- Buckets --- */

static enum bb_status grow_members(struct bb_segment_builder *builder)
{
    size_t capacity =
        builder->member_capacity == 0 ? BUCKET_MEMBERS_MIN : builder->member_capacity * 2;
    struct bb_segment_member *members = bb_realloc(builder->members, capacity * sizeof(members[0]));
    if (members == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the members of an index");
    builder->members = members;
    builder->member_capacity = capacity;
    return BB_OK;
}

/* Lists the members of a bucket, whose pairs are at the front, and cuts these off. */
static enum bb_status list_members(struct bb_segment_builder *builder, uint64_t bucket,
                                   struct pairs *pairs)
{
    uint32_t shift = BB_MEMBER_HASH_BITS - builder->segment.bucket_bits;
    builder->member_count = 0;
    while (pairs->first < pairs->end) {
        uint64_t hash = bb_member_pair_hash(*pairs->first);
        if (hash >> shift != bucket)
            break;
        if (builder->member_count == builder->member_capacity) {
            enum bb_status status = grow_members(builder);
            if (status != BB_OK)
                return status;
        }
        const uint64_t *end = member_end(*pairs);
        builder->members[builder->member_count++] = (struct bb_segment_member){
            .hash = hash, .pairs = pairs->first, .count = (uint32_t)(end - pairs->first)};
        pairs->first = end;
    }
    return BB_OK;
}

static void write_frequent_list(struct bb_segment_builder *builder, struct bb_bit_writer *writer)
{
    uint64_t count = 0;
    for (size_t i = 0; i < builder->member_count; i++)
        count += is_frequent(builder, builder->members[i].count);
    bb_bit_writer_put_gamma(writer, count + 1);
    uint32_t width = BB_MEMBER_HASH_BITS - builder->segment.bucket_bits;
    for (size_t i = 0; i < builder->member_count && count > 0; i++) {
        const struct bb_segment_member *member = &builder->members[i];
        if (!is_frequent(builder, member->count))
            continue;
        bb_bit_writer_put(writer, member->hash & ((UINT64_C(1) << width) - 1), width);
        bb_bit_writer_put_bounded(writer, member->count - 1, builder->segment.granule_count);
    }
}

/* A member's granules into builder->granules. */
static uint32_t list_granules(struct bb_segment_builder *builder,
                              const struct bb_segment_member *member)
{
    for (uint32_t i = 0; i < member->count; i++)
        builder->granules[i] = bb_member_pair_granule(member->pairs[i]);
    return member->count;
}

static enum bb_status grow_numbers(struct bb_segment_builder *builder)
{
    size_t capacity =
        builder->number_capacity == 0 ? BUCKET_MEMBERS_MIN : builder->number_capacity * 2;
    uint64_t *numbers = bb_realloc(builder->numbers, capacity * sizeof(numbers[0]));
    if (numbers == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the pairs of an index");
    builder->numbers = numbers;
    builder->number_capacity = capacity;
    return BB_OK;
}

/* Into its place, which is near the end: only members with one address come out of order. */
static enum bb_status add_number(struct bb_segment_builder *builder, uint64_t number)
{
    if (builder->number_count == builder->number_capacity) {
        enum bb_status status = grow_numbers(builder);
        if (status != BB_OK)
            return status;
    }
    size_t at = builder->number_count;
    while (at > 0 && builder->numbers[at - 1] > number)
        at--;
    if (at > 0 && builder->numbers[at - 1] == number)
        return BB_OK;
    memmove(builder->numbers + at + 1, builder->numbers + at,
            (builder->number_count - at) * sizeof(number));
    builder->numbers[at] = number;
    builder->number_count++;
    return BB_OK;
}

/* Lists the pairs of rare members. */
static enum bb_status list_pairs(struct bb_segment_builder *builder)
{
    const struct bb_segment *segment = &builder->segment;
    enum bb_status status = BB_OK;
    builder->number_count = 0;
    for (size_t i = 0; i < builder->member_count && status == BB_OK; i++) {
        const struct bb_segment_member *member = &builder->members[i];
        if (is_frequent(builder, member->count))
            continue;
        uint64_t first = bb_segment_address(segment, member->hash) * segment->granule_count;
        for (uint32_t pair = 0; pair < member->count && status == BB_OK; pair++)
            status = add_number(builder, first + bb_member_pair_granule(member->pairs[pair]));
    }
    return status;
}

static void write_pairs(struct bb_segment_builder *builder, struct bb_bit_writer *writer)
{
    const struct bb_segment *segment = &builder->segment;
    bb_bit_writer_put_rice(writer, builder->number_count, segment->count_shift);
    bb_number_set_write(writer, builder->numbers, builder->number_count,
                        segment->address_count * segment->granule_count, segment->number_shift);
    builder->segment.rare_pair_count += builder->number_count;
}

static void write_frequent_postings(struct bb_segment_builder *builder,
                                    struct bb_bit_writer *writer)
{
    for (size_t i = 0; i < builder->member_count; i++) {
        if (!is_frequent(builder, builder->members[i].count))
            continue;
        uint32_t count = list_granules(builder, &builder->members[i]);
        bb_posting_write(writer, builder->granules, count, builder->segment.granule_count);
    }
}

static enum bb_status write_bucket(struct bb_segment_builder *builder, uint64_t bucket,
                                   struct pairs *pairs)
{
    struct bb_bit_writer writer;
    enum bb_status status = list_members(builder, bucket, pairs);
    if (status == BB_OK)
        status = list_pairs(builder);
    if (status != BB_OK)
        return status;
    bb_bit_writer_init(&writer, &builder->data);
    write_frequent_list(builder, &writer);
    write_pairs(builder, &writer);
    write_frequent_postings(builder, &writer);
    return bb_bit_writer_align(&writer);
}

/* The code of the pairs: that which is shorter for those of the first buckets. */
static enum bb_status choose_code(struct bb_segment_builder *builder, struct pairs pairs)
{
    struct bb_segment *segment = &builder->segment;
    uint64_t end = segment->address_count * segment->granule_count;
    uint64_t gap_bits = 0;
    enum bb_status status = BB_OK;
    struct bb_bit_writer writer;
    bb_bit_writer_init(&writer, &builder->data);
    for (uint64_t bucket = 0;
         bucket < SAMPLE_BUCKETS && bucket >> segment->bucket_bits == 0 && status == BB_OK;
         bucket++) {
        status = list_members(builder, bucket, &pairs);
        if (status == BB_OK)
            status = list_pairs(builder);
        if (status != BB_OK)
            break;
        gap_bits +=
            bb_number_set_gap_bits(builder->numbers, builder->number_count, segment->number_shift);
        bb_number_set_write(&writer, builder->numbers, builder->number_count, end,
                            BB_NUMBER_SET_INTERPOLATED);
    }
    if (status == BB_OK)
        status = bb_bit_writer_align(&writer);
    if (builder->data.size * 8 < gap_bits)
        segment->number_shift = BB_NUMBER_SET_INTERPOLATED;
    bb_buf_reset(&builder->data);
    return status;
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
        status = write_bucket(builder, first_bucket + i, pairs);
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

void bb_segment_builder_deinit(struct bb_segment_builder *builder)
{
    bb_buf_deinit(&builder->data);
    bb_buf_deinit(&builder->ends);
    bb_free(builder->members);
    bb_free(builder->numbers);
    builder->members = NULL;
    builder->numbers = NULL;
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
    enum bb_status status = choose_code(builder, rest);
    for (uint64_t bucket = 0; bucket < bucket_count && status == BB_OK; bucket += step)
        status = write_chunk(builder, &rest, bucket, (uint32_t)step);
    builder->segment.ends = builder->ends.data;
    return status;
}
