/* bloomblock checkpoint: a second store from a store's tables. */
#include "bb/db_files.h"
#include "base/assert.h"
#include "tools/output/output.h"
#include "tools/store/store_options.h"

struct checkpoint {
    struct store_options store;
    struct output out;
    struct bb_db *db;
    uint64_t tables;
};

static enum bb_status make(struct checkpoint *checkpoint, const char *from, const char *to)
{
    struct bb_db_table_list list = {0};
    enum bb_status status = store_open(&checkpoint->store, from, &checkpoint->db);
    if (status == BB_OK)
        status = bb_db_checkpoint(checkpoint->db, to);
    if (status == BB_OK)
        status = bb_db_tables(checkpoint->db, &list);
    checkpoint->tables = list.count;
    bb_db_table_list_deinit(&list);
    return status;
}

static void report(struct checkpoint *checkpoint, const char *to)
{
    if (!checkpoint->out.is_json) {
        output_print(&checkpoint->out, "made a store in %s\n", to);
        return;
    }
    json_t *document = json_object();
    json_set_count(document, "tables", checkpoint->tables);
    output_json(&checkpoint->out, document);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct checkpoint checkpoint = {0};
    store_options_init(&checkpoint.store, command);
    const struct option own[] = {
        {"json", NULL, OPTION_FLAG, &checkpoint.out.is_json, "report as JSON"}};
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&checkpoint.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = make(&checkpoint, arguments.values[0], arguments.values[1]);
    if (status != BB_OK)
        code = command_fail(command, status);
    else
        report(&checkpoint, arguments.values[1]);
    code = store_close(&checkpoint.store, checkpoint.db, code);
    return command_finish(command, &checkpoint.out, code);
}

const struct command command_checkpoint = {
    .name = "checkpoint",
    .summary = "create a second store with the same contents",
    .arguments = "DIR NEW",
    .description = "Creates a store in NEW, which must not exist, with the contents of DIR. "
                   "Tables are hard links, or\n"
                   "copies on another file system. The two stores are independent from then on.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock checkpoint /tmp/words /tmp/words.monday\n",
    .argument_count_min = 2,
    .argument_count_max = 2,
    .run = run,
};
