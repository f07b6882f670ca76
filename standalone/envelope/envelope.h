/* The envelope of a standalone filter: everything needed to probe it, to assess it, and to check
 * that it is complete.
 *
 *       0  magic            8   "BBFILTER"
 *       8  version          4   1
 *      12  kind             2   enum bb_filter_kind
 *      14  header size      2   64
 *      16  envelope size    8   all bytes, checksum included
 *      24  salt             8
 *      32  key count        8   distinct hashes
 *      40  target rate      8   IEEE 754 double; 1 for kind none
 *      48  parameter 0      8   ribbon: shards; other kinds: lines, blocks, bits: see kind_*.c
 *      56  parameter 1      8   ribbon: fingerprint bits; other kinds: probes
 *      64  payload              as the kind has it
 *          checksum         8   XXH3-64 of all bytes before it
 *
 * Integers are little-endian. The payload begins at a multiple of 64 bytes, so that the lines of an
 * aligned envelope are cache lines. A filter of no keys has parameters 0 and no payload, and
 * returns no for every key. Exceptions: kinds that can change after they are built have a payload
 * for no keys too, and kind none has no payload and returns maybe.
 *
 * Pure functions; any thread.
 */
#ifndef BB_STANDALONE_ENVELOPE_ENVELOPE_H
#define BB_STANDALONE_ENVELOPE_ENVELOPE_H

#include "base/status.h"
#include "bb/filter.h"

#define BB_ENVELOPE_MAGIC         "BBFILTER"
#define BB_ENVELOPE_VERSION       1 /* 0: ribbons that took a mixed hash */
#define BB_ENVELOPE_HEADER_SIZE   64
#define BB_ENVELOPE_CHECKSUM_SIZE 8
#define BB_ENVELOPE_RATE_DEFAULT  0.01
#define BB_ENVELOPE_SIZE_MIN      (BB_ENVELOPE_HEADER_SIZE + BB_ENVELOPE_CHECKSUM_SIZE)

/* Offsets of fields. */
enum bb_envelope_field {
    BB_ENVELOPE_AT_MAGIC = 0,
    BB_ENVELOPE_AT_VERSION = 8,
    BB_ENVELOPE_AT_KIND = 12,
    BB_ENVELOPE_AT_HEADER_SIZE = 14,
    BB_ENVELOPE_AT_SIZE = 16,
    BB_ENVELOPE_AT_SALT = 24,
    BB_ENVELOPE_AT_KEY_COUNT = 32,
    BB_ENVELOPE_AT_TARGET_RATE = 40,
    BB_ENVELOPE_AT_PARAMETER_0 = 48,
    BB_ENVELOPE_AT_PARAMETER_1 = 56,
};

struct bb_envelope {
    uint32_t version;
    enum bb_filter_kind kind;
    uint64_t salt;
    uint64_t key_count;
    double target_rate;
    uint64_t parameters[2];
    struct bb_bytes payload; /* borrowed */
    double slack;            /* for building, not stored */
};

/* Checks the size, the checksum, and every field against the others, including the shard directory.
 * BB_CORRUPT with the offset; BB_UNSUPPORTED for other versions and kinds. */
BB_MUST_CHECK enum bb_status bb_envelope_decode(struct bb_bytes bytes,
                                                struct bb_envelope *ret_envelope);

/* The same for an envelope that must be of this kind; BB_INVALID if it is of another. */
BB_MUST_CHECK enum bb_status bb_envelope_decode_kind(struct bb_bytes bytes,
                                                     enum bb_filter_kind kind,
                                                     struct bb_envelope *ret_envelope);

/* Checks the part that is the same for all kinds: size, checksum, number of keys. */
BB_MUST_CHECK enum bb_status bb_envelope_decode_frame(struct bb_bytes bytes,
                                                      struct bb_envelope *ret_envelope);

/* Checks magic, version and size. data: the header, or all bytes of a shorter envelope; size: that
 * of the whole envelope. */
BB_MUST_CHECK enum bb_status bb_envelope_check_frame(const uint8_t *data, uint64_t size);

/* Appends the header without the size; the payload is ignored. The caller then appends the payload,
 * and calls bb_envelope_finish with the offset of the envelope in the buffer and the status of
 * these steps. If that status is a failure, or if finishing fails, bb_envelope_finish restores the
 * earlier contents of the buffer and returns the failure. */
BB_MUST_CHECK enum bb_status bb_envelope_encode(const struct bb_envelope *envelope,
                                                struct bb_buf *buf);
BB_MUST_CHECK enum bb_status bb_envelope_finish(struct bb_buf *buf, size_t start,
                                                enum bb_status status);
/* Sets the key count of a finished envelope and recomputes the checksum. */
void bb_envelope_recount(struct bb_buf *envelope, uint64_t key_count);
/* Writes the whole envelope: header, payload, checksum. On failure the buffer is unchanged. */
BB_MUST_CHECK enum bb_status bb_envelope_append(const struct bb_envelope *envelope,
                                                struct bb_buf *buf);

/* BB_INVALID for a target rate out of range, BB_TOO_LARGE for too many keys. */
BB_MUST_CHECK enum bb_status bb_envelope_check_plan(uint64_t key_count, double target_rate);

/* --- For the checks of the kinds --- */

/* The place for bb_corrupt: offsets count from the first byte of the envelope. */
extern const struct bb_place bb_envelope_place;

/* All these bytes are 0. */
bool bb_envelope_is_zero(const uint8_t *data, size_t size);
/* Fails with BB_CORRUPT: parameter number, which is called name, does not fit the rest. */
enum bb_status bb_envelope_bad_parameter(const struct bb_envelope *envelope, unsigned number,
                                         const char *name) __attribute__((cold));
/* Parameter 1 is a number of probes: 1 ... BB_BLOOM_PROBES_MAX. */
enum bb_status bb_envelope_check_probes(const struct bb_envelope *envelope);
/* The parameters are 0, and there is no payload. */
enum bb_status bb_envelope_check_without_payload(const struct bb_envelope *envelope);
/* Checks the bit_count bits that begin at start in the payload, and the rest of their last byte: no
 * bit after the last one is set, and if there are keys, not all bits are zero. */
enum bb_status bb_envelope_check_bits(const struct bb_envelope *envelope, size_t start,
                                      uint64_t bit_count, uint64_t key_count);

#endif
