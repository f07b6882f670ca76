/* bloomblock index create, drop, list and materialize. */
#include <stdio.h>

#include "base/assert.h"
#include "base/status.h"
#include "tools/commands/cmd_index.h"
#include "tools/output/interrupt.h"
#include "tools/output/progress.h"
#include "tools/records/definitions.h"
#include "tools/records/index_report.h"
#include "tools/store/store_options.h"

struct index_command {
    const struct command *command;
    struct store_options store;
    struct output out;
    struct bb_db *db;
    uint64_t granule_bytes; /* 0: as it is */
    bool is_rebuilding;
    struct progress progress;
};

typedef enum bb_status (*index_work)(struct index_command *self, char *const *arguments,
                                     size_t count);

/* Ends an index command: opens the store, does the work, closes. */
static enum exit_code execute(struct index_command *self, const struct option *own,
                              size_t own_count, int argc, char **argv, index_work work)
{
    const struct option_group groups[] = {{.title = "Options", .options = own, .count = own_count},
                                          store_options_group(&self->store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(self->command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = store_open_to_read(&self->store, arguments.values[0], &self->db);
    bool is_open = status == BB_OK;
    if (is_open)
        status = work(self, arguments.values + 1, arguments.count - 1);
    if (status != BB_OK)
        code = command_fail(self->command, status);
    if (is_open && status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    code = store_close(&self->store, self->db, code);
    return command_finish(self->command, &self->out, code);
}

/* ---- list ---- */

static enum bb_status list(struct index_command *self, char *const *arguments, size_t count)
{
    struct index_report report = {0};
    (void)arguments;
    (void)count;
    enum bb_status status = index_report_read(self->db, &report);
    if (status != BB_OK)
        return status;
    if (self->out.is_json) {
        json_t *document = json_object();
        json_object_set_new(document, "indexes", index_report_json(&report));
        json_set_count(document, "raw_bytes", report.raw_bytes);
        output_json(&self->out, document);
    } else {
        index_report_write(&report, &self->out);
    }
    index_report_deinit(&report);
    return BB_OK;
}

static enum exit_code run_list(const struct command *command, int argc, char **argv)
{
    struct index_command self = {.command = command};
    const char *file = NULL;
    if (options_have(argc, argv, "--file"))
        return index_file_run_list(command, argc, argv);
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &file,
         "of a file of lines instead of a store: `bloomblock index list --file FILE --help`"},
        {"json", NULL, OPTION_FLAG, &self.out.is_json, "print JSON"},
    };
    store_options_init_to_read(&self.store, command);
    return execute(&self, own, BB_ARRAY_LENGTH(own), argc, argv, list);
}

/* ---- create, drop ---- */

static enum bb_status create(struct index_command *self, char *const *arguments, size_t count)
{
    enum bb_status status =
        self->granule_bytes == 0 ? BB_OK : bb_db_granule_set(self->db, self->granule_bytes);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = definitions_add_index(self->db, arguments[i], false, NULL);
    return status == BB_OK && self->out.is_json ? list(self, NULL, 0) : status;
}

static enum exit_code run_create(const struct command *command, int argc, char **argv)
{
    struct index_command self = {.command = command};
    const char *file = NULL;
    if (options_have(argc, argv, "--file"))
        return index_file_run_create(command, argc, argv);
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &file,
         "of a file of lines instead of a store: `bloomblock index create --file FILE --help`"},
        {"granule", "SIZE", OPTION_SIZE, &self.granule_bytes,
         "size of a granule in new tables, 8K to 1M (64K)"},
        {"json", NULL, OPTION_FLAG, &self.out.is_json, "list the indexes as JSON"},
    };
    store_options_init(&self.store, command);
    return execute(&self, own, BB_ARRAY_LENGTH(own), argc, argv, create);
}

static enum bb_status drop(struct index_command *self, char *const *arguments, size_t count)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = definitions_drop_index(self->db, arguments[i]);
    return status == BB_OK && self->out.is_json ? list(self, NULL, 0) : status;
}

