/* Reads a log.
 *
 * The file is read block by block. A record of one fragment is returned in place in the block; a
 * longer one is assembled in a buffer. After the first defect one question remains: was that place
 * durable? Earlier records cannot answer it, because a record only describes the log before it.
 * Later records can, so the rest of the file is searched for a fragment that does (wal_tail.h).
 */
#include "kv/wal/wal_reader.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/wal/wal_fragment.h"
#include "kv/wal/wal_tail.h"

struct bb_wal_reader {
    struct bb_wal_source source;
    uint64_t position;      /* offset of the next fragment */
    uint64_t record_start;  /* of the current record */
    uint64_t running_check; /* of all fragments before the position */
    /* Of the last record read; the end of the header before the first. */
    struct bb_wal_end end;
    bool is_within_record; /* its first fragment was read, its last one was not */
    bool tolerate_damage;
    struct bb_buf record;
    struct bb_wal_report report;
    /* Status of every later call; BB_OK while the log continues. */
    struct bb_error final;
};

static enum bb_status finish(struct bb_wal_reader *reader, enum bb_status status)
{
    if (status == BB_NOT_FOUND)
        reader->final.status = BB_NOT_FOUND; /* the end is no failure and has no message */
    else
        reader->final = *bb_error_last();
    return status;
}

/* A power failure loses bytes, but moves none. */
static enum bb_status fail_displaced(const struct bb_wal_reader *reader, uint64_t offset,
                                     const char *reason, uint64_t displaced_offset)
{
    return bb_corrupt((struct bb_place){.file = reader->source.file->path}, offset,
                      "%s, and at offset %" PRIu64
                      " is a record that was written for another offset of this log: "
                      "another process has written to it",
                      reason, displaced_offset);
}

/* Ends the log before the file's end: at `end`, because of a defect at `offset`. */
static enum bb_status end_early(struct bb_wal_reader *reader, uint64_t end, uint64_t offset,
                                const char *reason)
{
    struct bb_wal_tail tail = {0};
    enum bb_status status = bb_wal_tail_read(&reader->source, end, &tail);
    if (status != BB_OK)
        return finish(reader, status);
    if (tail.durable > end && !reader->tolerate_damage) {
        struct bb_place place = {.file = reader->source.file->path};
        return finish(reader,
                      bb_corrupt(place, offset, "%s, and the log was known durable up to %" PRIu64,
                                 reason, tail.durable));
    }
    if (tail.displaced_offset != 0 && !reader->tolerate_damage)
        return finish(reader, fail_displaced(reader, offset, reason, tail.displaced_offset));
    reader->report.end_offset = end;
    reader->report.end = reader->end;
    reader->report.dropped_bytes = tail.content_offset - end;
    reader->report.is_damaged = tail.durable > end || tail.displaced_offset != 0;
    reader->report.is_marked = false;
    snprintf(reader->report.reason, sizeof(reader->report.reason), "%s at offset %" PRIu64, reason,
             offset);
    return finish(reader, BB_NOT_FOUND);
}

static enum bb_status end_at_fragment(struct bb_wal_reader *reader, const char *reason)
{
    uint64_t end = reader->is_within_record ? reader->record_start : reader->position;
    return end_early(reader, end, reader->position, reason);
}

static enum bb_status end_of_file(struct bb_wal_reader *reader)
{
    if (reader->is_within_record)
        return end_at_fragment(reader, "a record is cut off");
    reader->report.end_offset = reader->position;
    reader->report.end = reader->end;
    return finish(reader, BB_NOT_FOUND);
}

/* Decodes the fragment at the position, and skips the zeros at the end of a block. *ret_reason
 * NULL: *ret_fragment is a whole fragment at the position, or the position is the end of the
 * file. */
static enum bb_status look(struct bb_wal_reader *reader, struct bb_wal_fragment *ret_fragment,
                           const char **ret_reason)
{
    struct bb_wal_source *source = &reader->source;
    *ret_reason = NULL;
    while (reader->position < source->size) {
        struct bb_bytes rest;
        enum bb_status status = bb_wal_source_at(source, reader->position, &rest);
        if (status != BB_OK)
            return status;
        size_t left = bb_wal_block_left(reader->position);
        if (left >= BB_WAL_FRAGMENT_SIZE_MIN) {
            *ret_reason =
                bb_wal_fragment_decode(source->seed, reader->position, rest, ret_fragment);
            return BB_OK;
        }
        if (rest.size < left || !bb_wal_fragment_is_zero(rest)) {
            *ret_reason =
                rest.size < left ? "a block is cut off" : "a block ends in other bytes than zeros";
            return BB_OK;
        }
        reader->position += left;
    }
    return BB_OK;
}

