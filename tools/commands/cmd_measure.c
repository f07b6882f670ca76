/* bloomblock measure: the work that the filters of a store save, executed and counted. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "tools/output/interrupt.h"
#include "tools/measure/measurement_report.h"
#include "tools/measure/selection.h"
#include "tools/command/options.h"

struct measure {
    struct store_options store;
    struct output out;
    const char *keys_path;
    const char *where_path;
    bool is_hex;
    bool no_system;
    bool with_details;
    const char *shuffle_text;
    uint64_t repeat;
    struct key_list keys;
    size_t *order;
    struct measurement measurement;
    struct measurement_checks checks;
    struct selections selections;
};

static enum bb_status read_keys(struct measure *measure)
{
    if (measure->repeat == 0)
        return bb_fail(BB_INVALID, "option --repeat: 0 passes measure nothing");
    uint64_t seed = 0;
    enum bb_status status = BB_OK;
    if (measure->shuffle_text != NULL)
        status = option_size_decode("shuffle", measure->shuffle_text, &seed);
    if (status == BB_OK)
        status = key_list_read_file(&measure->keys, measure->keys_path, measure->is_hex);
    if (status == BB_OK && measure->keys.count == 0)
        status = bb_fail(BB_INVALID, "%s holds no keys", measure->keys_path);
    if (status != BB_OK)
        return status;
    return measure->shuffle_text == NULL
               ? key_order_as_read(measure->keys.count, &measure->order)
               : key_order_shuffle(measure->keys.count, seed, &measure->order);
}

static enum exit_code fail_without_file(const struct command *command)
{
    enum exit_code code =
        command_fail(command, bb_fail(BB_INVALID, "--keys or --where is missing: a file of keys to "
                                                  "look up, or of conditions, one a line"));
    command_hint(command);
    return code;
}

static enum bb_status execute(struct measure *measure, const char *directory)
{
    struct progress progress;
    measure->measurement = (struct measurement){
        .store = &measure->store,
        .directory = directory,
        .keys = &measure->keys,
        .order = measure->order,
        .repeat = measure->repeat,
        .no_system = measure->no_system,
        .progress = &progress,
    };
    progress_start(&progress, "measuring", 2 * measure->keys.count * (1 + measure->repeat), false);
    enum bb_status status = measurement_execute(&measure->measurement);
    progress_stop(&progress);
    if (status == BB_OK)
        measurement_checks_make(&measure->measurement, &measure->checks);
    return status;
}

static void write_report(struct measure *measure, const struct measurement *measurement)
{
    measurement_report_write_head(measurement, &measure->out);
    if (measure->with_details)
        measurement_report_write_details(measurement, &measure->checks, &measure->out);
    measurement_summary_write(measurement, &measure->checks, &measure->out);
}

static enum exit_code report(struct measure *measure, const struct command *command)
{
    const struct measurement *measurement = &measure->measurement;
    if (measure->out.is_json)
        output_json(&measure->out, measurement_report_json(measurement, &measure->checks));
    else
        write_report(measure, measurement);
    if (measure->checks.are_ok)
        return EXIT_FOUND;
    for (size_t i = 0; i < measure->checks.count; i++) {
        const struct measurement_check *check = &measure->checks.list[i];
        if (!check->is_ok)
            (void)bb_fail(BB_INVALID, "the accounting does not add up: %s: %s", check->name,
                          check->detail);
        if (!check->is_ok)
            command_warn(command, bb_error_last()->message);
    }
    return EXIT_INCONSISTENT;
}

/* ---- conditions ---- */

static enum exit_code report_selections(struct measure *measure, const struct command *command)
{
    const struct selections *selections = &measure->selections;
    size_t count = json_array_size(selections->mismatches);
    if (measure->out.is_json)
        output_json(&measure->out, selections_json(selections));
    else
        selections_write(selections, measure->with_details, &measure->out);
    for (size_t i = 0; i < count; i++) {
        (void)bb_fail(BB_INVALID, "the accounting does not add up: %s",
                      json_string_value(json_array_get(selections->mismatches, i)));
        command_warn(command, bb_error_last()->message);
    }
    return count == 0 ? EXIT_FOUND : EXIT_INCONSISTENT;
}

