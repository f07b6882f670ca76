/* See segment_builder.h. */
#include "skip/segment/segment_builder.h"

#include <math.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/coding.h"
#include "base/status.h"
#include "bloomblock/ribbon/ribbon_values.h"

#define SAMPLE_BUCKETS 64

/* A trial writes each form for at least this number of pairs, and for at most twice that number.
 * With four times as many, trials took a sixth of the time of building min_max(time) and
 * values(host), and segments were not smaller (docs/decisions/0037-cheaper-building.md). */
#define TRIAL_PAIRS 4096

/* Ribbons are chosen if they save this share of the segment's bytes, plus a share for each stripe
 * (measured: docs/decisions/0027-ribbons-in-segments.md). Building them takes 10 ns more a pair
 * with AVX-512, more without. A query takes 12 ns for each stripe. With 16 stripes this is less
 * than a query of addresses; with 64 it is 200 to 300 ns more. With 256 it is 2.4 us, so 256 are
 * not tried. */
#define RIBBON_SAVES        0.03
#define RIBBON_STRIPE_SAVES 0.0005

/* A member and its pairs. */
struct bb_segment_member {
    uint64_t hash; /* 40 bits */
    const uint64_t *pairs;
    uint32_t count;
};

/* The pairs that the ribbon of a chunk holds, and its solver. */
struct bb_segment_keys {
    size_t count;
    uint32_t fingerprint_bits; /* of the ribbon, with the extra bit of a long one */
    uint64_t hashes[BB_RIBBON_VALUES_MAX];
    uint32_t numbers[BB_RIBBON_VALUES_MAX];
    struct bb_ribbon_solver solver;
};

static bool is_frequent(const struct bb_segment_builder *builder, uint64_t count)
{
    return count > builder->form.frequent_limit;
}

/* --- Buckets --- */

/* Lists the members of a bucket, whose pairs are the first, and removes these pairs. */
static enum bb_status list_members(struct bb_segment_builder *builder, uint64_t bucket,
                                   struct bb_member_pairs *pairs)
{
    uint32_t shift = BB_MEMBER_HASH_BITS - builder->segment.bucket_bits;
    const uint64_t *start = pairs->first;
    builder->member_count = 0;
    while (pairs->first < pairs->end) {
        uint64_t hash = bb_member_pair_hash(*pairs->first);
        if (hash >> shift != bucket)
            break;
        enum bb_status status =
            bb_array_reserve(&builder->members, builder->member_count, &builder->member_capacity,
                             sizeof(builder->members[0]), "members of an index");
        if (status != BB_OK)
            return status;
        const uint64_t *end = bb_member_pairs_next(*pairs);
        builder->members[builder->member_count++] = (struct bb_segment_member){
            .hash = hash, .pairs = pairs->first, .count = (uint32_t)(end - pairs->first)};
        pairs->first = end;
    }
    builder->pair_count = (size_t)(pairs->first - start);
    return BB_OK;
}

