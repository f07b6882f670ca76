/* bloomblock scan: entries in order. */
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "tools/keys/key_range.h"
#include "tools/output/output.h"
#include "tools/output/process_reads.h"
#include "tools/output/progress.h"
#include "tools/store/store_options.h"

struct scan {
    struct store_options store;
    struct output out;
    /* Options. */
    struct key_range range;
    uint64_t limit;
    bool is_reverse;
    bool is_keys_only;
    bool is_hex;
    bool is_count_only;
    uint64_t count;
};

static void print_entry(struct scan *scan, struct bb_bytes key, struct bb_bytes value)
{
    struct output *out = &scan->out;
    if (out->is_json) {
        output_print(out, scan->count == 0 ? "\n" : ",\n");
        json_t *row = json_object();
        json_set_bytes(row, "key", key);
        if (!scan->is_keys_only)
            json_set_bytes(row, "value", value);
        output_json_compact(out, row);
        return;
    }
    output_bytes(out, key, scan->is_hex);
    if (!scan->is_keys_only) {
        output_write(out, bb_bytes_of("\t", 1));
        output_bytes(out, value, scan->is_hex);
    }
    output_write(out, bb_bytes_of("\n", 1));
}

static void move(const struct scan *scan, struct bb_db_iter *iter)
{
    if (scan->is_reverse)
        bb_db_iter_prev(iter);
    else
        bb_db_iter_next(iter);
}

static enum bb_status print_range(struct scan *scan, struct bb_db_iter *iter)
{
    if (scan->is_reverse)
        bb_db_iter_seek_last(iter);
    else
        bb_db_iter_seek_first(iter);
    for (; bb_db_iter_valid(iter) && scan->count < scan->limit && !scan->out.has_failed;
         move(scan, iter)) {
        if (!scan->is_count_only)
            print_entry(scan, bb_db_iter_key(iter), bb_db_iter_value(iter));
        scan->count++;
    }
    return bb_db_iter_valid(iter) ? BB_OK : bb_db_iter_status(iter);
}

/* The bar and the entries do not mix in one terminal. */
static enum bb_status print_with_progress(struct scan *scan, struct bb_db_iter *iter,
                                          const char *directory)
{
    struct progress progress;
    if (!scan->is_count_only && isatty(STDOUT_FILENO))
        return print_range(scan, iter);
    uint64_t expected =
        key_range_is_everything(&scan->range) ? process_reads_expected(directory) : 0;
    progress_start_reads(&progress, "reading", expected);
    enum bb_status status = print_range(scan, iter);
    progress_stop(&progress);
    return status;
}

static enum bb_status scan_store(struct scan *scan, struct bb_db *db, const char *directory)
{
    struct bb_db_iter *iter = NULL;
    enum bb_status status = key_range_iter_create(&scan->range, db, &iter);
    if (status != BB_OK)
        return status;
    struct output *out = &scan->out;
    if (out->is_json)
        output_print(out, "{\"entries\": [");
    status = print_with_progress(scan, iter, directory);
    if (out->is_json)
        output_print(out, "\n], \"count\": %llu, \"complete\": %s}\n",
                     (unsigned long long)scan->count, status == BB_OK ? "true" : "false");
    else if (scan->is_count_only)
        output_print(out, "%llu\n", (unsigned long long)scan->count);
    bb_db_iter_destroy(iter);
    return status;
}

static bool parse(struct scan *scan, const struct command *command, int argc, char **argv,
                  struct arguments *ret_arguments, enum exit_code *ret_code)
{
    const struct option own[] = {
        {"from", "KEY", OPTION_TEXT, &scan->range.from, "first key of the range, inclusive"},
        {"to", "KEY", OPTION_TEXT, &scan->range.to, "end of the range, exclusive"},
        {"prefix", "P", OPTION_TEXT, &scan->range.prefix, "keys that begin with these bytes"},
        {"reverse", NULL, OPTION_FLAG, &scan->is_reverse,
         "from the last key of the range to the first"},
        {"limit", "N", OPTION_COUNT, &scan->limit, "maximum number of entries"},
        {"keys-only", NULL, OPTION_FLAG, &scan->is_keys_only, "no values"},
        {"count", NULL, OPTION_FLAG, &scan->is_count_only, "only how many there are"},
        {"hex", NULL, OPTION_FLAG, &scan->is_hex,
         "keys and values as hexadecimal digits, in options too"},
        {"json", NULL, OPTION_FLAG, &scan->out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&scan->store)};
    return options_parse(command, groups, 2, argc, argv, ret_arguments, ret_code);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct scan scan = {.limit = UINT64_MAX};
    store_options_init_to_read(&scan.store, command);
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!parse(&scan, command, argc, argv, &arguments, &code))
        return code;
    struct bb_db *db = NULL;
    enum bb_status status = key_range_decode(&scan.range, scan.is_hex);
    if (status == BB_OK)
        status = store_open_to_read(&scan.store, arguments.values[0], &db);
    if (status == BB_OK)
        status = scan_store(&scan, db, arguments.values[0]);
    if (status != BB_OK)
        code = command_fail(command, status);
    key_range_deinit(&scan.range);
    code = store_close(&scan.store, db, code);
    return command_finish(command, &scan.out, code);
}

const struct command command_scan = {
    .name = "scan",
    .summary = "print keys and values in order",
    .arguments = "DIR",
    .description = "Prints the entries of a range, one per line: key, tab, value, escaped as `get` "
                   "does. In JSON the field\n"
                   "\"complete\" is false if reading failed midway; the exit code shows this too.\n"
                   "\n"
                   "Examples:\n"
                   "  bloomblock scan /tmp/words --prefix zeb\n"
                   "  bloomblock scan /tmp/words --from a --to b --keys-only | wc -l\n"
                   "  bloomblock scan /tmp/words --reverse --limit 10\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
