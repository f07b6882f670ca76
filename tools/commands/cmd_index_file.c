/* bloomblock index create --file: the index file of a file of lines. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "tools/commands/cmd_index.h"
#include "tools/output/interrupt.h"
#include "tools/output/number_text.h"
#include "tools/output/output.h"
#include "tools/output/progress.h"
#include "tools/records/caret.h"
#include "tools/records/line_file.h"

struct index_file {
    struct output out;
    /* Options. */
    const char *file;
    struct option_texts attributes;
    struct option_texts indexes;
    uint64_t granule_bytes; /* 0: as it is */
    bool is_rebuilding;
    /* At work. */
    struct bb_buf path;
    struct bb_schema *schema; /* NULL: the schema of the index file */
    struct bb_skip_spec *specs;
    struct progress progress;
};

/* Attributes may come from the index file that is there. */
static enum bb_status read_schema(struct index_file *self)
{
    struct bb_lines *lines = NULL;
    enum bb_status status = bb_lines_open((const char *)self->path.data, NULL, &lines);
    if (status == BB_OK)
        status = line_file_schema(lines, &self->attributes, &self->schema);
    bb_lines_close(lines);
    return status;
}

static enum bb_status parse_specs(struct index_file *self)
{
    enum bb_status status = BB_OK;
    self->specs = bb_alloc_zeroed(self->indexes.count, sizeof(self->specs[0]));
    if (self->specs == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu indexes", self->indexes.count);
    for (size_t i = 0; i < self->indexes.count && status == BB_OK; i++) {
        status = bb_skip_spec_parse(self->indexes.values[i], self->schema, &self->specs[i]);
        if (status == BB_INVALID)
            caret_show(self->indexes.values[i]);
    }
    return status;
}

static enum bb_status prepare(struct index_file *self)
{
    enum bb_status status = line_file_path(self->file, &self->path);
    if (status == BB_OK && self->indexes.count == 0 && self->attributes.count > 0)
        status = bb_fail(BB_INVALID, "option --attribute needs --index: which attributes to index");
    if (status != BB_OK || self->indexes.count == 0)
        return status;
    status = read_schema(self);
    return status == BB_OK ? parse_specs(self) : status;
}

static void write_report(struct index_file *self, const struct bb_lines_index_report *report)
{
    if (self->out.is_json) {
        json_t *document = json_object();
        json_set_count(document, "file_bytes", report->file_bytes);
        json_set_count(document, "indexed_bytes", report->indexed_bytes);
        json_set_count(document, "read_bytes", report->read_bytes);
        json_set_count(document, "granules", report->granules);
        json_set_count(document, "granules_taken", report->granules_taken);
        json_set_count(document, "records", report->records);
        json_set_count(document, "index_bytes", report->index_bytes);
        output_json(&self->out, document);
        return;
    }
    output_print(
        &self->out, "%s, %s, in %s; read now: %s, known before: %s; the index file has %s\n",
        number_of(report->records, "line", "lines").text, number_bytes(report->indexed_bytes).text,
        number_of(report->granules, "granule", "granules").text,
        number_bytes(report->read_bytes).text,
        number_of(report->granules_taken, "granule", "granules").text,
        number_bytes(report->index_bytes).text);
}

static enum bb_status create(struct index_file *self)
{
    struct bb_lines_index_report report;
    struct bb_lines_index_options options = {.schema = self->schema,
                                             .specs = self->specs,
                                             .spec_count = self->indexes.count,
                                             .granule_bytes = self->granule_bytes,
                                             .rebuild = self->is_rebuilding,
                                             .progress = progress_follow,
                                             .progress_context = &self->progress};
    enum bb_status status = prepare(self);
    if (status != BB_OK)
        return status;
    options.schema = self->schema;
    options.specs = self->specs;
    progress_start(&self->progress, "indexing", 0, true);
    status = bb_lines_index_create((const char *)self->path.data, &options, &report);
    progress_stop(&self->progress);
    if (status == BB_OK)
        write_report(self, &report);
    return status;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct index_file self = {.file = NULL};
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &self.file, "the file; its index file is FILE.bbi"},
        {"attribute", "DEFINITION", OPTION_TEXTS, &self.attributes,
         "an attribute of its lines; may be given again"},
        {"index", "SPEC", OPTION_TEXTS, &self.indexes,
         "an index: KIND(ATTRIBUTE), with parameters; may be given again"},
        {"granule", "SIZE", OPTION_SIZE, &self.granule_bytes, "lines of a granule, 8K to 1M (64K)"},
        {"rebuild", NULL, OPTION_FLAG, &self.is_rebuilding,
         "read the whole file, also where it has only grown"},
        {"json", NULL, OPTION_FLAG, &self.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    interrupt_watch();
    enum bb_status status = create(&self);
    if (status != BB_OK)
        code = command_fail(command, status);
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    bb_free(self.specs);
    bb_schema_destroy(self.schema);
    bb_buf_deinit(&self.path);
    return command_finish(command, &self.out, code);
}

static const struct command command_index_file = {
    .name = "index create",
    .summary = "index the lines of a file, in an index file next to it",
    .arguments = "--file FILE",
    .description =
        "Writes FILE.bbi, for `bloomblock select --file FILE`; the file itself is not changed. "
        "Attributes are\n"
        "defined as for a store, `bloomblock index --help` lists the kinds of indexes.\n"
        "Run again without --attribute and --index it indexes the appended lines and reuses the "
        "index of the\n"
        "earlier lines. If the file was rewritten, it is read completely.\n"
        "Ctrl-C keeps the old index file (exit code 130).\n"
        "\n"
        "Examples:\n"
        "  bloomblock index create --file access.log --index 'tokens(agent)' \\\n"
        "      --attribute 'agent bytes = clf(agent)'\n"
        "  bloomblock index create --file access.log       # after it has grown\n",
    .argument_count_min = 0,
    .argument_count_max = 0,
    .run = run,
};

enum exit_code index_file_run_create(const struct command *command, int argc, char **argv)
{
    struct command form = command_index_file;
    form.tables = command->tables;
    return run(&form, argc, argv);
}
