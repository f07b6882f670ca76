/* Opening a file of lines, and comparing it with the description in its index file. See
 * bb/lines.h. */
#include "skip/lines/lines.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"

enum bb_status bb_lines_index_path(const char *path, struct bb_buf *ret_path)
{
    bb_buf_reset(ret_path);
    enum bb_status status = bb_buf_append(ret_path, path, strlen(path));
    return status == BB_OK
               ? bb_buf_append(ret_path, BB_LINES_INDEX_SUFFIX, sizeof(BB_LINES_INDEX_SUFFIX))
               : status;
}

uint64_t bb_lines_granule_begin(const struct bb_lines *lines, size_t granule)
{
    struct bb_skip_granule_info info;
    if (granule == bb_skip_file_granule_count(lines->index))
        return lines->source.indexed_bytes;
    bb_skip_file_granule(lines->index, granule, &info);
    return info.place;
}

size_t bb_lines_granule_count(const struct bb_lines *lines)
{
    return lines->index_state == BB_LINES_INDEX_USED ? bb_skip_file_granule_count(lines->index) : 0;
}

/* ---- the index file ---- */

/* Do the granules cover all that is indexed, in order? */
static bool granules_are_possible(const struct bb_lines *lines)
{
    size_t count = bb_skip_file_granule_count(lines->index);
    if (count == 0 || bb_lines_granule_begin(lines, 0) != 0)
        return count == 0 && lines->source.indexed_bytes == 0;
    for (size_t i = 0; i < count; i++)
        if (bb_lines_granule_begin(lines, i) >= bb_lines_granule_begin(lines, i + 1))
            return false;
    return true;
}

static enum bb_status decode_schema(struct bb_lines *lines)
{
    enum bb_status status = bb_schema_create(&lines->schema);
    if (status == BB_OK)
        status = bb_schema_decode(lines->schema, lines->source.schema);
    if (status == BB_OK)
        return BB_OK;
    bb_schema_destroy(lines->schema);
    lines->schema = NULL;
    return status;
}

/* Checks that the index file is of lines, and reads their schema. */
static enum bb_status check_index(struct bb_lines *lines, const char *index_path)
{
    if (!bb_line_source_decode(bb_skip_file_source(lines->index), &lines->source) ||
        !granules_are_possible(lines))
        return bb_fail(BB_CORRUPT, "%s: is an index file, but not for a file of lines", index_path);
    return decode_schema(lines);
}

/* Notes why the index is not used. Only lack of memory is a failure. */
static enum bb_status keep_reason(struct bb_lines *lines, enum bb_lines_index_state state,
                                  enum bb_status status)
{
    if (status == BB_NO_MEMORY)
        return status;
    lines->index_state = state;
    lines->reason = *bb_error_last();
    return BB_OK;
}

static enum bb_status open_index(struct bb_lines *lines, const char *index_path)
{
    struct bb_skip_file_options options = {.file_system = lines->fs};
    enum bb_status status = bb_skip_file_open(index_path, &options, &lines->index);
    if (status == BB_NOT_FOUND)
        return keep_reason(lines, BB_LINES_INDEX_NONE, status);
    if (status == BB_OK)
        status = check_index(lines, index_path);
    if (status != BB_OK) {
        bb_skip_file_close(lines->index);
        lines->index = NULL;
        return keep_reason(lines, BB_LINES_INDEX_UNREADABLE, status);
    }
    status = bb_line_source_check(&lines->source, lines->file, &lines->state);
    /* BB_CORRUPT: truncated since its size was read, so the index is stale too. */
    if (status == BB_INVALID || status == BB_CORRUPT)
        return keep_reason(lines, BB_LINES_INDEX_STALE, status);
    if (status != BB_OK)
        return status;
    lines->index_state = BB_LINES_INDEX_USED;
    return BB_OK;
}

/* ---- opening ---- */

static enum bb_status open_file(struct bb_lines *lines, const char *path)
{
    struct bb_buf index_path = {0};
    enum bb_status status = bb_path_check_file(path, "the file of lines");
    if (status == BB_OK)
        status = bb_file_system_posix_default(lines->fs, &lines->own_fs, &lines->fs);
    if (status == BB_OK)
        status = bb_file_open(lines->fs, path, &lines->file);
    if (status == BB_OK)
        status = bb_line_source_read_state(lines->file, &lines->state);
    if (status == BB_OK)
        status = bb_lines_index_path(path, &index_path);
    if (status == BB_OK)
        status = open_index(lines, (const char *)index_path.data);
    bb_buf_deinit(&index_path);
    return status;
}

enum bb_status bb_lines_open(const char *path, const struct bb_lines_options *options,
                             struct bb_lines **ret_lines)
{
    struct bb_lines *lines = bb_alloc_zeroed(1, sizeof(*lines));
    if (lines == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a file of lines");
    lines->fs = options == NULL ? NULL : options->file_system;
    enum bb_status status = open_file(lines, path);
    if (status == BB_OK)
        *ret_lines = lines;
    else
        bb_lines_close(lines);
    return status;
}

void bb_lines_close(struct bb_lines *lines)
{
    if (lines == NULL)
        return;
    bb_skip_file_close(lines->index);
    bb_schema_destroy(lines->schema);
    (void)!bb_file_close(lines->file); /* it was only read */
    bb_file_system_posix_destroy(lines->own_fs);
    bb_free(lines);
}

/* ---- known facts ---- */

static uint64_t count_records(const struct bb_lines *lines)
{
    uint64_t records = 0;
    struct bb_skip_granule_info info;
    for (size_t i = 0; i < bb_lines_granule_count(lines); i++) {
        bb_skip_file_granule(lines->index, i, &info);
        records += info.record_count;
    }
    return records;
}

void bb_lines_info(const struct bb_lines *lines, struct bb_lines_info *ret_info)
{
    *ret_info = (struct bb_lines_info){.file_bytes = lines->state.size,
                                       .index_state = lines->index_state,
                                       .index_status = lines->reason.status,
                                       .index_reason = lines->reason.message};
    if (lines->index_state != BB_LINES_INDEX_USED)
        return;
    ret_info->indexed_bytes = lines->source.indexed_bytes;
    ret_info->granules = bb_lines_granule_count(lines);
    ret_info->records = count_records(lines);
    ret_info->index_bytes = bb_skip_file_size(lines->index);
}

const struct bb_schema *bb_lines_schema(const struct bb_lines *lines)
{
    return lines->schema;
}

struct bb_skip_file *bb_lines_index(const struct bb_lines *lines)
{
    return lines->index_state == BB_LINES_INDEX_USED ? lines->index : NULL;
}
