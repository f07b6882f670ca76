/* Writing the index file of a file of lines. See bb/lines.h.
 *
 * The new file is written under another name and renamed over the old one. Segments of the old one
 * are copied (skip/build/take_over.h) where the file has only grown and the request is the same.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "skip/build/take_over.h"
#include "skip/lines/line_window.h"
#include "skip/lines/lines.h"

struct work {
    struct bb_lines_index_options options;
    struct bb_lines *lines;
    const struct bb_schema *schema; /* what to index: the options', or that of the index file */
    struct bb_skip_spec *specs;     /* owned */
    size_t spec_count;
    uint64_t granule_bytes;
    struct bb_buf index_path; /* terminated */
    struct bb_buf new_path;   /* terminated; of the file that is written */
    struct bb_buf encoded;    /* owned: the description of the file */
    struct bb_skip_builder *builder;
    bool has_taken;           /* segments of the old index file */
    struct bb_line_ends ends; /* of the existing bytes at the beginning */
    uint64_t granule_begin;   /* in the file */
    struct bb_lines_index_report report;
};

/* ---- what to index ---- */

static enum bb_status take_options(const struct bb_lines_index_options *options,
                                   struct bb_lines_index_options *ret_options)
{
    enum bb_status status = BB_OK;
    *ret_options = options == NULL ? (struct bb_lines_index_options){0} : *options;
    if ((ret_options->schema == NULL) != (ret_options->spec_count == 0))
        status = bb_fail(BB_INVALID, "indexes of lines need a schema and at least one index, or "
                                     "neither, to keep those in the existing index file");
    return status;
}

static enum bb_status check_granule_bytes(uint64_t bytes)
{
    if (bytes >= BB_GRANULE_BYTES_MIN && bytes <= BB_GRANULE_BYTES_MAX)
        return BB_OK;
    return bb_fail(BB_INVALID, "granules of %llu bytes: %d to %d are allowed",
                   (unsigned long long)bytes, BB_GRANULE_BYTES_MIN, BB_GRANULE_BYTES_MAX);
}

/* The spec of an index, for the schema that is in the file. */
static enum bb_status spec_of_index(const struct bb_lines *lines, size_t number,
                                    struct bb_skip_spec *ret_spec)
{
    struct bb_skip_index_info info;
    size_t attribute = 0;
    bb_skip_file_index(lines->index, number, &info);
    if (!info.is_known && info.words_made_with == NULL)
        return bb_fail(BB_UNSUPPORTED, "%s: its index %zu has an unknown kind", lines->file->path,
                       number);
    enum bb_status status =
        bb_schema_find(lines->schema, bb_bytes_of_text(info.attribute_name), &attribute);
    if (status != BB_OK)
        return bb_fail(BB_CORRUPT, "%s: its index file has no attribute \"%s\"", lines->file->path,
                       info.attribute_name);
    *ret_spec = info.spec;
    ret_spec->attribute = (uint32_t)attribute;
    return BB_OK;
}

static enum bb_status specs_of_index_file(struct work *work)
{
    const struct bb_lines *lines = work->lines;
    if (lines->index == NULL)
        return bb_fail(BB_NOT_FOUND,
                       "%s: no attributes and indexes were given, and there is no index file that "
                       "has them: %s",
                       lines->file->path, lines->reason.message);
    work->schema = lines->schema;
    work->spec_count = bb_skip_file_index_count(lines->index);
    work->specs = bb_alloc_zeroed(work->spec_count + 1, sizeof(work->specs[0]));
    if (work->specs == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu indexes", work->spec_count);
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < work->spec_count && status == BB_OK; i++)
        status = spec_of_index(lines, i, &work->specs[i]);
    return status;
}

