/* bloomblock compact: merges all runs into one, or the tables of a range of keys. */
#include "base/assert.h"
#include "base/buf.h"
#include "tools/output/clock.h"
#include "tools/keys/key_argument.h"
#include "tools/store/level_report.h"
#include "tools/output/number_text.h"
#include "tools/output/output.h"
#include "tools/output/progress.h"
#include "tools/store/store_options.h"

struct compaction {
    struct store_options store;
    struct output out;
    const char *from; /* as typed; NULL: from the first key on */
    const char *to;
    bool is_hex;
    struct bb_buf low;
    struct bb_buf high;
    struct bb_db *db;
    struct bb_db_stats before;
    struct bb_db_stats after;
    uint64_t nanoseconds;
};

static enum bb_status merge(struct compaction *compaction)
{
    if (compaction->from == NULL && compaction->to == NULL)
        return bb_db_compact(compaction->db);
    struct bb_bytes low = bb_buf_bytes(&compaction->low);
    struct bb_bytes high = bb_buf_bytes(&compaction->high);
    return bb_db_compact_range(compaction->db, compaction->from == NULL ? NULL : &low,
                               compaction->to == NULL ? NULL : &high);
}

static enum bb_status compact_store(struct compaction *compaction, const char *directory)
{
    enum bb_status status = BB_OK;
    if (compaction->from != NULL)
        status = key_argument_decode(compaction->from, compaction->is_hex, &compaction->low);
    if (status == BB_OK && compaction->to != NULL)
        status = key_argument_decode(compaction->to, compaction->is_hex, &compaction->high);
    if (status == BB_OK)
        status = store_open(&compaction->store, directory, &compaction->db);
    if (status != BB_OK)
        return status;
    bb_db_stats(compaction->db, &compaction->before);
    struct progress progress;
    uint64_t start = clock_now();
    progress_start_reads(&progress, "compacting",
                         level_report_total(&compaction->before).file_bytes);
    status = merge(compaction);
    progress_stop(&progress);
    compaction->nanoseconds = clock_now() - start;
    bb_db_stats(compaction->db, &compaction->after);
    return status;
}

static void report_json(struct compaction *compaction)
{
    json_t *document = json_object();
    json_object_set_new(document, "before", level_report_json(&compaction->before));
    json_object_set_new(document, "after", level_report_json(&compaction->after));
    json_set_count(document, "bytes_read", compaction->after.compaction_bytes_read);
    json_set_count(document, "bytes_written", compaction->after.compaction_bytes_written);
    json_set_real(document, "seconds", (double)compaction->nanoseconds / 1e9);
    output_json(&compaction->out, document);
}

static void report_text(struct compaction *compaction)
{
    struct output *out = &compaction->out;
    output_print(out, "before\n");
    level_report_write(&compaction->before, out);
    output_print(out, "after\n");
    level_report_write(&compaction->after, out);
    output_print(out, "read %s, wrote %s, in %s\n",
                 number_bytes(compaction->after.compaction_bytes_read).text,
                 number_bytes(compaction->after.compaction_bytes_written).text,
                 number_duration(compaction->nanoseconds).text);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct compaction compaction = {0};
    store_options_init(&compaction.store, command);
    const struct option own[] = {
        {"from", "KEY", OPTION_TEXT, &compaction.from, "first key of the range, inclusive"},
        {"to", "KEY", OPTION_TEXT, &compaction.to, "end of the range, exclusive"},
        {"hex", NULL, OPTION_FLAG, &compaction.is_hex, "keys are hexadecimal digits"},
        {"json", NULL, OPTION_FLAG, &compaction.out.is_json, "report as JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&compaction.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = compact_store(&compaction, arguments.values[0]);
    if (status != BB_OK)
        code = command_fail(command, status);
    else if (compaction.out.is_json)
        report_json(&compaction);
    else
        report_text(&compaction);
    bb_buf_deinit(&compaction.low);
    bb_buf_deinit(&compaction.high);
    code = store_close(&compaction.store, compaction.db, code);
    return command_finish(command, &compaction.out, code);
}

const struct command command_compact = {
    .name = "compact",
    .summary = "merge all runs into one",
    .arguments = "DIR",
    .description = "Merges the whole store into one sorted run: overwritten and deleted data is "
                   "removed, and every table\n"
                   "has filters for the store's target. Prints the levels before and after.\n"
                   "With --from or --to only that range is merged, level by level, down to "
                   "the deepest level with keys of it.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock compact /tmp/words --target 0.001\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
