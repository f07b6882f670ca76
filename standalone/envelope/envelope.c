/* Writing the frame of a standalone filter, and checking a frame from any source. */
#include "standalone/envelope/envelope.h"

#include "base/coding.h"
#include "base/hash.h"
#include "base/status.h"
#include "bloomblock/bloom/bloom.h"

_Static_assert(BB_ENVELOPE_AT_PARAMETER_1 + 8 == BB_ENVELOPE_HEADER_SIZE,
               "the picture and the fields agree");

const struct bb_place bb_envelope_place = {.file = "filter envelope", .offset = 0};

enum bb_status bb_envelope_encode(const struct bb_envelope *envelope, struct bb_buf *buf)
{
    uint8_t *header = NULL;
    enum bb_status status = bb_buf_extend(buf, BB_ENVELOPE_HEADER_SIZE, &header);
    if (status != BB_OK)
        return status;
    memcpy(header + BB_ENVELOPE_AT_MAGIC, BB_ENVELOPE_MAGIC, strlen(BB_ENVELOPE_MAGIC));
    bb_store32(header + BB_ENVELOPE_AT_VERSION, BB_ENVELOPE_VERSION);
    bb_store16(header + BB_ENVELOPE_AT_KIND, (uint16_t)envelope->kind);
    bb_store16(header + BB_ENVELOPE_AT_HEADER_SIZE, BB_ENVELOPE_HEADER_SIZE);
    bb_store64(header + BB_ENVELOPE_AT_SALT, envelope->salt);
    bb_store64(header + BB_ENVELOPE_AT_KEY_COUNT, envelope->key_count);
    bb_store64(header + BB_ENVELOPE_AT_TARGET_RATE, bb_bits_of_double(envelope->target_rate));
    bb_store64(header + BB_ENVELOPE_AT_PARAMETER_0, envelope->parameters[0]);
    bb_store64(header + BB_ENVELOPE_AT_PARAMETER_1, envelope->parameters[1]);
    return BB_OK;
}

enum bb_status bb_envelope_finish(struct bb_buf *buf, size_t start, enum bb_status status)
{
    size_t checked_size = buf->size - start;
    if (status == BB_OK) {
        uint8_t *envelope = buf->data + start;
        bb_store64(envelope + BB_ENVELOPE_AT_SIZE, checked_size + BB_ENVELOPE_CHECKSUM_SIZE);
        status = bb_append_u64(buf, bb_hash_bytes(envelope, checked_size));
    }
    if (status != BB_OK)
        buf->size = start;
    return status;
}

void bb_envelope_recount(struct bb_buf *envelope, uint64_t key_count)
{
    size_t checked_size = envelope->size - BB_ENVELOPE_CHECKSUM_SIZE;
    bb_store64(envelope->data + BB_ENVELOPE_AT_KEY_COUNT, key_count);
    bb_store64(envelope->data + checked_size, bb_hash_bytes(envelope->data, checked_size));
}

enum bb_status bb_envelope_append(const struct bb_envelope *envelope, struct bb_buf *buf)
{
    size_t start = buf->size;
    enum bb_status status = bb_envelope_encode(envelope, buf);
    if (status == BB_OK)
        status = bb_buf_append(buf, envelope->payload.data, envelope->payload.size);
    return bb_envelope_finish(buf, start, status);
}

enum bb_status bb_envelope_check_plan(uint64_t key_count, double target_rate)
{
    if (key_count > BB_FILTER_KEY_COUNT_MAX)
        return bb_fail(BB_TOO_LARGE, "a filter of %llu keys: the limit is %llu",
                       (unsigned long long)key_count, (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    if (!(target_rate >= BB_FILTER_RATE_MIN && target_rate <= BB_FILTER_RATE_MAX))
        return bb_fail(BB_INVALID, "the filter's target rate is %g, allowed are %g to %g",
                       target_rate, BB_FILTER_RATE_MIN, BB_FILTER_RATE_MAX);
    return BB_OK;
}

/* Magic, version and size: they must be right before the checksum can be located. */
enum bb_status bb_envelope_check_frame(const uint8_t *data, uint64_t size)
{
    if (size < BB_ENVELOPE_SIZE_MIN)
        return bb_corrupt(bb_envelope_place, size, "ends after %llu bytes, the shortest has %d",
                          (unsigned long long)size, BB_ENVELOPE_SIZE_MIN);
    if (memcmp(data + BB_ENVELOPE_AT_MAGIC, BB_ENVELOPE_MAGIC, strlen(BB_ENVELOPE_MAGIC)) != 0)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_AT_MAGIC, "does not begin with %s",
                          BB_ENVELOPE_MAGIC);
    uint32_t version = bb_load32(data + BB_ENVELOPE_AT_VERSION);
    if (version != BB_ENVELOPE_VERSION)
        return bb_fail(BB_UNSUPPORTED, "%s: at offset %d: has version %u, this library reads %d",
                       bb_envelope_place.file, BB_ENVELOPE_AT_VERSION, version,
                       BB_ENVELOPE_VERSION);
    uint64_t expected = bb_load64(data + BB_ENVELOPE_AT_SIZE);
    if (size != expected)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_AT_SIZE,
                          "has the size %llu, but %llu bytes are there",
                          (unsigned long long)expected, (unsigned long long)size);
    return BB_OK;
}

