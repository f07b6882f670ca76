/* Parts of the targets that read logs: checks that are made right, and results of readers. */
#ifndef BB_TESTS_FUZZ_KV_WAL_INPUT_H
#define BB_TESTS_FUZZ_KV_WAL_INPUT_H

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "kv/batch.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_salvage.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"

#define LOG_NUMBER 5

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "fuzz";

enum {
    REPAIR_HEADER = 1,
    REPAIR_CHECKS = 2,
    REPAIR_PADDING = 4,
    LEAVE_DAMAGE = 8,
    FILLED = 16,
};

/* Of a log, or of a part of it. */
struct file {
    uint8_t *bytes; /* owned */
    size_t size;
};

static inline uint64_t log_seed(void)
{
    struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    return bb_wal_format_seed(&identity);
}

/* Makes the checks right from a byte on. base: the offset in the log of the first byte. */
static inline void repair_fragments(const struct file *file, size_t from, uint64_t base,
                                    uint8_t flags)
{
    size_t position = from;
    for (unsigned number = 1; position < file->size; number++) {
        uint8_t *bytes = file->bytes + position;
        size_t left = bb_wal_block_left(base + position);
        size_t rest = left < file->size - position ? left : file->size - position;
        if (left < BB_WAL_FRAGMENT_SIZE_MIN) {
            if (flags & REPAIR_PADDING)
                memset(bytes, 0, rest);
            position += rest;
            continue;
        }
        if (rest < BB_WAL_FRAGMENT_HEADER)
            return;
        size_t body_size = bb_load16(bytes + 8);
        if (body_size > rest - BB_WAL_FRAGMENT_HEADER)
            return;
        struct bb_bytes body = bb_bytes_of(bytes + BB_WAL_FRAGMENT_HEADER, body_size);
        uint64_t check = bb_wal_format_check(log_seed(), base + position,
                                             (enum bb_wal_fragment_type)bytes[10], body);
        bool is_left = (flags & LEAVE_DAMAGE) && number % 4 == 0;
        bb_store64(bytes, check ^ is_left);
        position += BB_WAL_FRAGMENT_HEADER + body_size;
    }
}

struct wal_outcome {
    enum bb_status status;
    struct bb_wal_report report; /* if the status is BB_NOT_FOUND */
    uint64_t hash;               /* of the records */
    uint64_t record_count;
    uint64_t payload_bytes;
};

static inline void decode_payload(struct bb_bytes payload)
{
    struct bb_batch_cursor cursor;
    struct bb_entry entry;
    enum bb_status status =
        bb_batch_cursor_init(&cursor, payload, (struct bb_place){.file = "log"});
    while (status == BB_OK)
        status = bb_batch_cursor_next(&cursor, &entry);
}

static inline void check_report(const struct bb_wal_report *report, uint64_t log_size)
{
    BB_ASSERT(report->end_offset <= log_size);
    BB_ASSERT(report->dropped_bytes <= log_size - report->end_offset);
    if (report->reason[0] == 0)
        BB_ASSERT(report->dropped_bytes == 0 && report->end_offset == log_size);
}

static inline struct wal_outcome read_all(struct bb_file_system *fs, const char *path,
                                          uint64_t log_size, bool tolerate)
{
    struct wal_outcome outcome = {0};
    struct bb_wal_reader *reader = NULL;
    outcome.status = bb_wal_reader_open(fs, path, LOG_NUMBER, store_id, tolerate, &reader);
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
    if (outcome.status == BB_NOT_FOUND) {
        outcome.report = *bb_wal_reader_report(reader);
        check_report(&outcome.report, log_size);
    }
    bb_wal_reader_close(reader);
    return outcome;
}

struct salvaged {
    uint64_t first_count; /* of records in the hash */
    uint64_t hash;
    uint64_t record_count;
    uint64_t last_offset;
};

static inline enum bb_status take(void *context, struct bb_bytes payload, uint64_t offset)
{
    struct salvaged *salvaged = context;
    BB_ASSERT(offset > salvaged->last_offset);
    salvaged->last_offset = offset;
    if (salvaged->record_count++ < salvaged->first_count)
        salvaged->hash = bb_hash_mix(salvaged->hash ^ bb_hash_bytes(payload.data, payload.size));
    return BB_OK;
}

/* Returns the report; a zeroed one after a refusal. */
static inline struct bb_wal_salvage_report salvage(struct bb_file_system *fs, const char *path,
                                                   uint64_t log_size,
                                                   const struct wal_outcome *read)
{
    struct salvaged salvaged = {.first_count = read->record_count};
    struct bb_wal_salvage_report report = {0};
    enum bb_status status =
        bb_wal_salvage(fs, path, LOG_NUMBER, store_id, take, &salvaged, &report);
    BB_ASSERT(status == BB_OK ? read->status == BB_NOT_FOUND : status == read->status);
    if (status != BB_OK)
        return report;
    BB_ASSERT(salvaged.record_count >= read->record_count && salvaged.hash == read->hash);
    BB_ASSERT(report.record_count == salvaged.record_count && report.bytes_lost <= log_size);
    BB_ASSERT(report.end_offset <= log_size || report.end_offset == BB_WAL_HEADER_SIZE);
    return report;
}

#endif
