/* See wal_salvage.h. */
#include "kv/wal/wal_salvage.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/wal/wal_fragment.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_search.h"
#include "kv/wal/wal_source.h"

/* Offset of the store's id in a header. */
#define HEADER_STORE_ID 24

struct salvage {
    struct bb_wal_source source;
    struct bb_wal_search search;
    uint64_t position;
    struct bb_buf record; /* of consecutive fragments */
    uint64_t record_start;
    bool is_within_record;
    bool is_noted;        /* the block at the position was scanned */
    uint64_t whole_end;   /* end of the last whole record or mark, and its zero padding */
    uint64_t content_end; /* end of the last byte that is not zero */
    enum bb_status (*visit)(void *context, struct bb_bytes payload, uint64_t offset);
    void *context;
    struct bb_wal_salvage_report report;
};

/* Marks the bytes from begin to end as whole; bytes between the previous whole part and begin are
 * lost. */
static void reach(struct salvage *salvage, uint64_t begin, uint64_t end)
{
    salvage->report.holes += begin > salvage->whole_end;
    salvage->report.bytes_lost += begin - salvage->whole_end;
    salvage->whole_end = end;
}

static enum bb_status give(struct salvage *salvage, struct bb_bytes payload, uint64_t end)
{
    salvage->report.record_count++;
    reach(salvage, salvage->record_start, end);
    return salvage->visit(salvage->context, payload, salvage->record_start);
}

static enum bb_status take_first(struct salvage *salvage, const struct bb_wal_fragment *fragment,
                                 uint64_t end)
{
    struct bb_bytes body = bb_bytes_of(fragment->body.data + BB_WAL_DURABLE_SIZE,
                                       fragment->body.size - BB_WAL_DURABLE_SIZE);
    salvage->record_start = salvage->position;
    salvage->is_within_record = fragment->type == BB_WAL_FIRST;
    if (!salvage->is_within_record)
        return give(salvage, body, end);
    return bb_buf_assign(&salvage->record, body);
}

static enum bb_status take_next(struct salvage *salvage, const struct bb_wal_fragment *fragment,
                                uint64_t end)
{
    if (!salvage->is_within_record)
        return BB_OK; /* its beginning is lost */
    salvage->is_within_record =
        fragment->type == BB_WAL_MIDDLE &&
        fragment->body.size <= BB_WAL_PAYLOAD_SIZE_MAX - salvage->record.size;
    enum bb_status status =
        bb_buf_append(&salvage->record, fragment->body.data, fragment->body.size);
    if (status != BB_OK || fragment->type == BB_WAL_MIDDLE)
        return status;
    return give(salvage, bb_buf_bytes(&salvage->record), end);
}

static enum bb_status take(struct salvage *salvage, const struct bb_wal_fragment *fragment)
{
    uint64_t end = salvage->position + BB_WAL_FRAGMENT_HEADER + fragment->body.size;
    enum bb_status status = BB_OK;
    if (fragment->type == BB_WAL_MARK) {
        salvage->is_within_record = false;
        reach(salvage, salvage->position, end);
    } else if (fragment->type == BB_WAL_MIDDLE || fragment->type == BB_WAL_LAST) {
        status = take_next(salvage, fragment, end);
    } else {
        status = take_first(salvage, fragment, end);
    }
    salvage->position = end;
    bb_wal_search_found(&salvage->search);
    return status;
}

/* Skips the position: there is no fragment. */
static void pass_over(struct salvage *salvage, struct bb_bytes rest)
{
    salvage->is_within_record = false;
    salvage->position = bb_wal_search_next(&salvage->search, salvage->position, rest);
}

/* Whether no fragment begins here. The last fragment of a file may be short. */
static bool is_too_short(const struct salvage *salvage, struct bb_bytes rest)
{
    return rest.size < BB_WAL_FRAGMENT_HEADER ||
           bb_wal_block_left(salvage->position - salvage->source.shift) < BB_WAL_FRAGMENT_SIZE_MIN;
}

/* Skips the end of a block that is too short for a fragment and filled with zeros. */
static void skip_fill(struct salvage *salvage, struct bb_bytes rest)
{
    if (!bb_wal_fragment_is_zero(rest))
        salvage->is_within_record = false;
    else if (salvage->whole_end == salvage->position)
        salvage->whole_end += rest.size;
    salvage->position += rest.size;
}

static void note_content(struct salvage *salvage, struct bb_bytes rest)
{
    size_t size = rest.size;
    if (salvage->content_end > salvage->position + rest.size)
        return;
    while (size > 0 && rest.data[size - 1] == 0)
        size--;
    if (salvage->position + size > salvage->content_end && size > 0)
        salvage->content_end = salvage->position + size;
}

/* From here on fragments are displaced by this many bytes, because other bytes were written between
 * them. */
static void displace(struct salvage *salvage, uint64_t shift)
{
    salvage->source.shift = shift;
    bb_wal_source_forget(&salvage->source);
    salvage->is_noted = false;
    salvage->is_within_record = false;
}

static bool is_block_begun(struct salvage *salvage)
{
    bool is_noted = salvage->is_noted;
    salvage->is_noted = true;
    return !is_noted || (salvage->position - salvage->source.shift) % BB_WAL_BLOCK_SIZE == 0;
}