static enum bb_status check_checksum(struct bb_bytes bytes)
{
    size_t checked_size = bytes.size - BB_ENVELOPE_CHECKSUM_SIZE;
    uint64_t expected = bb_load64(bytes.data + checked_size);
    uint64_t found = bb_hash_bytes(bytes.data, checked_size);
    if (found != expected)
        return bb_corrupt(bb_envelope_place, checked_size,
                          "checksum is %016llx, of the bytes it is %016llx",
                          (unsigned long long)expected, (unsigned long long)found);
    return BB_OK;
}

/* --- Fields --- */

static struct bb_envelope load_fields(struct bb_bytes bytes)
{
    const uint8_t *data = bytes.data;
    return (struct bb_envelope){
        .version = bb_load32(data + BB_ENVELOPE_AT_VERSION),
        .kind = (enum bb_filter_kind)bb_load16(data + BB_ENVELOPE_AT_KIND),
        .salt = bb_load64(data + BB_ENVELOPE_AT_SALT),
        .key_count = bb_load64(data + BB_ENVELOPE_AT_KEY_COUNT),
        .target_rate = bb_double_of_bits(bb_load64(data + BB_ENVELOPE_AT_TARGET_RATE)),
        .parameters = {bb_load64(data + BB_ENVELOPE_AT_PARAMETER_0),
                       bb_load64(data + BB_ENVELOPE_AT_PARAMETER_1)},
        .payload = {data + BB_ENVELOPE_HEADER_SIZE, bytes.size - BB_ENVELOPE_SIZE_MIN}};
}

enum bb_status bb_envelope_bad_parameter(const struct bb_envelope *envelope, unsigned number,
                                         const char *name)
{
    return bb_corrupt(bb_envelope_place,
                      number == 0 ? BB_ENVELOPE_AT_PARAMETER_0 : BB_ENVELOPE_AT_PARAMETER_1,
                      "%s of a %s filter of %llu keys and %zu bytes is %llu", name,
                      bb_filter_kind_name(envelope->kind), (unsigned long long)envelope->key_count,
                      envelope->payload.size, (unsigned long long)envelope->parameters[number]);
}

enum bb_status bb_envelope_check_probes(const struct bb_envelope *envelope)
{
    uint64_t probes = envelope->parameters[1];
    if (probes < 1 || probes > BB_BLOOM_PROBES_MAX)
        return bb_envelope_bad_parameter(envelope, 1, "number of probes");
    return BB_OK;
}

enum bb_status bb_envelope_check_without_payload(const struct bb_envelope *envelope)
{
    if (envelope->parameters[0] != 0)
        return bb_envelope_bad_parameter(envelope, 0, "parameter 0");
    if (envelope->parameters[1] != 0)
        return bb_envelope_bad_parameter(envelope, 1, "parameter 1");
    if (envelope->payload.size != 0)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE,
                          "%zu bytes of payload, expected none", envelope->payload.size);
    return BB_OK;
}

bool bb_envelope_is_zero(const uint8_t *data, size_t size)
{
    return size == 0 || (data[0] == 0 && memcmp(data, data + 1, size - 1) == 0);
}

enum bb_status bb_envelope_check_bits(const struct bb_envelope *envelope, size_t start,
                                      uint64_t bit_count, uint64_t key_count)
{
    const uint8_t *bits = envelope->payload.data + start;
    size_t size = (size_t)(bit_count / 8 + (bit_count % 8 != 0));
    if (bit_count % 8 != 0 && bits[size - 1] >> (bit_count % 8) != 0)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE + start + size - 1,
                          "bits are set after the last one of the filter");
    if (key_count > 0 && bb_envelope_is_zero(bits, size))
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE + start,
                          "no bit is set for %llu keys", (unsigned long long)key_count);
    return BB_OK;
}

/* The description that all kinds share. */
static enum bb_status check_fields(struct bb_bytes bytes, const struct bb_envelope *envelope)
{
    uint16_t header_size = bb_load16(bytes.data + BB_ENVELOPE_AT_HEADER_SIZE);
    if (header_size != BB_ENVELOPE_HEADER_SIZE)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_AT_HEADER_SIZE,
                          "header has %u bytes, expected %d", header_size, BB_ENVELOPE_HEADER_SIZE);
    if (envelope->key_count > BB_FILTER_KEY_COUNT_MAX)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_AT_KEY_COUNT,
                          "%llu keys, the limit is %llu", (unsigned long long)envelope->key_count,
                          (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    return BB_OK;
}

enum bb_status bb_envelope_decode_frame(struct bb_bytes bytes, struct bb_envelope *ret_envelope)
{
    enum bb_status status = bb_envelope_check_frame(bytes.data, bytes.size);
    if (status == BB_OK)
        status = check_checksum(bytes);
    if (status != BB_OK)
        return status;
    struct bb_envelope envelope = load_fields(bytes);
    status = check_fields(bytes, &envelope);
    if (status == BB_OK)
        *ret_envelope = envelope;
    return status;
}