/* BB_OK with the fragment at the position, or finished. */
static enum bb_status next_fragment(struct bb_wal_reader *reader,
                                    struct bb_wal_fragment *ret_fragment)
{
    const char *reason = NULL;
    enum bb_status status = look(reader, ret_fragment, &reason);
    if (status == BB_OK && reason != NULL) {
        /* Reads the file again: the defect may be in memory or in the transfer. */
        bb_wal_source_forget(&reader->source);
        status = look(reader, ret_fragment, &reason);
    }
    if (status != BB_OK)
        return finish(reader, status);
    if (reason != NULL)
        return end_at_fragment(reader, reason);
    return reader->position == reader->source.size ? end_of_file(reader) : BB_OK;
}

static bool may_follow(const struct bb_wal_reader *reader, enum bb_wal_fragment_type type)
{
    return reader->is_within_record == (type == BB_WAL_MIDDLE || type == BB_WAL_LAST);
}

/* Adds the fragment at the position to the record. *ret_payload is set when the record is complete,
 * else its address is NULL. */
static enum bb_status take(struct bb_wal_reader *reader, const struct bb_wal_fragment *fragment,
                           struct bb_bytes *ret_payload)
{
    struct bb_bytes body = fragment->body;
    if (!reader->is_within_record) {
        reader->record_start = reader->position;
        body = bb_bytes_of(body.data + BB_WAL_DURABLE_SIZE, body.size - BB_WAL_DURABLE_SIZE);
        bb_buf_reset(&reader->record);
    }
    if (fragment->type != BB_WAL_FULL) {
        if (body.size > BB_WAL_PAYLOAD_SIZE_MAX - reader->record.size)
            return end_at_fragment(reader, "a record beyond the limit");
        enum bb_status status = bb_buf_append(&reader->record, body.data, body.size);
        if (status != BB_OK)
            return finish(reader, status);
        body = bb_buf_bytes(&reader->record);
    }
    reader->is_within_record = fragment->type == BB_WAL_FIRST || fragment->type == BB_WAL_MIDDLE;
    if (!reader->is_within_record)
        *ret_payload = body;
    return BB_OK;
}

/* Call after a whole record, or after a mark, which may describe it. */
static void note_end(struct bb_wal_reader *reader, const struct bb_wal_fragment *fragment)
{
    if (fragment->type == BB_WAL_MARK) {
        reader->report.is_marked = bb_load64(fragment->body.data) >= reader->end.offset;
        return;
    }
    reader->report.record_count++;
    reader->report.is_marked = false;
    reader->end.offset = reader->position;
    reader->end.check = reader->running_check;
}

enum bb_status bb_wal_reader_next(struct bb_wal_reader *reader, struct bb_bytes *ret_payload)
{
    if (reader->final.status == BB_NOT_FOUND)
        return BB_NOT_FOUND;
    if (reader->final.status != BB_OK)
        return bb_error_restore(&reader->final);

    for (;;) {
        struct bb_wal_fragment fragment;
        struct bb_bytes payload = {0};
        enum bb_status status = next_fragment(reader, &fragment);
        if (status != BB_OK)
            return status;
        if (!may_follow(reader, fragment.type))
            return end_at_fragment(reader, "a fragment out of order");
        if (fragment.type != BB_WAL_MARK)
            status = take(reader, &fragment, &payload);
        if (status != BB_OK)
            return status;
        reader->position += BB_WAL_FRAGMENT_HEADER + fragment.body.size;
        reader->running_check = bb_wal_running_check(reader->running_check, fragment.check);
        if (!reader->is_within_record)
            note_end(reader, &fragment);
        if (fragment.type == BB_WAL_FULL || fragment.type == BB_WAL_LAST) {
            *ret_payload = payload;
            return BB_OK;
        }
    }
}

