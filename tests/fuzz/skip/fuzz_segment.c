/* Segments of members, without a file around them.
 *
 *     input := u8 flags: 1 has ribbons, 2 is built | u16 granules - 1 | rest
 *
 *     rest of arbitrary bytes := u64 hash | fields of the segment | ends | bytes of a chunk
 *     rest of a built one     := u8 rate | group*
 *     group                   := u16 member | u8 pairs - 1 | u8 step of members | u16 granule
 *                                | u16 step of granules
 *
 * Arbitrary bytes are decoded and asked: a question ends, reads nothing outside of the chunk, and
 * sets no bit for a granule that does not exist. A segment that is built from the input's pairs has
 * each of them, also after its fields were encoded and decoded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "skip/segment/segment_builder.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HAS_RIBBONS 1
#define IS_BUILT    2

#define PAIRS_MAX     512
#define QUESTIONS     4
#define CHUNK_SIZE    (BB_SEGMENT_CHUNK_SIZE_MAX + BB_SEGMENT_CHUNK_CHECKSUM_SIZE)
#define GROUP_SIZE    8
#define CHECK_NUMBERS 16

/* --- Arbitrary bytes --- */

static void check_bits(const struct bb_granule_bits *bits, uint32_t granule_count)
{
    uint32_t word = granule_count / 64;
    if (granule_count % 64 != 0)
        BB_ASSERT(bits->words[word++] >> granule_count % 64 == 0);
    for (; word < BB_SEGMENT_WORDS; word++)
        BB_ASSERT(bits->words[word] == 0);
}

/* The chunk is a copy of its exact size, so that a sanitizer sees any read after it. */
static void ask_chunk(const struct bb_segment *segment, struct bb_bytes bytes, uint64_t hash)
{
    struct bb_granule_bits bits = {{0}};
    uint64_t offset = 0;
    uint32_t size = 0;
    bb_segment_chunk(segment, hash, &offset, &size);
    if (size > CHUNK_SIZE)
        return;
    uint8_t *chunk = bb_must_realloc(NULL, size + 1);
    memset(chunk, 0, size);
    memcpy(chunk, bytes.data, bytes.size < size ? bytes.size : size);
    if (bb_segment_ask(segment, bb_bytes_of(chunk, size), hash, &bits))
        check_bits(&bits, segment->granule_count);
    free(chunk);
}

static void ask_bytes(struct bb_cursor cursor, uint32_t granule_count, bool has_ribbons)
{
    struct bb_segment segment;
    uint64_t hash = 0;
    if (!bb_decode_u64(&cursor, &hash) ||
        !bb_segment_decode(&cursor, granule_count, has_ribbons, &segment))
        return;
    struct bb_bytes rest = bb_bytes_of(cursor.position, bb_cursor_left(&cursor));
    BB_ASSERT(bb_segment_rate(&segment) >= 0);
    for (int i = 0; i < QUESTIONS; i++, hash = bb_hash_mix(hash))
        ask_chunk(&segment, rest, hash);
}

/* --- Built segments --- */

static size_t add_group(const uint8_t *group, uint32_t granule_count, uint64_t *pairs, size_t count)
{
    uint64_t member = bb_load16(group);
    uint32_t granule = bb_load16(group + 4);
    for (uint32_t i = 0; i <= group[2] && count < PAIRS_MAX; i++) {
        pairs[count++] = bb_member_pair(bb_hash_mix(member + 1), granule % granule_count);
        member += group[3];
        granule += bb_load16(group + 6);
    }
    return count;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Sorted, each once. */
static size_t read_pairs(struct bb_bytes groups, uint32_t granule_count, uint64_t *pairs)
{
    size_t count = 0;
    size_t kept = 0;
    for (size_t at = 0; at + GROUP_SIZE <= groups.size; at += GROUP_SIZE)
        count = add_group(groups.data + at, granule_count, pairs, count);
    qsort(pairs, count, sizeof(pairs[0]), compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || pairs[i] != pairs[i - 1])
            pairs[kept++] = pairs[i];
    return kept;
}

static bool has_pair(const struct bb_segment *segment, struct bb_bytes data, uint64_t pair)
{
    struct bb_granule_bits bits = {{0}};
    uint64_t hash = bb_member_pair_hash(pair) << (64 - BB_MEMBER_HASH_BITS);
    uint32_t granule = bb_member_pair_granule(pair);
    uint64_t offset = 0;
    uint32_t size = 0;
    bb_segment_chunk(segment, hash, &offset, &size);
    BB_ASSERT(offset + size <= data.size);
    BB_ASSERT(bb_segment_ask(segment, bb_bytes_of(data.data + offset, size), hash, &bits));
    check_bits(&bits, segment->granule_count);
    return bb_granule_bits_has(&bits, granule);
}

/* The segment's fields and ends, decoded again. */
static void decode_again(const struct bb_segment_builder *builder, struct bb_buf *fields,
                         struct bb_segment *ret_segment)
{
    BB_ASSERT(bb_segment_append(&builder->segment, fields) == BB_OK);
    BB_ASSERT(bb_buf_append(fields, builder->ends.data, builder->ends.size) == BB_OK);
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(fields));
    BB_ASSERT(bb_segment_decode(&cursor, builder->segment.granule_count,
                                bb_segment_has_ribbons(&builder->segment), ret_segment));
    BB_ASSERT(bb_cursor_left(&cursor) == 0);
    BB_ASSERT(bb_segment_size(ret_segment) == builder->data.size);
}

static void check_built(const struct bb_segment_builder *builder, const uint64_t *pairs,
                        size_t count)
{
    struct bb_buf fields = {0};
    struct bb_segment segment;
    size_t step = count / CHECK_NUMBERS + 1;
    decode_again(builder, &fields, &segment);
    for (size_t i = 0; i < count; i += step)
        BB_ASSERT(has_pair(&segment, bb_buf_bytes(&builder->data), pairs[i]));
    bb_buf_deinit(&fields);
}

static void build(struct bb_bytes input, uint32_t granule_count, bool is_inverted)
{
    static const double rates[] = {0.5, 0.1, 0.01, 0.001, 0.0001, 1e-6};
    static uint64_t pairs[PAIRS_MAX];
    struct bb_segment_builder builder = {.is_inverted = is_inverted};
    if (input.size < 1)
        return;
    double rate = rates[input.data[0] % (sizeof(rates) / sizeof(rates[0]))];
    size_t count = read_pairs(bb_bytes_of(input.data + 1, input.size - 1), granule_count, pairs);
    enum bb_status status = bb_segment_builder_build(&builder, pairs, count, granule_count, rate);
    BB_ASSERT(status == BB_OK || status == BB_TOO_LARGE);
    if (status == BB_OK)
        check_built(&builder, pairs, count);
    bb_segment_builder_deinit(&builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    bool has_ribbons = (data[0] & HAS_RIBBONS) != 0;
    uint32_t granule_count = bb_load16(data + 1) % BB_SEGMENT_GRANULES_MAX + 1;
    struct bb_bytes rest = bb_bytes_of(data + 3, size - 3);
    if ((data[0] & IS_BUILT) != 0)
        build(rest, granule_count, !has_ribbons);
    else
        ask_bytes(bb_cursor_of(rest), granule_count, has_ribbons);
    return 0;
}