static enum exit_code measure_selections(struct measure *measure, const struct command *command,
                                         const char *directory)
{
    struct selections *selections = &measure->selections;
    selections->store = &measure->store;
    selections->no_system = measure->no_system;
    enum bb_status status =
        measure->keys_path != NULL || measure->is_hex || measure->shuffle_text != NULL ||
                measure->repeat != 1
            ? bb_fail(BB_INVALID, "option --where excludes --keys, --hex, --shuffle and --repeat")
            : selections_read(selections, measure->where_path);
    if (status == BB_OK)
        status = selections_execute(selections, directory);
    enum exit_code code =
        status == BB_OK ? report_selections(measure, command) : command_fail(command, status);
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    selections_deinit(selections);
    return code;
}

static bool parse(struct measure *measure, const struct command *command, int argc, char **argv,
                  struct arguments *ret_arguments, enum exit_code *ret_code)
{
    const struct option own[] = {
        {"keys", "FILE", OPTION_TEXT, &measure->keys_path,
         "the keys to look up, one a line; - is standard input"},
        {"where", "FILE", OPTION_TEXT, &measure->where_path,
         "instead of keys: conditions to select by, one a line; - is standard input"},
        {"hex", NULL, OPTION_FLAG, &measure->is_hex, "keys are hexadecimal digits"},
        {"repeat", "N", OPTION_COUNT, &measure->repeat, "rounds over the keys in a warm run (1)"},
        {"shuffle", "SEED", OPTION_TEXT, &measure->shuffle_text,
         "look up in a random order instead of the file's"},
        {"no-system", NULL, OPTION_FLAG, &measure->no_system,
         "do not compare with the operating system's counts"},
        {"details", NULL, OPTION_FLAG, &measure->with_details,
         "every figure of every run, by level, and every sum"},
        {"json", NULL, OPTION_FLAG, &measure->out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&measure->store)};
    return options_parse(command, groups, 2, argc, argv, ret_arguments, ret_code);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct measure measure = {.repeat = 1};
    store_options_init_to_read(&measure.store, command);
    measure.store.db.read_mode = BB_READ_CALLS; /* each read is a call that the system counts */
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!parse(&measure, command, argc, argv, &arguments, &code))
        return code;
    if (measure.keys_path == NULL && measure.where_path == NULL)
        return fail_without_file(command);
    if (measure.where_path != NULL) {
        code = measure_selections(&measure, command, arguments.values[0]);
        store_hint(arguments.values[0], code);
        return command_finish(command, &measure.out, code);
    }
    enum bb_status status = read_keys(&measure);
    if (status == BB_OK)
        status = execute(&measure, arguments.values[0]);
    code = status == BB_OK ? report(&measure, command) : command_fail(command, status);
    store_hint(arguments.values[0], code);
    key_list_deinit(&measure.keys);
    bb_free(measure.order);
    return command_finish(command, &measure.out, code);
}

const struct command command_measure = {
    .name = "measure",
    .summary =
        "compare lookups without filters, or selections without indexes, and count saved reads",
    .arguments = "DIR --keys FILE | --where FILE",
    .description = "Looks up every key of the file four times: without and with filters, each with"
                   " a cold and then a warm cache. Cold: the block cache is empty, index pages are"
                   " not loaded, and the tables' pages were dropped from the operating system's "
                   "cache. It prints requests, reads and avoided reads. A read is avoided when a "
                   "filter rules out a key; a request is wasted if a filter returned maybe and the"
                   " table has no entry of the key.\n"
                   "\n"
                   "Then it checks the accounting exactly: avoided and made requests against those"
                   " without filters, the sums over lookups against the statistics of the store, "
                   "reads against /proc/self/io, and equal results. Exit code 6 if there is a "
                   "difference.\n"
                   "\n"
                   "With --where each line of the file is a condition, run over open tables "
                   "without indexes, with them, and as a count, and checked in the same way.\n"
                   "\n"
                   "Absent keys should be between present keys: otherwise the index avoids the "
                   "reads, not the filters.\n"
                   "\n"
                   "Examples:\n"
                   "  bloomblock measure /tmp/words --keys lookups.txt --shuffle 1\n"
                   "  echo 'status = 418' | bloomblock measure /tmp/access --where -\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
