/* Writing the frame of a stand-alone filter, and checking one that comes from anywhere. */
#include "bloomblock/envelope.h"

#include "base/coding.h"
#include "base/hash.h"
#include "base/status.h"
#include "bloomblock/block_filter.h"
#include "bloomblock/blocked_bloom.h"
#include "bloomblock/bloom.h"
#include "bloomblock/ribbon.h"
#include "bloomblock/shard.h"
#include "bloomblock/shard_directory.h"

/* Where fields stand. */
enum {
    MAGIC = 0,
    VERSION = 8,
    KIND = 12,
    HEADER_SIZE = 14,
    SIZE = 16,
    SALT = 24,
    KEY_COUNT = 32,
    TARGET_RATE = 40,
    PARAMETER_0 = 48,
    PARAMETER_1 = 56,
};

_Static_assert(PARAMETER_1 + 8 == BB_ENVELOPE_HEADER_SIZE, "the picture and the fields agree");
_Static_assert((BB_SHARD_RUN_COUNT - 1) * BB_RIBBON_GROUPS_MAX * BB_RIBBON_RANK_MAX <= UINT16_MAX,
               "offsets inside a run of shards fit into 16 bits");

static const struct bb_place nowhere = {.file = "filter envelope", .offset = 0};

static uint64_t bits_of_double(double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double double_of_bits(uint64_t bits)
{
    double value = 0;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

enum bb_status bb_envelope_encode(const struct bb_envelope *envelope, struct bb_buf *buf)
{
    uint8_t *header = NULL;
    enum bb_status status = bb_buf_extend(buf, BB_ENVELOPE_HEADER_SIZE, &header);
    if (status != BB_OK)
        return status;
    memcpy(header + MAGIC, BB_ENVELOPE_MAGIC, strlen(BB_ENVELOPE_MAGIC));
    bb_store32(header + VERSION, BB_ENVELOPE_VERSION);
    bb_store16(header + KIND, (uint16_t)envelope->kind);
    bb_store16(header + HEADER_SIZE, BB_ENVELOPE_HEADER_SIZE);
    bb_store64(header + SALT, envelope->salt);
    bb_store64(header + KEY_COUNT, envelope->key_count);
    bb_store64(header + TARGET_RATE, bits_of_double(envelope->target_rate));
    bb_store64(header + PARAMETER_0, envelope->parameters[0]);
    bb_store64(header + PARAMETER_1, envelope->parameters[1]);
    return BB_OK;
}

enum bb_status bb_envelope_finish(struct bb_buf *buf, size_t start)
{
    size_t checked_size = buf->size - start;
    bb_store64(buf->data + start + SIZE, checked_size + BB_ENVELOPE_CHECKSUM_SIZE);
    return bb_append_u64(buf, bb_hash_bytes(buf->data + start, checked_size));
}

/* Magic, version and size: what has to be right before the checksum can be found. */
static enum bb_status check_frame(struct bb_bytes bytes)
{
    const uint8_t *data = bytes.data;
    if (bytes.size < BB_ENVELOPE_SIZE_MIN)
        return bb_corrupt(nowhere, bytes.size, "ends after %zu bytes, the shortest has %d",
                          bytes.size, BB_ENVELOPE_SIZE_MIN);
    if (memcmp(data + MAGIC, BB_ENVELOPE_MAGIC, strlen(BB_ENVELOPE_MAGIC)) != 0)
        return bb_corrupt(nowhere, MAGIC, "does not begin with %s", BB_ENVELOPE_MAGIC);
    uint32_t version = bb_load32(data + VERSION);
    if (version != BB_ENVELOPE_VERSION)
        return bb_fail(BB_UNSUPPORTED, "filter envelope has version %u, this library reads %d",
                       version, BB_ENVELOPE_VERSION);
    uint64_t size = bb_load64(data + SIZE);
    if (size != bytes.size)
        return bb_corrupt(nowhere, SIZE, "says that it has %llu bytes, %zu are there",
                          (unsigned long long)size, bytes.size);
    return BB_OK;
}

static enum bb_status check_checksum(struct bb_bytes bytes)
{
    size_t checked_size = bytes.size - BB_ENVELOPE_CHECKSUM_SIZE;
    uint64_t expected = bb_load64(bytes.data + checked_size);
    uint64_t found = bb_hash_bytes(bytes.data, checked_size);
    if (found != expected)
        return bb_corrupt(nowhere, checked_size, "checksum is %016llx, of the bytes it is %016llx",
                          (unsigned long long)expected, (unsigned long long)found);
    return BB_OK;
}

/* --- Fields --- */

static struct bb_envelope load_fields(struct bb_bytes bytes)
{
    const uint8_t *data = bytes.data;
    return (struct bb_envelope){
        .version = bb_load32(data + VERSION),
        .kind = (enum bb_filter_kind)bb_load16(data + KIND),
        .salt = bb_load64(data + SALT),
        .key_count = bb_load64(data + KEY_COUNT),
        .target_rate = double_of_bits(bb_load64(data + TARGET_RATE)),
        .parameters = {bb_load64(data + PARAMETER_0), bb_load64(data + PARAMETER_1)},
        .payload = {data + BB_ENVELOPE_HEADER_SIZE, bytes.size - BB_ENVELOPE_SIZE_MIN}};
}

static enum bb_status bad_parameter(const struct bb_envelope *envelope, unsigned number,
                                    const char *name)
{
    return bb_corrupt(nowhere, number == 0 ? PARAMETER_0 : PARAMETER_1,
                      "%s of a %s filter of %llu keys and %zu bytes is %llu", name,
                      bb_filter_kind_name(envelope->kind), (unsigned long long)envelope->key_count,
                      envelope->payload.size, (unsigned long long)envelope->parameters[number]);
}

static enum bb_status check_without_payload(const struct bb_envelope *envelope)
{
    if (envelope->parameters[0] != 0)
        return bad_parameter(envelope, 0, "parameter 0");
    if (envelope->parameters[1] != 0)
        return bad_parameter(envelope, 1, "parameter 1");
    if (envelope->payload.size != 0)
        return bb_corrupt(nowhere, BB_ENVELOPE_HEADER_SIZE, "%zu bytes of payload, expected none",
                          envelope->payload.size);
    return BB_OK;
}

static bool probes_are_possible(const struct bb_envelope *envelope)
{
    return envelope->parameters[1] >= 1 && envelope->parameters[1] <= BB_BLOOM_PROBES_MAX;
}

static enum bb_status check_blocked_bloom(const struct bb_envelope *envelope)
{
    uint64_t lines = envelope->parameters[0];
    if (lines < 1 || lines > UINT32_MAX || lines * BB_LINE_SIZE != envelope->payload.size)
        return bad_parameter(envelope, 0, "number of lines");
    if (!probes_are_possible(envelope))
        return bad_parameter(envelope, 1, "number of probes");
    return BB_OK;
}

static enum bb_status check_bloom(const struct bb_envelope *envelope)
{
    uint64_t bits = envelope->parameters[0];
    struct bb_bytes payload = envelope->payload;
    if (bits < 1 || bb_bloom_size(bits) != payload.size)
        return bad_parameter(envelope, 0, "number of bits");
    if (!probes_are_possible(envelope))
        return bad_parameter(envelope, 1, "number of probes");
    if (bits % 8 != 0 && payload.data[payload.size - 1] >> (bits % 8) != 0)
        return bb_corrupt(nowhere, BB_ENVELOPE_HEADER_SIZE + payload.size - 1,
                          "bits are set behind the last one of the filter");
    return BB_OK;
}

/* Every descriptor is possible, and the offsets are the sums of the sizes. */
static enum bb_status check_directory(const struct bb_envelope *envelope, uint32_t shard_count)
{
    const uint8_t *directory = envelope->payload.data;
    uint64_t directory_size = bb_shard_directory_size(shard_count);
    struct bb_block_filter_format format = {.kind = BB_FILTER_RIBBON,
                                            .rank = (uint32_t)envelope->parameters[1]};
    uint64_t end = 0;
    for (uint32_t i = 0; i < shard_count; i++) {
        struct bb_shard_entry entry = bb_shard_directory_entry(directory, i);
        size_t size = 0;
        if (entry.offset != end)
            return bb_corrupt(nowhere, BB_ENVELOPE_HEADER_SIZE,
                              "shard %u of %u is at %llu of the payloads, expected %llu", i,
                              shard_count, (unsigned long long)entry.offset,
                              (unsigned long long)end);
        if (!bb_block_filter_size(&format, entry.descriptor, &size))
            return bb_corrupt(nowhere, BB_ENVELOPE_HEADER_SIZE,
                              "shard %u of %u has the descriptor %04x, which does not exist", i,
                              shard_count, entry.descriptor);
        end += size;
    }
    if (end != envelope->payload.size - directory_size)
        return bb_corrupt(nowhere, BB_ENVELOPE_HEADER_SIZE + directory_size,
                          "%llu bytes of shards, the directory says %llu",
                          (unsigned long long)(envelope->payload.size - directory_size),
                          (unsigned long long)end);
    return BB_OK;
}

static enum bb_status check_ribbon(const struct bb_envelope *envelope)
{
    uint64_t shard_count = envelope->parameters[0];
    uint64_t rank = envelope->parameters[1];
    if (shard_count != bb_shard_count(envelope->key_count) ||
        bb_shard_directory_size((uint32_t)shard_count) > envelope->payload.size)
        return bad_parameter(envelope, 0, "number of shards");
    if (rank < 1 || rank >= BB_RIBBON_RANK_MAX)
        return bad_parameter(envelope, 1, "rank");
    return check_directory(envelope, (uint32_t)shard_count);
}

static enum bb_status check_kind(const struct bb_envelope *envelope)
{
    if (envelope->kind == BB_FILTER_NONE || envelope->key_count == 0)
        return check_without_payload(envelope);
    switch (envelope->kind) {
    case BB_FILTER_RIBBON:
        return check_ribbon(envelope);
    case BB_FILTER_BLOCKED_BLOOM:
        return check_blocked_bloom(envelope);
    case BB_FILTER_BLOOM:
        return check_bloom(envelope);
    default:
        return bb_corrupt(nowhere, KIND, "kind %d is not stored", (int)envelope->kind);
    }
}

static enum bb_status check_fields(struct bb_bytes bytes, const struct bb_envelope *envelope)
{
    uint16_t header_size = bb_load16(bytes.data + HEADER_SIZE);
    double rate = envelope->target_rate;
    bool none = envelope->kind == BB_FILTER_NONE;
    if (header_size != BB_ENVELOPE_HEADER_SIZE)
        return bb_corrupt(nowhere, HEADER_SIZE, "header has %u bytes, expected %d", header_size,
                          BB_ENVELOPE_HEADER_SIZE);
    if (envelope->kind < BB_FILTER_NONE)
        return bb_corrupt(nowhere, KIND, "kind %d is not stored", (int)envelope->kind);
    if (envelope->kind > BB_FILTER_BLOOM)
        return bb_fail(BB_UNSUPPORTED, "filter envelope has kind %d, this library reads 1 to %d",
                       (int)envelope->kind, (int)BB_FILTER_BLOOM);
    if (envelope->key_count > BB_FILTER_KEY_COUNT_MAX)
        return bb_corrupt(nowhere, KEY_COUNT, "%llu keys, the limit is %llu",
                          (unsigned long long)envelope->key_count,
                          (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    if (none ? rate != 1 : !(rate >= BB_FILTER_RATE_MIN && rate <= BB_FILTER_RATE_MAX))
        return bb_corrupt(nowhere, TARGET_RATE, "target rate is %g", rate);
    return BB_OK;
}

enum bb_status bb_envelope_decode(struct bb_bytes bytes, struct bb_envelope *ret_envelope)
{
    enum bb_status status = check_frame(bytes);
    if (status == BB_OK)
        status = check_checksum(bytes);
    if (status != BB_OK)
        return status;
    struct bb_envelope envelope = load_fields(bytes);
    status = check_fields(bytes, &envelope);
    if (status == BB_OK)
        status = check_kind(&envelope);
    if (status == BB_OK)
        *ret_envelope = envelope;
    return status;
}