/* A sound header of another log is not damage: the wrong file was put here. */
static enum bb_status check_identity(const struct bb_wal_reader *reader, const uint8_t *header,
                                     const struct bb_wal_identity *identity)
{
    struct bb_place place = {.file = reader->source.file->path};
    uint32_t version = bb_load32(header + 8);
    uint64_t log_number = bb_load64(header + 16);
    if (version != BB_WAL_VERSION)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: a log of format version %" PRIu32 ", this version reads %d", place.file,
                       version, BB_WAL_VERSION);
    if (log_number != identity->log_number)
        return bb_corrupt(place, 16, "log number %" PRIu64 ", expected %" PRIu64, log_number,
                          identity->log_number);
    if (memcmp(header + 24, identity->store_id, BB_WAL_STORE_ID_SIZE) != 0)
        return bb_corrupt(place, 24, "a log of another store");
    return BB_OK;
}

static const char *header_defect(struct bb_bytes header)
{
    if (header.size < BB_WAL_HEADER_SIZE)
        return "the log's header is cut off";
    if (memcmp(header.data, BB_WAL_MAGIC, BB_WAL_MAGIC_SIZE) != 0)
        return "the log's magic is wrong";
    if (bb_load64(header.data + 40) != bb_wal_format_check_header(header.data))
        return "the log's header has a wrong check";
    return NULL;
}

static enum bb_status read_header(struct bb_wal_reader *reader,
                                  const struct bb_wal_identity *identity)
{
    struct bb_bytes header = {0};
    enum bb_status status = BB_OK;
    if (reader->source.size == 0)
        return end_of_file(reader);
    status = bb_wal_source_at(&reader->source, 0, &header);
    if (status == BB_OK && header_defect(header) != NULL) {
        bb_wal_source_forget(&reader->source);
        status = bb_wal_source_at(&reader->source, 0, &header);
    }
    if (status != BB_OK)
        return status;
    const char *defect = header_defect(header);
    if (defect != NULL)
        return end_early(reader, 0, 0, defect);
    reader->position = BB_WAL_HEADER_SIZE;
    reader->running_check = reader->source.seed;
    reader->end = (struct bb_wal_end){.log_number = identity->log_number,
                                      .offset = BB_WAL_HEADER_SIZE,
                                      .check = reader->source.seed};
    return check_identity(reader, header.data, identity);
}

enum bb_status bb_wal_reader_open(struct bb_file_system *fs, const char *path, uint64_t log_number,
                                  const uint8_t store_id[BB_WAL_STORE_ID_SIZE],
                                  bool tolerate_damage, struct bb_wal_reader **ret_reader)
{
    struct bb_wal_identity identity = bb_wal_identity(log_number, store_id);
    struct bb_wal_reader *reader = bb_alloc_zeroed(1, sizeof(*reader));
    if (reader == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the reader of %s", path);
    reader->tolerate_damage = tolerate_damage;
    enum bb_status status =
        bb_wal_source_open(&reader->source, fs, path, bb_wal_format_seed(&identity));
    if (status != BB_OK) {
        bb_wal_reader_close(reader);
        return status;
    }
    status = read_header(reader, &identity);
    if (status == BB_OK || status == BB_NOT_FOUND) { /* not found: a log without records */
        *ret_reader = reader;
        return BB_OK;
    }
    bb_wal_reader_close(reader);
    return status;
}

bool bb_wal_reader_is_own(const struct bb_wal_reader *reader)
{
    return reader->record.size > 0;
}

struct bb_buf bb_wal_reader_take(struct bb_wal_reader *reader)
{
    BB_DEBUG_ASSERT(bb_wal_reader_is_own(reader));
    struct bb_buf record = reader->record;
    reader->record = (struct bb_buf){0};
    return record;
}

uint64_t bb_wal_reader_check(const struct bb_wal_reader *reader)
{
    return reader->end.check;
}

uint64_t bb_wal_reader_offset(const struct bb_wal_reader *reader)
{
    return reader->record_start;
}

enum bb_status bb_wal_reader_durable(struct bb_wal_reader *reader, uint64_t *ret_offset)
{
    struct bb_wal_tail tail = {0};
    enum bb_status status = bb_wal_tail_read(&reader->source, BB_WAL_HEADER_SIZE, &tail);
    if (status == BB_OK)
        *ret_offset = tail.durable;
    return status;
}

const struct bb_wal_report *bb_wal_reader_report(const struct bb_wal_reader *reader)
{
    return &reader->report;
}

void bb_wal_reader_close(struct bb_wal_reader *reader)
{
    if (reader == NULL)
        return;
    bb_wal_source_close(&reader->source);
    bb_buf_deinit(&reader->record);
    bb_free(reader);
}
