/* bloomblock filter top: the most frequent keys, of all keys or of those that a filter rules
 * out. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/commands/cmd_filter.h"
#include "tools/filter/filter_file.h"
#include "tools/filter/filter_keys.h"
#include "tools/output/number_text.h"
#include "tools/command/options.h"
#include "tools/output/output.h"

#define COUNT_DEFAULT 10
#define ERROR_DEFAULT 0.0001 /* in 544 kB; 100 of a million lines */

struct top {
    struct output out;
    struct filter_keys keys;
    const char *against_path;
    struct bb_count_sketch_options options;
    /* At work. */
    struct filter_file file;
    struct bb_filter_file parts; /* how keys are hashed: as for the filter */
    struct bb_filter_view view;
    struct bb_count_sketch *sketch;
    uint64_t read_count;
    uint64_t skipped_count;
    struct bb_count_entry *entries;
    size_t entry_count;
    struct bb_count_sketch_info info;
};

static enum bb_status count_key(void *context, struct bb_bytes key)
{
    struct top *top = context;
    uint64_t hash = bb_filter_file_hash(&top->parts, key);
    top->read_count++;
    if (top->against_path != NULL && bb_filter_may_contain(&top->view, hash))
        return BB_OK;
    return bb_count_sketch_add(top->sketch, hash, key, 1);
}

/* A damaged filter cannot tell which keys are absent, so it is rejected here. */
static enum bb_status open_filter(struct top *top)
{
    const char *path = top->against_path;
    enum bb_status status = filter_file_read(path, &top->file);
    if (status == BB_OK)
        status = filter_file_check_hash(&top->file, path);
    if (status == BB_OK)
        status = filter_file_view(&top->file, path, &top->view);
    top->parts = top->file.parts;
    return status;
}

static enum bb_status begin(struct top *top)
{
    enum bb_status status = BB_OK;
    if (top->options.top_count == 0)
        return bb_fail(BB_INVALID, "option --count: 0 keys are no list");
    if (top->against_path != NULL) {
        status = open_filter(top);
    } else {
        top->parts.hash = BB_FILTER_HASH_KEYED;
        status = bb_hash_secret_random(&top->parts.secret);
    }
    if (status == BB_OK)
        status = bb_count_sketch_create(&top->options, &top->sketch);
    if (status != BB_OK)
        return status;
    top->entries = bb_alloc_zeroed(top->options.top_count, sizeof(*top->entries));
    return top->entries == NULL ? bb_fail(BB_NO_MEMORY, "no memory for a list") : BB_OK;
}

static enum bb_status count_keys(struct top *top, const struct arguments *arguments)
{
    enum bb_status status = begin(top);
    top->keys.skipped_count = &top->skipped_count;
    if (status == BB_OK)
        status = filter_keys_visit(&top->keys, "counting keys", arguments->values, arguments->count,
                                   count_key, top);
    if (status != BB_OK)
        return status;
    top->entry_count = bb_count_sketch_top(top->sketch, top->entries, top->options.top_count);
    bb_count_sketch_info(top->sketch, &top->info);
    return BB_OK;
}

/* By how much a count may be too high. */
static uint64_t bound_of(const struct top *top)
{
    return (uint64_t)(top->info.error * (double)top->info.total);
}

static bool is_full(const struct top *top)
{
    return top->entry_count == top->options.top_count;
}

static void write_summary(struct top *top)
{
    struct output *out = &top->out;
    output_print(out, "%s came", number_of(top->read_count, "key", "keys").text);
    if (top->against_path != NULL) {
        output_print(out, ", %s of them certainly absent from ",
                     number_grouped(top->info.total).text);
        output_bytes(out, bb_bytes_of_text(top->against_path), false);
    }
    output_print(
        out,
        "; no count is too low, and at most %g of the keys have one too high by more than %s\n",
        top->info.error_probability, number_grouped(bound_of(top)).text);
    if (top->skipped_count > 0)
        output_print(out, "skipped, because no key is longer than %d bytes: %s\n",
                     BB_COUNT_KEY_SIZE_MAX, number_of(top->skipped_count, "line", "lines").text);
    if (is_full(top))
        output_print(out, "every other key came at most %s\n",
                     number_of(top->entries[top->entry_count - 1].count, "time", "times").text);
}

