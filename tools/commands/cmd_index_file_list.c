/* bloomblock index list --file and index drop --file: the indexes of a file of lines. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/commands/cmd_index.h"
#include "tools/output/interrupt.h"
#include "tools/output/number_text.h"
#include "tools/output/output.h"
#include "tools/output/progress.h"
#include "tools/records/line_file.h"
#include "tools/output/text_table.h"

struct file_indexes {
    const struct command *command;
    struct output out;
    /* Options. */
    const char *file;
    bool is_all;
    /* State. */
    struct bb_buf path;
    struct bb_lines *lines;
    struct bb_skip_spec *kept; /* by drop; over the file's schema */
    size_t kept_count;
    struct progress progress;
};

/* ---- indexes ---- */

/* Words of another version of the library are not used, and can be rebuilt. */
static bool has_other_words(const struct bb_skip_index_info *info)
{
    return !info->is_known && info->words_made_with != NULL;
}

/* The canonical text of an index, terminated; empty for an unknown kind. */
static enum bb_status spec_text(const struct file_indexes *self, size_t index,
                                struct bb_skip_index_info *ret_info, struct bb_buf *ret_text)
{
    size_t attribute = 0;
    const struct bb_schema *schema = bb_lines_schema(self->lines);
    bb_skip_file_index(bb_lines_index(self->lines), index, ret_info);
    bb_buf_reset(ret_text);
    enum bb_status status = BB_OK;
    bool is_read = ret_info->is_known || has_other_words(ret_info);
    if (is_read)
        status = bb_schema_find(schema, bb_bytes_of_text(ret_info->attribute_name), &attribute);
    ret_info->spec.attribute = (uint32_t)attribute;
    if (status == BB_OK && is_read)
        status = bb_skip_spec_print(&ret_info->spec, schema, ret_text);
    return status == BB_OK ? bb_buf_append(ret_text, "", 1) : status;
}

static enum bb_status open_file(struct file_indexes *self)
{
    struct bb_lines_info info;
    enum bb_status status = line_file_path(self->file, &self->path);
    if (status == BB_OK)
        status = bb_lines_open((const char *)self->path.data, NULL, &self->lines);
    if (status != BB_OK)
        return status;
    bb_lines_info(self->lines, &info);
    if (info.index_state == BB_LINES_INDEX_USED)
        return BB_OK;
    bool is_unreadable = info.index_state == BB_LINES_INDEX_UNREADABLE;
    return bb_fail(is_unreadable ? info.index_status : BB_NOT_FOUND,
                   "%s: there is no index file that can be used: %s", self->file,
                   info.index_reason);
}

static void close_file(struct file_indexes *self)
{
    bb_lines_close(self->lines);
    self->lines = NULL;
}

static enum exit_code finish(struct file_indexes *self, enum bb_status status)
{
    enum exit_code code = EXIT_FOUND;
    if (status != BB_OK)
        code = command_fail(self->command, status);
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    close_file(self);
    bb_free(self->kept);
    bb_buf_deinit(&self->path);
    return command_finish(self->command, &self->out, code);
}

/* ---- list ---- */

static double share_of(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

static json_t *index_json(const struct bb_skip_index_info *info, const struct bb_buf *text,
                          uint64_t indexed_bytes)
{
    json_t *row = json_object();
    json_set_text(row, "spec", (const char *)text->data);
    json_set_text(row, "definition", info->attribute_definition);
    json_set_bool(row, "known", info->is_known);
    if (info->words_made_with != NULL)
        json_set_text(row, "words_made_with", info->words_made_with);
    json_set_count(row, "size_bytes", info->size_bytes);
    json_set_real(row, "share_of_data", share_of(info->size_bytes, indexed_bytes));
    json_set_count(row, "pairs", info->pair_count);
    json_set_count(row, "segments", info->segment_count);
    return row;
}

static void add_row(struct text_table *table, const struct bb_skip_index_info *info,
                    const struct bb_buf *text, uint64_t indexed_bytes)
{
    if (has_other_words(info))
        text_table_add(table, "%s (not used: words of %s)", (const char *)text->data,
                       info->words_made_with);
    else
        text_table_add(table, "%s", info->is_known ? (const char *)text->data : "unknown");
    text_table_add(table, "%s", number_bytes(info->size_bytes).text);
    text_table_add(table, "%.2f %%", 100 * share_of(info->size_bytes, indexed_bytes));
    text_table_add(table, "%s", number_grouped(info->pair_count).text);
    text_table_add(table, "%s", number_grouped(info->segment_count).text);
}

static enum bb_status collect(struct file_indexes *self, const struct bb_lines_info *file,
                              struct text_table *table, json_t *rows)
{
    struct bb_buf text = {0};
    struct bb_skip_index_info info;
    enum bb_status status = BB_OK;
    size_t count = bb_skip_file_index_count(bb_lines_index(self->lines));
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        status = spec_text(self, i, &info, &text);
        if (status != BB_OK)
            break;
        add_row(table, &info, &text, file->indexed_bytes);
        json_array_append_new(rows, index_json(&info, &text, file->indexed_bytes));
    }
    bb_buf_deinit(&text);
    return status;
}

