/* A filter in a separate file (bb/filter.h): the hash function of its keys, and its envelope.
 *
 *       0  magic            8   "BBFLFILE"
 *       8  version          4   0
 *      12  hash             2   enum bb_filter_hash
 *      14  header size      2   256: where the envelope begins
 *      16  file size        8   all bytes
 *      24  secret         192   of the keyed hash; zeros for other hashes
 *     216  seal             8   the last 8 bytes of the file, which are the envelope's checksum
 *     224  planned keys     8   number of keys that the filter is sized for; 0: the keys in it
 *     232  reserved        16   zeros
 *     248  checksum         8   XXH3-64 of all bytes before it
 *     256  envelope             envelope.h
 *
 * Integers are little-endian. The envelope begins at a multiple of 64 bytes, so that its lines can
 * be cache lines. The seal shows that header and envelope were written together: with the secret of
 * another filter, a probe would return no for every member.
 *
 * Pure functions; any thread. */
#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "base/hash.h"
#include "base/status.h"
#include "bb/filter.h"
#include "standalone/envelope/envelope.h"
#include "standalone/filter_file.h"

#define MAGIC_TEXT "BBFLFILE"
#define VERSION_0  0

/* Offsets of fields. */
enum {
    MAGIC = 0,
    VERSION = 8,
    HASH = 12,
    HEADER_SIZE = 14,
    SIZE = 16,
    SECRET = 24,
    SEAL = 216,
    PLANNED = 224,
    RESERVED = 232,
    CHECKSUM = 248,
};

#define SEAL_SIZE 8

_Static_assert(SECRET + BB_HASH_SECRET_SIZE == SEAL, "the picture and the fields agree");
_Static_assert(CHECKSUM + 8 == BB_FILTER_FILE_HEADER_SIZE, "the picture and the fields agree");
_Static_assert(BB_FILTER_FILE_HEADER_SIZE % 64 == 0, "the envelope begins with a cache line");

static const struct bb_place nowhere = {.file = "filter file", .offset = 0};

static bool is_known(enum bb_filter_hash hash)
{
    return hash == BB_FILTER_HASH_KEYED || hash == BB_FILTER_HASH_XXH64;
}

static uint64_t seal_of(struct bb_bytes envelope)
{
    return bb_load64(envelope.data + envelope.size - SEAL_SIZE);
}

