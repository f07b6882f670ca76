/* bloomblock ingest: tables built elsewhere come into a store. */
#include "bb/db_files.h"
#include "base/assert.h"
#include "tools/output/number_text.h"
#include "tools/output/output.h"
#include "tools/output/process_reads.h"
#include "tools/output/progress.h"
#include "tools/store/store_options.h"
#include "tools/store/store_place.h"

struct ingest {
    struct store_options store;
    struct bb_ingest_options options;
    struct output out;
    bool is_forced;
    struct bb_db *db;
    size_t count; /* of tables */
};

/* Before a store is created, so that a mistyped name creates none. */
static enum bb_status check_tables(const struct arguments *arguments)
{
    enum bb_status status = BB_OK;
    for (size_t i = 1; i < arguments->count && status == BB_OK; i++) {
        struct bb_table *table = NULL;
        status = bb_table_open(arguments->values[i], NULL, &table);
        bb_table_close(table);
    }
    return status;
}

static uint64_t size_of_tables(const struct arguments *arguments)
{
    uint64_t size = 0;
    for (size_t i = 1; i < arguments->count; i++)
        size += process_reads_expected(arguments->values[i]);
    return size;
}

static enum bb_status bring_in(struct ingest *ingest, const struct arguments *arguments)
{
    ingest->store.db.create_if_missing = true;
    ingest->count = arguments->count - 1;
    enum bb_status status = check_tables(arguments);
    if (status == BB_OK && !ingest->is_forced)
        status = store_place_check(arguments->values[0]);
    if (status == BB_OK)
        status = store_open(&ingest->store, arguments->values[0], &ingest->db);
    if (status != BB_OK)
        return status;
    struct progress progress;
    progress_start_reads(&progress, "ingesting", size_of_tables(arguments));
    status = bb_db_ingest(ingest->db, (const char *const *)&arguments->values[1], ingest->count,
                          &ingest->options);
    progress_stop(&progress);
    return status;
}

static void report(struct ingest *ingest)
{
    struct bb_db_stats stats;
    bb_db_stats(ingest->db, &stats);
    if (!ingest->out.is_json) {
        output_print(&ingest->out, "brought in %s\n",
                     number_of(ingest->count, "table", "tables").text);
        return;
    }
    json_t *document = json_object();
    json_set_count(document, "tables", ingest->count);
    json_set_count(document, "last_sequence", stats.last_sequence);
    output_json(&ingest->out, document);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct ingest ingest = {0};
    store_options_init(&ingest.store, command);
    const struct option own[] = {
        {"verify", NULL, OPTION_FLAG, &ingest.options.verify,
         "verify the tables first, filters included"},
        {"force", NULL, OPTION_FLAG, &ingest.is_forced,
         "create a store even in a directory with other files"},
        {"json", NULL, OPTION_FLAG, &ingest.out.is_json, "report as JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&ingest.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = bring_in(&ingest, &arguments);
    if (status != BB_OK)
        code = command_fail(command, status);
    else
        report(&ingest);
    code = store_close(&ingest.store, ingest.db, code);
    return command_finish(command, &ingest.out, code);
}

const struct command command_ingest = {
    .name = "ingest",
    .summary = "add tables that were built elsewhere to a store",
    .arguments = "DIR TABLE...",
    .description = "Adds the entries of table files atomically to the store, which is created if "
                   "missing, as if they were\n"
                   "written now: their deletions apply, and if several tables contain a key, the "
                   "last table named wins.\n"
                   "The files are only read.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock ingest /tmp/words /tmp/more/*.bbt\n",
    .argument_count_min = 2,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