static void write_text(struct top *top)
{
    for (size_t i = 0; i < top->entry_count; i++) {
        output_print(&top->out, "%" PRIu64 "\t", top->entries[i].count);
        output_bytes(&top->out, top->entries[i].key, top->keys.is_hex);
        output_write(&top->out, bb_bytes_of("\n", 1));
    }
    write_summary(top);
}

static void write_json(struct top *top)
{
    json_t *document = json_object();
    json_t *rows = json_array();
    for (size_t i = 0; i < top->entry_count; i++) {
        json_t *row = json_object();
        json_set_shown(row, "key", top->entries[i].key, top->keys.is_hex);
        json_set_count(row, "count", top->entries[i].count);
        json_array_append_new(rows, row);
    }
    json_object_set_new(document, "top", rows);
    json_set_count(document, "keys", top->read_count);
    json_set_count(document, "skipped", top->skipped_count);
    json_set_count(document, "counted", top->info.total);
    json_set_count(document, "error_bound", bound_of(top));
    json_set_real(document, "error_probability", top->info.error_probability);
    json_set_count(document, "sketch_bytes", top->info.cells_size_bytes);
    if (is_full(top))
        json_set_count(document, "others_at_most", top->entries[top->entry_count - 1].count);
    output_json(&top->out, document);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct top top = {
        .options = {.top_count = COUNT_DEFAULT, .error = ERROR_DEFAULT, .is_conservative = true}};
    const struct option own[] = {
        {"count", "N", OPTION_COUNT32, &top.options.top_count, "keys in the list, up to 1024 (10)"},
        {"against", "FILTER", OPTION_TEXT, &top.against_path,
         "count only keys that this filter rules out"},
        {"error", "SHARE", OPTION_REAL, &top.options.error,
         "maximum error of a count, as a share of the total (0.0001)"},
        {"error-probability", "P", OPTION_REAL, &top.options.error_probability,
         "share of the keys whose count may be worse than that (0.01)"},
        {"hex", NULL, OPTION_FLAG, &top.keys.is_hex,
         "keys are hexadecimal digits, in the output too"},
        {"null", NULL, OPTION_FLAG, &top.keys.is_null,
         "keys end with a zero byte instead of a newline"},
        {"json", NULL, OPTION_FLAG, &top.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = count_keys(&top, &arguments);
    if (status != BB_OK)
        code = command_fail(command, status);
    else if (top.out.is_json)
        write_json(&top);
    else
        write_text(&top);
    bb_count_sketch_destroy(top.sketch);
    bb_free(top.entries);
    filter_file_deinit(&top.file);
    return command_finish(command, &top.out, code);
}

const struct command command_filter_top = {
    .name = "filter top",
    .summary = "the most frequent keys, or only the absent ones",
    .arguments = "[FILE...]",
    .description = "Counts the lines of the files (without any, of standard input) in little "
                   "memory, independent of the number\n"
                   "of distinct lines, and prints the most frequent: count, tab, key, escaped as "
                   "`get` does. With --against it\n"
                   "counts only keys that a filter rules out: the absent keys that a database is "
                   "queried for most. A count is\n"
                   "never too low; it may be too high by a share of the total (--error), and by "
                   "more for few keys\n"
                   "(--error-probability). A count-min sketch: 4 * e / error bytes in each of ln(1 "
                   "/ probability) rows.\n"
                   "\n"
                   "Examples:\n"
                   "  bloomblock filter top access.log\n"
                   "  bloomblock filter top --against users.bbf --count 20 asked.txt\n"
                   "  tail -n 1000000 asked.txt | bloomblock filter top --error 0.00001\n",
    .argument_count_min = 0,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