static enum bb_status choose_specs(struct work *work)
{
    const struct bb_lines_index_options *options = &work->options;
    if (options->schema == NULL)
        return specs_of_index_file(work);
    work->schema = options->schema;
    work->spec_count = options->spec_count;
    work->specs = bb_alloc_zeroed(work->spec_count, sizeof(work->specs[0]));
    if (work->specs == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu indexes", work->spec_count);
    memcpy(work->specs, options->specs, work->spec_count * sizeof(work->specs[0]));
    return BB_OK;
}

static enum bb_status choose(struct work *work)
{
    const struct bb_lines *lines = work->lines;
    enum bb_status status = choose_specs(work);
    work->granule_bytes = work->options.granule_bytes;
    if (work->granule_bytes == 0)
        work->granule_bytes =
            lines->index != NULL ? lines->source.granule_bytes : BB_GRANULE_BYTES_DEFAULT;
    return status == BB_OK ? check_granule_bytes(work->granule_bytes) : status;
}

/* ---- the new file ---- */

static enum bb_status choose_path(struct work *work, const uint8_t id[BB_SKIP_ID_SIZE])
{
    unsigned long long number = 0;
    memcpy(&number, id, sizeof(number));
    bb_buf_reset(&work->new_path);
    enum bb_status status = bb_buf_print(&work->new_path, "%s.%016llx.new",
                                         (const char *)work->index_path.data, number);
    return status == BB_OK ? bb_append_u8(&work->new_path, 0) : status;
}

static enum bb_status create_builder(struct work *work)
{
    struct bb_file_system *fs = work->lines->fs;
    struct bb_skip_options options = {.file_system = fs};
    /* Segments can be copied only under the same secret. */
    if (work->lines->index != NULL)
        options.secret = &work->lines->index->directory.secret;
    enum bb_status status = fs->ops->random(fs, options.id, sizeof(options.id));
    if (status == BB_OK)
        status = choose_path(work, options.id);
    return status == BB_OK
               ? bb_skip_builder_create((const char *)work->new_path.data, &options, work->schema,
                                        work->specs, work->spec_count, &work->builder)
               : status;
}

/* The first failure stays the thread's latest. */
static void abandon(struct work *work)
{
    struct bb_file_system *fs = work->lines->fs;
    struct bb_error failure = *bb_error_last();
    if (work->builder == NULL)
        return;
    bb_skip_builder_destroy(work->builder);
    work->builder = NULL;
    (void)!fs->ops->remove(fs, (const char *)work->new_path.data);
    (void)bb_error_restore(&failure);
}

static bool can_take(const struct work *work)
{
    const struct bb_lines *lines = work->lines;
    return !work->options.rebuild && lines->index_state == BB_LINES_INDEX_USED &&
           lines->source.granule_bytes == work->granule_bytes &&
           bb_take_over_is_possible(work->builder, lines->index);
}

/* Begins the new file with the entries of the old one, or empty where it has no entries. */
static enum bb_status begin(struct work *work)
{
    size_t taken = 0;
    enum bb_status status = create_builder(work);
    if (status != BB_OK || !can_take(work))
        return status;
    status = bb_take_over(work->builder, work->lines->index, &taken);
    if (status == BB_CORRUPT) {
        abandon(work);
        return create_builder(work);
    }
    if (status == BB_OK) {
        work->has_taken = true;
        work->report.granules_taken = taken;
        work->granule_begin = bb_lines_granule_begin(work->lines, taken);
    }
    return status;
}

/* ---- lines ---- */

/* Checks that granules that are read again end where they did. Otherwise segments that were taken
 * over would describe other lines. The last one may have grown. */
static bool ends_as_before(const struct work *work, uint64_t end)
{
    size_t next = (size_t)work->builder->directory.granule_count + 1;
    return !work->has_taken || next >= bb_lines_granule_count(work->lines) ||
           bb_lines_granule_begin(work->lines, next) == end;
}

static enum bb_status end_granule(struct work *work, uint64_t end)
{
    if (!ends_as_before(work, end))
        return bb_fail(BB_INVALID,
                       "%s: was changed before offset %llu since it was indexed: index the "
                       "whole file again",
                       work->lines->file->path, (unsigned long long)end);
    enum bb_status status = bb_skip_builder_end_granule(work->builder, work->granule_begin);
    work->granule_begin = end;
    return status;
}

/* Adds all complete lines of the window. *ret_end: the end of the last one. */
static enum bb_status add_lines(struct work *work, const struct bb_line_window *window,
                                uint64_t *ret_end)
{
    const uint8_t *line = window->bytes.data;
    size_t left = window->bytes.size;
    uint64_t end = window->offset;
    enum bb_status status = BB_OK;
    while (left > 0 && status == BB_OK) {
        const uint8_t *newline = memchr(line, '\n', left);
        if (newline == NULL)
            break;
        size_t size = (size_t)(newline - line) + 1;
        status = bb_skip_builder_add_record(work->builder, (struct bb_bytes){0},
                                            bb_line_record(bb_bytes_of(line, size)));
        end += size;
        if (status == BB_OK && end - work->granule_begin >= work->granule_bytes)
            status = end_granule(work, end);
        line += size;
        left -= size;
    }
    *ret_end = end;
    return status;
}

static enum bb_status report_progress(const struct work *work, uint64_t done)
{
    const struct bb_lines_index_options *options = &work->options;
    if (options->progress == NULL ||
        options->progress(options->progress_context, done, work->lines->state.size))
        return BB_OK;
    return bb_fail(BB_BUSY, "%s: indexing was cancelled", work->lines->file->path);
}

static enum bb_status read_lines(struct work *work, uint64_t *ret_end)
{
    uint64_t size = work->lines->state.size;
    uint64_t begin = work->granule_begin;
    uint64_t end = begin;
    struct bb_line_window window = {.file = work->lines->file};
    enum bb_status status = BB_OK;
    while (begin < size && status == BB_OK) {
        status = report_progress(work, begin);
        if (status == BB_OK)
            status = bb_line_window_load(&window, begin, size);
        if (status == BB_OK)
            status = add_lines(work, &window, &end);
        begin += window.bytes.size;
    }
    if (status == BB_OK)
        status = end_granule(work, end);
    work->report.read_bytes = window.read_bytes;
    bb_line_window_deinit(&window);
    *ret_end = end;
    return status;
}

/* ---- the earlier state of the file ---- */

static enum bb_status fail_changed(const struct work *work)
{
    return bb_fail(BB_BUSY, "%s: was changed while it was indexed, and not only at its end",
                   work->lines->file->path);
}

/* The file may have grown while it was read. After any other change the index would describe bytes
 * that no longer exist. */
static enum bb_status check_unchanged(const struct work *work)
{
    const struct bb_lines *lines = work->lines;
    struct bb_line_file_state now;
    struct bb_line_ends ends;
    enum bb_status status = bb_line_source_read_state(lines->file, &now);
    if (status != BB_OK)
        return status;
    if (now.size < lines->state.size ||
        (now.size == lines->state.size && now.modified != lines->state.modified))
        return fail_changed(work);
    status = bb_line_source_read_ends(lines->file, lines->state.size, &ends);
    if (status == BB_OK && (ends.first_checksum != work->ends.first_checksum ||
                            ends.last_checksum != work->ends.last_checksum))
        status = fail_changed(work);
    return status;
}

static enum bb_status set_source(struct work *work, uint64_t indexed_bytes)
{
    const struct bb_lines *lines = work->lines;
    struct bb_buf schema = {0};
    struct bb_line_source source = {
        .file = lines->state, .indexed_bytes = indexed_bytes, .granule_bytes = work->granule_bytes};
    enum bb_status status = bb_schema_encode(work->schema, &schema);
    source.schema = bb_buf_bytes(&schema);
    if (status == BB_OK)
        status = bb_line_source_read_ends(lines->file, indexed_bytes, &source.ends);
    if (status == BB_OK)
        status = bb_line_source_append(&source, &work->encoded);
    if (status == BB_OK)
        status = bb_skip_builder_set_source(work->builder, bb_buf_bytes(&work->encoded));
    bb_buf_deinit(&schema);
    return status;
}

/* ---- putting it in place ---- */

/* Even if the directory cannot be opened for syncing, the new name is in place. */
static enum bb_status sync_parent(struct work *work)
{
    enum bb_status status =
        bb_file_sync_parent(work->lines->fs, (const char *)work->index_path.data);
    return status == BB_READ_ONLY ? BB_OK : status;
}

static enum bb_status put_in_place(struct work *work)
{
    struct bb_file_system *fs = work->lines->fs;
    const char *index_path = (const char *)work->index_path.data;
    enum bb_status status = bb_skip_builder_finish(work->builder);
    if (status == BB_OK)
        status = check_unchanged(work);
    if (status == BB_OK)
        status = fs->ops->rename(fs, (const char *)work->new_path.data, index_path);
    if (status != BB_OK)
        return status;
    bb_skip_builder_destroy(work->builder);
    work->builder = NULL;
    return sync_parent(work);
}

static enum bb_status fill_report(struct work *work, uint64_t indexed_bytes)
{
    bool is_directory = false;
    struct bb_lines_index_report *report = &work->report;
    struct bb_file_system *fs = work->lines->fs;
    report->file_bytes = work->lines->state.size;
    report->indexed_bytes = indexed_bytes;
    return fs->ops->status(fs, (const char *)work->index_path.data, &is_directory,
                           &report->index_bytes);
}

static enum bb_status run(struct work *work)
{
    uint64_t end = 0;
    const struct bb_lines *lines = work->lines;
    enum bb_status status = choose(work);
    if (status == BB_OK)
        status = bb_line_source_read_ends(lines->file, lines->state.size, &work->ends);
    if (status == BB_OK)
        status = begin(work);
    if (status == BB_OK)
        status = read_lines(work, &end);
    if (status == BB_OK)
        status = set_source(work, end);
    if (status != BB_OK)
        return status;
    work->report.granules = work->builder->directory.granule_count;
    work->report.records = work->builder->directory.record_count;
    status = put_in_place(work);
    return status == BB_OK ? fill_report(work, end) : status;
}

enum bb_status bb_lines_index_create(const char *path, const struct bb_lines_index_options *options,
                                     struct bb_lines_index_report *ret_report)
{
    struct work work = {.granule_begin = 0};
    enum bb_status status = take_options(options, &work.options);
    struct bb_lines_options open_options = {.file_system = work.options.file_system};
    if (status == BB_OK)
        status = bb_lines_open(path, &open_options, &work.lines);
    if (status != BB_OK)
        return status;
    status = bb_lines_index_path(path, &work.index_path);
    if (status == BB_OK)
        status = run(&work);
    if (status != BB_OK)
        abandon(&work);
    else if (ret_report != NULL)
        *ret_report = work.report;
    bb_free(work.specs);
    bb_buf_deinit(&work.index_path);
    bb_buf_deinit(&work.new_path);
    bb_buf_deinit(&work.encoded);
    bb_lines_close(work.lines);
    return status;
}
