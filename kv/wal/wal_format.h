/* The bytes of a log.
 *
 *     file       +-----------------+-----------------+-----
 *                | block, 32 KiB   | block, 32 KiB   | ...    the last one may be shorter
 *                +-----------------+-----------------+-----
 *     block      [header] fragment fragment ... fragment zeros
 *                 ^ first block only                     ^ where less than the smallest
 *                                                          fragment fits
 *
 *     header     offset  size
 *                     0     8  magic "bb.log\r\n"
 *                     8     4  format version
 *                    12     4  0
 *                    16     8  log number
 *                    24    16  id of the store
 *                    40     8  check of the bytes before
 *
 *     fragment   offset  size
 *                     0     8  check
 *                     8     2  n, length of the body
 *                    10     1  type: full, first, middle, last, mark
 *                    11     n  body
 *
 *     record     the bodies of one full fragment, or of a first one, any number of middle ones
 *                and a last one, without a gap between them
 *                offset  size
 *                     0     8  durable offset: the synced length of the log at this append
 *                     8        payload
 *
 *     mark       a fragment whose body is only a durable offset, appended when the log is closed
 *
 * All numbers are little-endian. No fragment crosses a block border. A first, full or mark fragment
 * has at least 8 bytes of body, so that the durable offset is never split. To keep one rule, no
 * fragment starts where its block has less than BB_WAL_FRAGMENT_SIZE_MIN bytes left.
 *
 * The check of a fragment covers its body, length and type, its file offset, and the identity of
 * the log (number and store). Bytes of a recycled file, of another log, or of another place
 * therefore never pass. A reader that finds damage may try every later offset without mistaking
 * random bytes for a fragment.
 *
 * Why the durable offset: damage below an offset that a later record calls durable is corruption.
 * Damage above it is the normal effect of a power failure on unsynced bytes: the log ends there.
 */
#ifndef BB_KV_WAL_WAL_FORMAT_H
#define BB_KV_WAL_WAL_FORMAT_H

#include "base/coding.h"
#include "base/hash.h"

#define BB_WAL_MAGIC           "bb.log\r\n"
#define BB_WAL_MAGIC_SIZE      8
#define BB_WAL_VERSION         0
#define BB_WAL_BLOCK_SIZE      32768
#define BB_WAL_HEADER_SIZE     48
#define BB_WAL_STORE_ID_SIZE   16
#define BB_WAL_FRAGMENT_HEADER 11
#define BB_WAL_DURABLE_SIZE    8

#define BB_WAL_FRAGMENT_SIZE_MIN (BB_WAL_FRAGMENT_HEADER + BB_WAL_DURABLE_SIZE)
#define BB_WAL_BODY_SIZE_MAX     (BB_WAL_BLOCK_SIZE - BB_WAL_FRAGMENT_HEADER)
/* Limit of one record's payload. */
#define BB_WAL_PAYLOAD_SIZE_MAX UINT32_MAX

_Static_assert(BB_WAL_BODY_SIZE_MAX <= UINT16_MAX, "a body's length has 16 bits");
_Static_assert(sizeof(BB_WAL_MAGIC) == BB_WAL_MAGIC_SIZE + 1, "the magic has 8 bytes");

/* ON DISK: the values never change. */
enum bb_wal_fragment_type {
    BB_WAL_NONE = 0, /* zeros: never written */
    BB_WAL_FULL = 1,
    BB_WAL_FIRST = 2,
    BB_WAL_MIDDLE = 3,
    BB_WAL_LAST = 4,
    BB_WAL_MARK = 5,
};

/* Identifies the log; part of every check. */
struct bb_wal_identity {
    uint64_t log_number;
    uint8_t store_id[BB_WAL_STORE_ID_SIZE];
};

static inline struct bb_wal_identity bb_wal_identity(uint64_t log_number,
                                                     const uint8_t store_id[BB_WAL_STORE_ID_SIZE])
{
    struct bb_wal_identity identity = {.log_number = log_number};
    memcpy(identity.store_id, store_id, BB_WAL_STORE_ID_SIZE);
    return identity;
}

void bb_wal_format_encode_header(const struct bb_wal_identity *identity,
                                 uint8_t ret_header[BB_WAL_HEADER_SIZE]);
/* The check for the end of a header. */
uint64_t bb_wal_format_check_header(const uint8_t header[BB_WAL_HEADER_SIZE]);

/* A hash of the identity, for the checks of fragments. */
uint64_t bb_wal_format_seed(const struct bb_wal_identity *identity);

/* The check of a fragment at a file offset. */
uint64_t bb_wal_format_check(uint64_t seed, uint64_t offset, enum bb_wal_fragment_type type,
                             struct bb_bytes body);

/* The end of the last record of a log, with a checksum of everything before it: a log that lost
 * records, or has other records, has another end. Marks after the last record do not count. */
struct bb_wal_end {
    uint64_t log_number;
    uint64_t offset; /* if there is no record: the end of the header */
    uint64_t check;  /* running check of all fragments up to there */
};

/* The running check after one more fragment with this check. It starts with the seed. */
static inline uint64_t bb_wal_running_check(uint64_t running, uint64_t fragment_check)
{
    return bb_hash_mix(running ^ fragment_check);
}

/* The file offset for which a fragment with this check was written. An arbitrary number for other
 * bytes. */
uint64_t bb_wal_format_place(uint64_t seed, uint64_t check, enum bb_wal_fragment_type type,
                             struct bb_bytes body);

/* The number of bytes from a file offset to the end of its block. */
static inline size_t bb_wal_block_left(uint64_t offset)
{
    return BB_WAL_BLOCK_SIZE - (size_t)(offset % BB_WAL_BLOCK_SIZE);
}

#endif
