/* A log file, read as recovery reads it.
 *
 *     input      first byte: bit 0 repairs the header, bit 1 the checks of fragments, bit 2 zeroes
 *                the ends of blocks, bit 3 leaves every fourth fragment damaged; then the file
 *     oracle     with and without tolerance the same records come, none longer than the file; the
 *                tolerant reader never refuses a log with a sound header; the report adds up
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "kv/batch.h"
#include "kv/wal/wal_reader.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"

#define LOG_NUMBER 5
#define PATH       "/5.log"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "fuzz";

enum {
    REPAIR_HEADER = 1,
    REPAIR_CHECKS = 2,
    REPAIR_PADDING = 4,
    LEAVE_DAMAGE = 8,
};

static void repair_fragments(uint8_t *file, size_t size, uint8_t flags)
{
    struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    uint64_t seed = bb_wal_seed(&identity);
    size_t offset = BB_WAL_HEADER_SIZE;
    for (unsigned number = 1; offset < size; number++) {
        size_t left = bb_wal_block_left(offset);
        size_t rest = left < size - offset ? left : size - offset;
        if (left < BB_WAL_FRAGMENT_SIZE_MIN) {
            if (flags & REPAIR_PADDING)
                memset(file + offset, 0, rest);
            offset += rest;
            continue;
        }
        if (rest < BB_WAL_FRAGMENT_HEADER)
            return;
        size_t body_size = bb_load16(file + offset + 8);
        if (body_size > rest - BB_WAL_FRAGMENT_HEADER)
            return;
        struct bb_bytes body = bb_bytes_of(file + offset + BB_WAL_FRAGMENT_HEADER, body_size);
        uint64_t check =
            bb_wal_check(seed, offset, (enum bb_wal_fragment_type)file[offset + 10], body);
        bool is_left = (flags & LEAVE_DAMAGE) && number % 4 == 0;
        bb_store64(file + offset, check ^ is_left);
        offset += BB_WAL_FRAGMENT_HEADER + body_size;
    }
}

static void repair(uint8_t *file, size_t size, uint8_t flags)
{
    struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    if (size < BB_WAL_HEADER_SIZE)
        return;
    if (flags & REPAIR_HEADER)
        bb_wal_header_encode(&identity, file);
    else
        bb_store64(file + 40, bb_wal_header_check(file));
    if (flags & REPAIR_CHECKS)
        repair_fragments(file, size, flags);
}

struct outcome {
    enum bb_status status;
    uint64_t hash; /* of the records */
    uint64_t record_count;
    uint64_t payload_bytes;
};

static void decode_payload(struct bb_bytes payload)
{
    struct bb_batch_cursor cursor;
    struct bb_entry entry;
    enum bb_status status = bb_batch_cursor_init(&cursor, payload, (struct bb_place){.file = PATH});
    while (status == BB_OK)
        status = bb_batch_cursor_next(&cursor, &entry);
}

static void check_report(const struct bb_wal_report *report, uint64_t file_size)
{
    BB_ASSERT(report->end_offset <= file_size);
    BB_ASSERT(report->dropped_bytes <= file_size - report->end_offset);
    if (report->reason[0] == 0)
        BB_ASSERT(report->dropped_bytes == 0 && report->end_offset == file_size);
}

static struct outcome read_all(struct bb_file_system *fs, uint64_t file_size, bool tolerate)
{
    struct outcome outcome = {0};
    struct bb_wal_reader *reader = NULL;
    outcome.status = bb_wal_reader_open(fs, PATH, LOG_NUMBER, store_id, tolerate, &reader);
    while (outcome.status == BB_OK) {
        struct bb_bytes payload = {0};
        outcome.status = bb_wal_reader_next(reader, &payload);
        if (outcome.status != BB_OK)
            break;
        outcome.record_count++;
        outcome.payload_bytes += payload.size;
        outcome.hash = bb_hash_mix(outcome.hash ^ bb_hash_bytes(payload.data, payload.size));
        decode_payload(payload);
    }
    if (outcome.status == BB_NOT_FOUND)
        check_report(bb_wal_reader_report(reader), file_size);
    bb_wal_reader_close(reader);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t file_size = size - 1;
    uint8_t *file = bb_must_alloc_zeroed(file_size);
    memcpy(file, data + 1, file_size);
    repair(file, file_size, data[0]);
    struct bb_file_memory *memory = bb_file_memory_create(1);
    bb_file_memory_put(memory, PATH, bb_bytes_of(file, file_size));
    struct outcome strict = read_all(bb_file_memory_system(memory), file_size, false);
    struct outcome tolerant = read_all(bb_file_memory_system(memory), file_size, true);
    BB_ASSERT(strict.status == BB_NOT_FOUND || strict.status == BB_CORRUPT ||
              strict.status == BB_UNSUPPORTED);
    BB_ASSERT(tolerant.status == BB_NOT_FOUND || tolerant.record_count == 0);
    BB_ASSERT(!(data[0] & REPAIR_HEADER) || tolerant.status == BB_NOT_FOUND);
    BB_ASSERT(strict.record_count == tolerant.record_count && strict.hash == tolerant.hash);
    BB_ASSERT(strict.payload_bytes <= file_size);
    bb_file_memory_destroy(memory);
    free(file);
    return 0;
}