enum bb_status bb_filter_file_encode(const struct bb_filter_file *file, struct bb_buf *buf)
{
    struct bb_bytes envelope = file->envelope;
    size_t start = buf->size;
    uint8_t *header = NULL;
    if (!is_known(file->hash))
        return bb_fail(BB_INVALID, "there is no hash %d for filter files", (int)file->hash);
    if (file->planned_key_count > BB_FILTER_KEY_COUNT_MAX)
        return bb_fail(BB_INVALID, "a filter planned for %llu keys, the limit is %llu",
                       (unsigned long long)file->planned_key_count,
                       (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    if (envelope.size < BB_ENVELOPE_SIZE_MIN)
        return bb_fail(BB_INVALID, "an envelope of %zu bytes for a filter file", envelope.size);
    enum bb_status status = bb_buf_extend(buf, BB_FILTER_FILE_HEADER_SIZE, &header);
    if (status != BB_OK)
        return status;
    memcpy(header + MAGIC, MAGIC_TEXT, strlen(MAGIC_TEXT));
    bb_store32(header + VERSION, VERSION_0);
    bb_store16(header + HASH, (uint16_t)file->hash);
    bb_store16(header + HEADER_SIZE, BB_FILTER_FILE_HEADER_SIZE);
    bb_store64(header + SIZE, BB_FILTER_FILE_HEADER_SIZE + envelope.size);
    if (file->hash == BB_FILTER_HASH_KEYED)
        memcpy(header + SECRET, file->secret.bytes, BB_HASH_SECRET_SIZE);
    bb_store64(header + SEAL, seal_of(envelope));
    bb_store64(header + PLANNED, file->planned_key_count);
    bb_store64(header + CHECKSUM, bb_hash_bytes(header, CHECKSUM));
    status = bb_buf_append(buf, envelope.data, envelope.size);
    if (status != BB_OK)
        buf->size = start;
    return status;
}

/* Magic and version: they must be right before any other field has a meaning. */
static enum bb_status check_frame(const uint8_t *header, uint64_t file_size)
{
    if (file_size < BB_FILTER_FILE_HEADER_SIZE + BB_ENVELOPE_SIZE_MIN)
        return bb_corrupt(nowhere, file_size, "ends after %llu bytes, the shortest has %d",
                          (unsigned long long)file_size,
                          BB_FILTER_FILE_HEADER_SIZE + BB_ENVELOPE_SIZE_MIN);
    if (memcmp(header + MAGIC, MAGIC_TEXT, strlen(MAGIC_TEXT)) != 0)
        return bb_corrupt(nowhere, MAGIC, "does not begin with %s", MAGIC_TEXT);
    uint32_t version = bb_load32(header + VERSION);
    if (version != VERSION_0)
        return bb_fail(BB_UNSUPPORTED, "%s: at offset %d: has version %u, this library reads %d",
                       nowhere.file, VERSION, version, VERSION_0);
    return BB_OK;
}

static enum bb_status check_checksum(const uint8_t *header)
{
    uint64_t expected = bb_load64(header + CHECKSUM);
    uint64_t found = bb_hash_bytes(header, CHECKSUM);
    if (found != expected)
        return bb_corrupt(nowhere, CHECKSUM,
                          "checksum of the header is %016llx, of its bytes it is %016llx",
                          (unsigned long long)expected, (unsigned long long)found);
    return BB_OK;
}

static enum bb_status check_sizes(const uint8_t *header, uint64_t file_size)
{
    uint16_t header_size = bb_load16(header + HEADER_SIZE);
    uint64_t size = bb_load64(header + SIZE);
    if (header_size != BB_FILTER_FILE_HEADER_SIZE)
        return bb_corrupt(nowhere, HEADER_SIZE, "header has %u bytes, expected %d", header_size,
                          BB_FILTER_FILE_HEADER_SIZE);
    if (size != file_size)
        return bb_corrupt(nowhere, SIZE, "the size field is %llu bytes, the input has %llu",
                          (unsigned long long)size, (unsigned long long)file_size);
    return BB_OK;
}

static enum bb_status check_fields(const uint8_t *header)
{
    uint16_t hash = bb_load16(header + HASH);
    if (hash < BB_FILTER_HASH_KEYED)
        return bb_corrupt(nowhere, HASH, "hash %u is not stored", hash);
    if (!is_known((enum bb_filter_hash)hash))
        return bb_fail(BB_UNSUPPORTED,
                       "%s: at offset %d: has hash %u, which this library does not know",
                       nowhere.file, HASH, hash);
    if (hash != BB_FILTER_HASH_KEYED && !bb_envelope_is_zero(header + SECRET, BB_HASH_SECRET_SIZE))
        return bb_corrupt(nowhere, SECRET, "a secret for hash %u, which uses no secret", hash);
    if (bb_load64(header + PLANNED) > BB_FILTER_KEY_COUNT_MAX)
        return bb_corrupt(nowhere, PLANNED, "planned for %llu keys, the limit is %llu",
                          (unsigned long long)bb_load64(header + PLANNED),
                          (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    if (!bb_envelope_is_zero(header + RESERVED, CHECKSUM - RESERVED))
        return bb_corrupt(nowhere, RESERVED, "reserved bytes are not zero");
    return BB_OK;
}

static enum bb_status check_header(const uint8_t *header, uint64_t file_size)
{
    enum bb_status status = check_frame(header, file_size);
    if (status == BB_OK)
        status = check_checksum(header);
    if (status == BB_OK)
        status = check_sizes(header, file_size);
    return status == BB_OK ? check_fields(header) : status;
}

enum bb_status bb_filter_file_check_beginning(struct bb_bytes beginning, uint64_t file_size)
{
    BB_DEBUG_ASSERT(beginning.size == file_size || beginning.size == BB_FILTER_FILE_HEADER_SIZE);
    bool is_bare = beginning.size >= strlen(BB_ENVELOPE_MAGIC) &&
                   memcmp(beginning.data, BB_ENVELOPE_MAGIC, strlen(BB_ENVELOPE_MAGIC)) == 0;
    return is_bare ? bb_envelope_check_frame(beginning.data, file_size)
                   : check_header(beginning.data, file_size);
}

enum bb_status bb_filter_file_decode(struct bb_bytes bytes, struct bb_filter_file *ret_file)
{
    enum bb_status status = check_header(bytes.data, bytes.size);
    if (status != BB_OK)
        return status;
    struct bb_filter_file file = {.hash = (enum bb_filter_hash)bb_load16(bytes.data + HASH),
                                  .planned_key_count = bb_load64(bytes.data + PLANNED),
                                  .envelope = bb_bytes_of(bytes.data + BB_FILTER_FILE_HEADER_SIZE,
                                                          bytes.size - BB_FILTER_FILE_HEADER_SIZE)};
    if (seal_of(file.envelope) != bb_load64(bytes.data + SEAL))
        return bb_corrupt(nowhere, SEAL, "the header was made for another filter");
    memcpy(file.secret.bytes, bytes.data + SECRET, BB_HASH_SECRET_SIZE);
    *ret_file = file;
    return BB_OK;
}

uint64_t bb_filter_file_hash(const struct bb_filter_file *file, struct bb_bytes key)
{
    if (file->hash == BB_FILTER_HASH_XXH64)
        return bb_hash_xxh64(key);
    return bb_hash_key(&file->secret, key);
}
