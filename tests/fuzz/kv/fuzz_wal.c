/* A log file, read as recovery and repair read it.
 *
 *     input      first byte: bit 0 repairs the header, bit 1 the checks of fragments, bit 2 zeroes
 *                the ends of blocks, bit 3 leaves every fourth fragment damaged, bit 4 fills the
 *                first block; then the file
 *     filled     the second byte is the space that a sound fragment leaves at the end of the first
 *                block, and its lowest bit the fragment's type: full or first. The rest of the
 *                input follows that fragment. So a small input reaches the end of a block
 *     oracle     with and without tolerance the same records come, none longer than the file; the
 *                tolerant reader never refuses a log with a sound header; the report adds up; a
 *                salvage returns the same records first
 */
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
#define PATH       "/5.log"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "fuzz";

enum {
    REPAIR_HEADER = 1,
    REPAIR_CHECKS = 2,
    REPAIR_PADDING = 4,
    LEAVE_DAMAGE = 8,
    FILLED = 16,
};

struct file {
    uint8_t *bytes; /* owned */
    size_t size;
};

static struct file file_of(struct bb_bytes input)
{
    struct file file = {.bytes = bb_must_alloc_zeroed(input.size), .size = input.size};
    if (input.size > 0)
        memcpy(file.bytes, input.data, input.size);
    return file;
}

/* The fragment's body is zeros; the durable offset at its beginning, too. */
static struct file filled_file_of(uint8_t gap, struct bb_bytes input)
{
    struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    size_t end = BB_WAL_BLOCK_SIZE - gap;
    struct file file = {.bytes = bb_must_alloc_zeroed(end + input.size), .size = end + input.size};
    uint8_t *fragment = file.bytes + BB_WAL_HEADER_SIZE;
    struct bb_bytes body = bb_bytes_of(fragment + BB_WAL_FRAGMENT_HEADER,
                                       end - BB_WAL_HEADER_SIZE - BB_WAL_FRAGMENT_HEADER);
    enum bb_wal_fragment_type type = gap & 1 ? BB_WAL_FIRST : BB_WAL_FULL;
    bb_wal_format_encode_header(&identity, file.bytes);
    bb_store64(fragment,
               bb_wal_format_check(bb_wal_format_seed(&identity), BB_WAL_HEADER_SIZE, type, body));
    bb_store16(fragment + 8, (uint16_t)body.size);
    fragment[10] = (uint8_t)type;
    if (input.size > 0)
        memcpy(file.bytes + end, input.data, input.size);
    return file;
}

static void repair_fragments(uint8_t *file, size_t size, uint8_t flags)
{
    struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    uint64_t seed = bb_wal_format_seed(&identity);
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
            bb_wal_format_check(seed, offset, (enum bb_wal_fragment_type)file[offset + 10], body);
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
        bb_wal_format_encode_header(&identity, file);
    else
        bb_store64(file + 40, bb_wal_format_check_header(file));
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

struct salvaged {
    uint64_t first_count; /* of records in the hash */
    uint64_t hash;
    uint64_t record_count;
    uint64_t last_offset;
};

static enum bb_status take(void *context, struct bb_bytes payload, uint64_t offset)
{
    struct salvaged *salvaged = context;
    BB_ASSERT(offset > salvaged->last_offset);
    salvaged->last_offset = offset;
    if (salvaged->record_count++ < salvaged->first_count)
        salvaged->hash = bb_hash_mix(salvaged->hash ^ bb_hash_bytes(payload.data, payload.size));
    return BB_OK;
}

static void salvage(struct bb_file_system *fs, uint64_t file_size, const struct outcome *read)
{
    struct salvaged salvaged = {.first_count = read->record_count};
    struct bb_wal_salvage_report report = {0};
    enum bb_status status =
        bb_wal_salvage(fs, PATH, LOG_NUMBER, store_id, take, &salvaged, &report);
    BB_ASSERT(status == BB_OK ? read->status == BB_NOT_FOUND : status == read->status);
    if (status != BB_OK)
        return;
    BB_ASSERT(salvaged.record_count >= read->record_count && salvaged.hash == read->hash);
    BB_ASSERT(report.record_count == salvaged.record_count && report.bytes_lost <= file_size);
    BB_ASSERT(report.end_offset <= file_size || report.end_offset == BB_WAL_HEADER_SIZE);
}

static void read_file(const struct file *file, uint8_t flags)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    bb_file_memory_put(memory, PATH, bb_bytes_of(file->bytes, file->size));
    struct outcome strict = read_all(fs, file->size, false);
    struct outcome tolerant = read_all(fs, file->size, true);
    BB_ASSERT(strict.status == BB_NOT_FOUND || strict.status == BB_CORRUPT ||
              strict.status == BB_UNSUPPORTED);
    BB_ASSERT(tolerant.status == BB_NOT_FOUND || tolerant.record_count == 0);
    BB_ASSERT(!(flags & REPAIR_HEADER) || tolerant.status == BB_NOT_FOUND);
    BB_ASSERT(strict.record_count == tolerant.record_count && strict.hash == tolerant.hash);
    BB_ASSERT(strict.payload_bytes <= file->size);
    salvage(fs, file->size, &tolerant);
    bb_file_memory_destroy(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct file file = data[0] & FILLED ? filled_file_of(data[1], bb_bytes_of(data + 2, size - 2))
                                        : file_of(bb_bytes_of(data + 1, size - 1));
    repair(file.bytes, file.size, data[0] & FILLED ? data[0] | REPAIR_HEADER : data[0]);
    read_file(&file, data[0]);
    free(file.bytes);
    return 0;
}