static void write_frequent_list(struct bb_segment_builder *builder, struct bb_bit_writer *writer)
{
    uint64_t count = 0;
    for (size_t i = 0; i < builder->member_count; i++)
        count += is_frequent(builder, builder->members[i].count);
    builder->segment.frequent_count += count;
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

/* Copies a member's granules to builder->granules. Returns their number. */
static uint32_t list_granules(struct bb_segment_builder *builder,
                              const struct bb_segment_member *member)
{
    for (uint32_t i = 0; i < member->count; i++)
        builder->granules[i] = bb_member_pair_granule(member->pairs[i]);
    return member->count;
}

/* Makes space for all pairs of a bucket. */
static enum bb_status reserve_numbers(struct bb_segment_builder *builder, size_t count)
{
    enum bb_status status = BB_OK;
    while (builder->number_capacity < count && status == BB_OK)
        status = bb_array_grow(&builder->numbers, &builder->number_capacity,
                               sizeof(builder->numbers[0]), "pairs of an index");
    return status;
}

/* Inserts a number in order, unless it is there already. Its place is near the end. */
static void insert_number(struct bb_segment_builder *builder, uint64_t number)
{
    size_t at = builder->number_count;
    while (at > 0 && builder->numbers[at - 1] > number)
        at--;
    if (at > 0 && builder->numbers[at - 1] == number)
        return;
    memmove(builder->numbers + at + 1, builder->numbers + at,
            (builder->number_count - at) * sizeof(number));
    builder->numbers[at] = number;
    builder->number_count++;
}

/* Adds a number; reserve_numbers has made space. Numbers arrive in order, except from members that
 * share an address. */
static inline void add_number(struct bb_segment_builder *builder, uint64_t number)
{
    size_t count = builder->number_count;
    if (count > 0 && builder->numbers[count - 1] >= number) {
        insert_number(builder, number);
        return;
    }
    builder->numbers[count] = number;
    builder->number_count = count + 1;
}

/* Adds a pair to the ribbon of the chunk. False: the ribbon is full. */
static bool add_key(struct bb_segment_builder *builder, uint64_t hash, uint32_t granule)
{
    struct bb_segment_ribbon_deal deal = bb_segment_deal(&builder->segment);
    struct bb_segment_keys *keys = builder->keys;
    if (keys->count == BB_RIBBON_VALUES_MAX)
        return false;
    uint32_t stripe = bb_segment_ribbon_stripe(deal, granule);
    keys->hashes[keys->count] = bb_segment_ribbon_key(hash, stripe);
    keys->numbers[keys->count] = bb_segment_ribbon_number(deal, granule, keys->fingerprint_bits);
    keys->count++;
    return true;
}

/* Adds the pairs of a rare member as numbers. */
static void list_numbers(struct bb_segment_builder *builder, const struct bb_segment_member *member)
{
    const struct bb_segment *segment = &builder->segment;
    uint64_t first = bb_segment_address(segment, member->hash) * segment->granule_count;
    for (uint32_t i = 0; i < member->count; i++)
        add_number(builder, first + bb_member_pair_granule(member->pairs[i]));
}

/* Adds the pairs of a rare member to the ribbon; pairs that it cannot hold become numbers. */
static void list_keys(struct bb_segment_builder *builder, const struct bb_segment_member *member)
{
    const struct bb_segment *segment = &builder->segment;
    /* WHY first: most members of a log are in one granule, and need no search for a free stripe. */
    if (member->count == 1 &&
        add_key(builder, member->hash, bb_member_pair_granule(*member->pairs)))
        return;
    uint64_t first = bb_segment_address(segment, member->hash) * segment->granule_count;
    struct bb_segment_stripes stripes = {{0}};
    for (uint32_t i = 0; i < member->count; i++) {
        uint32_t granule = bb_member_pair_granule(member->pairs[i]);
        uint32_t stripe = bb_segment_ribbon_stripe(bb_segment_deal(segment), granule);
        if (!bb_segment_stripes_take(&stripes, stripe) || !add_key(builder, member->hash, granule))
            add_number(builder, first + granule);
    }
}

/* Lists the pairs of rare members. */
static enum bb_status list_pairs(struct bb_segment_builder *builder)
{
    enum bb_status status = reserve_numbers(builder, builder->pair_count);
    builder->number_count = 0;
    for (size_t i = 0; i < builder->member_count && status == BB_OK; i++) {
        const struct bb_segment_member *member = &builder->members[i];
        if (is_frequent(builder, member->count))
            continue;
        if (member->count <= builder->form.ribbon_limit)
            list_keys(builder, member);
        else
            list_numbers(builder, member);
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
                                   struct bb_member_pairs *pairs)
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

/* --- Chunks --- */

static enum bb_status begin_ribbon(struct bb_segment_builder *builder, uint64_t chunk)
{
    if (!bb_segment_has_ribbons(&builder->segment))
        return BB_OK;
    if (builder->keys == NULL) {
        builder->keys = bb_alloc_zeroed(1, sizeof(*builder->keys));
        if (builder->keys == NULL)
            return bb_fail(BB_NO_MEMORY, "no memory for the ribbons of an index");
        bb_ribbon_solver_use(&builder->keys->solver, bb_cpu_best());
    }
    builder->keys->count = 0;
    builder->keys->fingerprint_bits =
        builder->segment.ribbon_fingerprint_bits + bb_segment_is_long(&builder->segment, chunk);
    return BB_OK;
}

static enum bb_status end_ribbon(struct bb_segment_builder *builder, size_t chunk_start)
{
    const struct bb_segment *segment = &builder->segment;
    struct bb_segment_keys *keys = builder->keys;
    uint16_t descriptor = BB_DESCRIPTOR_NONE;
    uint8_t *space = NULL;
    if (!bb_segment_has_ribbons(segment))
        return BB_OK;
    if (builder->is_on_trial)
        return bb_buf_extend(&builder->data,
                             bb_ribbon_values_size(keys->count, keys->fingerprint_bits), &space);
    enum bb_status status = bb_ribbon_values_encode(
        &keys->solver, keys->hashes, keys->numbers, keys->count, segment->ribbon_fingerprint_bits,
        keys->fingerprint_bits > segment->ribbon_fingerprint_bits, &builder->data, &descriptor);
    bb_store16(builder->data.data + chunk_start, descriptor);
    return status;
}

/* Writes the buckets of a chunk. ends: the offset in the data of the list of their ends. */
static enum bb_status write_buckets(struct bb_segment_builder *builder,
                                    struct bb_member_pairs *pairs, uint64_t chunk, size_t ends)
{
    struct bb_buf *data = &builder->data;
    uint32_t count = bb_segment_chunk_buckets(&builder->segment);
    size_t start = data->size;
    enum bb_status status = BB_OK;
    for (uint32_t i = 0; i < count && status == BB_OK; i++) {
        status = write_bucket(builder, chunk * count + i, pairs);
        if (status == BB_OK && data->size - start > UINT16_MAX)
            return bb_fail(BB_TOO_LARGE, "a chunk of an index has more than %u bytes", UINT16_MAX);
        if (status == BB_OK)
            bb_store16(data->data + ends + i * sizeof(uint16_t), (uint16_t)(data->size - start));
    }
    return status;
}

/* Writes a chunk and removes its pairs. */
static enum bb_status write_chunk(struct bb_segment_builder *builder, struct bb_member_pairs *pairs,
                                  uint64_t chunk)
{
    struct bb_buf *data = &builder->data;
    size_t chunk_start = data->size;
    size_t head_size = bb_segment_chunk_head(&builder->segment);
    uint8_t *space = NULL;
    enum bb_status status = bb_buf_extend(data, head_size, &space);
    if (status == BB_OK)
        status = begin_ribbon(builder, chunk);
    if (status == BB_OK)
        status = write_buckets(builder, pairs, chunk,
                               chunk_start + head_size -
                                   sizeof(uint16_t) * bb_segment_chunk_buckets(&builder->segment));
    if (status == BB_OK)
        status = end_ribbon(builder, chunk_start);
    if (status == BB_OK)
        status = bb_buf_extend(data, BB_SEGMENT_CHUNK_CHECKSUM_SIZE, &space);
    return status == BB_OK ? bb_append_u32(&builder->ends, (uint32_t)data->size) : status;
}

static enum bb_status write_chunks(struct bb_segment_builder *builder,
                                   struct bb_member_pairs *pairs, uint64_t count)
{
    enum bb_status status = BB_OK;
    bb_buf_reset(&builder->data);
    bb_buf_reset(&builder->ends);
    for (uint64_t chunk = 0; chunk < count && status == BB_OK; chunk++)
        status = write_chunk(builder, pairs, chunk);
    return status;
}

/* Chooses the code of number_set.h that takes fewer bits for the pairs of the first buckets. */
static enum bb_status choose_code(struct bb_segment_builder *builder, struct bb_member_pairs pairs)
{
    struct bb_segment *segment = &builder->segment;
    uint64_t end = segment->address_count * segment->granule_count;
    uint64_t gap_bits = 0;
    enum bb_status status = begin_ribbon(builder, 0);
    struct bb_bit_writer writer;
    bb_buf_reset(&builder->data);
    bb_bit_writer_init(&writer, &builder->data);
    for (uint64_t bucket = 0;
         bucket < SAMPLE_BUCKETS && bucket >> segment->bucket_bits == 0 && status == BB_OK;
         bucket++) {
        if (builder->keys != NULL)
            builder->keys->count = 0;
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
    return status;
}

/* --- The form --- */

/* A search for the cheapest form. */
struct trial {
    struct bb_member_pairs pairs; /* the pairs that are written: all with a hash below the limit */
    uint32_t zero_bits;           /* the limit: the highest bits of each of their hashes are 0 */
    double rate;
    uint32_t granule_count;
    size_t pair_count; /* of the segment */
    struct bb_segment_form best;
    double best_cost; /* bytes, raised for ribbons */
};

static struct bb_member_pairs lowest_pairs(struct bb_member_pairs pairs, uint32_t zero_bits)
{
    uint64_t limit = UINT64_C(1) << (BB_MEMBER_HASH_BITS - zero_bits);
    const uint64_t *low = pairs.first;
    const uint64_t *high = pairs.end;
    while (low < high) {
        const uint64_t *middle = low + (high - low) / 2;
        if (bb_member_pair_hash(*middle) < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct bb_member_pairs){.first = pairs.first, .end = low};
}

/* Estimates the bytes of the whole segment in a form from its first chunks. */
static enum bb_status measure(struct bb_segment_builder *builder, const struct trial *trial,
                              struct bb_segment_form form, double *ret_bytes)
{
    struct bb_member_pairs pairs = trial->pairs;
    double factor = (double)trial->pair_count / (double)(pairs.end - pairs.first);
    struct bb_segment_counts counts = bb_segment_plan_count(trial->granule_count, form, pairs);
    builder->form = form;
    builder->segment = bb_segment_plan(trial->granule_count, form, counts, factor, trial->rate);
    uint64_t chunks = bb_segment_chunk_count(&builder->segment) >> trial->zero_bits;
    enum bb_status status = choose_code(builder, pairs);
    if (status == BB_OK)
        status = write_chunks(builder, &pairs, chunks < 1 ? 1 : chunks);
    *ret_bytes = (double)(builder->data.size + builder->ends.size) * factor;
    return status;
}

static enum bb_status try_form(struct bb_segment_builder *builder, struct trial *trial,
                               struct bb_segment_form form)
{
    double bytes = 0;
    double price = 1;
    enum bb_status status = measure(builder, trial, form, &bytes);
    if (form.ribbon_limit > 0)
        price += RIBBON_SAVES + RIBBON_STRIPE_SAVES * ldexp(1, (int)form.stripe_bits);
    if (status == BB_OK && bytes * price < trial->best_cost) {
        trial->best = form;
        trial->best_cost = bytes * price;
    }
    return status;
}

/* Tries ribbons for members of up to `limit` granules, with few and with many stripes. */
static enum bb_status try_stripes(struct bb_segment_builder *builder, struct trial *trial,
                                  uint32_t limit)
{
    static const uint8_t stripe_bits[] = {4, 6};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < sizeof(stripe_bits) && status == BB_OK; i++)
        if (trial->granule_count >> stripe_bits[i] > 0)
            status =
                try_form(builder, trial,
                         bb_segment_plan_ribbon_form(trial->granule_count, limit, stripe_bits[i]));
    return status;
}

static enum bb_status choose_form(struct bb_segment_builder *builder, struct trial *trial)
{
    struct bb_segment_form inverted = bb_segment_plan_inverted_form(trial->granule_count);
    uint32_t limit = bb_segment_plan_ribbon_limit(trial->granule_count, trial->rate);
    trial->best = inverted;
    trial->best_cost = INFINITY;
    builder->is_on_trial = true;
    enum bb_status status = try_form(builder, trial, inverted);
    if (status == BB_OK)
        status = try_form(builder, trial, bb_segment_plan_ribbon_form(trial->granule_count, 1, 0));
    if (status == BB_OK)
        status = try_stripes(builder, trial, inverted.frequent_limit);
    if (status == BB_OK && limit > inverted.frequent_limit)
        status = try_stripes(builder, trial, limit);
    builder->is_on_trial = false;
    return status;
}

static enum bb_status find_form(struct bb_segment_builder *builder, struct bb_member_pairs pairs,
                                uint32_t granule_count, double rate)
{
    struct trial trial = {.rate = rate,
                          .granule_count = granule_count,
                          .pair_count = (size_t)(pairs.end - pairs.first)};
    builder->form = bb_segment_plan_inverted_form(granule_count);
    if (trial.pair_count == 0 || builder->is_inverted)
        return BB_OK;
    while (trial.pair_count >> trial.zero_bits > 2 * TRIAL_PAIRS)
        trial.zero_bits++;
    trial.pairs = lowest_pairs(pairs, trial.zero_bits);
    if (trial.pairs.first == trial.pairs.end)
        return BB_OK;
    enum bb_status status = choose_form(builder, &trial);
    builder->form = trial.best;
    return status;
}

void bb_segment_builder_deinit(struct bb_segment_builder *builder)
{
    bb_buf_deinit(&builder->data);
    bb_buf_deinit(&builder->ends);
    bb_free(builder->members);
    bb_free(builder->numbers);
    bb_free(builder->keys);
    builder->keys = NULL;
    builder->members = NULL;
    builder->numbers = NULL;
}

enum bb_status bb_segment_builder_build(struct bb_segment_builder *builder, const uint64_t *pairs,
                                        size_t count, uint32_t granule_count, double target)
{
    BB_ASSERT(granule_count >= 1 && granule_count <= BB_SEGMENT_GRANULES_MAX);
    double rate = bb_segment_plan_rate(granule_count, target);
    struct bb_member_pairs rest = {.first = pairs, .end = pairs + count};
    enum bb_status status = find_form(builder, rest, granule_count, rate);
    if (status != BB_OK)
        return status;
    struct bb_segment_counts counts = bb_segment_plan_count(granule_count, builder->form, rest);
    builder->segment = bb_segment_plan(granule_count, builder->form, counts, 1, rate);
    status = choose_code(builder, rest);
    if (status == BB_OK)
        status = write_chunks(builder, &rest, bb_segment_chunk_count(&builder->segment));
    builder->segment.ends = builder->ends.data;
    return status;
}
