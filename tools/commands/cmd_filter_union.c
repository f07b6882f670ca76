/* bloomblock filter union: one filter of the keys of several. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/commands/cmd_filter.h"
#include "tools/output/escape.h"
#include "tools/filter/filter_file.h"
#include "tools/filter/filter_report.h"
#include "tools/command/options.h"
#include "tools/output/text_table.h"

struct unite {
    struct output out;
    bool is_replacing;
    char *const *paths; /* of the inputs */
    size_t count;
    struct filter_file *files; /* count of them; owned */
    struct bb_filter_estimate *estimates;
    struct bb_filter_comparison comparison; /* of two */
    struct bb_filter_file parts;            /* of the union */
    struct bb_buf envelope;
    struct bb_filter_estimate estimate;
    struct bb_filter_info info;
};

static enum bb_status allocate(struct unite *unite)
{
    unite->files = bb_alloc_zeroed(unite->count, sizeof(*unite->files));
    unite->estimates = bb_alloc_zeroed(unite->count, sizeof(*unite->estimates));
    if (unite->files == NULL || unite->estimates == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu filters", unite->count);
    return BB_OK;
}

static void release(struct unite *unite)
{
    for (size_t i = 0; unite->files != NULL && i < unite->count; i++)
        filter_file_deinit(&unite->files[i]);
    bb_free(unite->files);
    bb_free(unite->estimates);
    bb_buf_deinit(&unite->envelope);
}

/* Bits of hashes under different secrets have nothing to do with each other. */
static enum bb_status check_hashes(const struct unite *unite, size_t i)
{
    const struct bb_filter_file *first = &unite->files[0].parts, *other = &unite->files[i].parts;
    if (first->hash != other->hash)
        return bb_fail(BB_INVALID, "%s and %s have different hashes", unite->paths[0],
                       unite->paths[i]);
    if (memcmp(&first->secret, &other->secret, sizeof(first->secret)) != 0)
        return bb_fail(BB_INVALID,
                       "%s and %s have different secrets: create filters for a union with --like",
                       unite->paths[0], unite->paths[i]);
    return BB_OK;
}

static enum bb_status read_one(struct unite *unite, size_t i)
{
    struct filter_file *file = &unite->files[i];
    const char *path = unite->paths[i];
    enum bb_status status = filter_file_read(path, file);
    if (status == BB_OK)
        status = filter_file_check_hash(file, path);
    if (status == BB_OK)
        status = check_hashes(unite, i);
    if (status != BB_OK)
        return status;
    return filter_file_context(file, path,
                               bb_filter_estimate_keys(file->parts.envelope, &unite->estimates[i]));
}

/* Adds the envelope of input i to the union so far. */
static enum bb_status unite_one(struct unite *unite, size_t i)
{
    struct bb_bytes next = unite->files[i].parts.envelope;
    struct bb_buf both = {0};
    if (i == 0)
        return bb_buf_assign(&unite->envelope, next);
    enum bb_status status = bb_filter_union(bb_buf_bytes(&unite->envelope), next, &both);
    if (status != BB_OK) {
        bb_buf_deinit(&both);
        return bb_fail_context(status, "%s and %s", unite->paths[0], unite->paths[i]);
    }
    bb_buf_deinit(&unite->envelope);
    unite->envelope = both;
    return BB_OK;
}

/* A union has the size of the smallest filter; the others were folded to it. */
static uint64_t planned_key_count(const struct unite *unite)
{
    size_t smallest = 0;
    for (size_t i = 1; i < unite->count; i++) {
        if (unite->files[i].parts.envelope.size < unite->files[smallest].parts.envelope.size)
            smallest = i;
    }
    return unite->files[smallest].parts.planned_key_count;
}

static enum bb_status describe(struct unite *unite)
{
    enum bb_status status = BB_OK;
    unite->parts = unite->files[0].parts;
    unite->parts.envelope = bb_buf_bytes(&unite->envelope);
    unite->parts.planned_key_count = planned_key_count(unite);
    if (unite->count == 2)
        status = bb_filter_compare(unite->files[0].parts.envelope, unite->files[1].parts.envelope,
                                   &unite->comparison);
    if (status == BB_OK)
        status = bb_filter_estimate_keys(unite->parts.envelope, &unite->estimate);
    if (status == BB_OK)
        status = bb_filter_info(unite->parts.envelope, &unite->info);
    return status;
}

static enum bb_status unite_all(struct unite *unite, const char *path)
{
    enum bb_status status = filter_file_check_target(path, unite->is_replacing);
    if (status == BB_OK)
        status = allocate(unite);
    for (size_t i = 0; i < unite->count && status == BB_OK; i++) {
        status = read_one(unite, i);
        if (status == BB_OK)
            status = unite_one(unite, i);
    }
    if (status == BB_OK)
        status = describe(unite);
    return status == BB_OK ? filter_file_write(path, &unite->parts, unite->is_replacing) : status;
}

/* --- Report --- */

static void add_row(struct text_table *table, const char *name, struct bb_filter_estimate estimate)
{
    struct bb_buf text = {0};
    if (escape_append(&text, bb_bytes_of_text(name), ESCAPE_KEEP_BACKSLASH) != BB_OK)
        table->has_failed = true;
    text_table_add(table, "%.*s", (int)text.size, (const char *)text.data);
    bb_buf_deinit(&text);
    if (isfinite(estimate.standard_error)) {
        text_table_add(table, "%.0f", estimate.value);
        text_table_add(table, "%.1f", estimate.standard_error);
    } else {
        text_table_add(table, ">= %.0f", estimate.value);
        text_table_add(table, "unknown");
    }
}

static void write_text(struct unite *unite, const char *path)
{
    static const char *const headers[] = {"estimated keys of", "keys", "standard error"};
    const struct bb_filter_comparison *comparison = &unite->comparison;
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    for (size_t i = 0; i < unite->count; i++)
        add_row(&table, unite->paths[i], unite->estimates[i]);
    add_row(&table, "all of them (union)", unite->estimate);
    if (unite->count == 2) {
        add_row(&table, "both (intersection)", comparison->both);
        add_row(&table, "the first alone", comparison->first_only);
        add_row(&table, "the second alone", comparison->second_only);
    }
    text_table_write(&table, &unite->out);
    text_table_deinit(&table);
    if (unite->count == 2)
        output_print(&unite->out, "both / union: %.4f, standard error %.4f\n",
                     comparison->jaccard.value, comparison->jaccard.standard_error);
    filter_report_line(&unite->out, path, &unite->info);
}

static json_t *estimate_json(struct bb_filter_estimate estimate)
{
    json_t *object = json_object();
    json_set_real(object, "value", estimate.value);
    json_set_real(object, "standard_error", estimate.standard_error);
    return object;
}

static void write_json(struct unite *unite, const char *path)
{
    const struct bb_filter_comparison *comparison = &unite->comparison;
    json_t *document = json_object();
    json_t *inputs = json_array();
    for (size_t i = 0; i < unite->count; i++) {
        json_t *input = estimate_json(unite->estimates[i]);
        json_set_text(input, "file", unite->paths[i]);
        json_array_append_new(inputs, input);
    }
    json_set_text(document, "file", path);
    json_object_set_new(document, "inputs", inputs);
    json_object_set_new(document, "union", estimate_json(unite->estimate));
    if (unite->count == 2) {
        json_object_set_new(document, "both", estimate_json(comparison->both));
        json_object_set_new(document, "first_only", estimate_json(comparison->first_only));
        json_object_set_new(document, "second_only", estimate_json(comparison->second_only));
        json_object_set_new(document, "jaccard", estimate_json(comparison->jaccard));
    }
    filter_report_json(document, &unite->info, &unite->parts);
    output_json(&unite->out, document);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct unite unite = {0};
    const struct option own[] = {
        {"force", NULL, OPTION_FLAG, &unite.is_replacing, "replace a file that exists"},
        {"json", NULL, OPTION_FLAG, &unite.out.is_json, "report as JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    unite.paths = arguments.values + 1;
    unite.count = arguments.count - 1;
    enum bb_status status = unite_all(&unite, arguments.values[0]);
    if (status != BB_OK) {
        code = command_fail(command, status);
    } else {
        if (unite.out.is_json)
            write_json(&unite, arguments.values[0]);
        else
            write_text(&unite, arguments.values[0]);
        code = filter_report_target(command, &unite.info, &unite.parts, 0);
    }
    release(&unite);
    return command_finish(command, &unite.out, code);
}

const struct command command_filter_union = {
    .name = "filter union",
    .summary = "unite filters, and estimate their common keys",
    .arguments = "OUT FILTER FILTER...",
    .description = "Writes the filter of all their keys, bit for bit equal to a filter built from "
                   "the keys together, and\n"
                   "prints the estimated number of keys in each, in the union and, for two "
                   "filters, in both, each with its\n"
                   "standard error. Filters are compatible if they have the same secret and salt "
                   "(`filter create --like`), the\n"
                   "same kind whose bits correspond to keys (bloom, blocked-bloom, split-block, "
                   "partitioned), the same number\n"
                   "of probes, and the same size or a multiple of it. Others are rejected with the "
                   "reason. The exit code\n"
                   "is 7 if the union is above its target by more than chance.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock filter create monday.bbf monday.txt --kind bloom --keys 100000\n"
                   "  bloomblock filter create tuesday.bbf tuesday.txt --like monday.bbf\n"
                   "  bloomblock filter union week.bbf monday.bbf tuesday.bbf\n",
    .argument_count_min = 3,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