static void write_list(struct file_indexes *self, const struct bb_lines_info *info,
                       struct text_table *table, json_t *rows)
{
    if (self->out.is_json) {
        json_t *document = json_object();
        json_object_set(document, "indexes", rows);
        json_set_count(document, "file_bytes", info->file_bytes);
        json_set_count(document, "indexed_bytes", info->indexed_bytes);
        json_set_count(document, "granules", info->granules);
        json_set_count(document, "records", info->records);
        json_set_count(document, "index_bytes", info->index_bytes);
        output_json(&self->out, document);
        return;
    }
    text_table_write(table, &self->out);
    output_print(&self->out, "%s in %s; %s of %s are indexed, in an index file of %s\n",
                 number_of(info->records, "line", "lines").text,
                 number_of(info->granules, "granule", "granules").text,
                 number_bytes(info->indexed_bytes).text, number_bytes(info->file_bytes).text,
                 number_bytes(info->index_bytes).text);
}

static enum bb_status list(struct file_indexes *self)
{
    static const char *const headers[] = {"index", "size", "of data", "pairs", "segments"};
    struct bb_lines_info info;
    struct text_table table;
    enum bb_status status = open_file(self);
    if (status != BB_OK)
        return status;
    bb_lines_info(self->lines, &info);
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    table.left_columns = 1;
    json_t *rows = json_array();
    status = collect(self, &info, &table, rows);
    if (status == BB_OK)
        write_list(self, &info, &table, rows);
    json_decref(rows);
    text_table_deinit(&table);
    return status;
}

static enum exit_code run_list(const struct command *command, int argc, char **argv)
{
    struct file_indexes self = {.command = command};
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &self.file, "the file; its index file is FILE.bbi"},
        {"json", NULL, OPTION_FLAG, &self.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    return finish(&self, list(&self));
}

/* ---- drop ---- */

/* Removes the index file of the file at self->path. */
static enum bb_status remove_index_file(struct file_indexes *self)
{
    self->path.size--;
    enum bb_status status =
        bb_buf_append(&self->path, BB_LINES_INDEX_SUFFIX, sizeof(BB_LINES_INDEX_SUFFIX));
    if (status != BB_OK || unlink((const char *)self->path.data) == 0)
        return status;
    return bb_fail(errno == ENOENT ? BB_NOT_FOUND : BB_IO, "%s: cannot be removed: %s",
                   (const char *)self->path.data, strerror(errno));
}

static bool is_named(const char *text, const struct arguments *names, bool *ret_seen)
{
    bool is_one = false;
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->values[i], text) != 0)
            continue;
        is_one = true;
        ret_seen[i] = true;
    }
    return is_one;
}

static enum bb_status choose_kept(struct file_indexes *self, const struct arguments *names,
                                  bool *seen)
{
    struct bb_buf text = {0};
    struct bb_skip_index_info info;
    enum bb_status status = BB_OK;
    size_t count = bb_skip_file_index_count(bb_lines_index(self->lines));
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        status = spec_text(self, i, &info, &text);
        if (status == BB_OK && !is_named((const char *)text.data, names, seen) &&
            (info.is_known || has_other_words(&info)))
            self->kept[self->kept_count++] = info.spec;
    }
    bb_buf_deinit(&text);
    for (size_t i = 0; i < names->count && status == BB_OK; i++) {
        if (!seen[i])
            status = bb_fail(BB_NOT_FOUND,
                             "%s: has no index \"%s\": `bloomblock index list --file` prints them",
                             self->file, names->values[i]);
    }
    return status;
}

