/* See line_source.h. */
#include "skip/lines/line_source.h"

#include "base/alloc.h"
#include "base/coding.h"
#include "base/hash.h"

enum bb_status bb_line_source_read_state(struct bb_file *file, struct bb_line_file_state *ret_state)
{
    struct bb_line_file_state state = {0};
    enum bb_status status = bb_file_size(file, &state.size);
    if (status == BB_OK)
        status = bb_file_modified(file, &state.modified);
    if (status == BB_OK)
        *ret_state = state;
    return status;
}

static enum bb_status checksum(struct bb_file *file, uint64_t offset, size_t size, uint8_t *scratch,
                               uint64_t *ret_checksum)
{
    enum bb_status status = bb_file_read_exactly(file, offset, scratch, size);
    if (status == BB_OK)
        *ret_checksum = bb_hash_bytes(scratch, size);
    return status;
}

enum bb_status bb_line_source_read_ends(struct bb_file *file, uint64_t indexed_bytes,
                                        struct bb_line_ends *ret_ends)
{
    size_t size = indexed_bytes < BB_LINE_ENDS_SIZE ? (size_t)indexed_bytes : BB_LINE_ENDS_SIZE;
    struct bb_line_ends ends = {0};
    uint8_t *scratch = bb_alloc(BB_LINE_ENDS_SIZE);
    if (scratch == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory for checksums of its ends", file->path);
    enum bb_status status = checksum(file, 0, size, scratch, &ends.first_checksum);
    if (status == BB_OK)
        status = checksum(file, indexed_bytes - size, size, scratch, &ends.last_checksum);
    bb_free(scratch);
    if (status == BB_OK)
        *ret_ends = ends;
    return status;
}

enum bb_status bb_line_source_append(const struct bb_line_source *source, struct bb_buf *buf)
{
    enum bb_status status = bb_append_u8(buf, BB_LINE_SOURCE_FORM);
    if (status == BB_OK)
        status = bb_append_varint(buf, source->file.size);
    if (status == BB_OK)
        status = bb_append_u64(buf, (uint64_t)source->file.modified);
    if (status == BB_OK)
        status = bb_append_varint(buf, source->indexed_bytes);
    if (status == BB_OK)
        status = bb_append_varint(buf, source->granule_bytes);
    if (status == BB_OK)
        status = bb_append_u64(buf, source->ends.first_checksum);
    if (status == BB_OK)
        status = bb_append_u64(buf, source->ends.last_checksum);
    return status == BB_OK ? bb_append_bytes(buf, source->schema) : status;
}

bool bb_line_source_decode(struct bb_bytes bytes, struct bb_line_source *ret_source)
{
    struct bb_cursor cursor = bb_cursor_of(bytes);
    struct bb_line_source source = {0};
    uint8_t form = 0;
    uint64_t modified = 0;
    if (!bb_decode_u8(&cursor, &form) || form != BB_LINE_SOURCE_FORM ||
        !bb_decode_varint64(&cursor, &source.file.size) || !bb_decode_u64(&cursor, &modified) ||
        !bb_decode_varint64(&cursor, &source.indexed_bytes) ||
        !bb_decode_varint64(&cursor, &source.granule_bytes) ||
        !bb_decode_u64(&cursor, &source.ends.first_checksum) ||
        !bb_decode_u64(&cursor, &source.ends.last_checksum) ||
        !bb_decode_bytes(&cursor, &source.schema) || bb_cursor_left(&cursor) != 0 ||
        source.indexed_bytes > source.file.size)
        return false;
    source.file.modified = (int64_t)modified;
    *ret_source = source;
    return true;
}

static enum bb_status check_state(const struct bb_line_source *source, const char *path,
                                  const struct bb_line_file_state *now)
{
    if (now->size < source->file.size)
        return bb_fail(BB_INVALID,
                       "%s: has %llu bytes, but had %llu when it was indexed: it was truncated or "
                       "replaced, and its index is not used; index it again",
                       path, (unsigned long long)now->size, (unsigned long long)source->file.size);
    if (now->size == source->file.size && now->modified != source->file.modified)
        return bb_fail(BB_INVALID,
                       "%s: was changed since it was indexed, and did not grow: its index is not "
                       "used; index it again",
                       path);
    return BB_OK;
}

enum bb_status bb_line_source_check(const struct bb_line_source *source, struct bb_file *file,
                                    const struct bb_line_file_state *now)
{
    struct bb_line_ends ends;
    enum bb_status status = check_state(source, file->path, now);
    if (status == BB_OK)
        status = bb_line_source_read_ends(file, source->indexed_bytes, &ends);
    if (status != BB_OK)
        return status;
    bool is_first = ends.first_checksum == source->ends.first_checksum;
    if (is_first && ends.last_checksum == source->ends.last_checksum)
        return BB_OK;
    return bb_fail(BB_INVALID,
                   "%s: the %s of the %llu indexed bytes has changed: the file was rewritten, and "
                   "its index is "
                   "not used; index it again",
                   file->path, is_first ? "end" : "beginning",
                   (unsigned long long)source->indexed_bytes);
}
