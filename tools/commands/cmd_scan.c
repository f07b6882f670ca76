/* bloomblock scan: entries in order. */
#include <unistd.h>

#include "tools/output/process_reads.h"
#include "tools/output/progress.h"
#include "tools/store/scan_output.h"
#include "tools/store/store_options.h"

static void move(const struct scan_output *scan, struct bb_db_iter *iter)
{
    if (scan->is_reverse)
        bb_db_iter_prev(iter);
    else
        bb_db_iter_next(iter);
}

static enum bb_status print_range(struct scan_output *scan, struct bb_db_iter *iter)
{
    if (scan->is_reverse)
        bb_db_iter_seek_last(iter);
    else
        bb_db_iter_seek_first(iter);
    for (; bb_db_iter_valid(iter) && scan_output_wants(scan); move(scan, iter))
        scan_output_add(scan, bb_db_iter_key(iter), bb_db_iter_value(iter));
    return bb_db_iter_valid(iter) ? BB_OK : bb_db_iter_status(iter);
}

/* The bar and the entries do not mix in one terminal. */
static enum bb_status print_with_progress(struct scan_output *scan, struct bb_db_iter *iter,
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

static enum bb_status scan_store(struct scan_output *scan, struct bb_db *db, const char *directory)
{
    struct bb_db_iter *iter = NULL;
    enum bb_status status = scan->is_keys_only || scan->is_count_only
                                ? key_range_iter_create_keys(&scan->range, db, &iter)
                                : key_range_iter_create(&scan->range, db, &iter);
    if (status != BB_OK)
        return status;
    scan_output_begin(scan);
    status = print_with_progress(scan, iter, directory);
    scan_output_end(scan, status == BB_OK);
    bb_db_iter_destroy(iter);
    return status;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct scan_output scan;
    struct store_options store = {0};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    scan_output_init(&scan);
    store_options_init_to_read(&store, command);
    const struct option_group groups[] = {scan_output_group(&scan), store_options_group(&store)};
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    struct bb_db *db = NULL;
    enum bb_status status = key_range_decode(&scan.range, scan.is_hex);
    if (status == BB_OK)
        status = store_open_to_read(&store, arguments.values[0], &db);
    if (status == BB_OK)
        status = scan_store(&scan, db, arguments.values[0]);
    if (status != BB_OK)
        code = command_fail(command, status);
    key_range_deinit(&scan.range);
    code = store_close(&store, db, code);
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
