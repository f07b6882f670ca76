/* See log.h. */
#include "tools/leveldb/log.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "base/coding.h"

enum fragment_type { ZERO, FULL, FIRST, MIDDLE, LAST };

struct fragment {
    enum fragment_type type;
    struct bb_bytes bytes;
    uint64_t offset;
};

enum bb_status log_open(struct log *log, struct bb_file_system *fs, const char *path,
                        const struct crc32c *crc)
{
    *log = (struct log){.crc = crc};
    enum bb_status status = bb_file_open(fs, path, &log->file);
    return status == BB_OK ? bb_file_size(log->file, &log->file_size) : status;
}

void log_close(struct log *log)
{
    (void)!bb_file_close(log->file);
    bb_buf_deinit(&log->record);
    log->file = NULL;
}

/* Reads the block after the current one; *ret_has is false at the end. */
static enum bb_status read_block(struct log *log, bool *ret_has)
{
    uint64_t offset = log->offset + log->size;
    size_t size = LOG_BLOCK_SIZE;
    *ret_has = offset < log->file_size;
    if (!*ret_has)
        return BB_OK;
    if (log->file_size - offset < size)
        size = (size_t)(log->file_size - offset);
    log->offset = offset;
    log->size = size;
    log->next = 0;
    return bb_file_read_exactly(log->file, offset, log->block, size);
}

static bool is_last_block(const struct log *log)
{
    return log->offset + log->size >= log->file_size;
}

static enum bb_status check(const struct log *log, const uint8_t *header, size_t length,
                            uint64_t offset)
{
    struct bb_place place = {.file = log->file->path, .offset = offset};
    uint32_t stored = bb_load32(header);
    uint32_t found = crc32c_mask(crc32c_of(log->crc, bb_bytes_of(header + 6, 1 + length)));
    if (stored != found)
        return bb_corrupt(place, 0,
                          "the record has the checksum %08x, its bytes have %08x: the log of a "
                          "LevelDB is damaged",
                          stored, found);
    if (header[6] > LAST)
        return bb_corrupt(place, 6, "a record of type %u, 1 ... 4 are known", header[6]);
    return BB_OK;
}

/* Reads the next fragment. *ret_has is false at the end of the file, and if the file ends inside of
 * a fragment. */
static enum bb_status next_fragment(struct log *log, struct fragment *ret_fragment, bool *ret_has)
{
    while (log->next + LOG_HEADER_SIZE > log->size) {
        enum bb_status status = read_block(log, ret_has);
        if (status != BB_OK || !*ret_has)
            return status;
    }
    const uint8_t *header = log->block + log->next;
    uint64_t offset = log->offset + log->next;
    size_t length = bb_load16(header + 4);
    *ret_has = true;
    if (length > log->size - log->next - LOG_HEADER_SIZE) {
        *ret_has = !is_last_block(log);
        return *ret_has ? bb_corrupt((struct bb_place){log->file->path, offset}, 4,
                                     "a record of %zu bytes does not fit into its block", length)
                        : BB_OK;
    }
    *ret_fragment =
        (struct fragment){.bytes = bb_bytes_of(header + LOG_HEADER_SIZE, length), .offset = offset};
    /* Reserved space that was never written: skips the rest of the block. */
    if (header[6] == ZERO && length == 0 && bb_load32(header) == 0) {
        log->next = log->size;
        return BB_OK;
    }
    enum bb_status status = check(log, header, length, offset);
    ret_fragment->type = (enum fragment_type)header[6];
    log->next += LOG_HEADER_SIZE + length;
    return status;
}

/* Adds a fragment to the record. *ret_is_whole: it is the record's last. *is_inside: the record has
 * begun and is not complete. */
static enum bb_status add_fragment(struct log *log, const struct fragment *fragment,
                                   bool *is_inside, bool *ret_is_whole)
{
    bool begins = fragment->type == FULL || fragment->type == FIRST;
    if (begins == *is_inside)
        return bb_corrupt((struct bb_place){log->file->path, fragment->offset}, 6,
                          begins ? "a record begins inside of another"
                                 : "a record continues without a beginning");
    if (begins) {
        log->record_offset = fragment->offset;
        bb_buf_reset(&log->record);
    }
    *ret_is_whole = fragment->type == FULL || fragment->type == LAST;
    *is_inside = !*ret_is_whole;
    return bb_buf_append(&log->record, fragment->bytes.data, fragment->bytes.size);
}

enum bb_status log_next(struct log *log, struct bb_bytes *ret_record, bool *ret_has)
{
    bool is_inside = false;
    bool is_whole = false;
    bool has = true;
    uint64_t begin = log->offset + log->next;
    while (!is_whole) {
        struct fragment fragment = {0};
        enum bb_status status = next_fragment(log, &fragment, &has);
        if (status == BB_OK && has && fragment.type != ZERO)
            status = add_fragment(log, &fragment, &is_inside, &is_whole);
        if (status != BB_OK)
            return status;
        if (!has) {
            log->dropped_bytes = log->file_size - (is_inside ? log->record_offset : begin);
            *ret_has = false;
            return BB_OK;
        }
        if (!is_inside && !is_whole)
            begin = log->offset + log->next;
    }
    *ret_record = bb_buf_bytes(&log->record);
    *ret_has = true;
    return BB_OK;
}