static enum bb_status step(struct salvage *salvage)
{
    struct bb_bytes rest;
    uint64_t place = 0;
    struct bb_wal_fragment fragment;
    enum bb_status status = bb_wal_source_at(&salvage->source, salvage->position, &rest);
    if (status != BB_OK)
        return status;
    if (is_block_begun(salvage))
        note_content(salvage, rest);
    if (is_too_short(salvage, rest)) {
        skip_fill(salvage, rest);
        return BB_OK;
    }
    if (!bb_wal_fragment_find(salvage->source.seed, salvage->source.size, rest, &fragment, &place))
        pass_over(salvage, rest);
    else if (place + salvage->source.shift == salvage->position)
        return take(salvage, &fragment);
    else if (place <= salvage->position)
        displace(salvage, salvage->position - place);
    else
        pass_over(salvage, rest);
    return BB_OK;
}

static enum bb_status read_all(struct salvage *salvage)
{
    enum bb_status status = BB_OK;
    salvage->position = BB_WAL_HEADER_SIZE;
    salvage->whole_end = BB_WAL_HEADER_SIZE;
    salvage->content_end = BB_WAL_HEADER_SIZE;
    while (status == BB_OK && salvage->position < salvage->source.size)
        status = step(salvage);
    salvage->report.end_offset =
        salvage->content_end > salvage->whole_end ? salvage->content_end : salvage->whole_end;
    if (salvage->content_end > salvage->whole_end)
        salvage->report.bytes_lost += salvage->content_end - salvage->whole_end;
    return status;
}

/* A sound header of another log is not damage. */
static enum bb_status check_identity(struct bb_file_system *fs, const char *path,
                                     const struct bb_wal_identity *identity)
{
    struct bb_wal_reader *reader = NULL;
    enum bb_status status =
        bb_wal_reader_open(fs, path, identity->log_number, identity->store_id, true, &reader);
    bb_wal_reader_close(reader);
    return status;
}

enum bb_status bb_wal_salvage(struct bb_file_system *fs, const char *path, uint64_t log_number,
                              const uint8_t store_id[BB_WAL_STORE_ID_SIZE],
                              enum bb_status (*visit)(void *context, struct bb_bytes payload,
                                                      uint64_t offset),
                              void *context, struct bb_wal_salvage_report *ret_report)
{
    struct bb_wal_identity identity = bb_wal_identity(log_number, store_id);
    struct salvage salvage = {.visit = visit, .context = context};
    enum bb_status status = check_identity(fs, path, &identity);
    if (status != BB_OK)
        return status;
    status = bb_wal_source_open(&salvage.source, fs, path, bb_wal_format_seed(&identity));
    if (status == BB_OK)
        status = read_all(&salvage);
    if (status == BB_OK)
        *ret_report = salvage.report;
    bb_buf_deinit(&salvage.record);
    bb_wal_source_close(&salvage.source);
    return status;
}

static bool is_sound_header(const uint8_t header[BB_WAL_HEADER_SIZE])
{
    return memcmp(header, BB_WAL_MAGIC, BB_WAL_MAGIC_SIZE) == 0 &&
           bb_load64(header + 40) == bb_wal_format_check_header(header);
}

enum bb_status bb_wal_salvage_read_claim(struct bb_file_system *fs, const char *path,
                                         uint8_t ret_store_id[BB_WAL_STORE_ID_SIZE],
                                         bool *ret_is_told)
{
    uint8_t header[BB_WAL_HEADER_SIZE] = {0};
    struct bb_file *file = NULL;
    size_t size = 0;
    enum bb_status status = bb_file_open(fs, path, &file);
    if (status != BB_OK)
        return status;
    status = bb_file_close_after(file, bb_file_read_at(file, 0, header, sizeof(header), &size));
    if (status != BB_OK)
        return status;
    *ret_is_told = size == sizeof(header) && is_sound_header(header);
    if (*ret_is_told)
        memcpy(ret_store_id, header + HEADER_STORE_ID, BB_WAL_STORE_ID_SIZE);
    return BB_OK;
}

static bool has_first(struct bb_bytes block, uint64_t log_number)
{
    struct bb_wal_fragment fragment;
    if (block.size <= BB_WAL_HEADER_SIZE)
        return false;
    struct bb_wal_identity identity = bb_wal_identity(log_number, block.data + HEADER_STORE_ID);
    struct bb_bytes rest =
        bb_bytes_of(block.data + BB_WAL_HEADER_SIZE, block.size - BB_WAL_HEADER_SIZE);
    return bb_wal_fragment_decode(bb_wal_format_seed(&identity), BB_WAL_HEADER_SIZE, rest,
                                  &fragment) == NULL;
}

enum bb_status bb_wal_salvage_find_first(struct bb_file_system *fs, const char *path,
                                         uint64_t log_number, bool *ret_has_first)
{
    struct bb_buf block = {0};
    struct bb_file *file = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    enum bb_status status = bb_buf_extend(&block, BB_WAL_BLOCK_SIZE, &data);
    if (status == BB_OK)
        status = bb_file_open(fs, path, &file);
    if (status == BB_OK)
        status =
            bb_file_close_after(file, bb_file_read_at(file, 0, data, BB_WAL_BLOCK_SIZE, &size));
    if (status == BB_OK)
        *ret_has_first = has_first(bb_bytes_of(data, size), log_number);
    bb_buf_deinit(&block);
    return status;
}