static enum bb_status write_kept(struct file_indexes *self)
{
    struct bb_lines_index_options options = {.schema = bb_lines_schema(self->lines),
                                             .specs = self->kept,
                                             .spec_count = self->kept_count,
                                             .progress = progress_follow,
                                             .progress_context = &self->progress};
    progress_start(&self->progress, "indexing", 0, true);
    enum bb_status status = bb_lines_index_create((const char *)self->path.data, &options, NULL);
    progress_stop(&self->progress);
    return status;
}

static enum bb_status drop(struct file_indexes *self, const struct arguments *names)
{
    if (self->is_all != (names->count == 0))
        return bb_fail(BB_INVALID, "name the indexes to drop, as `index list --file` prints them, "
                                   "or give --all");
    enum bb_status status =
        self->is_all ? line_file_path(self->file, &self->path) : open_file(self);
    if (status == BB_OK && self->is_all)
        return remove_index_file(self);
    if (status != BB_OK)
        return status;
    size_t count = bb_skip_file_index_count(bb_lines_index(self->lines));
    self->kept = bb_alloc_zeroed(count + 1, sizeof(self->kept[0]));
    bool *seen = bb_alloc_zeroed(names->count, sizeof(seen[0]));
    if (self->kept == NULL || seen == NULL)
        status = bb_fail(BB_NO_MEMORY, "no memory for %zu indexes", count);
    if (status == BB_OK)
        status = choose_kept(self, names, seen);
    bb_free(seen);
    if (status != BB_OK)
        return status;
    return self->kept_count == 0 ? remove_index_file(self) : write_kept(self);
}

/* Without an index file there is no other figure. */
static void write_empty_list(struct file_indexes *self)
{
    json_t *document = json_object();
    json_object_set_new(document, "indexes", json_array());
    json_set_count(document, "index_bytes", 0);
    output_json(&self->out, document);
}

static enum bb_status drop_and_list(struct file_indexes *self, const struct arguments *names)
{
    enum bb_status status = drop(self, names);
    if (status != BB_OK || !self->out.is_json)
        return status;
    if (self->kept_count == 0) {
        write_empty_list(self);
        return BB_OK;
    }
    close_file(self);
    return list(self);
}

static enum exit_code run_drop(const struct command *command, int argc, char **argv)
{
    struct file_indexes self = {.command = command};
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &self.file, "the file; its index file is FILE.bbi"},
        {"all", NULL, OPTION_FLAG, &self.is_all, "every index: FILE.bbi is removed"},
        {"json", NULL, OPTION_FLAG, &self.out.is_json, "list the remaining indexes as JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    interrupt_watch();
    return finish(&self, drop_and_list(&self, &arguments));
}

/* ---- commands ---- */

static const struct command command_index_file_list = {
    .name = "index list",
    .summary = "the indexes of a file of lines: size, pairs, segments",
    .arguments = "--file FILE",
    .description = "Prints a row per index of FILE.bbi, and how much of the file is indexed.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock index list --file access.log\n",
    .argument_count_min = 0,
    .argument_count_max = 0,
    .run = run_list,
};

static const struct command command_index_file_drop = {
    .name = "index drop",
    .summary = "remove indexes of a file of lines",
    .arguments = "--file FILE [SPEC...]",
    .description =
        "Removes the indexes with these specs, as `index list --file` prints them: FILE.bbi is "
        "rewritten\n"
        "with the others. If none are left, or with --all, FILE.bbi is removed. The file itself is "
        "not changed.\n"
        "\n"
        "Examples:\n"
        "  bloomblock index drop --file access.log 'column(status)'\n"
        "  bloomblock index drop --file access.log --all\n",
    .argument_count_min = 0,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run_drop,
};

enum exit_code index_file_run_list(const struct command *command, int argc, char **argv)
{
    struct command form = command_index_file_list;
    form.tables = command->tables;
    return run_list(&form, argc, argv);
}

enum exit_code index_file_run_drop(const struct command *command, int argc, char **argv)
{
    struct command form = command_index_file_drop;
    form.tables = command->tables;
    return run_drop(&form, argc, argv);
}