static enum exit_code run_drop(const struct command *command, int argc, char **argv)
{
    struct index_command self = {.command = command};
    const char *file = NULL;
    if (options_have(argc, argv, "--file"))
        return index_file_run_drop(command, argc, argv);
    const struct option own[] = {
        {"file", "FILE", OPTION_TEXT, &file,
         "of a file of lines instead of a store: `bloomblock index drop --file FILE --help`"},
        {"json", NULL, OPTION_FLAG, &self.out.is_json, "list the indexes as JSON"},
    };
    store_options_init(&self.store, command);
    return execute(&self, own, BB_ARRAY_LENGTH(own), argc, argv, drop);
}

/* ---- materialize ---- */

static bool go_on(void *context, uint64_t tables_done, uint64_t tables)
{
    struct index_command *self = context;
    (void)tables;
    atomic_store(&self->progress.done, tables_done);
    return !interrupt_is_wanted();
}

static enum bb_status materialize(struct index_command *self, char *const *arguments, size_t count)
{
    struct bb_materialize_options options = {
        .rebuild = self->is_rebuilding, .progress = go_on, .progress_context = self};
    struct bb_db_stats stats = {0};
    (void)arguments;
    (void)count;
    bb_db_stats(self->db, &stats);
    enum bb_status status = stats.memtable_bytes == 0 ? BB_OK : bb_db_flush(self->db);
    uint64_t tables = 0;
    bb_db_stats(self->db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        tables += stats.levels[level].table_count;
    interrupt_watch();
    progress_start(&self->progress, "building indexes", tables, false);
    if (status == BB_OK)
        status = bb_db_index_materialize(self->db, &options);
    progress_stop(&self->progress);
    return status == BB_OK ? list(self, NULL, 0) : status;
}

static enum exit_code run_materialize(const struct command *command, int argc, char **argv)
{
    struct index_command self = {.command = command};
    const struct option own[] = {
        {"rebuild", NULL, OPTION_FLAG, &self.is_rebuilding,
         "also rebuild index files that have every index"},
        {"json", NULL, OPTION_FLAG, &self.out.is_json, "list the indexes as JSON"},
    };
    store_options_init(&self.store, command);
    return execute(&self, own, BB_ARRAY_LENGTH(own), argc, argv, materialize);
}

/* ---- commands ---- */

const struct command command_index_create = {
    .name = "index create",
    .summary = "add indexes: new tables have them",
    .arguments = "DIR SPEC...",
    .description = "A spec is KIND(ATTRIBUTE) with parameters, or NAME = KIND(ATTRIBUTE); without "
                   "a name the index is called ATTRIBUTE_KIND. `bloomblock help index` lists the "
                   "kinds. Tables that are there already get the index from `index materialize`, "
                   "or from the next compaction.\n"
                   "\n"
                   "Examples:\n"
                   "  bloomblock index create /tmp/access 'tokens(agent)' 'min_max(time)'\n"
                   "  bloomblock index create /tmp/access 'hosts = values(host)' --granule 16K\n",
    .argument_count_min = 2,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run_create,
};

const struct command command_index_drop = {
    .name = "index drop",
    .summary = "remove indexes",
    .arguments = "DIR NAME...",
    .description = "New tables do not have the indexes. Selections use them in the index files of "
                   "existing tables, until these are replaced.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock index drop /tmp/access agent_tokens\n",
    .argument_count_min = 2,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run_drop,
};

const struct command command_index_list = {
    .name = "index list",
    .summary = "the indexes of a store: tables built, size, pairs",
    .arguments = "DIR",
    .description = "Prints a row per index: the number of tables that have it, its size in their "
                   "index files, also relative\n"
                   "to keys and values uncompressed, pairs (members of granules, counted per "
                   "granule), and the granules\n"
                   "of these tables.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock index list /tmp/access\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run_list,
};

const struct command command_index_materialize = {
    .name = "index materialize",
    .summary = "build the indexes of tables that lack one",
    .arguments = "DIR",
    .description = "Reads the data of these tables once and writes index files for them; tables "
                   "are not rewritten.\n"
                   "Ctrl-C ends the work after the current table (exit code 130): completed tables "
                   "keep their indexes.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock index materialize /tmp/access\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run_materialize,
};
